// SPDX-License-Identifier: Apache-2.0
// The parameters that phase one passes to the kernel, in float64, where their products are exact.
#pragma once

#include <cmath>

namespace softnpu::kernels {

struct EluNumbers {
  double scale;
  double alpha_scale;  // alpha · scale
  double input_scale;

  EluNumbers(float alpha, float scale, float input_scale)
      : scale(scale), alpha_scale(double{alpha} * scale), input_scale(input_scale) {}

  // Whether float32 is accurate enough: alpha · scale must be exact and moderate, so that its
  // products with expm1(x) are accurate to a few ULP.
  bool fits_float() const {
    const double size = std::abs(alpha_scale);
    return input_scale == 1 && static_cast<float>(alpha_scale) == alpha_scale && size < 0x1p20 &&
           size > 0x1p-20;
  }
};

}  // namespace softnpu::kernels
