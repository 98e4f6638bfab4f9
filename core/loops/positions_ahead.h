// SPDX-License-Identifier: Apache-2.0
// What is prefetched while positions of the upsample gradient are added up. Each way has all(), for
// what comes with a range as a whole, and step(), for what comes with kStep of its nv channels,
// from channel v on; and from(x), which says that the range begins at element x of its row.
#pragma once

#include "loops/boxes.h"

#ifdef SOFTNPU_QUADS
SOFTNPU_LEVEL_BEGIN

struct NoPositionsAhead {
  SOFTNPU_INLINE NoPositionsAhead from(int64_t /*x*/) const { return *this; }
  template <class Range>
  SOFTNPU_INLINE void all(const Range&, int64_t /*nv*/) const {}
  template <int64_t kStep, class Range>
  SOFTNPU_INLINE void step(const Range&, int64_t /*nv*/, int64_t /*v*/) const {}
};

// Here the same range of the boxes that are so far ahead.
struct PositionsAtOnce : NoPositionsAhead {
  Ahead ahead;

  SOFTNPU_INLINE explicit PositionsAtOnce(Ahead ahead) : ahead(ahead) {}
  SOFTNPU_INLINE PositionsAtOnce from(int64_t /*x*/) const { return *this; }
  template <class Range>
  SOFTNPU_INLINE void all(const Range& range, int64_t nv) const {
    if (range.sx <= 2 * nv) [[likely]]
      range.boxes.prefetch_columns(ahead, Range::kPositions * range.sx);
    else  // without what is between the positions
      for (int64_t x = 0; x < Range::kPositions; ++x)
        range.boxes.from(x * range.sx).prefetch_columns(ahead, nv);
  }
};

// The same in pieces, where all at once would be so many lines that they wait for each other.
struct PositionsInPieces : NoPositionsAhead {
  Ahead ahead;

  SOFTNPU_INLINE explicit PositionsInPieces(Ahead ahead) : ahead(ahead) {}
  SOFTNPU_INLINE PositionsInPieces from(int64_t /*x*/) const { return *this; }
  template <int64_t kStep, class Range>
  SOFTNPU_INLINE void step(const Range& range, int64_t nv, int64_t v) const {
    constexpr int64_t kPiece = Range::kLine * 8 / Range::kRows;
    if (v % kPiece != 0) return;
    // With what is left where no step begins.
    const int64_t count = nv - v < kPiece + kStep ? nv - v : kPiece;
    for (int64_t x = 0; x < Range::kPositions; ++x)
      range.boxes.from(v + x * range.sx).prefetch_columns(ahead, count);
  }
};

// Here a box that is needed later, in the order of memory, wherever in its own box a range lies: of
// up to two planes `sz` apart, with `rows` rows in all that have `in_plane` elements in each plane.
template <class T>
struct PositionsInOrder : NoPositionsAhead {
  const T* first = nullptr;
  int64_t rows = 0, in_plane = 0, sz = 0;
  int64_t begin = 0;  // where in its row the range begins

  SOFTNPU_INLINE PositionsInOrder from(int64_t x) const {
    PositionsInOrder later = *this;
    later.begin = x;
    return later;
  }
  template <int64_t kStep, class Range>
  SOFTNPU_INLINE void step(const Range&, int64_t nv, int64_t v) const {
    if (v % kStep != 0) return;
    const int64_t count = nv - v < 2 * kStep ? nv - v : kStep;
    const int64_t at = rows * (begin + Range::kPositions * v);
    const T* const memory = first + (at < in_plane ? at : at - in_plane + sz);
    for (int64_t i = 0; i < Range::kPositions * rows * count; i += Range::kLine)
      prefetch<kFirstCache>(memory, i);
  }
};

SOFTNPU_LEVEL_END
#endif
