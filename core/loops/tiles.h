// SPDX-License-Identifier: Apache-2.0
// Where the tiles of an elementwise operator lie, and the plain loop over a formula.
#pragma once

#include <utility>

#include "loops/convert.h"
#include "loops/elementwise.h"
#include "loops/level.h"
#include "loops/prefetch.h"

SOFTNPU_LEVEL_BEGIN

using loops::ElementwiseLayout;
using loops::kMaxOperands;

// Where tile number `index` lies.
struct Tile {
  int64_t width, height;
  int64_t at[kMaxOperands];  // its first element in each operand, in elements
};

inline Tile locate(const ElementwiseLayout& l, int64_t index) {
  int64_t x = index, y = 0;
  // Divisions would take a tenth of a tile's time.
  const bool flat = l.outer.empty() && !l.y_first;
  if (flat && l.tiles_x == 1) {
    x = 0;
    y = index * l.tile_y;
  } else if (l.tiles != l.tiles_x) {
    const int64_t first = l.y_first ? l.tiles_y : l.tiles_x;
    const int64_t second = l.y_first ? l.tiles_x : l.tiles_y;
    x = index % first;
    index /= first;
    y = index % second;
    index /= second;
    if (l.y_first) {
      const int64_t swapped = x;
      x = y;
      y = swapped;
    }
    y *= l.tile_y;
  }
  x *= l.tile_x;
  Tile tile;
  tile.width = least(l.nx - x, l.tile_x);
  tile.height = least(l.ny - y, l.tile_y);
  for (int k = 0; k < l.operands; ++k) tile.at[k] = x * l.sx[k] + y * l.sy[k];
  for (size_t d = flat ? 0 : l.outer.size(); d-- > 0;) {
    const int64_t i = index % l.outer[d];
    index /= l.outer[d];
    for (int k = 0; k < l.operands; ++k) tile.at[k] += i * l.outer_strides[k][d];
  }
  return tile;
}

// Makes one of the tiles that follow each other in a row, up to `end`: what a row costs at its ends
// is paid once. Returns how many they are.
inline int64_t join_tiles(const ElementwiseLayout& l, int64_t index, int64_t end, Tile& tile) {
  if (l.y_first || l.tile_y > 1) return 1;
  const int64_t x = l.tiles_x == l.tiles ? index : index % l.tiles_x;
  const int64_t joined = least(end - index, l.tiles_x - x);
  tile.width = least(l.nx - x * l.tile_x, joined * l.tile_x);
  return joined;
}

// f(0, 1, ...) with the numbers of the inputs, as constants.
template <int kInputs, class F>
SOFTNPU_INLINE auto with_inputs(const F& f) {
  return [&]<int... k>(std::integer_sequence<int, k...>) SOFTNPU_INLINED {
    return f(std::integral_constant<int, k>{}...);
  }(std::make_integer_sequence<int, kInputs>{});
}

// Prefetches n elements into a cache; they may lie behind the operand.
template <int kCache = kSecondCache, class T>
SOFTNPU_INLINE void prefetch_row(const T* row, int64_t n) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t i = 0; i < n; i += kLine) prefetch<kCache>(row, i);
}

// The loops take the formula by value: behind a reference its numbers might change with every
// store.
template <class Formula, class Stage, class... In>
SOFTNPU_INLINE void apply_plain(const Formula formula, int64_t n, Stage* out, const In*... in) {
  SOFTNPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    Stage result = formula(in[i]...);
    if constexpr (requires { formula.is_rare(in[i]...); })
      if (formula.may_be_rare() && formula.is_rare(in[i]...)) result = formula.wide(in[i]...);
    out[i] = one_nan(result);
  }
}

// f.template operator()<T>() with the type of the elements, one of those that vectors are made of.
template <class F>
SOFTNPU_INLINE auto with_lanes_type(DType dtype, const F& f) {
  if (dtype == DType::f16) return f.template operator()<f16>();
  if (dtype == DType::bf16) return f.template operator()<bf16>();
  return f.template operator()<float>();
}

