// SPDX-License-Identifier: Apache-2.0
// The walk for operands of one type of which some are dense along x and others along y, in a cache:
// square by square, each as wide as a vector. What lies the other way is transposed in registers.
// Outputs that are written against their order take half of the time of whole tiles; small arrays
// gain, too.
#pragma once

#include "loops/tiles.h"
#include "loops/transpose.h"

#ifdef SOFTNPU_LANES
SOFTNPU_LEVEL_BEGIN

// The vectors of one operand for a square, one behind the other.
struct alignas(64) Square {
  float values[kLanes * kLanes];

  SOFTNPU_INLINE Lanes row(int64_t y) const { return load_lanes(values + y * kLanes); }
  SOFTNPU_INLINE void set_row(int64_t y, Lanes v) { store_lanes(v, values + y * kLanes); }
};

// Where a square begins, and how much of it there is.
struct SquarePart {
  int64_t x, y, columns, rows;

  bool whole() const { return columns == kLanes && rows == kLanes; }
};

// The rows of one input for a square.
template <class T>
struct SquareRows {
  const T* in_place;  // where it is dense along x; else null
  int64_t sy;
  const Square* square;

  SOFTNPU_INLINE Lanes at(int64_t y) const {
    return in_place ? load_lanes(in_place + y * sy) : square->row(y);
  }
  SOFTNPU_INLINE Lanes some(int64_t y, int64_t columns) const {
    return in_place ? load_some(in_place + y * sy, columns) : square->row(y);
  }
};

template <class T>
struct SquareInput {
  int64_t sx, sy;
  const T* tile = nullptr;
  Square square;

  SquareInput(const ElementwiseLayout& l, int k) : sx(l.sx[k]), sy(l.sy[k]) {}

  SOFTNPU_INLINE SquareRows<T> enter(const SquarePart& part) {
    const T* const at = tile + part.x * sx + part.y * sy;
    if (sx == 1) return {at, sy, nullptr};
    if (sx == 0) {
      for (int64_t y = 0; y < part.rows; ++y) square.set_row(y, splat<Lanes>(widen(at[y * sy])));
    } else {
      transpose(part, at);
    }
    return {nullptr, kLanes, &square};
  }

  // Whole vectors go into the square: one that was written in part could not be read back before it
  // has left for the cache.
  SOFTNPU_INLINE void transpose(const SquarePart& part, const T* at) {
    if (part.whole()) return transpose_square(at, sx, square.values, kLanes);
    transpose_registers(
        [&](int x) {
          if (x >= part.columns) return splat<Lanes>(0);
          return part.rows == kLanes ? load_lanes(at + x * sx) : load_some(at + x * sx, part.rows);
        },
        [&](int y, Lanes v) { square.set_row(y, v); });
  }
};

// Gives each row's results to store(y, v). By value, so that no store is taken to change what comes
// in.
template <bool kWhole, class Formula, class Store, class... In>
SOFTNPU_INLINE void each_row(const Formula formula, const SquarePart part, const Store store,
                             const In... in) {
  const int64_t rows = kWhole ? kLanes : part.rows;
  if (kWhole || part.columns == kLanes)
    for (int64_t y = 0; y < rows; ++y) store(y, apply_lanes(formula, in.at(y)...));
  else
    for (int64_t y = 0; y < rows; ++y) store(y, apply_lanes(formula, in.some(y, part.columns)...));
}

template <class Formula, class T, class... In>
SOFTNPU_INLINE void one_square(const Formula& formula, const SquarePart& part, T* out, int64_t sx,
                               int64_t sy, const In&... in) {
  const auto store_row = [=](int64_t y, Lanes v) { store_lanes(v, out + y * sy); };
  const auto store_part = [=, n = part.columns](int64_t y, Lanes v) {
    n == kLanes ? store_lanes(v, out + y * sy) : store_some(v, out + y * sy, n);
  };
  if (sx == 1)
    return part.whole() ? each_row<true>(formula, part, store_row, in...)
                        : each_row<false>(formula, part, store_part, in...);
  Square square;
  const auto keep = [&](int64_t y, Lanes v) { square.set_row(y, v); };
  if (part.whole()) {
    each_row<true>(formula, part, keep, in...);
    transpose_registers([&](int y) { return square.row(y); },
                        [&](int x, Lanes v) { store_lanes(v, out + x * sx); });
  } else {
    each_row<false>(formula, part, keep, in...);
    transpose_part(square.values, kLanes, part.rows, part.columns, out, sx);
  }
}

template <int Inputs, class T, class Formula>
void walk_squares(const ElementwiseLayout& l, std::byte* const* origins, const Formula formula,
                  int64_t begin, int64_t end) {
  // The third one is there for formulas of three inputs only.
  SquareInput<T> in[3] = {{l, 0}, {l, 1}, {l, Inputs - 1}};
  const int64_t sx = l.sx[Inputs], sy = l.sy[Inputs];
  for (int64_t index = begin; index < end; ++index) {
    const Tile tile = locate(l, index);
    for (int k = 0; k < Inputs; ++k)
      in[k].tile = reinterpret_cast<const T*>(origins[k]) + tile.at[k];
    T* const out = reinterpret_cast<T*>(origins[Inputs]) + tile.at[Inputs];
    SquarePart part;
    for (part.y = 0; part.y < tile.height; part.y += kLanes) {
      part.rows = least(tile.height - part.y, kLanes);
      for (part.x = 0; part.x < tile.width; part.x += kLanes) {
        part.columns = least(tile.width - part.x, kLanes);
        T* const to = out + part.x * sx + part.y * sy;
        with_inputs<Inputs>([&](auto... k) SOFTNPU_INLINED {
          one_square(formula, part, to, sx, sy, in[k].enter(part)...);
        });
      }
    }
  }
}

// Whether walk_squares() applies. Tiles that are prefetched are faster from memory; so are tiles
// where the output is dense along x, which walk_transposed() takes for 16-bit types, unless one is
// all of FLOAT: that takes 0.8 of the time.
inline bool has_squares(const ElementwiseLayout& l) {
  const int out = l.operands - 1;
  if (!has_lanes(l.dtype[0])) return false;
  if (l.far || (l.dtype[0] == DType::f32 && l.sx[out] == 1 && l.tiles > 1)) return false;
  bool transposed = false;
  for (int k = 0; k <= out; ++k) {
    if (l.dtype[k] != l.dtype[0]) return false;
    if (l.sx[k] == 1 || (l.sx[k] == 0 && k < out)) continue;
    if (l.sy[k] != 1) return false;
    transposed = true;
  }
  return transposed;
}

// False where it does not apply.
template <int Inputs, class Formula>
bool try_squares(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
                 int64_t begin, int64_t end) {
  if (!has_squares(l)) return false;
  with_lanes_type(l.dtype[0],
                  [&]<class T>() { walk_squares<Inputs, T>(l, origins, formula, begin, end); });
  return true;
}

SOFTNPU_LEVEL_END
#endif
