// SPDX-License-Identifier: Apache-2.0
// smooth_l1_loss_backward: gradInput = gradOut · (d / beta, or sign(d) from |d| = beta on) · norm.
#include "kernels/kernels.h"
#include "loops/walk.h"

SOFTNPU_LEVEL_BEGIN
namespace {

struct SmoothL1 {
  SmoothL1LossBackwardNumbers c;
  SOFTNPU_INLINE float operator()(float grad, float self, float target) const {
    const double d = static_cast<double>(self) - target;
    const double outside = d > 0 ? c.norm : d < 0 ? -c.norm : d + 0.0;  // 0 (not -0) or NaN
    const double inside = d * c.norm_over_beta;
    const double magnitude = d < 0 ? -d : d;
    return static_cast<float>(grad * (magnitude < c.beta ? inside : outside));
  }
};

// The same in float32, where SmoothL1LossBackwardNumbers::fits_float() holds: beta = norm = 1.
struct SmoothL1InFloat {
  SOFTNPU_INLINE float operator()(float grad, float self, float target) const {
    const float d = self - target;
    const float below = d < -1 ? -1 : d;
    return grad * (d > 1 ? 1 : below);
  }
};

}  // namespace

void smooth_l1_loss_backward(const ElementwiseLayout& layout, std::byte* const* origins,
                             const void* numbers, int64_t begin, int64_t end) {
  if (static_cast<const SmoothL1LossBackwardNumbers*>(numbers)->fits_float())
    return walk<3, float, SmoothL1InFloat>(layout, origins, numbers, begin, end);
  walk<3, float, SmoothL1>(layout, origins, numbers, begin, end);
}

SOFTNPU_LEVEL_END
