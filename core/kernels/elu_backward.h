// SPDX-License-Identifier: Apache-2.0
// The numbers that phase one hands to the kernel. float64: products and sums of float32 values keep
// all their bits in it, nothing overflows on the way, and one rounding is left. Some allow float32,
// which is quicker.
#pragma once

#include <cmath>

namespace softnpu::kernels {

struct EluBackwardNumbers {
  double scale;
  double alpha_scale;  // alpha · scale, exact
  double input_scale;
  double input_alpha_scale;  // inputScale · alpha · scale

  // Whether float32 does: where two roundings are all that happens.
  // x + alpha · scale, then the product with gradOutput. The bound keeps the sum finite.
  bool result_fits_float() const {
    return input_scale == 1 && static_cast<float>(alpha_scale) == alpha_scale &&
           alpha_scale < 1e30 && alpha_scale > -1e30;
  }
  // alpha · scale · exp(x), then the product with gradOutput; the factor is exact and moderate.
  bool input_fits_float() const {
    const double size = std::abs(alpha_scale);
    return input_scale == 1 && static_cast<float>(alpha_scale) == alpha_scale && size < 0x1p20 &&
           size > 0x1p-20;
  }
  // From where on exp(x), and its product with alpha · scale, are normal numbers.
  double least_input() const {
    const double size = std::abs(alpha_scale);
    return size < 1 ? -86 - std::log(size) : -86;
  }
};

}  // namespace softnpu::kernels
