// SPDX-License-Identifier: Apache-2.0
// The fast walk for rows that follow each other in the output and in some inputs, while another
// input repeats one row, or one element in each row. Several rows are worked on as one: the ends of
// a row, and vectors that lie across two cache lines, take half of the time of rows of 257.
#pragma once

#include "loops/fused.h"

#ifdef SOFTNPU_LANES
SOFTNPU_LEVEL_BEGIN

// The most elements of rows that are worked on together.
constexpr int64_t kJoined = 2048;

// `count` times the n elements from `row` on. What is there already is copied again and again.
template <class T>
void repeat_row(const T* row, int64_t n, int64_t count, T* out) {
  __builtin_memcpy(out, row, static_cast<size_t>(n) * sizeof(T));
  for (int64_t done = 1; done < count;) {
    const int64_t more = least(count - done, done);
    __builtin_memcpy(out + done * n, out, static_cast<size_t>(more * n) * sizeof(T));
    done += more;
  }
}

// An input of several rows.
template <class T>
struct JoinedInput {
  int64_t n, sx, sy;
  const T* repeated = nullptr;  // what `held` has rows of
  int64_t rows_held = 0;
  alignas(64) T held[kJoined];

  JoinedInput(const ElementwiseLayout& l, int k) : n(l.nx), sx(l.sx[k]), sy(l.sy[k]) {}

  // The elements of `rows` rows, one behind the other.
  const T* enter(const T* from, int64_t rows) {
    if (sx == 1 && sy == n) return from;
    if (sy == 0) {
      if (repeated == from && rows <= rows_held) return held;
      repeated = from;
      rows_held = rows;
    }
    if (sx == 1)
      repeat_row(from, n, rows, held);
    else if (sy == 0)
      repeat_element(*from, n * rows, held);
    else
      for (int64_t y = 0; y < rows; ++y) repeat_element(from[y * sy], n, held + y * n);
    return held;
  }
};

template <int Inputs, class T, bool kStreams, class Formula>
void walk_joined(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
                 int64_t begin, int64_t end) {
  // The third one is there for formulas of three inputs only.
  JoinedInput<T> in[3] = {{l, 0}, {l, 1}, {l, Inputs - 1}};
  const int64_t most = kJoined / l.nx;
  for (int64_t index = begin; index < end;) {
    const Tile tile = locate(l, index);
    const int64_t y = l.tiles == l.tiles_y ? index : index % l.tiles_y;
    const int64_t tiles = least(end - index, l.tiles_y - y);
    const int64_t rows = least(l.ny - y * l.tile_y, tiles * l.tile_y);
    index += tiles;
    for (int64_t at = 0, some; at < rows; at += some) {
      some = least(rows - at, most);
      const auto row = [&](int k) {
        const T* const from = reinterpret_cast<const T*>(origins[k]) + tile.at[k] + at * l.sy[k];
        return FusedRow<T>(in[k].enter(from, some));
      };
      T* const out = reinterpret_cast<T*>(origins[Inputs]) + tile.at[Inputs] + at * l.sy[Inputs];
      with_inputs<Inputs>([&](auto... k) SOFTNPU_INLINED {
        fused_row<kStreams>(formula, some * l.nx, l.ahead, out, row(k)...);
      });
    }
  }
  if constexpr (kStreams) finish_streaming();
}

// Whether walk_joined() applies: to two rows together at least.
inline bool can_join(const ElementwiseLayout& l) {
  const int out = l.operands - 1;
  if (l.ny < 2 || l.nx < kLanes || 2 * l.nx > kJoined || l.tiles_x != 1 || l.y_first) return false;
  if (l.sx[out] != 1 || l.sy[out] != l.nx || !has_lanes(l.dtype[out])) return false;
  for (int k = 0; k < out; ++k) {
    const bool dense = l.sx[k] == 1 && (l.sy[k] == 0 || l.sy[k] == l.nx);
    if (l.dtype[k] != l.dtype[out] || !(dense || l.sx[k] == 0)) return false;
  }
  return true;
}

// False where it does not apply.
template <int Inputs, class Formula>
bool try_joined(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
                int64_t begin, int64_t end) {
  if (!can_join(l)) return false;
  with_lanes_type(l.dtype[0], [&]<class T>() {
    l.stream ? walk_joined<Inputs, T, true>(l, origins, formula, begin, end)
             : walk_joined<Inputs, T, false>(l, origins, formula, begin, end);
  });
  return true;
}

SOFTNPU_LEVEL_END
#endif
