// SPDX-License-Identifier: Apache-2.0
// What the layers of networks share.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "everyday/plans.h"

namespace softnpu::everyday {

using Values = std::vector<double>;

// The largest number if the product is larger, which only sizes beside a 0 reach.
inline int64_t product(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(n, size, &n)) n = std::numeric_limits<int64_t>::max();
  return n;
}

// A tensor as [outer, length, inner] around one of its dimensions.
struct Around {
  int64_t outer = 1, length = 1, inner = 1;
};
Around around(const Dims& sizes, size_t dim);

// Calls f(first, step) for each line of elements along the dimension.
template <class F>
void for_each_line(const Around& at, F&& f) {
  if (at.length == 0) return;
  for (int64_t o = 0; o < at.outer && at.inner > 0; ++o)
    for (int64_t i = 0; i < at.inner; ++i) f(o * at.length * at.inner + i, at.inner);
}

void require_rank(const Given& given, std::string_view name, size_t low, size_t high);
inline void require_like(const Given& given, std::string_view name, std::string_view other) {
  given.require_shape(name, given.tensor(other).sizes);
}
// Fails if the argument, which some calls may leave out, is null.
void require_given(const Given& given, std::string_view name);
// Of a tensor that may be absent.
void require_shape_if_given(const Given& given, std::string_view name, const Dims& sizes);

// Fails if one of them is given: softnpu's operator cannot use it.
void require_absent(const Given& given, std::initializer_list<std::string_view> names);
// Of a tensor that may be absent.
void require_broadcast(const Given& given, std::string_view name, const Dims& sizes);

// Whether the flag of an output is set. Fails if the output is null then.
bool is_wanted(const Given& given, size_t flag, std::string_view output);

// The elements of an array, one for each of `count` dimensions. One element stands for all; `empty`
// stands for an empty array, if it is allowed.
std::vector<int64_t> per_dimension(const Given& given, std::string_view name, size_t count,
                                   const std::vector<int64_t>& empty = {});

// The sizes before those of the matrices. Two tensors of matrices are broadcast to a common batch.
std::span<const int64_t> batch_of(const Tensor& tensor);
Dims common_batch(const Given& given, std::string_view left, std::string_view right);

// Windows of elements that a convolution or a pooling takes along up to 3 dimensions. Missing
// dimensions come first and have size 1.
struct Windows {
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  int64_t pad[3] = {0, 0, 0}, pad_after[3] = {0, 0, 0};

  int64_t reach(int d) const { return dilation[d] * (kernel[d] - 1) + 1; }
  // Where element k of window o lies along d; it may be in the padding.
  int64_t position(int d, int64_t o, int64_t k) const {
    return o * stride[d] - pad[d] + k * dilation[d];
  }
  // The windows [first, last) along d whose element k lies in the input.
  void inside(int d, int64_t k, int64_t& first, int64_t& last) const;
  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

// Sets stride, padding and dilation of the last `count` dimensions, as the arrays of these names
// say ("" if there is none). The kernel must be set. An empty stride is that of the kernel. padding
// may have two elements for each dimension, before and after.
void set_windows(const Given& given, size_t count, std::string_view dilation, Windows& windows);

}  // namespace softnpu::everyday
