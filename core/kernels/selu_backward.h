// SPDX-License-Identifier: Apache-2.0
// The constants of selu, in float64, where products and sums of float32 values are exact.
#pragma once

namespace softnpu::kernels {

struct SeluBackwardNumbers {
  double lambda = 1.0507009873554804934193349852946;
  double lambda_alpha = 1.7580993408473768599402175208123;
};

}  // namespace softnpu::kernels
