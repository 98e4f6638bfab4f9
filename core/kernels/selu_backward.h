// SPDX-License-Identifier: Apache-2.0
// The numbers that phase one hands to the kernel. float64: products and sums of float32 values keep
// all their bits in it, nothing overflows on the way, and one rounding is left.
#pragma once

namespace softnpu::kernels {

struct SeluBackwardNumbers {
  double lambda = 1.0507009873554804934193349852946;
  double lambda_alpha = 1.7580993408473768599402175208123;
};

}  // namespace softnpu::kernels
