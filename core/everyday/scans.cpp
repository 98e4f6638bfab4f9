// SPDX-License-Identifier: Apache-2.0
// Running sums, products and extremes along one dimension.
#include "everyday/views.h"

namespace softnpu::everyday {
namespace {

DType checked_type(const Given& given) {
  const DType type = given.dtype("dtype");
  require(is_real(type), "dtype-unsupported"_rule, "dtype is ", type, ", which is not supported");
  return type;
}

// out[i] = combine(out[i - 1], self[i]) along dim
template <class Combine>
Run scan(const Given& given, size_t dim, Combine combine) {
  const Tensor &self = given.tensor("self"), &out = given.tensor("out");
  const bool whole = !is_floating(checked_type(given));
  given.require_shape("out", self.sizes);
  const Rows from = rows_of(self, dim), to = rows_of(out, dim);
  return in_type(whole, [=](const Arrays& arrays, auto zero) {
    auto values = read<decltype(zero)>(arrays, "self", from);
    for (size_t i = 1; i < values.size(); ++i)
      if (i % static_cast<size_t>(from.length) != 0) values[i] = combine(values[i - 1], values[i]);
    write(arrays, "out", to, values);
  });
}

// The best element so far and its position: of equal ones and of several NaN, the last.
template <class Better>
Run best_so_far(const Given& given, Better better) {
  const Tensor& self = given.tensor("self");
  const size_t dim = given.dim("dim", self);
  for (const char* name : {"values", "indices"}) given.require_shape(name, self.sizes);
  const Rows from = rows_of(self, dim), to = rows_of(given.tensor("values"), dim),
             where = rows_of(given.tensor("indices"), dim);
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    auto values = read<decltype(zero)>(arrays, "self", from);
    Sizes positions(values.size());
    const auto length = static_cast<size_t>(from.length);
    for (size_t i = 0; i < values.size(); ++i) {
      const bool first = i % length == 0;
      const bool wins = first || values[i] != values[i] || better(values[i], values[i - 1]);
      positions[i] = wins ? static_cast<int64_t>(i % length) : positions[i - 1];
      if (!wins) values[i] = values[i - 1];
    }
    write(arrays, "values", to, values);
    write(arrays, "indices", where, positions);
  });
}

}  // namespace

Run cumsum(const Given& given) {
  return scan(given, given.dim("dim", given.tensor("self")),
              [](auto a, auto b) { return plus(a, b); });
}

// The dimension is a scalar.
Run cumprod(const Given& given) {
  const auto rank = std::max<int64_t>(static_cast<int64_t>(given.tensor("self").rank()), 1);
  const auto dim = number_from<int64_t>(given.scalar("dim"));
  require(-rank <= dim && dim < rank, "dim-range"_rule, "dim is ", dim, "; expected ", -rank,
          " to ", rank - 1);
  return scan(given, static_cast<size_t>(dim < 0 ? dim + rank : dim),
              [](auto a, auto b) { return times(a, b); });
}

Run cummax(const Given& given) {
  return best_so_far(given, [](auto a, auto b) { return a >= b; });
}

Run cummin(const Given& given) {
  return best_so_far(given, [](auto a, auto b) { return a <= b; });
}

}  // namespace softnpu::everyday
