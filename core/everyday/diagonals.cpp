// SPDX-License-Identifier: Apache-2.0
// Triangles and diagonals of matrices.
#include <algorithm>

#include "everyday/views.h"

namespace softnpu::everyday {
namespace {

Run triangle(const Given& given, bool upper) {
  const Tensor& self = given.tensor(input(given));
  require(self.rank() >= 2, "rank-differs"_rule, input(given), " has shape ", self.sizes,
          "; expected rank 2 or more");
  given.require_shape(output(given), self.sizes);
  const int64_t rows = self.sizes[self.rank() - 2], columns = self.sizes.back();
  const int64_t diagonal = std::clamp(given.integer("diagonal"), -rows - 1, columns + 1);
  return in_type(is_whole(self),
                 [=, from = input(given), to = output(given)](const Arrays& arrays, auto zero) {
                   auto values = arrays.read<decltype(zero)>(from);
                   int64_t i = 0;
                   for (auto& value : values) {
                     const int64_t distance = i % columns - i / columns % rows - diagonal;
                     if (upper ? distance < 0 : distance > 0) value = 0;
                     ++i;
                   }
                   arrays.write(to, values);
                 });
}

// The diagonal of a matrix, as a view.
Tensor diagonal_of(const Tensor& matrix, int64_t diagonal) {
  const int64_t rows = matrix.sizes[0], columns = matrix.sizes[1];
  diagonal = std::clamp(diagonal, -rows, columns);
  const int64_t down = std::max<int64_t>(-diagonal, 0), right = std::max<int64_t>(diagonal, 0);
  Tensor view = view_of(matrix);
  view.offset = down * matrix.strides[0] + right * matrix.strides[1];
  view.sizes = Dims{std::min(rows - down, columns - right)};
  view.strides = Dims{matrix.strides[0] + matrix.strides[1]};
  return view;
}

}  // namespace

Run tril(const Given& given) { return triangle(given, false); }
Run triu(const Given& given) { return triangle(given, true); }

// The diagonal of a matrix, or a matrix that has self as a diagonal.
Run diag(const Given& given) {
  const Tensor &self = given.tensor("self"), &out = given.tensor("out");
  require(self.rank() == 1 || self.rank() == 2, "rank-differs"_rule, "self has shape ", self.sizes,
          "; expected rank 1 or 2");
  const int64_t diagonal = given.integer("diagonal");
  if (self.rank() == 2) {
    const Tensor view = diagonal_of(self, diagonal);
    given.require_shape("out", view.sizes);
    return [view](const Arrays& arrays) {
      copy(at(arrays.view("self"), view), view.sizes, arrays.view("out"));
    };
  }
  const auto size = checked_add(self.sizes[0], diagonal < 0 ? times(-1, diagonal) : diagonal);
  require(size.has_value() && *size >= 0, "sizes-sum"_rule, "diagonal is ", diagonal,
          "; expected sizes that fit 64 bits");
  given.require_shape("out", Dims{*size, *size});
  return [view = diagonal_of(out, diagonal), sizes = self.sizes](const Arrays& arrays) {
    arrays.write("out", Sizes(static_cast<size_t>(arrays.view("out").tensor->numel())));
    copy(arrays.view("self"), sizes, at(arrays.view("out"), view));
  };
}

Run trace(const Given& given) {
  const Tensor& self = given.tensor("self");
  require(self.rank() == 2, "rank-differs"_rule, "self has shape ", self.sizes,
          "; expected rank 2");
  require_elements(given, "out", 1);
  return in_type(is_whole(self), [view = diagonal_of(self, 0)](const Arrays& arrays, auto zero) {
    using T = decltype(zero);
    T sum = 0;
    for (T value : described::read<T>(at(arrays.view("self"), view), view.sizes))
      sum = plus(sum, value);
    arrays.write("out", std::vector<T>{sum});
  });
}

}  // namespace softnpu::everyday
