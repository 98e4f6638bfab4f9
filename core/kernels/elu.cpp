// SPDX-License-Identifier: Apache-2.0
// elu: scale · x above 0, else alpha · scale · (exp(x · inputScale) - 1).
#include "kernels/elu.h"

#include "kernels/kernels.h"
#include "loops/expm1.h"
#include "loops/row_loops.h"

SOFTNPU_LEVEL_BEGIN
namespace {

struct Elu {
  EluNumbers c;
  SOFTNPU_INLINE float operator()(float x) const {
    const double below = c.alpha_scale * expm1_for_float(x * c.input_scale);
    return static_cast<float>(x > 0 ? c.scale * x : below);
  }
};

}  // namespace

void elu(const ElementwiseLayout& layout, std::byte* const* origins, const void* numbers,
         int64_t begin, int64_t end) {
  const auto& c = *static_cast<const EluNumbers*>(numbers);
  if (!c.fits_float()) return walk<1>(layout, origins, Elu{c}, begin, end);
  walk<1>(layout, origins, ScaledElu(c.scale, c.alpha_scale), begin, end);
}

SOFTNPU_LEVEL_END
