// SPDX-License-Identifier: Apache-2.0
// Attention for training, and its gradient, which takes the largest score and the sum of each row
// from the forward operator instead of computing them again.
#include <algorithm>
#include <cmath>

#include "everyday/attention.h"
#include "loops/threads.h"

namespace softnpu::everyday {
namespace {

constexpr int64_t kCopies = 8;          // of each row's largest score and sum
constexpr int64_t kPatternSide = 2048;  // of the mask that stands for a causal one of any size

void require_no_elements(const Given& given, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    require(!given.has(name) || product(given.tensor(name).sizes) == 0, "argument-unsupported"_rule,
            name, " is given, but softnpu only computes without it; expected null");
}

void require_empty(const Given& given, std::string_view name) {
  if (!given.has(name)) return;
  require(given.ints(name).empty(), "argument-unsupported"_rule, name, " is ", given.ints(name),
          ", but softnpu only computes without it; expected null");
}

int64_t key_heads_of(const Given& given, std::string_view layout, int64_t heads) {
  const Dims &key = given.tensor("key").sizes, &query = given.tensor("query").sizes;
  if (has_head_dimension(layout)) return key.size() == 4 ? key[layout == "BNSD" ? 1 : 2] : heads;
  const int64_t width = query.size() == 3 ? query[2] / heads : 0;
  return width == 0 || key.size() != 3 ? heads : key[2] / width;
}

// Modes 0 and 1 mask as attenMask does; mode 0 also those that the tokens leave out. In the others,
// the positions decide, and attenMask is a pattern that says no more.
void plan_mask(const Given& given, Attention& a) {
  const int64_t mode = given.integer("sparseMode");
  require(0 <= mode && mode <= 4, "mode-range"_rule, "sparseMode is ", mode,
          ", but softnpu only computes with 0 to 4");
  const int64_t shift = mode >= 3 ? a.key.length - a.query.length : 0;
  if ((mode == 0 && given.has("attenMask")) || mode == 4) {
    const int64_t far = a.last;
    a.first = shift - std::clamp(given.integer("preTokens"), -far, far);
    a.last = shift + std::clamp(given.integer("nextTokens"), -far, far);
  } else if (mode >= 2) {
    a.last = shift;
  }
  if (!given.has("attenMask")) return;
  if (mode < 2) {
    require_broadcast(given, "attenMask", a.scores());
    a.mask = "attenMask";
  } else {
    given.require_shape("attenMask", Dims{kPatternSide, kPatternSide});
  }
}

void plan_dropout(const Given& given, Attention& a) {
  a.keep = given.number("keepProb");
  const bool is_given = given.has("dropMask");
  require(a.keep == 1 || (is_given && 0 < a.keep && a.keep < 1), "number-range"_rule,
          "keepProb is ", a.keep, "; expected 1, or more than 0 with dropMask");
  if (!is_given) return;
  const Tensor& mask = given.tensor("dropMask");
  const int64_t bytes = product(a.scores()) / 8 + (product(a.scores()) % 8 != 0);
  require(mask.dtype == DType::u8, "dtype-unsupported"_rule, "dropMask has data type ", mask.dtype,
          "; expected UINT8");
  require(mask.numel() >= bytes, "element-count"_rule, "dropMask has shape ", mask.sizes,
          "; expected ", bytes, " bytes, one bit for each score");
  a.dropout = "dropMask";
}

// What both directions share. `shift` and `out` are the names of parameters.
Attention plan_flash(const Given& given, std::string_view shift, std::string_view out,
                     int64_t shift_type) {
  require_absent(given, {"paddingMask"});
  require_empty(given, "prefix");
  const std::string_view layout = given.text("inputLayout");
  require(layout == "BSH" || layout == "SBH" || has_head_dimension(layout), "layout-name"_rule,
          "inputLayout is ", layout, "; expected BSH, SBH, BSND or BNSD");
  const int64_t heads = given.integer("headNum");
  require(heads > 0, "head-count"_rule, "headNum is ", heads, "; expected more than 0");
  const int64_t key_heads = key_heads_of(given, layout, heads);
  require(key_heads > 0 && heads % key_heads == 0, "head-count"_rule, "headNum is ", heads,
          ", but key has ", key_heads, " heads; expected a divisor");
  Attention a = plan_heads(given, layout, heads, key_heads, given.tensor("key").sizes,
                           given.tensor("value").sizes, out);
  a.scale = given.number("scaleValue");
  require(shift_type == 0 || shift_type == 1, "mode-range"_rule, "pseType is ", shift_type,
          ", but softnpu only computes with 0 and 1");
  a.scales_shift = shift_type == 1;
  require_broadcast(given, shift, a.scores());
  if (given.has(shift)) a.shift = shift;
  plan_mask(given, a);
  plan_dropout(given, a);
  return a;
}

Dims statistics_sizes(const Attention& a) {
  return {a.query.batch, a.query.count, a.query.length, kCopies};
}

// The patterns of sparse modes mask what lies above the diagonal.
void check_pattern(const Arrays& arrays) {
  const std::vector<int64_t> pattern = arrays.read<int64_t>("attenMask");
  for (int64_t i = 0; i < kPatternSide; ++i)
    for (int64_t j = 0; j < kPatternSide; ++j) {
      const bool is_masked = pattern[static_cast<size_t>(i * kPatternSide + j)] != 0;
      require(is_masked == (j > i), "mask-pattern"_rule, "element [", i, ", ", j,
              "] of attenMask is ", is_masked ? 1 : 0, "; sparseMode 2 to 4 expect ones above the",
              " diagonal, zeros elsewhere");
    }
}

Run plan_forward(const Given& given, int64_t shift_type) {
  require_no_elements(given, {"softmaxOut"});
  const Attention a = plan_flash(given, "realShift", "attentionOut", shift_type);
  for (const char* name : {"softmaxMax", "softmaxSum"})
    given.require_shape(name, statistics_sizes(a));
  const bool has_pattern = given.has("attenMask") && a.mask.empty();
  return [a, has_pattern](const Arrays& arrays) {
    if (has_pattern) check_pattern(arrays);
    Values largest(static_cast<size_t>(a.rows())), sums(largest.size());
    arrays.write("attentionOut", attend(Scores(a, arrays), &largest, &sums));
    const auto write_copies = [&](std::string_view name, const Values& values) {
      Values copies;
      for (double value : values) copies.insert(copies.end(), kCopies, value);
      arrays.write(name, copies);
    };
    write_copies("softmaxMax", largest);
    write_copies("softmaxSum", sums);
  };
}

struct FlashGradients {
  Values query, key, value, shift;
};

// What the gradient takes from the forward operator.
struct FlashResults {
  Values grad, out, largest, sums;
};

// Adds what row `at` contributes; `weights` is scratch.
void differentiate_row(const Scores& scores, const FlashResults& of, int64_t at, Values& weights,
                       FlashGradients& into) {
  const Attention& a = scores.plan;
  const auto statistic = static_cast<size_t>(at * kCopies);
  const double* const dy = of.grad.data() + scores.out_row(at);
  const double* const y = of.out.data() + scores.out_row(at);
  double mean = 0;  // of the gradients of the weights
  for (int64_t d = 0; d < a.out.width; ++d) mean += dy[d] * y[d];
  scores.row(at, weights);
  const double* const q = scores.query.data() + scores.query_row(at);
  double* const dq = into.query.data() + scores.query_row(at);
  for (int64_t j = 0; j < a.key.length; ++j) {
    const double score = weights[static_cast<size_t>(j)];
    if (score == -HUGE_VAL) continue;
    const double weight = std::exp(score - of.largest[statistic]) / of.sums[statistic];
    const double kept = scores.dropout(at, j);
    const int64_t value_at = scores.value_row(at, j), key_at = scores.key_row(at, j);
    double grad = 0;
    for (int64_t d = 0; d < a.value.width; ++d) {
      grad += dy[d] * scores.value[static_cast<size_t>(value_at + d)];
      into.value[static_cast<size_t>(value_at + d)] += weight * kept * dy[d];
    }
    const double of_score = weight * (grad * kept - mean);
    for (int64_t d = 0; d < a.query.width; ++d) {
      dq[d] += of_score * a.scale * scores.key[static_cast<size_t>(key_at + d)];
      into.key[static_cast<size_t>(key_at + d)] += of_score * a.scale * q[d];
    }
    if (!into.shift.empty())
      into.shift[static_cast<size_t>(scores.shift_row(at) + j * scores.shift.steps[3])] +=
          of_score * (a.scales_shift ? a.scale : 1);
  }
}

// The heads that share keys are one piece of work. The gradient of the shift, which they may share
// too, is added on one thread.
void differentiate_flash(const Scores& scores, const FlashResults& of, FlashGradients& into) {
  const Attention& a = scores.plan;
  const int64_t pieces = a.query.batch * a.key.count;
  const int64_t rows = pieces == 0 ? 0 : a.rows() / pieces;
  loops::parallel_for(pieces, into.shift.empty() ? 1 : std::max<int64_t>(1, pieces),
                      loops::usable_threads(), [&](int64_t begin, int64_t end, int /*worker*/) {
                        Values weights(static_cast<size_t>(a.key.length));
                        for (int64_t at = begin * rows; at < end * rows; ++at)
                          differentiate_row(scores, of, at, weights, into);
                      });
}

void check_flash_gradients(const Given& given, const Attention& a) {
  require_no_elements(given, {"softmaxIn"});
  given.require_shape("dy", given.tensor("attentionIn").sizes);
  for (const char* name : {"softmaxMax", "softmaxSum"})
    given.require_shape(name, statistics_sizes(a));
  require_like(given, "dq", "query");
  require_like(given, "dk", "key");
  require_like(given, "dv", "value");
  if (a.shift.empty())
    require_no_elements(given, {"dpse"});
  else if (given.has("dpse"))
    require_like(given, "dpse", "pseShift");
}

Run plan_gradient(const Given& given, int64_t shift_type) {
  const Attention a = plan_flash(given, "pseShift", "attentionIn", shift_type);
  check_flash_gradients(given, a);
  const bool has_pattern = given.has("attenMask") && a.mask.empty();
  const bool wants_shift = !a.shift.empty() && given.has("dpse");
  return [=](const Arrays& arrays) {
    if (has_pattern) check_pattern(arrays);
    const Scores scores(a, arrays);
    const FlashResults of{arrays.read("dy"), arrays.read("attentionIn"), arrays.read("softmaxMax"),
                          arrays.read("softmaxSum")};
    FlashGradients found{Values(scores.query.size()), Values(scores.key.size()),
                         Values(scores.value.size()),
                         Values(wants_shift ? scores.shift.values.size() : 0)};
    differentiate_flash(scores, of, found);
    arrays.write("dq", found.query);
    arrays.write("dk", found.key);
    arrays.write("dv", found.value);
    if (wants_shift) arrays.write("dpse", found.shift);
  };
}

int64_t shift_type_v2(const Given& given) {
  require_empty(given, "qStartIdx");
  require_empty(given, "kvStartIdx");
  return given.integer("pseType");
}

}  // namespace

Run flash_attention(const Given& given) { return plan_forward(given, 1); }
Run flash_attention_v2(const Given& given) { return plan_forward(given, shift_type_v2(given)); }
Run flash_attention_grad(const Given& given) { return plan_gradient(given, 1); }
Run flash_attention_grad_v2(const Given& given) {
  return plan_gradient(given, shift_type_v2(given));
}

}  // namespace softnpu::everyday
