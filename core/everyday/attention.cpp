// SPDX-License-Identifier: Apache-2.0
#include "everyday/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "described/formulas.h"
#include "loops/threads.h"

namespace softnpu::everyday {

bool has_head_dimension(std::string_view layout) { return layout == "BNSD" || layout == "BSND"; }

Heads heads_of(std::string_view name, const Dims& sizes, std::string_view layout, int64_t count) {
  const size_t rank = has_head_dimension(layout) ? 4 : 3;
  require(sizes.size() == rank, "rank-range"_rule, name, " has shape ", sizes, "; expected rank ",
          rank, " in layout ", layout);
  if (!has_head_dimension(layout)) {
    const bool is_batch_first = layout == "BSH";
    const int64_t all = sizes[2], width = all / count;
    require(all % count == 0, "head-count"_rule, name, " has shape ", sizes, ", whose last size",
            " is not a multiple of the number of heads, ", count);
    if (is_batch_first)
      return {sizes[0], count, sizes[1], width, product(Dims{sizes[1], all}), width, all};
    return {sizes[1], count, sizes[0], width, all, width, product(Dims{sizes[1], all})};
  }
  const bool is_head_first = layout == "BNSD";
  const int64_t found = sizes[is_head_first ? 1 : 2], length = sizes[is_head_first ? 2 : 1];
  const int64_t width = sizes[3];
  require(found == count, "head-count"_rule, name, " has shape ", sizes, " in layout ", layout,
          ", which has ", found, " heads; expected ", count);
  const int64_t batch_step = product(Dims{count, length, width});
  if (is_head_first)
    return {sizes[0], count, length, width, batch_step, product(Dims{length, width}), width};
  return {sizes[0], count, length, width, batch_step, width, product(Dims{count, width})};
}

Attention plan_heads(const Given& given, std::string_view layout, int64_t heads, int64_t key_heads,
                     const Dims& key, const Dims& value, std::string_view out) {
  const Dims& sizes = given.tensor("query").sizes;
  Attention a;
  a.query = heads_of("query", sizes, layout, heads);
  a.key = heads_of("key", key, layout, key_heads);
  a.value = heads_of("value", value, layout, key_heads);
  require(a.key.batch == a.query.batch && a.key.width == a.query.width, "shape-differs"_rule,
          "key has batch ", a.key.batch, " and ", a.key.width, " elements a head, but query has ",
          a.query.batch, " and ", a.query.width);
  require(a.value.batch == a.key.batch && a.value.length == a.key.length, "shape-differs"_rule,
          "value has batch ", a.value.batch, " and length ", a.value.length, ", but key has ",
          a.key.batch, " and ", a.key.length);
  Dims result = sizes;
  result[sizes.size() - 1] = (has_head_dimension(layout) ? 1 : heads) * a.value.width;
  given.require_shape(out, result);
  a.out = heads_of(out, result, layout, heads);
  return a;
}

namespace {

// Whether a float32 holds it, rounded.
bool is_float(double number) { return std::isfinite(static_cast<float>(number)); }

Values read_own(const Arrays& arrays, std::string_view name) {
  const View view = arrays.view(name);  // of a list, its only member
  return read<double>(view, view.tensor->sizes);
}

}  // namespace

ScoreOperand::ScoreOperand(const Arrays& arrays, std::string_view name) {
  if (name.empty()) return;
  const Dims& sizes = arrays.view(name).tensor->sizes;
  values = read_own(arrays, name);
  int64_t step = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {  // from the last dimension
    const int64_t size = sizes[sizes.size() - 1 - i];
    steps[3 - i] = size == 1 ? 0 : step;
    step *= size;
  }
}

Scores::Scores(const Attention& plan, const Arrays& arrays)
    : plan(plan),
      query(read_own(arrays, "query")),
      key(read_own(arrays, "key")),
      value(read_own(arrays, "value")),
      shift(arrays, plan.shift),
      mask_(arrays, plan.mask),
      kept_(plan.dropout.empty() ? std::vector<int64_t>() : arrays.read<int64_t>(plan.dropout)) {}

int64_t Scores::row_in(const Heads& heads, int64_t at) const {
  const int64_t head = at / plan.query.length;
  return heads.row(head / plan.query.count, head % plan.query.count, at % plan.query.length);
}

int64_t Scores::shared_row(const Heads& heads, int64_t at, int64_t key) const {
  const int64_t head = at / plan.query.length, shared_by = plan.query.count / plan.key.count;
  return heads.row(head / plan.query.count, head % plan.query.count / shared_by, key);
}

int64_t Scores::shift_row(int64_t at) const {
  const int64_t head = at / plan.query.length;
  return shift.row(head / plan.query.count, head % plan.query.count, at % plan.query.length);
}

double Scores::row(int64_t at, Values& scores) const {
  const int64_t i = at % plan.query.length, head = at / plan.query.length;
  const double* const x = query.data() + query_row(at);
  const double* const shifts = shift.values.data() + shift_row(at);
  const double* const masks =
      mask_.values.data() + mask_.row(head / plan.query.count, head % plan.query.count, i);
  double top = -HUGE_VAL;
  for (int64_t j = 0; j < plan.key.length; ++j) {
    const bool is_masked = j < i + plan.first || j > i + plan.last ||
                           (!plan.mask.empty() && masks[j * mask_.steps[3]] != 0);
    double score = -HUGE_VAL;
    if (!is_masked) {
      const double* const y = key.data() + key_row(at, j);
      double dot = 0;
      for (int64_t d = 0; d < plan.query.width; ++d) dot += x[d] * y[d];
      const double moved = plan.shift.empty() ? 0 : shifts[j * shift.steps[3]];
      score = plan.scales_shift ? (dot + moved) * plan.scale : dot * plan.scale + moved;
      top = larger(top, score);
    }
    scores[static_cast<size_t>(j)] = score;
  }
  return top;
}

double Scores::dropout(int64_t at, int64_t key) const {
  if (plan.dropout.empty()) return 1;
  const auto bit = static_cast<size_t>(at * plan.key.length + key);
  return (kept_[bit / 8] >> bit % 8 & 1) != 0 ? 1 / plan.keep : 0;
}

Values attend(const Scores& scores, Values* largest, Values* sums) {
  const Attention& a = scores.plan;
  Values out(static_cast<size_t>(product(Dims{a.rows(), a.out.width})));
  if (out.empty() && largest == nullptr) return out;
  const auto attend_row = [&](int64_t at, Values& weights) {
    double top = scores.row(at, weights), sum = 0;
    if (largest != nullptr) {
      // Of a row in which everything is masked, the lowest number.
      const double stored = static_cast<float>(top);
      (*largest)[static_cast<size_t>(at)] =
          top == -HUGE_VAL ? std::numeric_limits<float>::lowest() : stored;
      if (std::isfinite(stored)) top = stored;
    }
    if (top == -HUGE_VAL) return;  // everything is masked: the row stays 0
    for (double& weight : weights) sum += weight = std::exp(weight - top);
    if (sums != nullptr) (*sums)[static_cast<size_t>(at)] = is_float(top) ? sum : std::nan("");
    if (sum == 0) return;
    double* const row = out.data() + scores.out_row(at);
    for (int64_t j = 0; j < a.key.length; ++j) {
      const double weight = weights[static_cast<size_t>(j)] / sum * scores.dropout(at, j);
      const double* const y = scores.value.data() + scores.value_row(at, j);
      for (int64_t d = 0; d < a.value.width; ++d) row[d] += weight * y[d];
    }
  };
  const int64_t work = a.key.length * (a.query.width + a.value.width) + 1;
  loops::parallel_for(a.rows(), std::max<int64_t>(1, (int64_t{1} << 16) / work),
                      loops::usable_threads(), [&](int64_t begin, int64_t end, int /*worker*/) {
                        Values weights(static_cast<size_t>(a.key.length));
                        for (; begin < end; ++begin) attend_row(begin, weights);
                      });
  return out;
}

}  // namespace softnpu::everyday