#ifdef SOFTNPU_LANES
template <class>
using LanesFor = Lanes;
template <class Formula, class... In>
concept TakesLanes = requires(Formula formula, LanesFor<In>... in) { formula(in...); };
template <class Formula, int Inputs>
constexpr bool takes_lanes() {
  return Inputs == 2 ? TakesLanes<Formula, float, float> : TakesLanes<Formula, float, float, float>;
}

template <class Formula, class... In>
__attribute__((noinline)) Lanes apply_with_rare(const Formula formula, In... in) {
  alignas(64) float result[kLanes];
  [&](const auto&... values) {
    apply_plain(formula, kLanes, result, reinterpret_cast<const float*>(&values)...);
  }(in...);
  return load_lanes(result);
}

// A formula in float32 may say that an element is_rare() and needs the float64 one, `wide`.
template <class Formula, class... In>
SOFTNPU_INLINE Lanes apply_lanes(const Formula& formula, In... in) {
  if constexpr (requires { formula.is_rare(in...); })
    if (formula.may_be_rare() && any(formula.is_rare(in...))) [[unlikely]]
      return apply_with_rare(formula, in...);
  return one_nan(formula(in...));
}

// Consecutive elements that are worked on together: whole cache lines of any type.
constexpr int64_t kBlock = 64;

constexpr int64_t kBlockVectors = kBlock / kLanes;

// Without AVX-512 there are too few registers for what is loaded of a block and for its results.
#if defined(__AVX512F__)
constexpr bool kKeepsBlocks = true;
#else
constexpr bool kKeepsBlocks = false;
#endif

// What one input has for them, in registers.
class BlockVectors {
 public:
  template <class Load>
  SOFTNPU_INLINE explicit BlockVectors(const Load& load) {
    for (int64_t i = 0; i < kBlockVectors; ++i) v_[i] = load(i);
  }
  SOFTNPU_INLINE Lanes operator[](int64_t i) const { return v_[i]; }

 private:
  Lanes v_[kBlockVectors];
};

// The same where load(i) can give vector i again and again, as there are too few registers for all:
// smooth_l1 of 1M FLOAT with a broadcast row takes 0.7 to 0.8 of the time on AVX2.
template <class Load>
class BlockLoads {
 public:
  SOFTNPU_INLINE explicit BlockLoads(const Load& load) : load_(load) {}
  SOFTNPU_INLINE Lanes operator[](int64_t i) const { return load_(i); }

 private:
  const Load load_;
};

template <class Load>
SOFTNPU_INLINE auto block_of(const Load& load) {
  return std::conditional_t<kKeepsBlocks, BlockVectors, BlockLoads<Load>>(load);
}

// Whether a formula has rare elements at all. Those that do have the most arithmetic, too.
template <class Formula>
SOFTNPU_INLINE bool may_be_rare(const Formula& formula) {
  if constexpr (requires { formula.may_be_rare(); }) return formula.may_be_rare();
  return false;
}

// Whether some elements are rare. One look for all: a branch after each vector costs the
// exponential up to a fifth of its time.
template <class Formula, class... In>
SOFTNPU_INLINE bool has_rare(const Formula& formula, const In&... in) {
  if constexpr (requires { formula.is_rare(in[0]...); }) {
    if (!may_be_rare(formula)) return false;
    auto mask = formula.is_rare(in[0]...);
    for (int64_t i = 1; i < kBlockVectors; ++i) mask |= formula.is_rare(in[i]...);
    return any(mask);
  }
  return false;
}

template <class Formula, class T, class... In>
SOFTNPU_INLINE void apply_rare_block(const Formula& formula, T* out, const In&... in) {
  for (int64_t i = 0; i < kBlockVectors; ++i)
    store_lanes(apply_with_rare(formula, in[i]...), out + i * kLanes);
}

// Writes the results of a block. A NaN makes their sum one; so may infinities, which does no harm.
// One look for all of them saves 3 % of the time of 16-bit types, of BFLOAT16 on AVX2 a tenth.
template <class T>
SOFTNPU_INLINE void store_block(Lanes (&r)[kBlockVectors], T* out) {
  Lanes sum = r[0];
  for (int64_t i = 1; i < kBlockVectors; ++i) sum += r[i];
  if (any(is_nan(sum))) [[unlikely]]
    for (int64_t i = 0; i < kBlockVectors; ++i) r[i] = one_nan(r[i]);
  for (int64_t i = 0; i < kBlockVectors; ++i) store_lanes(r[i], out + i * kLanes);
}

