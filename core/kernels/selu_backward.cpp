// SPDX-License-Identifier: Apache-2.0
// selu_backward: gradInput = gradOutput · selu'(x), from the forward's output y.
#include "kernels/selu_backward.h"

#include <cmath>

#include "kernels/kernels.h"
#include "loops/row_loops.h"

SOFTNPU_LEVEL_BEGIN
namespace {

// In float64, for INT32: a rounding before the one toward zero could cross a whole number.
struct FromResult {
  SeluBackwardNumbers c;
  SOFTNPU_INLINE double operator()(double grad, double y) const {
    return grad * (y >= 0 ? c.lambda : y + c.lambda_alpha);
  }
};

// In float32, within 2 units in the last place. Near -lambda · alpha, where y + lambda · alpha
// cancels, adding the constant's first part is exact, and the second part brings the bits that are
// left.
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

// Of INT8, in whole numbers: gradOutput · c is gradOutput + gradOutput · (c - 1), whose second part
// is rounded down in the high half of a product. There the constant is off by 2^-16 at most, the
// product by 0.00195, and no exact result but 0 is nearer to a whole number than 0.002.
struct FromResultInWholeNumbers {
  int16_t lambda_part, lambda_alpha_part;

  explicit FromResultInWholeNumbers(const SeluBackwardNumbers& c)
      : lambda_part(part(c.lambda)), lambda_alpha_part(part(c.lambda_alpha)) {}

  static int16_t part(double c) { return static_cast<int16_t>(std::lround((c - 1) * 32768)); }

  SOFTNPU_INLINE int16_t operator()(int16_t grad, int16_t y) const {
    const int16_t twice = static_cast<int16_t>(2 * grad);
    const int16_t factor = y >= 0 ? lambda_part : lambda_alpha_part;
    const int16_t part = static_cast<int16_t>((int32_t{twice} * int32_t{factor}) >> 16);
    const int16_t below = static_cast<int16_t>(grad + part + (y >= 0 ? 0 : grad * y));
    // None is whole but 0: the number toward zero is one more.
    return static_cast<int16_t>(below + (below < 0));
  }
};

constexpr RowLoops kLoops = [] {
  RowLoops loops = kFloatLoops<FromResultInFloat, 2>;
  loops.i8[0] = row_loop<FromResultInWholeNumbers, 2, int8_t, false>;
  loops.i8[1] = row_loop<FromResultInWholeNumbers, 2, int8_t, true>;
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
  if (layout.dtype[0] == DType::i8) return walk_with(FromResultInWholeNumbers(c));
  if (layout.dtype[0] == DType::i32) return walk_with(FromResult{c});
  walk_with(FromResultInFloat(c));
}

SOFTNPU_LEVEL_END
