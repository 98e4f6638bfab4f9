// SPDX-License-Identifier: Apache-2.0
// The numbers that phase one hands to the kernel, in float64, where products and sums of float32
// values overflow nowhere. Some allow float32, which is quicker.
#pragma once

namespace softnpu::kernels {

struct SmoothL1LossNumbers {
  double beta;
  double half_beta;
  double half_over_beta;  // 0 for beta = 0, where nothing is below it

  explicit SmoothL1LossNumbers(double beta)
      : beta(beta), half_beta(beta / 2), half_over_beta(beta > 0 ? 0.5 / beta : 0) {}

  // d · half_over_beta is only rounded among the subnormals where the loss is far below them.
  bool fits_float() const { return beta == 0 || (beta > 0x1p-60 && beta < 0x1p60); }
};

}  // namespace softnpu::kernels
