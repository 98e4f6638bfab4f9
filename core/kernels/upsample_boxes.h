// SPDX-License-Identifier: Apache-2.0
// The upsample gradient's first step: the rows of a box of gradOut, over z and y, added up side by
// side.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/upsample_nearest3d_backward.h"
#include "kernels/upsample_scratch.h"
#include "loops/boxes_ahead.h"
#include "loops/convert.h"
#include "loops/lane_totals.h"
#include "loops/level.h"
#include "loops/positions_ahead.h"
#include "loops/sums.h"

SOFTNPU_LEVEL_BEGIN

// The box is that of the planes and rows taken last. Everywhere, `from` is where gradOut's n and c
// begin.
template <class T>
class UpsampleBoxes {
 public:
  static constexpr bool kCompensated = UpsampleScratch<T>::kCompensated;
  using Stage = typename UpsampleScratch<T>::Stage;

  UpsampleBoxes(const UpsampleNearest3dBackwardTask& task, const UpsampleScratch<T>& scratch)
      : task_(task), staged_(scratch.staged), ahead_{0, task.into_second} {}

  // The box of gradInput's plane d, and of row h in it. False where it is empty.
  bool take_planes(int64_t d) {
    d_ = d;
    z0_ = task_.d.start[d], z1_ = task_.d.start[d + 1];
    return z0_ < z1_;
  }
  bool take_rows(int64_t h) {
    h_ = h;
    y0_ = task_.h.start[h], y1_ = task_.h.start[h + 1];
    return z0_ < z1_ && y0_ < y1_;
  }
  int64_t planes() const { return z1_ - z0_; }
  // How many gradInput's next plane has, or the next slice's first.
  int64_t next_planes() const { return task_.d.start[next_d() + 1] - task_.d.start[next_d()]; }
  int64_t rows() const { return y1_ - y0_; }

  // The box's first element, n and c aside.
  const T* first(const T* from) const {
    return from + z0_ * task_.d.out_stride + y0_ * task_.h.out_stride;
  }

  // Whether nx positions of a row lie behind each other, with nv channels each.
  bool is_dense(int64_t nx, int64_t nv) const {
    const int64_t step = task_.w.out_stride;
    return task_.channels_inner ? step == nv || nx == 1 : step == 1;
  }

  // Whether the box, with n elements of each row, is so large that it is best read row by row,
  // which a core foresees: with channels inside 0.3 to 0.7 of the time. Column by column it
  // foresees short rows, too.
  bool is_large(int64_t n) const {
    constexpr int64_t kShortRow = 2048, kFarApart = int64_t{8} << 10, kNear = int64_t{256} << 10;
    const bool is_short = task_.h.out_stride * int64_t{sizeof(T)} < kShortRow;
    return n * rows() * planes() * int64_t{sizeof(T)} > (is_short ? kNear : kFarApart);
  }

  // How far in gradOut the elements are that will be needed next; 0 where the machine finds them by
  // itself.
  void set_prefetch_distance(int64_t distance) { ahead_ = {distance, task_.into_second}; }
  // The same for the rows that sum_of() takes next, which may fill the first cache.
  void prefetch_next_rows() {
    const bool few = planes() <= kDirectRows;
    ahead_ = {few ? kDirectRows / planes() * task_.h.out_stride : kDirectRows * task_.d.out_stride,
              true};
  }
  const Ahead& ahead() const { return ahead_; }
  // How many rows are made at once.
  void expect_groups(int64_t at_once) { at_once_ = at_once; }

  // sums[x, v] = the sum over y and z for x in [x0, x0 + nx) and nv channels.
  void sum(const T* from, int64_t x0, int64_t nx, int64_t nv, Sums<kCompensated> sums) const {
    const bool dense = is_dense(nx, nv);
    if (task_.channels_inner && !dense) {
      for (int64_t x = 0; x < nx; ++x) sum(from, x0 + x, 1, nv, sums.from(x * nv));
      return;
    }
#ifdef SOFTNPU_QUADS
    if (nx * nv >= kQuad && dense &&
        sum_in_registers(from + x0 * task_.w.out_stride, nx * nv, sums))
      return;
#endif
    if (kDirect && dense)
      sum_of<true>(from, x0, nx, nv, sums);
    else
      sum_of<false>(from, x0, nx, nv, sums);
  }

