// SPDX-License-Identifier: Apache-2.0
// The upsample gradient's last step: finished sums are rounded to gradInput's type and written to
// where its elements lie, past the caches if the task says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/formulas.h"
#include "kernels/upsample_scratch.h"
#include "loops/convert.h"
#include "loops/level.h"
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

  // Where to make results for `to`: there, if nothing has to be done to them.
  Stage* place_for(T* to, bool dense) const {
    if constexpr (std::is_same_v<T, Stage>)
      if (dense && !task_.stream) return to;
    return result_;
  }

  void write_dense(const Stage* from, int64_t n, T* to) const {
    const auto bytes = n * static_cast<int64_t>(sizeof(T));
    if constexpr (std::is_same_v<T, Stage>) {
      if (from == to) return;
      stream_out(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from), bytes);
    } else {
      T* const narrowed = task_.stream ? narrowed_ : to;
      store_dense(from, n, narrowed);
      if (task_.stream)
        stream_out(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(narrowed),
                   bytes);
    }
  }

  void write_zero(T* to, int64_t n) const {
    const auto bytes = n * static_cast<int64_t>(sizeof(T));
    if (task_.stream) return stream_zero(reinterpret_cast<std::byte*>(to), bytes);
    std::memset(to, 0, static_cast<size_t>(bytes));
  }

  // n positions of a row, with nv channels each, to wherever they lie.
  void write(const Stage* from, int64_t n, int64_t nv, T* to) const {
    const int64_t sw = task_.w.in_stride, sv = task_.in_channel_stride;
    if (nv == 1) return write_apart(from, n, sw, to);
    for (int64_t w = 0; w < n; ++w) write_apart(from + w * nv, nv, sv, to + w * sw);
  }

  // Once after the last row: makes them visible to other threads.
  void finish() const {
    if (task_.stream) finish_streaming();
  }

 private:
  static void write_apart(const Stage* in, int64_t n, int64_t stride, T* out) {
    if (stride == 1) return store_dense(in, n, out);
    for (int64_t i = 0; i < n; ++i) narrow(in[i], out[i * stride]);
  }

  const UpsampleNearest3dBackwardTask& task_;
  Stage* result_;
  T* narrowed_;
  bool dense_;
  bool rows_touch_;
};

SOFTNPU_LEVEL_END
