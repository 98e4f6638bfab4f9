// SPDX-License-Identifier: Apache-2.0
// The parameters that phase one passes to the kernel. In float64, products and sums of float32
// values are exact and do not overflow, so the result is rounded once. For some values float32
// suffices and is faster.
#pragma once

namespace softnpu::kernels {

struct SmoothL1LossBackwardNumbers {
  double beta;
  double norm;  // 1, or 1/N for the mean
  double norm_over_beta;

  // With these bounds, all intermediate values are normal numbers, and four roundings happen.
  bool fits_float() const { return is_moderate(norm) && is_moderate(norm_over_beta) && beta > 0; }
  static bool is_moderate(double v) { return v > 0x1p-60 && v < 0x1p60; }
};

}  // namespace softnpu::kernels
