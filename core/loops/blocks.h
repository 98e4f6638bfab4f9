// SPDX-License-Identifier: Apache-2.0
// Applies a formula to a block of elements: with SIMD vectors if its call operator is a template,
// otherwise in scalar loops. Elements that is_rare() selects are computed with the float64 formula,
// `wide`.
#pragma once

#include "base/tuning.h"
#include "loops/convert.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

// How often a repeated element is stored, so that loops can read it like a row.
constexpr int64_t kRepeated = 4 * kBlock;

// The loops take the formula by value, because stores might alias a formula behind a reference.
template <class Formula, class... In>
SOFTNPU_INLINE void apply_plain(const Formula formula, int64_t n, float* out, const In*... in) {
  SOFTNPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    float result = formula(in[i]...);
    if constexpr (requires { formula.is_rare(in[i]...); })
      if (formula.may_be_rare() && formula.is_rare(in[i]...)) result = formula.wide(in[i]...);
    out[i] = one_nan(result);
  }
}

#ifdef SOFTNPU_LANES
constexpr int64_t kBlockVectors = kBlock / kLanes;

template <class Formula, int kInputs>
constexpr bool takes_lanes() {
  if constexpr (kInputs == 1) return requires(Formula f, Lanes v) { f(v); };
  if constexpr (kInputs == 2) return requires(Formula f, Lanes v) { f(v, v); };
  if constexpr (kInputs == 3) return requires(Formula f, Lanes v) { f(v, v, v); };
}

template <class Formula, class... In>
__attribute__((noinline)) Lanes apply_with_rare(const Formula formula, In... in) {
  alignas(64) float result[kLanes];
  [&](const auto&... values) {
    apply_plain(formula, kLanes, result, reinterpret_cast<const float*>(&values)...);
  }(in...);
  return load_lanes(result);
}

template <class Formula, class... In>
SOFTNPU_INLINE Lanes apply_lanes(const Formula& formula, In... in) {
  if constexpr (requires { formula.is_rare(in...); })
    if (formula.may_be_rare() && any(formula.is_rare(in...))) [[unlikely]]
      return apply_with_rare(formula, in...);
  return one_nan(formula(in...));
}

// Computes a block of results. with_inputs(f, i) calls f with the vectors of all inputs that begin
// at element i. Results are stored after all elements were checked for rare ones, because an input
// may be the output. One check finds all NaNs: they make the sum NaN. So may infinities, which is
// harmless.
template <class Formula, class T, size_t kCount, class With>
SOFTNPU_INLINE void apply_block(const Formula& formula, T (&out)[kCount], const With& with_inputs) {
  constexpr int64_t kVectors = static_cast<int64_t>(kCount) / kLanes;
  Lanes results[kVectors];
  bool rare = false;
  const auto apply_all = [&](auto&& f) SOFTNPU_INLINED {
    for (int64_t i = 0; i < kVectors; ++i) results[i] = with_inputs(f, i * kLanes);
  };
  if constexpr (requires { &Formula::may_be_rare; }) {
    if (formula.may_be_rare()) {
      decltype(with_inputs([&](auto... in) { return formula.is_rare(in...); }, 0)) mask{};
      apply_all([&](auto... in) SOFTNPU_INLINED {
        mask |= formula.is_rare(in...);
        return formula(in...);
      });
      rare = any(mask);
    } else {
      apply_all(formula);
    }
  } else {
    apply_all(formula);
  }
  if (rare) [[unlikely]] {
    apply_all([&](auto... in) { return apply_with_rare(formula, in...); });
  } else {
    Lanes sum = results[0];
    for (int64_t i = 1; i < kVectors; ++i) sum += results[i];
    if (any(is_nan(sum))) [[unlikely]]
      for (int64_t i = 0; i < kVectors; ++i) results[i] = one_nan(results[i]);
  }
  for (int64_t i = 0; i < kVectors; ++i) store_lanes(results[i], out + i * kLanes);
}
#endif

SOFTNPU_LEVEL_END
