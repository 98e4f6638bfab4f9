// SPDX-License-Identifier: Apache-2.0
// elu_backward: gradInput = gradOutput · elu'(x), from the forward's output or from its input.
#include "kernels/kernels.h"
#include "loops/exp.h"
#include "loops/walk.h"

SOFTNPU_LEVEL_BEGIN
namespace {

struct FromResult {
  EluBackwardNumbers c;
  SOFTNPU_INLINE float operator()(float grad, float x) const {
    // x + alpha · scale cancels near -alpha · scale; in float64 nothing is lost there.
    const double below = c.input_scale * (x + c.alpha_scale);
    return static_cast<float>(grad * (x > 0 ? c.scale : below));
  }
};

// The same in float32, where EluBackwardNumbers::result_fits_float() holds.
struct FromResultInFloat {
  float scale, alpha_scale;
  SOFTNPU_INLINE float operator()(float grad, float x) const {
    return grad * (x > 0 ? scale : x + alpha_scale);
  }
};

struct FromInput {
  EluBackwardNumbers c;
  SOFTNPU_INLINE float operator()(float grad, float x) const {
    const double below = c.input_alpha_scale * exp_for_float(x * c.input_scale);
    return static_cast<float>(grad * (x > 0 ? c.scale : below));
  }
};

// The same in float32 where inputScale = alpha = scale = 1: gradOutput · exp(x) for x <= 0. Below
// kLeast exp(x) loses bits to underflow that a large gradOutput would bring back, so such elements
// are computed in float64, and only blocks that have some pay for it.
struct FromInputInFloat {
  static constexpr float kLeast = -86.0f;
  FromInput wide;

  SOFTNPU_INLINE float operator()(float grad, float x) const {
    return grad * (x > 0 ? 1.0f : exp_of_moderate(x));
  }
};

// What walk() calls for this formula in place of the plain loop.
void apply(const FromInputInFloat& formula, int64_t n, float* out, const float* grad,
           const float* x) {
  constexpr int64_t kBlock = 256;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = n - begin < kBlock ? n : begin + kBlock;
    int least = 0;
    for (int64_t i = begin; i < end; ++i) least |= x[i] < FromInputInFloat::kLeast;
    if (least == 0) {
      SOFTNPU_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) out[i] = one_nan(formula(grad[i], x[i]));
    } else {
      SOFTNPU_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) {
        const float narrow = formula(grad[i], x[i]), wide = formula.wide(grad[i], x[i]);
        out[i] = one_nan(x[i] < FromInputInFloat::kLeast ? wide : narrow);
      }
    }
  }
}

}  // namespace

void elu_backward_from_result(const ElementwiseLayout& layout, std::byte* const* origins,
                              const void* numbers, int64_t begin, int64_t end) {
  const auto& c = *static_cast<const EluBackwardNumbers*>(numbers);
  if (!c.result_fits_float())
    return walk<2, float, FromResult>(layout, origins, numbers, begin, end);
  const FromResultInFloat formula{static_cast<float>(c.scale), static_cast<float>(c.alpha_scale)};
  walk<2, float, FromResultInFloat>(layout, origins, &formula, begin, end);
}

void elu_backward_from_input(const ElementwiseLayout& layout, std::byte* const* origins,
                             const void* numbers, int64_t begin, int64_t end) {
  const auto& c = *static_cast<const EluBackwardNumbers*>(numbers);
  if (!c.all_are_one()) return walk<2, float, FromInput>(layout, origins, numbers, begin, end);
  walk<2, float, FromInputInFloat>(layout, origins, numbers, begin, end);
}

SOFTNPU_LEVEL_END
