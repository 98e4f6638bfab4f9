// SPDX-License-Identifier: Apache-2.0
// What the operators of attention share: layouts of heads, the scores of a row of the query, and
// the result. Scores are computed in float64, and never kept for more than one row.
#pragma once

#include "everyday/layers.h"

namespace softnpu::everyday {

// Where the elements of a query, of keys or of values lie: rows of `width` elements that are in a
// sequence, in heads, in a batch.
struct Heads {
  int64_t batch = 0, count = 0, length = 0, width = 0;
  int64_t batch_step = 0, head_step = 0, row_step = 0;  // in elements

  int64_t row(int64_t b, int64_t head, int64_t at) const {
    return b * batch_step + head * head_step + at * row_step;
  }
};

// BNSD and BSND have a dimension of heads. The last dimension of BSH and SBH has all heads.
bool has_head_dimension(std::string_view layout);
Heads heads_of(std::string_view name, const Dims& sizes, std::string_view layout, int64_t count);

struct Attention {
  Heads query, key, value, out;
  double scale = 1;
  bool scales_shift = false;  // (query · keyᵀ + shift) · scale, not query · keyᵀ · scale + shift
  double keep = 1;            // the part of the weights that the dropout keeps
  std::string_view shift, mask, dropout;  // parameters; empty if they are not given
  // Row i attends to the keys from i + first to i + last.
  int64_t first = -(int64_t{1} << 40), last = int64_t{1} << 40;

  int64_t rows() const { return product(Dims{query.batch, query.count, query.length}); }
  Dims scores() const { return {query.batch, query.count, query.length, key.length}; }
};

// Plans the heads, and checks that they match each other and the result's shape.
Attention plan_heads(const Given& given, std::string_view layout, int64_t heads, int64_t key_heads,
                     const Dims& key, const Dims& value, std::string_view out);

// An operand that is broadcast to the scores, in its own size.
struct ScoreOperand {
  Values values;
  int64_t steps[4] = {};  // along each dimension of the scores

  ScoreOperand(const Arrays& arrays, std::string_view name);
  int64_t row(int64_t b, int64_t head, int64_t i) const {
    return b * steps[0] + head * steps[1] + i * steps[2];
  }
};

class Scores {
 public:
  Scores(const Attention& plan, const Arrays& arrays);

  // Computes the scores of row `at`, which counts the rows of all heads and batches. Masked ones
  // are -inf. Returns the largest.
  double row(int64_t at, Values& scores) const;
  // What the dropout multiplies a weight by.
  double dropout(int64_t at, int64_t key) const;
  // Where rows begin.
  int64_t query_row(int64_t at) const { return row_in(plan.query, at); }
  int64_t out_row(int64_t at) const { return row_in(plan.out, at); }
  int64_t key_row(int64_t at, int64_t key) const { return shared_row(plan.key, at, key); }
  int64_t value_row(int64_t at, int64_t key) const { return shared_row(plan.value, at, key); }
  int64_t shift_row(int64_t at) const;

  const Attention& plan;
  Values query, key, value;
  ScoreOperand shift;

 private:
  int64_t row_in(const Heads& heads, int64_t at) const;
  int64_t shared_row(const Heads& heads, int64_t at, int64_t key) const;

  ScoreOperand mask_;
  std::vector<int64_t> kept_;  // a bit for each score
};

// The result of the attention, and of each row the largest score and the sum of the exponentials
// if they are not null. The largest is then a float32, so that both fit each other once stored.
Values attend(const Scores& scores, Values* largest = nullptr, Values* sums = nullptr);

}  // namespace softnpu::everyday
