// SPDX-License-Identifier: Apache-2.0
// smooth_l1_loss_backward: gradInput = gradOut · (d / beta, or sign(d) from |d| = beta on) · norm.
#include "kernels/smooth_l1_loss_backward.h"

#include "kernels/kernels.h"
#include "kernels/smooth_l1.h"
#include "loops/row_loops.h"

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

// A lower bound of the difference of two unequal numbers of these types.
inline float least_difference(DType self, DType target) {
  return self == DType::f16 && target == DType::f16 ? 0x1p-24f : 0.0f;
}

// Bounded, because for a large d, whose error may be infinite, only the sign counts.
template <class V>
SOFTNPU_INLINE V bounded_excess(V a, V b, V d) {
  const V excess = excess_of_difference(a, b, d), most = splat<V>(0x1p60f);
  const V below = select(excess < most, excess, most);
  return select(below > -most, below, -most);
}

// The float32 formula, used if SmoothL1LossBackwardNumbers::fits_float() holds: within 2 ULP.
// Products with a power of two are exact. Any other factor norm / beta is split in two parts, and
// the rounding error of d is included unless the result is rounded to 16 bits, because three
// roundings would be too many. If a product of d is subnormal, a large gradOut would make the lost
// bits visible, so such elements are computed in float64. The product with the lower part becomes
// subnormal 24 bits earlier.
enum class Factor { power_of_two, any, any_for_16_bits };
template <Factor kFactor>
struct SmoothL1InFloat {
  static constexpr bool kPowerOfTwo = kFactor == Factor::power_of_two;

  SmoothL1 wide;
  float norm, factor, factor_low, least;

  SmoothL1InFloat(const SmoothL1LossBackwardNumbers& c, float least_difference)
      : wide{c},
        norm(static_cast<float>(c.norm)),
        factor(rounded_down(c.norm_over_beta)),
        factor_low(static_cast<float>(c.norm_over_beta - factor)),
        least(static_cast<float>((kPowerOfTwo ? 0x1p-125 : 0x1p-101) / c.norm_over_beta)) {
    if (least <= least_difference || c.norm_over_beta == 1) least = 0;
  }

  template <class V>
  SOFTNPU_INLINE V operator()(V grad, V self, V target) const {
    const V d = self - target;
    V inside = d * factor;
    if constexpr (!kPowerOfTwo) {
      V low = d * factor_low;
      if constexpr (kFactor == Factor::any)
        low = fused(bounded_excess(self, target, d), splat<V>(-factor), low);
      inside = fused(d, splat<V>(factor), low);
    }
    // At |d| = beta, `inside` is within 1 ULP of norm. Comparisons with NaN are false.
    const V below = select(inside < -norm, splat<V>(-norm), inside);
    return grad * select(below > norm, splat<V>(norm), below);
  }
  bool may_be_rare() const { return least > 0; }
  template <class V>
  SOFTNPU_INLINE auto is_rare(V /*grad*/, V self, V target) const {
    return is_tiny(self - target, least);
  }
};

}  // namespace

void smooth_l1_loss_backward(const ElementwiseLayout& layout, std::byte* const* origins,
                             const void* numbers, int64_t begin, int64_t end) {
  const auto& c = *static_cast<const SmoothL1LossBackwardNumbers*>(numbers);
  if (!c.fits_float()) return walk<3>(layout, origins, SmoothL1{c}, begin, end);
  const float apart = least_difference(layout.dtype[1], layout.dtype[2]);
  if (is_power_of_two(c.norm_over_beta))
    return walk<3>(layout, origins, SmoothL1InFloat<Factor::power_of_two>(c, apart), begin, end);
  if (item_size(layout.dtype[3]) == 2)
    return walk<3>(layout, origins, SmoothL1InFloat<Factor::any_for_16_bits>(c, apart), begin, end);
  walk<3>(layout, origins, SmoothL1InFloat<Factor::any>(c, apart), begin, end);
}

SOFTNPU_LEVEL_END
