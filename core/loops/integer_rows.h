// SPDX-License-Identifier: Apache-2.0
// The walk over dense rows of integers: elements are converted, computed, rounded toward zero and
// written in one loop, which compilers make vectors of. INT8 takes 0.45 to 0.7 of the time of tiles
// that are converted first, INT32 0.7 to 0.95 in a cache and 0.5 to 0.65 from memory.
#pragma once

#include "loops/stream_out.h"
#include "loops/tiles.h"

SOFTNPU_LEVEL_BEGIN

template <class Formula, class T, class... In>
SOFTNPU_INLINE void integers(const Formula formula, int64_t n, T* out, const In*... in) {
  SOFTNPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) narrow(formula(in[i]...), out[i]);
}

// Line by line past the caches, while lines of the inputs further on are prefetched: on a Xeon
// INT32 takes 0.6 to 0.75 of the time of pieces of 512 elements with nothing prefetched, INT8 0.5
// to 1.
template <class Formula, class T, class... In>
void stream_integers(const Formula formula, int64_t n, int64_t ahead, T* out, const In*... in) {
  constexpr int64_t kLine = 64 / sizeof(T);
  int64_t at = least(elements_before_line(out), n);
  integers(formula, at, out, in...);
  for (; at + kLine <= n; at += kLine) {
    alignas(64) T line[kLine];
    (prefetch<kFirstCache>(in, at + ahead), ...);
    integers(formula, kLine, line, in + at...);
    stream_lines(out + at, line);
  }
  integers(formula, n - at, out + at, in + at...);
}

// False where rows are not dense.
template <int Inputs, class T, class Formula>
bool try_integers(const ElementwiseLayout& l, std::byte* const* origins, const Formula& formula,
                  int64_t begin, int64_t end) {
  if (!l.has_dense_rows_only()) return false;
  for (int64_t index = begin; index < end;) {
    Tile tile = locate(l, index);
    index += join_tiles(l, index, end, tile);
    for (int64_t y = 0; y < tile.height; ++y) {
      const auto row = [&](int k) {
        return reinterpret_cast<T*>(origins[k]) + tile.at[k] + y * l.sy[k];
      };
      with_inputs<Inputs>([&](auto... k) SOFTNPU_INLINED {
        l.stream ? stream_integers(formula, tile.width, l.ahead, row(Inputs), row(k)...)
                 : integers(formula, tile.width, row(Inputs), row(k)...);
      });
    }
  }
  if (l.stream) finish_streaming();
  return true;
}

SOFTNPU_LEVEL_END
