// SPDX-License-Identifier: Apache-2.0
#include "everyday/layers.h"

#include <algorithm>

namespace softnpu::everyday {

Around around(const Dims& sizes, size_t dim) {
  const std::span<const int64_t> all(sizes);
  if (all.empty()) return {};
  return {product(all.first(dim)), all[dim], product(all.subspan(dim + 1))};
}

void require_rank(const Given& given, std::string_view name, size_t low, size_t high) {
  const Dims& sizes = given.tensor(name).sizes;
  if (low == high)
    require(sizes.size() == low, "rank-range"_rule, name, " has shape ", sizes, "; expected rank ",
            low);
  require(low <= sizes.size() && sizes.size() <= high, "rank-range"_rule, name, " has shape ",
          sizes, "; expected rank ", low, " to ", high);
}

void require_given(const Given& given, std::string_view name) {
  if (!given.has(name)) throw Failure{fail("argument-null"_rule, kParamNullptr, name, " is null")};
}

void require_shape_if_given(const Given& given, std::string_view name, const Dims& sizes) {
  if (given.has(name)) given.require_shape(name, sizes);
}

void require_absent(const Given& given, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    require(!given.has(name), "argument-unsupported"_rule, name,
            " is given, but softnpu only computes without it; expected null");
}

void require_broadcast(const Given& given, std::string_view name, const Dims& sizes) {
  if (!given.has(name)) return;
  const Dims& own = given.tensor(name).sizes;
  require(broadcast_sizes(own, sizes) == sizes, "broadcast"_rule, name, " has shape ", own,
          ", which cannot be broadcast to ", sizes);
}

bool is_wanted(const Given& given, size_t flag, std::string_view output) {
  if (!given.flag("outputMask", flag)) return false;
  require_given(given, output);
  return true;
}

std::vector<int64_t> per_dimension(const Given& given, std::string_view name, size_t count,
                                   const std::vector<int64_t>& empty) {
  const IntArray& given_ones = given.ints(name);
  if (given_ones.empty() && !empty.empty()) return empty;
  if (given_ones.size() == 1) return std::vector<int64_t>(count, *given_ones.begin());
  require(given_ones.size() == count, "array-length"_rule, name, " is ", given_ones, "; expected ",
          count, " elements");
  return {given_ones.begin(), given_ones.end()};
}

std::span<const int64_t> batch_of(const Tensor& tensor) {
  return std::span<const int64_t>(tensor.sizes).first(tensor.rank() < 2 ? 0 : tensor.rank() - 2);
}

Dims common_batch(const Given& given, std::string_view left, std::string_view right) {
  const Dims a(batch_of(given.tensor(left))), b(batch_of(given.tensor(right)));
  const auto batch = broadcast_sizes(a, b);
  require(batch.has_value(), "broadcast"_rule, left, " and ", right, " have batches ", a, " and ",
          b, ", which cannot be broadcast");
  return *batch;
}

void Windows::inside(int d, int64_t k, int64_t& first, int64_t& last) const {
  const int64_t start = position(d, 0, k), step = stride[d];
  first = std::clamp(start < 0 ? (-start + step - 1) / step : 0, int64_t{0}, out[d]);
  const int64_t room = in[d] - start;  // windows o with o * step < room
  last = std::clamp(room <= 0 ? 0 : (room + step - 1) / step, first, out[d]);
}

void set_windows(const Given& given, size_t count, std::string_view dilation, Windows& windows) {
  const size_t missing = 3 - count;
  const std::vector<int64_t> kernel(windows.kernel + missing, windows.kernel + 3);
  const auto strides = per_dimension(given, "stride", count, kernel);
  const bool two_sided = given.ints("padding").size() == 2 * count;
  const auto pads = per_dimension(given, "padding", two_sided ? 2 * count : count);
  const auto dilations =
      dilation.empty() ? std::vector<int64_t>(count, 1) : per_dimension(given, dilation, count);
  for (size_t i = 0; i < count; ++i) {
    const size_t d = missing + i;
    const auto bounded = [&](std::string_view name, int64_t value, int64_t low) {
      require(low <= value && value < (int64_t{1} << 31), "window"_rule, "an element of ", name,
              " is ", value, "; expected ", low, " or more and less than 2^31");
      return value;
    };
    windows.stride[d] = bounded("stride", strides[i], 1);
    windows.pad[d] = bounded("padding", pads[two_sided ? 2 * i : i], 0);
    windows.pad_after[d] = bounded("padding", pads[two_sided ? 2 * i + 1 : i], 0);
    windows.dilation[d] = bounded("dilation", dilations[i], 1);
    bounded("the kernel's size", kernel[i], 1);
  }
}

}  // namespace softnpu::everyday
