// SPDX-License-Identifier: Apache-2.0
// selu_backward: gradInput = gradOutput · selu'(x), from the forward's output y.
#include "kernels/selu_backward.h"

#include "kernels/kernels.h"
#include "loops/row_loops.h"

SOFTNPU_LEVEL_BEGIN
namespace {

// In float64, for integers: a rounding before the truncation could cross a whole number.
struct FromResult {
  SeluBackwardNumbers c;
  SOFTNPU_INLINE double operator()(double grad, double y) const {
    return grad * (y >= 0 ? c.lambda : y + c.lambda_alpha);
  }
};

// In float32, within 2 ULP. The constant is split: near -lambda · alpha, where y + lambda · alpha
// cancels, the sum with its first part is exact, and the second part adds the remaining bits.
struct FromResultInFloat {
  float lambda, high, low;

  explicit FromResultInFloat(const SeluBackwardNumbers& c)
      : lambda(static_cast<float>(c.lambda)),
        high(static_cast<float>(c.lambda_alpha)),
        low(static_cast<float>(c.lambda_alpha - high)) {}

  template <class V>
  SOFTNPU_INLINE V operator()(V grad, V y) const {
    // NaN is not >= 0 and takes the branch that keeps it.
    return grad * select(y >= 0.0f, splat<V>(lambda), (y + high) + low);
  }
};

constexpr RowLoops kLoops = [] {
  RowLoops loops = kFloatLoops<FromResultInFloat, 2>;
  loops.i8[0] = row_loop<FromResult, 2, int8_t, false>;
  loops.i8[1] = row_loop<FromResult, 2, int8_t, true>;
  loops.i32[0] = row_loop<FromResult, 2, int32_t, false>;
  loops.i32[1] = row_loop<FromResult, 2, int32_t, true>;
  return loops;
}();

}  // namespace

void selu_backward(const ElementwiseLayout& layout, std::byte* const* origins, const void* numbers,
                   int64_t begin, int64_t end) {
  const auto& c = *static_cast<const SeluBackwardNumbers*>(numbers);
  const auto walk_with = [&](const auto& formula) {
    walk_rows(layout, origins, kLoops, &formula, begin, end);
  };
  if (is_integer(layout.dtype[0])) return walk_with(FromResult{c});
  walk_with(FromResultInFloat(c));
}

SOFTNPU_LEVEL_END
