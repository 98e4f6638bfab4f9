// SPDX-License-Identifier: Apache-2.0
// smooth_l1_loss: d² / (2 · beta), or |d| − beta / 2 from |d| = beta on, d = self − target; and the
// sums of it.
#include "kernels/smooth_l1_loss.h"

#include "kernels/kernels.h"
#include "kernels/smooth_l1.h"
#include "loops/row_loops.h"
#include "loops/row_sums.h"

SOFTNPU_LEVEL_BEGIN
namespace {

struct SmoothL1Loss {
  SmoothL1LossNumbers c;

  // V: double, or a vector of them.
  template <class V>
  SOFTNPU_INLINE V wide(V self, V target) const {
    const V d = self - target;
    const V size = magnitude(d);
    return size < c.beta ? d * d * c.half_over_beta : size - c.half_beta;
  }
  SOFTNPU_INLINE float operator()(float self, float target) const {
    return static_cast<float>(wide<double>(self, target));
  }
};

// The float32 formula, used if SmoothL1LossNumbers::fits_float() holds: within 2 ULP. A factor that
// is a power of two is exact, so that only d and the last product are rounded. Any other factor is
// split in two parts, and the rounding error of d is included, because three roundings would be too
// many.
template <bool kPowerOfTwo>
struct SmoothL1LossInFloat {
  float beta, half_beta, factor, factor_low;

  explicit SmoothL1LossInFloat(const SmoothL1LossNumbers& c)
      : beta(static_cast<float>(c.beta)),
        half_beta(static_cast<float>(c.half_beta)),
        factor(rounded_down(c.half_over_beta)),
        factor_low(static_cast<float>(c.half_over_beta - factor)) {}

  template <class V>
  SOFTNPU_INLINE V operator()(V self, V target) const {
    const V d = self - target, size = magnitude(d);
    return select(size < splat<V>(beta), below_beta(self, target, d), size - splat<V>(half_beta));
  }

 private:
  template <class V>
  SOFTNPU_INLINE V below_beta(V self, V target, V d) const {
    const V high = splat<V>(factor);
    if constexpr (kPowerOfTwo) return d * (d * high);
    const V excess = excess_of_difference(self, target, d);
    const V low = fused(excess, -high, d * splat<V>(factor_low));
    const V slope = fused(d, high, low);  // (d - excess) / (2 · beta)
    return fused(d, slope, -(excess * slope));
  }
};

}  // namespace

void smooth_l1_loss(const ElementwiseLayout& layout, std::byte* const* origins, const void* numbers,
                    int64_t begin, int64_t end) {
  const auto& c = *static_cast<const SmoothL1LossNumbers*>(numbers);
  if (!c.fits_float()) return walk<2>(layout, origins, SmoothL1Loss{c}, begin, end);
  if (is_power_of_two(c.half_over_beta))
    return walk<2>(layout, origins, SmoothL1LossInFloat<true>(c), begin, end);
  walk<2>(layout, origins, SmoothL1LossInFloat<false>(c), begin, end);
}

void smooth_l1_loss_sum(const ElementwiseLayout& layout, std::byte* const* origins,
                        const void* numbers, int64_t begin, int64_t end) {
  const SmoothL1Loss formula{*static_cast<const SmoothL1LossNumbers*>(numbers)};
  sum_tiles(layout, origins, formula, begin, end);
}

SOFTNPU_LEVEL_END