// Results wait for the look at rare elements: a store may be to an input. Each vector is converted
// once for both, which saves 16-bit types a tenth to a quarter of their time. The exponential of
// FLOAT, which is not converted, would take 1.15 times as long.
template <class Formula, class T, class... In>
SOFTNPU_INLINE void apply_converted(const Formula& formula, T* out, const In&... in) {
  Lanes r[kBlockVectors];
  decltype(formula.is_rare(in[0]...)) mask{};
  for (int64_t i = 0; i < kBlockVectors; ++i)
    [&](const auto&... v) SOFTNPU_INLINED {
      mask |= formula.is_rare(v...);
      r[i] = formula(v...);
    }(in[i]...);
  if (any(mask)) [[unlikely]]
    return apply_rare_block(formula, out, in...);
  store_block(r, out);
}

// The same where results are written one by one, and looked at again if there is a NaN: on AVX2
// smooth_l1 takes 0.82 to 1 of the time that looking at each result takes, selu 0.93 to 1.
template <class Formula, class... In>
SOFTNPU_INLINE void apply_one_by_one(const Formula& formula, float* out, const In&... in) {
  Lanes sum{};
  for (int64_t i = 0; i < kBlockVectors; ++i) {
    const Lanes r = formula(in[i]...);
    sum += r;
    store_lanes(r, out + i * kLanes);
  }
  if (any(is_nan(sum))) [[unlikely]]
    for (int64_t i = 0; i < kBlock; i += kLanes) store_lanes(one_nan(load_lanes(out + i)), out + i);
}

template <class Formula, class T, class... In>
SOFTNPU_INLINE void apply_block(const Formula& formula, T* out, const In&... in) {
  constexpr bool kConverts = !std::is_same_v<T, float>;
  if constexpr (!kKeepsBlocks && kConverts && requires { formula.is_rare(in[0]...); })
    if (may_be_rare(formula)) return apply_converted(formula, out, in...);
  if (has_rare(formula, in...)) [[unlikely]]
    return apply_rare_block(formula, out, in...);
  if constexpr (!kKeepsBlocks && !kConverts) return apply_one_by_one(formula, out, in...);
  // All loads are before the first store: 3 % faster with four arrays in the shared cache.
  Lanes r[kBlockVectors];
  for (int64_t i = 0; i < kBlockVectors; ++i) r[i] = formula(in[i]...);
  store_block(r, out);
}

// Whether there are vectors of elements of this type.
inline bool has_lanes(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}
#endif

template <class Formula, class Stage, class... In>
SOFTNPU_INLINE void apply(const Formula formula, int64_t n, Stage* out, const In*... in) {
#ifdef SOFTNPU_LANES
  if constexpr (std::is_same_v<Stage, float> && TakesLanes<Formula, In...>) {
    int64_t i = 0;
    // Up to where whole vectors no longer cross cache lines: rows of 255 take 0.9 to 0.95 of the
    // time.
    const auto past =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) / sizeof(float)) & (kLanes - 1);
    if (past != 0 && n >= 4 * kLanes) {
      i = kLanes - past;
      store_some(apply_lanes(formula, load_some(in, i)...), out, i);
    }
    // Formulas of a few operations are a tenth faster vector by vector.
    if (may_be_rare(formula))
      for (; i + kBlock <= n; i += kBlock)
        apply_block(formula, out + i, block_of([&](int64_t v) SOFTNPU_INLINED {
                      return load_lanes(in + i + v * kLanes);
                    })...);
    for (; i + kLanes <= n; i += kLanes)
      store_lanes(apply_lanes(formula, load_lanes(in + i)...), out + i);
    if (i < n) store_some(apply_lanes(formula, load_some(in + i, n - i)...), out + i, n - i);
    return;
  }
#endif
  apply_plain(formula, n, out, in...);
}

SOFTNPU_LEVEL_END
