// SPDX-License-Identifier: Apache-2.0
// Code shared by nearest upsampling and its gradient: the order of axes, checks, and the axes that
// the kernels walk. `in` is the smaller side (self or gradInput), `out` the upsampled one.
#pragma once

#include <array>
#include <cstddef>

#include "executor/operand.h"
#include "kernels/upsample_axes.h"

namespace softnpu::ops {

// The positions of N, C, D, H, W in a tensor's shape. All formats except NDHWC are read as NCDHW.
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

// For D, H, W. They are used only if all are above 0.
struct Scales {
  std::array<double, 3> values;

  bool are_given() const { return values[0] > 0 && values[1] > 0 && values[2] > 0; }
};
template <class Args>
Scales scales_of(const Args& a) {
  return {a.scales_d, a.scales_h, a.scales_w};
}

// The rules are passed by the callers, so that an operator's file shows them.

// The same data type, and both NDHWC or neither.
Status check_types_and_formats(const Operand& other, const Operand& first, RuleId rule);
// Exactly `length` sizes, all above 0.
Status check_upsample_sizes(const char* name, const IntArray& sizes, size_t length, RuleId rule);
// The limits of the device's memory and indices. Both shapes are in the order N, C, D, H, W.
Status check_upsample_limits(const char* out_name, const Dims& out, const char* in_name,
                             const Dims& in, RuleId rule);
// If scales are given, they must map the sizes of `in`, in the same order, to outputSize.
Status check_scales(const Scales& scales, const Dims& in, const Dims& output_size, RuleId rule);

// Requires checked arguments. Axes of scale 1 join the side axis if possible; then the outer axes
// move inwards: H becomes `w`, and D becomes `h`.
kernels::UpsampleAxes upsample_axes(const Tensor& out, const Tensor& in, const Scales& scales);

}  // namespace softnpu::ops
