// SPDX-License-Identifier: Apache-2.0
// The task of the upsample kernels: how the axes of both tensors are walked.
#pragma once

#include <cstddef>

#include "ops/upsample_nearest3d_backward.h"

namespace softnpu::ops {

// Where the axes N, C, D, H, W stand in a tensor's shape. Every format but NDHWC reads as NCDHW.
struct Axes {
  size_t n, c, d, h, w;
};
inline Axes axes_of(const Tensor& tensor) {
  return tensor.format == Format::ndhwc ? Axes{0, 4, 1, 2, 3} : Axes{0, 1, 2, 3, 4};
}

inline bool scales_given(const UpsampleNearest3dBackward::Args& a) {
  return a.scales_d > 0 && a.scales_h > 0 && a.scales_w > 0;
}

// For arguments that have been checked.
kernels::UpsampleNearest3dBackwardTask upsample_task(const UpsampleNearest3dBackward::Args& a);

}  // namespace softnpu::ops
