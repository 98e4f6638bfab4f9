// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "everyday/views.h"

namespace softnpu::everyday {
namespace {

// Below 0 where it does not fit 64 bits, too.
int64_t padded_size(int64_t size, int64_t before, int64_t after) {
  const auto sum = checked_add(size, before);
  return sum ? checked_add(*sum, after).value_or(-1) : -1;
}

}  // namespace

// Negative padding crops.
Run constant_pad_nd(const Given& given) {
  const Tensor& self = given.tensor("self");
  const IntArray& padding = given.ints("padding");
  require(padding.size() % 2 == 0 && padding.size() <= 2 * self.rank(), "array-length"_rule,
          "padding has ", padding.size(), " elements; expected pairs for at most ", self.rank(),
          " dimensions");
  Dims sizes = self.sizes;
  Tensor from = view_of(self), to = view_of(given.tensor("out"));
  for (size_t pair = 0; 2 * pair < padding.size(); ++pair) {
    const size_t d = self.rank() - 1 - pair;
    const int64_t before = padding[2 * pair], after = padding[2 * pair + 1];
    sizes[d] = padded_size(sizes[d], before, after);
    require(sizes[d] >= 0, "padding-size"_rule, "padding is ", padding, ", which leaves ", sizes[d],
            " elements of dimension ", d, "; expected 0 or more");
  }
  given.require_shape("out", sizes);
  for (size_t pair = 0; 2 * pair < padding.size(); ++pair) {
    const size_t d = self.rank() - 1 - pair;
    const auto cropped = [&](int64_t by) { return -std::clamp(by, -self.sizes[d], int64_t{0}); };
    const int64_t start = cropped(padding[2 * pair]);
    const int64_t end = self.sizes[d] - cropped(padding[2 * pair + 1]);
    const int64_t size = std::max<int64_t>(end - start, 0);
    narrow(from, d, start, size);
    narrow(to, d, size == 0 ? 0 : std::max<int64_t>(padding[2 * pair], 0), size);
  }
  const Scalar value = given.scalar("value");
  given.real("value");
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    const auto values = described::read<decltype(zero)>(at(arrays.view("self"), from), from.sizes);
    const auto count = static_cast<size_t>(arrays.view("out").tensor->numel());
    if (is_floating(value.dtype))
      arrays.write("out", std::vector<double>(count, number_from<double>(value)));
    else
      arrays.write("out", std::vector<int64_t>(count, number_from<int64_t>(value)));
    described::write(at(arrays.view("out"), to), values.data());
  });
}

Run reflection_pad1d(const Given& given) {
  const Tensor &self = given.tensor("self"), &out = given.tensor("out");
  require(self.rank() == 2 || self.rank() == 3, "rank-differs"_rule, "self has shape ", self.sizes,
          "; expected rank 2 or 3");
  require_length(given, "padding", 2);
  const int64_t left = given.ints("padding")[0], right = given.ints("padding")[1];
  const int64_t size = self.sizes.back(), total = padded_size(size, left, right);
  require(left < size && right < size && total >= 0, "padding-size"_rule, "padding is ",
          given.ints("padding"), "; expected less than ", size, ", the last dimension of self");
  Dims sizes = self.sizes;
  sizes[self.rank() - 1] = total;
  given.require_shape("out", sizes);
  const Rows from = rows_of(self, self.rank() - 1), to = rows_of(out, self.rank() - 1);
  return in_type(is_whole(self), [=](const Arrays& arrays, auto zero) {
    const auto values = read<decltype(zero)>(arrays, "self", from);
    std::vector<decltype(zero)> padded;
    for (const auto* row = values.data(); row != values.data() + values.size(); row += size)
      for (int64_t i = -left; i < size + right; ++i)
        padded.push_back(row[i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i]);
    write(arrays, "out", to, padded);
  });
}

}  // namespace softnpu::everyday
