// SPDX-License-Identifier: Apache-2.0
// The upsample gradient's second step: sums over z and y, added up along x. Every way gives the
// same bits; which one is fastest depends on the ranges of w and on how many channels there are.
#pragma once

#include <cstdint>

#include "kernels/upsample_nearest3d_backward.h"
#include "kernels/upsample_scratch.h"
#include "loops/level.h"
#include "loops/picks.h"
#include "loops/spread_totals.h"
#include "loops/sums.h"

SOFTNPU_LEVEL_BEGIN

template <class T>
class UpsampleColumns {
 public:
  static constexpr bool kCompensated = UpsampleScratch<T>::kCompensated;
  using Stage = typename UpsampleScratch<T>::Stage;

  UpsampleColumns(const UpsampleAxis& w, const UpsampleScratch<T>& scratch)
      : w_(w), totals_(scratch.staged[0]), constants_(w.picks.empty() ? 0 : 2) {}

  // Ranges of one length, and short: total_uniform() does them.
  bool uniform() const { return w_.factor > 0 && w_.factor <= kLongestEqualGroup; }
  // Ranges that differ, and are short: total_picks() does them.
  bool picked() const { return constants_ > 0; }
  // Sums behind those of each tile that total_picks() writes for itself.
  int64_t constants() const { return constants_; }

  // out[w, v] = the sum over x of sums[x, v], for one tile and nv channels.
  void total(size_t tile, int64_t nv, Sums<kCompensated> sums, Stage* out) const {
    const UpsampleAxis::Tile piece = w_.tile(tile);
    if (nv == 1 && uniform()) return total_uniform(sums, piece.n, out);
    if (picked()) return total_picks(tile, sums, out);
    const int64_t* const start = w_.start.data() + piece.w;
    int64_t i = 0;
#ifdef SOFTNPU_OCTETS
    if (nv == 1 && w_.longest <= kLongestGroup)
      i = total_ranges(start, piece.x, sums, piece.n, out);
#endif
    for (; i < piece.n; ++i)
      total_range(sums.from((start[i] - piece.x) * nv), start[i + 1] - start[i], nv, out + i * nv);
  }

  void total_uniform(Sums<kCompensated> sums, int64_t n, Stage* out) const {
    if (w_.factor == 1) total_groups<1>(sums, n, out);
    if (w_.factor == 2) total_groups<2>(sums, n, out);
    if (w_.factor == 3) total_groups<3>(sums, n, out);
    if (w_.factor == 4) total_groups<4>(sums, n, out);
    if (w_.factor > 4) total_long_groups(sums, w_.factor, n, out);
  }

  // Where no range is longer than 1, `out` must be 0 before.
  void total_picks(size_t tile, Sums<kCompensated> sums, Stage* out) const {
    if (w_.longest == 1) return spread(tile, sums, out);
    const UpsampleAxis::Tile piece = w_.tile(tile);
    const int64_t n = piece.n, nx = piece.span;
    sums.set(nx, 0.0);
    sums.set(nx + 1, -0.0);
    const int32_t* const picks = w_.picks.data() + w_.longest * piece.w;
#if defined(__AVX512F__)
    if constexpr (!kCompensated)
      if (w_.longest == 2) return total_picked_pairs(sums.value, nx, picks, n, out);
#endif
    if (w_.longest == 2) return total_picked<2>(sums, picks, n, out);
    if (w_.longest == 3) return total_picked<3>(sums, picks, n, out);
    if (w_.longest == 4) return total_picked<4>(sums, picks, n, out);
    total_picked_long(sums, picks, w_.longest, n, out);
  }

  // The same for a whole row of n elements of gradOut that need no sums at all: a box is one of
  // them, or none.
  void spread_row(const Stage* row, int64_t n, Stage* out) const {
    if (spread_in_registers(0, row, out)) return;
    const int32_t* const places = w_.picks.data();
    for (int64_t x = 0; x < n; ++x) out[places[x]] = one_nan(row[x]);
  }

 private:
  // Ranges of at most one sum: each goes to its place, and there is 0 between them already.
  void spread(size_t tile, Sums<kCompensated> sums, Stage* out) const {
    const UpsampleAxis::Tile piece = w_.tile(tile);
    total_groups<1>(sums, piece.span, totals_);
    if (spread_in_registers(tile, totals_, out)) return;
    put_at_places(totals_, w_.picks.data() + piece.x, piece.span, out);
  }

  // The same for totals.
  bool spread_in_registers([[maybe_unused]] size_t tile, [[maybe_unused]] const Stage* totals,
                           [[maybe_unused]] Stage* out) const {
#ifdef SOFTNPU_SPREAD_TOTALS
    if (w_.places.empty()) return false;
    total_short_groups(Boxes<1, 1, Stage>{totals, 0, 0}, w_.places.data() + w_.grouped[tile],
                       w_.tile(tile).n, NothingAhead{}, out);
    return true;
#else
    return false;
#endif
  }

  SOFTNPU_INLINE void total_range(Sums<kCompensated> sums, int64_t length, int64_t nv,
                                  Stage* out) const {
    if (length == 0) return fill_zero(nv, out);
    if (length == 1) return total_rows(sums, 1, nv, nv, out);
    if (length == 2) return total_rows(sums, 2, nv, nv, out);
    total_rows(sums, length, nv, nv, out);
  }

  const UpsampleAxis& w_;
  Stage* totals_;
  int64_t constants_;
};

SOFTNPU_LEVEL_END
