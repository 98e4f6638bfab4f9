// SPDX-License-Identifier: Apache-2.0
// What nearest upsampling and its gradient share: the order of axes, checks, and the axes that
// their kernels walk. `in` is the smaller side, self or gradInput, `out` the upsampled one.
#pragma once

#include <array>
#include <cstddef>

#include "executor/operand.h"
#include "kernels/upsample_axes.h"

namespace softnpu::ops {

// Where the axes N, C, D, H, W stand in a tensor's shape. Every format but NDHWC reads as NCDHW.
struct AxisOrder {
  size_t n, c, d, h, w;
};
inline AxisOrder axis_order(const Tensor& tensor) {
  return tensor.format == Format::ndhwc ? AxisOrder{0, 4, 1, 2, 3} : AxisOrder{0, 1, 2, 3, 4};
}

// The sizes of a tensor of rank 5 as N, C, D, H, W.
inline Dims sizes_in_order(const Tensor& tensor) {
  const AxisOrder at = axis_order(tensor);
  const Dims& sizes = tensor.sizes;
  return {sizes[at.n], sizes[at.c], sizes[at.d], sizes[at.h], sizes[at.w]};
}

// For D, H, W. They count only if all are above 0.
struct Scales {
  std::array<double, 3> values;

  bool are_given() const { return values[0] > 0 && values[1] > 0 && values[2] > 0; }
};
template <class Args>
Scales scales_of(const Args& a) {
  return {a.scales_d, a.scales_h, a.scales_w};
}

// The rules are named where these are called, so that an operator's list of checks shows them.

// Of one data type, and both NDHWC or neither.
Status check_types_and_formats(const Operand& other, const Operand& first, RuleId rule);
// So many sizes, all above 0.
Status check_upsample_sizes(const char* name, const IntArray& sizes, size_t length, RuleId rule);
// What the device has room and index width for. Both shapes are in the order N, C, D, H, W.
Status check_upsample_limits(const char* out_name, const Dims& out, const char* in_name,
                             const Dims& in, RuleId rule);
// Scales that are given take the sizes of `in`, in the same order, to those of outputSize.
Status check_scales(const Scales& scales, const Dims& in, const Dims& output_size, RuleId rule);

// For arguments that have been checked. Axes of scale 1 have joined the side axis where they can,
// and those outside them have moved in: H is `w` then, and D is `h`.
kernels::UpsampleAxes upsample_axes(const Tensor& out, const Tensor& in, const Scales& scales);

}  // namespace softnpu::ops
