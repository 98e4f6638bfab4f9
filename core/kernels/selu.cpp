// SPDX-License-Identifier: Apache-2.0
// selu: lambda · x above 0, else lambda · alpha · (exp(x) - 1).
#include "kernels/selu.h"

#include "kernels/kernels.h"
#include "loops/expm1.h"
#include "loops/row_loops.h"

SOFTNPU_LEVEL_BEGIN
namespace {

// For integers, in float64: float32 does not hold INT32, and truncating a rounded result could be
// off by one.
struct Selu {
  SeluNumbers c;
  SOFTNPU_INLINE double operator()(double x) const {
    return x > 0 ? c.lambda * x : c.lambda_alpha * expm1_for_float(x);
  }
};

constexpr RowLoops kLoops = [] {
  RowLoops loops = kFloatLoops<ScaledElu, 1>;
  loops.i8[0] = row_loop<Selu, 1, int8_t, false>;
  loops.i8[1] = row_loop<Selu, 1, int8_t, true>;
  loops.i32[0] = row_loop<Selu, 1, int32_t, false>;
  loops.i32[1] = row_loop<Selu, 1, int32_t, true>;
  return loops;
}();

}  // namespace

void selu(const ElementwiseLayout& layout, std::byte* const* origins, const void* numbers,
          int64_t begin, int64_t end) {
  const auto& c = *static_cast<const SeluNumbers*>(numbers);
  const auto walk_with = [&](const auto& formula) {
    walk_rows(layout, origins, kLoops, &formula, begin, end);
  };
  if (is_integer(layout.dtype[0])) return walk_with(Selu{c});
  walk_with(ScaledElu(c.lambda, c.lambda_alpha));
}

SOFTNPU_LEVEL_END
