// SPDX-License-Identifier: Apache-2.0
// The upsample gradient's last step: finished sums are rounded to gradInput's type and written to
// where its elements lie, past the caches if the task says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/upsample_nearest3d_backward.h"
#include "kernels/upsample_scratch.h"
#include "loops/convert.h"
#include "loops/level.h"
#include "loops/spaced.h"
#include "loops/stream_out.h"

SOFTNPU_LEVEL_BEGIN

template <class T>
class UpsampleOutput {
 public:
  using Stage = typename UpsampleScratch<T>::Stage;

  UpsampleOutput(const UpsampleNearest3dBackwardTask& task, const UpsampleScratch<T>& scratch)
      : task_(task), result_(scratch.result), narrowed_(reinterpret_cast<T*>(scratch.staged[0])) {
    const int64_t row = task.w.in * (task.channels_inner ? task.channels : 1);
    dense_ = task.channels_inner ? task.in_channel_stride == 1 && task.w.in_stride == task.channels
                                 : task.w.in_stride == 1;
    rows_touch_ = dense_ && task.h.in_stride == row;
  }

  // Whether a row of gradInput is dense, and whether the next row follows it at once.
  bool dense() const { return dense_; }
  bool rows_touch() const { return rows_touch_; }

  // Where to make elements for `to`: there, if nothing has to be done to them.
  T* place_for(T* to, bool dense) const {
    return dense && !task_.stream ? to : reinterpret_cast<T*>(result_);
  }
  // Where to make totals that are to be rounded to elements, if they have to be.
  Stage* stage_for([[maybe_unused]] T* place) const {
    if constexpr (std::is_same_v<T, Stage>) return place;
    return result_;
  }

  // Totals or elements of a piece of gradInput without gaps.
  template <class Made>
  void write_dense(const Made* from, int64_t n, T* to) {
    if constexpr (std::is_same_v<Made, T>) {
      if (from != to) stream(from, n, to);
    } else if (task_.stream) {
      store_dense(from, n, narrowed_);
      stream(narrowed_, n, to);
    } else {
      store_dense(from, n, to);
    }
  }

  void write_zero(T* to, int64_t n) const {
    const auto bytes = n * static_cast<int64_t>(sizeof(T));
    if (task_.stream) return stream_zero(reinterpret_cast<std::byte*>(to), bytes);
    std::memset(to, 0, static_cast<size_t>(bytes));
  }

  // n positions of a row, with nv channels each, to wherever they lie.
  template <class Made>
  void write(const Made* from, int64_t n, int64_t nv, T* to) const {
    const int64_t sw = task_.w.in_stride, sv = task_.in_channel_stride;
    if (nv == 1) return write_apart(from, n, sw, to);
    for (int64_t w = 0; w < n; ++w) write_apart(from + w * nv, nv, sv, to + w * sw);
  }

  // Once after the last row: makes them visible to other threads.
  void finish() {
    if (!task_.stream) return;
    lines_.flush();
    finish_streaming();
  }

 private:
  void stream(const T* from, int64_t n, T* to) {
    lines_.write(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from),
                 n * static_cast<int64_t>(sizeof(T)));
  }

  template <class Made>
  static void write_apart(const Made* in, int64_t n, int64_t stride, T* out) {
    if constexpr (std::is_same_v<Made, T>) {
      copy_spaced(in, 1, n, out, stride);
    } else {
      store_row<T>(in, stride, n, reinterpret_cast<std::byte*>(out));
    }
  }

  const UpsampleNearest3dBackwardTask& task_;
  Stage* result_;
  T* narrowed_;
  bool dense_;
  bool rows_touch_;
  LineWriter lines_;
};

SOFTNPU_LEVEL_END
