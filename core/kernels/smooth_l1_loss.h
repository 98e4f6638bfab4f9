// SPDX-License-Identifier: Apache-2.0
// The parameters that phase one passes to the kernel, in float64, where products and sums of
// float32 values do not overflow. For some values float32 suffices and is faster.
#pragma once

namespace softnpu::kernels {

struct SmoothL1LossNumbers {
  double beta;
  double half_beta;
  double half_over_beta;  // 0 for beta = 0, where nothing is below it

  explicit SmoothL1LossNumbers(double beta)
      : beta(beta), half_beta(beta / 2), half_over_beta(beta > 0 ? 0.5 / beta : 0) {}

  // With these bounds, d · half_over_beta is subnormal only if the loss underflows anyway.
  bool fits_float() const { return beta == 0 || (beta > 0x1p-60 && beta < 0x1p60); }
};

}  // namespace softnpu::kernels
