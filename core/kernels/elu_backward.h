// SPDX-License-Identifier: Apache-2.0
// The parameters that phase one passes to the kernel. In float64, products and sums of float32
// values are exact and do not overflow, so the result is rounded once. For some values float32
// suffices and is faster.
#pragma once

#include <cmath>

namespace softnpu::kernels {

struct EluBackwardNumbers {
  double scale;
  double alpha_scale;  // alpha · scale, exact
  double input_scale;
  double input_alpha_scale;  // inputScale · alpha · scale

  // Whether float32 suffices, where two roundings happen.
  // x + alpha · scale, then the product with gradOutput. The bound keeps the sum finite.
  bool result_fits_float() const {
    return input_scale == 1 && static_cast<float>(alpha_scale) == alpha_scale &&
           alpha_scale < 1e30 && alpha_scale > -1e30;
  }
  // alpha · scale · exp(x), then the product with gradOutput. The factor must be exact and
  // moderate.
  bool input_fits_float() const {
    const double size = std::abs(alpha_scale);
    return input_scale == 1 && static_cast<float>(alpha_scale) == alpha_scale && size < 0x1p20 &&
           size > 0x1p-20;
  }
  // The lowest x for which exp(x) and its product with alpha · scale are normal numbers.
  double least_input() const {
    const double size = std::abs(alpha_scale);
    return size < 1 ? -86 - std::log(size) : -86;
  }
};

}  // namespace softnpu::kernels
