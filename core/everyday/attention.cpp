// SPDX-License-Identifier: Apache-2.0
// Attention. Scores are computed in float64, and never kept for more than one row of the query.
#include <algorithm>
#include <cmath>

#include "described/formulas.h"
#include "everyday/layers.h"
#include "loops/threads.h"

namespace softnpu::everyday {
namespace {

// Where the elements of a query, of keys or of values lie: rows of `width` elements that are in a
// sequence, in heads, in a batch.
struct Heads {
  int64_t batch = 0, count = 0, length = 0, width = 0;
  bool is_head_first = false;  // [batch, heads, length, width], not [batch, length, heads, width]

  int64_t row(int64_t b, int64_t head, int64_t at) const {
    const int64_t row =
        is_head_first ? (b * count + head) * length + at : (b * length + at) * count + head;
    return row * width;
  }
};

// The layout BSH has the width of all heads as its last dimension.
Heads heads_of(std::string_view name, const Dims& sizes, std::string_view layout, int64_t count) {
  const size_t rank = layout == "BSH" ? 3 : 4;
  require(sizes.size() == rank, "rank-range"_rule, name, " has shape ", sizes, "; expected rank ",
          rank, " in layout ", layout);
  if (layout == "BSH") {
    require(sizes[2] % count == 0, "head-count"_rule, name, " has shape ", sizes,
            ", whose last size", " is not a multiple of the number of heads, ", count);
    return {sizes[0], count, sizes[1], sizes[2] / count};
  }
  const bool is_head_first = layout == "BNSD";
  const int64_t found = sizes[is_head_first ? 1 : 2];
  require(found == count, "head-count"_rule, name, " has shape ", sizes, " in layout ", layout,
          ", which has ", found, " heads; expected ", count);
  return {sizes[0], count, sizes[is_head_first ? 2 : 1], sizes[3], is_head_first};
}

struct Attention {
  Heads query, key, value, out;
  double scale = 1;
  bool has_shift = false, has_mask = false;
  Dims scores;  // [batch, heads, length of the query, length of the keys]
};

// The operands of a launch. `shift` and `mask` are empty, or have a number for each score.
struct AttentionValues {
  Values query, key, value, shift, mask, out;
};

// Computes row `at` of the result, which counts the rows of the scores; `weights` is scratch.
void attend(const Attention& a, AttentionValues& of, int64_t at, Values& weights) {
  const int64_t i = at % a.query.length, head = at / a.query.length % a.query.count;
  const int64_t b = at / a.query.length / a.query.count;
  const int64_t shared = head / (a.query.count / a.key.count);
  const double* const x = of.query.data() + a.query.row(b, head, i);
  double top = -HUGE_VAL, sum = 0;
  for (size_t j = 0; j < weights.size(); ++j) {
    const double* const y = of.key.data() + a.key.row(b, shared, static_cast<int64_t>(j));
    const size_t score = static_cast<size_t>(at) * weights.size() + j;
    double dot = 0;
    for (int64_t d = 0; d < a.query.width; ++d) dot += x[d] * y[d];
    weights[j] = dot * a.scale + (a.has_shift ? of.shift[score] : 0);
    if (a.has_mask && of.mask[score] != 0) weights[j] = -HUGE_VAL;
    top = larger(top, weights[j]);
  }
  if (top == -HUGE_VAL) return;  // everything is masked: the row stays 0
  for (double& weight : weights) sum += weight = std::exp(weight - top);
  double* const out = of.out.data() + a.out.row(b, head, i);
  for (size_t j = 0; j < weights.size(); ++j) {
    const double* const y = of.value.data() + a.value.row(b, shared, static_cast<int64_t>(j));
    for (int64_t d = 0; d < a.value.width; ++d) out[d] += weights[j] / sum * y[d];
  }
}

void run_attention(const Attention& a, const Arrays& arrays) {
  const auto member = [&](std::string_view name) {
    const View view = arrays.member(name, 0);
    return read<double>(view, view.tensor->sizes);
  };
  const auto scores = [&](std::string_view name, bool is_given) {
    return is_given ? arrays.read(name, a.scores) : Values();
  };
  AttentionValues of{arrays.read("query"),
                     member("key"),
                     member("value"),
                     scores("pseShift", a.has_shift),
                     scores("attenMask", a.has_mask),
                     {}};
  const int64_t rows = a.query.batch * a.query.count * a.query.length;
  of.out.resize(static_cast<size_t>(rows * a.out.width));
  const int64_t work = a.key.length * (a.query.width + a.value.width) + 1;
  loops::parallel_for(rows, std::max<int64_t>(1, (int64_t{1} << 16) / work),
                      loops::usable_threads(), [&](int64_t begin, int64_t end, int /*worker*/) {
                        Values weights(static_cast<size_t>(a.key.length));
                        for (; begin < end; ++begin) attend(a, of, begin, weights);
                      });
  arrays.write("attentionOut", of.out);
}

const Tensor& only_member(const Given& given, std::string_view name) {
  const std::vector<const Tensor*> members = given.list(name);
  require(members.size() == 1 && members[0] != nullptr, "array-length"_rule, name, " has ",
          members.size(), " tensors; expected one");
  return *members[0];
}

void check_heads(const Attention& a) {
  const Heads &q = a.query, &k = a.key, &v = a.value;
  require(k.batch == q.batch && k.width == q.width, "shape-differs"_rule, "key has batch ", k.batch,
          " and ", k.width, " elements a head, but query has ", q.batch, " and ", q.width);
  require(v.batch == k.batch && v.length == k.length, "shape-differs"_rule, "value has batch ",
          v.batch, " and length ", v.length, ", but key has ", k.batch, " and ", k.length);
}

Attention plan_attention(const Given& given) {
  const std::string_view layout = given.text("inputLayout");
  require(layout == "BSH" || layout == "BSND" || layout == "BNSD", "layout-name"_rule,
          "inputLayout is ", layout, "; expected BSH, BSND or BNSD");
  const int64_t heads = given.integer("numHeads"), shared = given.integer("numKeyValueHeads");
  const int64_t key_heads = shared == 0 ? heads : shared;
  require(heads > 0 && key_heads > 0 && heads % key_heads == 0, "head-count"_rule, "numHeads is ",
          heads, " and numKeyValueHeads ", shared, "; expected a multiple, or 0 for the same");
  const Dims& sizes = given.tensor("query").sizes;
  Attention a;
  a.query = a.out = heads_of("query", sizes, layout, heads);
  a.key = heads_of("key", only_member(given, "key").sizes, layout, key_heads);
  a.value = heads_of("value", only_member(given, "value").sizes, layout, key_heads);
  check_heads(a);
  a.out.width = a.value.width;
  Dims result = sizes;
  result[sizes.size() - 1] = layout == "BSH" ? heads * a.out.width : a.out.width;
  given.require_shape("attentionOut", result);
  a.scale = given.number("scaleValue");
  a.scores = {a.query.batch, heads, a.query.length, a.key.length};
  a.has_shift = given.has("pseShift");
  a.has_mask = given.has("attenMask");
  require_broadcast(given, "pseShift", a.scores);
  require_broadcast(given, "attenMask", a.scores);
  return a;
}

}  // namespace

// Without quantisation, pages of memory and shared prefixes. sparseMode 0 masks as attenMask does.
Run fused_infer_attention(const Given& given) {
  require_absent(
      given, {"actualSeqLengths", "actualSeqLengthsKv", "deqScale1", "quantScale1", "deqScale2",
              "quantScale2", "quantOffset2", "antiquantScale", "antiquantOffset", "blockTable",
              "queryPaddingSize", "kvPaddingSize", "keyAntiquantScale", "keyAntiquantOffset",
              "valueAntiquantScale", "valueAntiquantOffset", "keySharedPrefix", "valueSharedPrefix",
              "actualSharedPrefixLen"});
  for (const char* name : {"sparseMode", "softmaxLseFlag"})
    require(given.integer(name) == 0, "mode-range"_rule, name, " is ", given.integer(name),
            ", but softnpu only computes with 0");
  const Attention planned = plan_attention(given);
  for (const char* name : {"preTokens", "nextTokens"})
    require(given.integer(name) >= std::max(planned.query.length, planned.key.length),
            "mode-range"_rule, name, " is ", given.integer(name),
            ", but softnpu only computes with the lengths of the sequences or more");
  return [planned](const Arrays& arrays) { run_attention(planned, arrays); };
}

}  // namespace softnpu::everyday
