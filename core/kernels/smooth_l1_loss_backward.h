// SPDX-License-Identifier: Apache-2.0
// The numbers that phase one hands to the kernel. float64: products and sums of float32 values keep
// all their bits in it, nothing overflows on the way, and one rounding is left. Some allow float32,
// which is quicker.
#pragma once

namespace softnpu::kernels {

struct SmoothL1LossBackwardNumbers {
  double beta;
  double norm;  // 1, or 1/N for the mean
  double norm_over_beta;

  // Four roundings are all that happens to normal numbers: of d, of norm / beta, and of two
  // products.
  bool fits_float() const { return is_moderate(norm) && is_moderate(norm_over_beta) && beta > 0; }
  static bool is_moderate(double v) { return v > 0x1p-60 && v < 0x1p60; }
};

}  // namespace softnpu::kernels
