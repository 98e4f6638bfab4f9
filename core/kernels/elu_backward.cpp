// SPDX-License-Identifier: Apache-2.0
// elu_backward: gradInput = gradOutput · elu'(x), from the forward's output or from its input.
#include "kernels/elu_backward.h"

#include "kernels/kernels.h"
#include "loops/exp.h"
#include "loops/row_loops.h"

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

// The float32 formula, used if EluBackwardNumbers::result_fits_float() holds.
struct FromResultInFloat {
  float scale, alpha_scale;
  template <class V>
  SOFTNPU_INLINE V operator()(V grad, V x) const {
    return grad * select(x > 0.0f, splat<V>(scale), x + alpha_scale);
  }
};

struct FromInput {
  EluBackwardNumbers c;
  SOFTNPU_INLINE float operator()(float grad, float x) const {
    const double below = c.input_alpha_scale * exp_for_float(x * c.input_scale);
    return static_cast<float>(grad * (x > 0 ? c.scale : below));
  }
};

// The float32 formula, used if EluBackwardNumbers::input_fits_float() holds. Below `least`,
// underflow loses bits that a large gradOutput would make visible, so such elements are computed in
// float64. Without kFine, the accuracy suffices for results that are rounded to 16 bits.
template <bool kFine>
struct FromInputInFloat {
  FromInput wide;
  ScaledPowers powers;  // multiplied by alpha · scale
  float scale, least;

  explicit FromInputInFloat(const EluBackwardNumbers& c)
      : wide{c},
        powers(c.alpha_scale),
        scale(static_cast<float>(c.scale)),
        least(static_cast<float>(c.least_input())) {}

  template <class V>
  SOFTNPU_INLINE V operator()(V grad, V x) const {
    return grad * select(x > 0.0f, splat<V>(scale), scaled_exp<kFine>(x, powers));
  }
  static constexpr bool may_be_rare() { return true; }
  template <class V>
  SOFTNPU_INLINE auto is_rare(V /*grad*/, V x) const {
    return is_less(x, least);
  }
};

// Whether the faster exp is accurate enough: for 16-bit results of 16-bit inputs. Its error is
// largest for low x, where FLOAT16 results are already 0; a BF16 gradOutput may be larger, so
// FLOAT16 results of it are excluded. The choice depends only on types, so that all layouts have
// the same results.
bool rounds_to_16_bits(const ElementwiseLayout& layout) {
  const DType grad = layout.dtype[0], out = layout.dtype[2];  // x has gradOutput's type
  if (grad == DType::f32) return false;
  return out == DType::bf16 || (out == DType::f16 && grad == DType::f16);
}

}  // namespace

void elu_backward_from_result(const ElementwiseLayout& layout, std::byte* const* origins,
                              const void* numbers, int64_t begin, int64_t end) {
  const auto& c = *static_cast<const EluBackwardNumbers*>(numbers);
  if (!c.result_fits_float()) return walk<2>(layout, origins, FromResult{c}, begin, end);
  const FromResultInFloat formula{static_cast<float>(c.scale), static_cast<float>(c.alpha_scale)};
  walk<2>(layout, origins, formula, begin, end);
}

void elu_backward_from_input(const ElementwiseLayout& layout, std::byte* const* origins,
                             const void* numbers, int64_t begin, int64_t end) {
  const auto& c = *static_cast<const EluBackwardNumbers*>(numbers);
  if (!c.input_fits_float()) return walk<2>(layout, origins, FromInput{c}, begin, end);
  rounds_to_16_bits(layout) ? walk<2>(layout, origins, FromInputInFloat<false>(c), begin, end)
                            : walk<2>(layout, origins, FromInputInFloat<true>(c), begin, end);
}

SOFTNPU_LEVEL_END