  // The same for the first n positions of one channel.
  void sum_row(const T* from, int64_t n, Sums<kCompensated> sums) const {
#ifdef SOFTNPU_QUADS
    if (task_.w.out_stride == 1 && n >= kQuad)
      if (if_small([&]<int kY, int kZ>() { sum_boxes(small<kY, kZ>(from), n, sums); })) return;
#endif
    sum(from, 0, n, 1, sums);
  }

  // The first n elements of the box's first row, where one row is all.
  const Stage* only_row(const T* from, int64_t n) const {
    const T* const in = first(from);
    if constexpr (std::is_same_v<T, Stage>)
      if (is_dense(n, 1)) return in;
    return staged_row(in, n, 1, staged_[0]);
  }

  // Prefetches the first n columns of the box that is as far behind row h + count as row h + r is
  // behind h. Inline: gcc would drop calls of a function that only prefetches.
  SOFTNPU_INLINE void prefetch_next_box([[maybe_unused]] const T* from, [[maybe_unused]] int64_t h,
                                        [[maybe_unused]] int64_t r, [[maybe_unused]] int64_t count,
                                        [[maybe_unused]] int64_t n) const {
#ifdef SOFTNPU_QUADS
    const BoxRows<T> next = next_rows(from, h, count);
    task_.into_second ? BoxesOfNextRows<kSecondCache, T>{next, r, count}.all(n)
                      : BoxesOfNextRows<kFirstCache, T>{next, r, count}.all(n);
#endif
  }

#ifdef SOFTNPU_LANE_TOTALS
  BoxExtent extent() const {
    return {rows(), task_.h.out_stride, planes(), task_.d.out_stride, task_.w.out_stride};
  }
#endif

#ifdef SOFTNPU_QUADS
  // Calls f<kY, kZ>() for a box of so many rows and planes. False where it has more than kMost.
  template <int kMost = 2, class F>
  bool if_small(const F& f) const {
    if (rows() > kMost || planes() > kMost) return false;
    with_count<kMost>(rows(), [&]<int kY>() SOFTNPU_INLINED {
      with_count<kMost>(planes(),
                        [&]<int kZ>() SOFTNPU_INLINED { f.template operator()<kY, kZ>(); });
    });
    return true;
  }

  // Those of `count` rows of gradInput from row h.
  BoxRows<T> box_rows(const T* from, int64_t h, int64_t count) const {
    const int64_t sy = task_.h.out_stride, sz = task_.d.out_stride;
    return {from + z0_ * sz, sy, sz, planes(), task_.h.start.data() + h, count};
  }
  // Where the planes begin of which the next plane of gradInput is made, or the next slice's first.
  const T* next_planes_of(const T* from) const {
    const int64_t slice = next_d() == 0 ? task_.slice_stride_out() : 0;
    return from + slice + task_.d.start[next_d()] * task_.d.out_stride;
  }
  // Those of the rows that are made after these: of the same planes, the next ones or the next
  // slice's.
  BoxRows<T> next_rows(const T* from, int64_t h, int64_t count) const {
    const UpsampleAxis& y = task_.h;
    BoxRows<T> rows = box_rows(from, h + count, least(y.in - h - count, at_once_));
    if (task_.planes_in_order) {
      rows.in_order = next_planes() * task_.d.out_stride / y.in;
      rows.first = next_planes_of(from) + h * rows.in_order;
      return rows;
    }
    if (h + count < y.in) return rows;
    rows.first = next_planes_of(from);
    rows.planes = next_planes();
    rows.start = y.start.data();
    rows.count = least(y.in, at_once_);
    return rows;
  }

