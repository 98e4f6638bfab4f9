// SPDX-License-Identifier: Apache-2.0
// Loops in steps of several elements, the last of which may overlap those before.
#pragma once

#include <cstdint>

#include "loops/quads.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

// Calls at(i) for steps that cover [begin, end). The last one overlaps those before, or what is
// before `begin`, where they do not fit.
template <int64_t kStep, class At>
SOFTNPU_INLINE void for_steps(int64_t begin, int64_t end, const At& at) {
  for (; begin + kStep <= end; begin += kStep) at(begin);
  if (begin < end) at(end - kStep);
}

// Calls at(i, count) for vectors of float32 that cover [0, n): whole ones, or one of n elements.
template <class At>
SOFTNPU_INLINE void for_lanes(int64_t n, const At& at) {
  if (n < kLanes) return at(int64_t{0}, n);
  for_steps<kLanes>(0, n, [&](int64_t i) SOFTNPU_INLINED { at(i, kLanes); });
}

// for_steps() from 0 to n that calls piece(begin) before steps that begin a piece of kPiece: pieces
// cover [0, n), too, and may end behind it.
template <int64_t kStep, int64_t kPiece, class Piece, class At>
SOFTNPU_INLINE void for_pieces_and_steps(int64_t n, const Piece& piece, const At& at) {
  static_assert(kPiece % kStep == 0);
  for_steps<kStep>(0, n, [&](int64_t i) SOFTNPU_INLINED {
    if (i % kPiece == 0) {
      piece(i);
      // No step begins with what is left.
      if (const int64_t left = n - i - kPiece; left > 0 && left < kStep) piece(n - kPiece);
    }
    at(i);
  });
}

SOFTNPU_LEVEL_END
#endif
