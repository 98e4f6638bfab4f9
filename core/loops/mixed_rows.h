// SPDX-License-Identifier: Apache-2.0
// The fused walk for dense operands of different types. Which they are is asked once for each block
// of an operand, so that one loop serves them all: 0.8 of the time of staging whole tiles.
#pragma once

#include "loops/fused.h"
#include "loops/prefetch.h"

#ifdef SOFTNPU_LANES
SOFTNPU_LEVEL_BEGIN

// One input of a row.
class MixedRow {
 public:
  SOFTNPU_INLINE MixedRow(const std::byte* first, DType type, int64_t step)
      : first_(first), type_(type), step_(step) {}

  SOFTNPU_INLINE BlockVectors block(int64_t at) const {
    return with_lanes_type(type_, [&]<class T>() {
      const T* const in = reinterpret_cast<const T*>(first_) + at * step_;
      return BlockVectors([&](int64_t i) { return load_lanes(in + i * kLanes); });
    });
  }
  SOFTNPU_INLINE Lanes some(int64_t at, int64_t count) const {
    return with_lanes_type(type_, [&]<class T>() {
      const T* const in = reinterpret_cast<const T*>(first_) + at * step_;
      return count == kLanes ? load_lanes(in) : load_some(in, count);
    });
  }
  SOFTNPU_INLINE void prefetch_at(int64_t at) const {
    const int64_t item = item_size(type_);
    for (int64_t i = 0; i < item; ++i)
      prefetch<kSecondCache>(first_, at * step_ * item + i * kBlock);
  }

 private:
  const std::byte* first_;
  DType type_;
  int64_t step_;
};

// The output of a row: of a type that has lanes, or DOUBLE.
class MixedOutput {
  std::byte* first_;
  DType type_;

  template <class T>
  SOFTNPU_INLINE T* at(int64_t i) const {
    return reinterpret_cast<T*>(first_) + i;
  }
  template <class F>
  SOFTNPU_INLINE auto with_type(const F& f) const {
    if (type_ == DType::f64) return f.template operator()<double>();
    return with_lanes_type(type_, f);
  }

 public:
  SOFTNPU_INLINE MixedOutput(std::byte* first, DType type) : first_(first), type_(type) {}

  int64_t elements_before_line() const {
    return with_type([&]<class T>() { return SOFTNPU_LEVEL::elements_before_line(at<T>(0)); });
  }
  SOFTNPU_INLINE void put(const float* results, int64_t i, int64_t count) const {
    with_type([&]<class T>() { store_dense(results, count, at<T>(i)); });
  }
  // A block that begins with a line.
  SOFTNPU_INLINE void stream(const float* results, int64_t i) const {
    with_type([&]<class T>() {
      alignas(64) T lines[kBlock];
      store_dense(results, kBlock, lines);
      stream_lines(at<T>(i), lines);
    });
  }
};

template <class Formula, class... In>
void mixed_part(const Formula& formula, int64_t at, int64_t end, const MixedOutput out,
                const In... in) {
  for (int64_t n; at < end; at += n) {
    n = least(end - at, kLanes);
    alignas(64) float results[kLanes];
    store_lanes(apply_lanes(formula, in.some(at, n)...), results);
    out.put(results, at, n);
  }
}

template <class Formula, class... In>
SOFTNPU_INLINE void mixed_row(const Formula formula, int64_t n, bool streams, int64_t ahead,
                              const MixedOutput out, const In... in) {
  int64_t at = streams ? least(out.elements_before_line(), n) : 0;
  mixed_part(formula, 0, at, out, in...);
  for (; at + kBlock <= n; at += kBlock) {
    alignas(64) float results[kBlock];
    if (streams) (in.prefetch_at(at + ahead), ...);
    apply_block(formula, results, in.block(at)...);
    streams ? out.stream(results, at) : out.put(results, at, kBlock);
  }
  mixed_part(formula, at, n, out, in...);
}

// Where an input's row begins; a repeated element fills a block, as float32.
struct MixedInput {
  int64_t item, sx, sy;
  DType type;
  alignas(64) float held[kBlock];

  MixedInput(const ElementwiseLayout& l, int k)
      : item(item_size(l.dtype[k])), sx(l.sx[k]), sy(l.sy[k]), type(l.dtype[k]) {}

  MixedRow enter(const std::byte* tile, int64_t y) {
    const std::byte* const first = tile + y * sy * item;
    if (sx == 1) return {first, type, 1};
    const float value =
        with_lanes_type(type, [&]<class T>() { return widen(*reinterpret_cast<const T*>(first)); });
    repeat_element(value, kBlock, held);
    return {reinterpret_cast<const std::byte*>(held), DType::f32, 0};
  }
};

template <int Inputs, class Formula>
void walk_mixed(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
                int64_t begin, int64_t end) {
  // The third one is there for formulas of three inputs only.
  MixedInput in[3] = {{l, 0}, {l, 1}, {l, Inputs - 1}};
  const int64_t out_item = item_size(l.dtype[Inputs]);
  for (int64_t index = begin; index < end;) {
    Tile tile = locate(l, index);
    index += join_tiles(l, index, end, tile);
    for (int64_t y = 0; y < tile.height; ++y) {
      const auto row = [&](int k) { return in[k].enter(origins[k] + tile.at[k] * in[k].item, y); };
      const MixedOutput out(origins[Inputs] + (tile.at[Inputs] + y * l.sy[Inputs]) * out_item,
                            l.dtype[Inputs]);
      with_inputs<Inputs>([&](auto... k) SOFTNPU_INLINED {
        mixed_row(formula, tile.width, l.stream, l.ahead, out, row(k)...);
      });
    }
  }
  if (l.stream) finish_streaming();
}

// Whether walk_mixed() applies.
inline bool can_mix(const ElementwiseLayout& l) {
  const int out = l.operands - 1;
  bool takes = l.tile_x >= kLanes && l.has_dense_rows();
  for (int k = 0; k < out; ++k) takes &= has_lanes(l.dtype[k]);
  return takes && (has_lanes(l.dtype[out]) || l.dtype[out] == DType::f64);
}

// False where it does not apply.
template <int Inputs, class Formula>
bool try_mixed(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
               int64_t begin, int64_t end) {
  if (!can_mix(l)) return false;
  walk_mixed<Inputs>(l, origins, formula, begin, end);
  return true;
}

SOFTNPU_LEVEL_END
#endif