  // The box of the row that is made after the one taken last, of two planes at most.
  PositionsInOrder<T> next_in_order(const T* from) const {
    const bool wraps = h_ + 1 == task_.h.in;
    const int64_t* const start = task_.h.start.data() + (wraps ? 0 : h_ + 1);
    const int64_t rows = start[1] - start[0], sy = task_.h.out_stride, sz = task_.d.out_stride;
    PositionsInOrder<T> later;
    later.first = (wraps ? next_planes_of(from) : from + z0_ * sz) + start[0] * sy;
    later.rows = rows * (wraps ? next_planes() : planes());
    later.in_plane = rows * sy;
    later.sz = sz;
    return later;
  }

  template <int kY, int kZ>
  Boxes<kY, kZ, T> small(const T* from) const {
    return {first(from), task_.h.out_stride, task_.d.out_stride};
  }
#endif

 private:
  int64_t next_d() const { return d_ + 1 < task_.d.in ? d_ + 1 : 0; }

#ifdef SOFTNPU_QUADS
  static constexpr bool kDirect = true;  // rows of every type are read where they lie
  // From memory, 1.1 to 1.3 times as fast as four at a time, or as all.
  static constexpr int kDirectRows = 8;
#else
  static constexpr bool kDirect = std::is_same_v<T, Stage>;
  static constexpr int kDirectRows = UpsampleScratch<T>::kBatch;
#endif

  template <bool kInPlace>
  void sum_of(const T* from, int64_t x0, int64_t nx, int64_t nv, Sums<kCompensated> sums) const {
    using Row = std::conditional_t<kInPlace, T, Stage>;
    constexpr int kBatch = kInPlace ? kDirectRows : UpsampleScratch<T>::kBatch;
    const Row* rows[kBatch];
    const int64_t n = nx * nv;
    int waiting = 0;
    bool first = true;
    const auto add_waiting = [&]<int kRows>() {
      first ? add_rows<kRows, true>(rows, n, ahead_, sums)
            : add_rows<kRows, false>(rows, n, ahead_, sums);
      first = false;
      waiting = 0;
    };
    for (int64_t y = y0_; y < y1_; ++y)
      for (int64_t z = z0_; z < z1_; ++z) {
        const T* in =
            from + z * task_.d.out_stride + y * task_.h.out_stride + x0 * task_.w.out_stride;
        if constexpr (kInPlace)
          rows[waiting] = in;
        else
          rows[waiting] = staged_row(in, nx, nv, staged_[waiting]);
        if (++waiting == kBatch) add_waiting.template operator()<kBatch>();
      }
    if (waiting > 0) with_count<kBatch - 1>(waiting, add_waiting);
  }

#ifdef SOFTNPU_QUADS
  // The same for n elements of each row behind each other, 4 or more, all rows at once. False where
  // sum_of(), which takes fewer at a time, is faster: from memory, but for short rows, and for rows
  // of middle length wherever it pays to prefetch.
  bool sum_in_registers(const T* from, int64_t n, Sums<kCompensated> sums) const {
    constexpr int64_t kShort = 16, kLong = 64;
    if (ahead_.any() && n >= kShort && (n < kLong || task_.far)) return false;
    if (n >= kLong && is_large(n)) return false;
    // In long rows, choosing the function no longer counts.
    const auto sum_long = [&]<int kY, int kZ>() { sum_long_boxes(small<kY, kZ>(from), n, sums); };
    if (n >= kLong && if_small<4>(sum_long)) return true;
    sum_large_boxes(first(from), rows(), task_.h.out_stride, planes(), task_.d.out_stride, n,
                    ahead_, sums);
    return true;
  }
#endif

  // The row as dense values of type Stage: converted or, of one channel, gathered into `buffer`.
  const Stage* staged_row(const T* in, int64_t nx, int64_t nv, Stage* buffer) const {
    if (is_dense(nx, nv))
      load_dense(in, nx * nv, buffer);
    else
      for (int64_t x = 0; x < nx; ++x) buffer[x] = widen(in[x * task_.w.out_stride]);
    return buffer;
  }

  const UpsampleNearest3dBackwardTask& task_;
  Stage* const (&staged_)[UpsampleScratch<T>::kBatch];
  int64_t d_ = 0, h_ = 0, z0_ = 0, z1_ = 0, y0_ = 0, y1_ = 0;
  int64_t at_once_ = 1;  // rows
  Ahead ahead_;
};

SOFTNPU_LEVEL_END
