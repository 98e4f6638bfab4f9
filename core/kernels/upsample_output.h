// SPDX-License-Identifier: Apache-2.0
// The output of the upsampling gradient: finished elements are converted, scattered to their
// strides, and written with plain or streaming stores.
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/upsample_boxes.h"
#include "kernels/upsample_nearest3d_backward.h"
#include "loops/bits.h"
#include "loops/convert.h"
#include "loops/stream_out.h"

SOFTNPU_LEVEL_BEGIN

template <class E>
void fill_zero(int64_t n, E* out) {
  std::memset(out, 0, static_cast<size_t>(n) * sizeof(E));
}

template <class T>
class UpsampleOutput {
 public:
  using Stage = Finished<T>;
  // Rows of gradInput with `width` positions along W and `side` adjacent elements at each position.
  struct Rows {
    T* to;
    int64_t rows, width, side;

    int64_t row_size() const { return width * side; }
  };

  // `stage` and `converted` have room for the largest rows.
  UpsampleOutput(const UpsampleNearest3dBackwardTask& task, Stage* stage, T* converted)
      : t_(task), stage_(stage), converted_(converted) {}

  // Where to compute the elements of rows: in place, if they need not be converted or scattered.
  Stage* place(const Rows& rows) const {
    if constexpr (std::is_same_v<T, Stage>)
      if (is_dense(rows) && !t_.stream) return rows.to;
    return stage_;
  }

  void write(const Stage* made, const Rows& rows) const {
    if constexpr (std::is_same_v<T, Stage>)
      if (made == rows.to) return;
    const int64_t side = rows.side;
    if (is_dense(rows)) return write_dense(made, rows.rows * rows.row_size(), rows.to);
    for (int64_t row = 0; row < rows.rows; ++row, made += rows.row_size()) {
      T* const to = rows.to + row * t_.h.in_stride;
      if (side == 1) {
        store(made, t_.w.in_stride, rows.width, to);
        continue;
      }
      for (int64_t w = 0; w < rows.width; ++w)
        store(made + w * side, t_.side.in_stride, side, to + w * t_.w.in_stride);
    }
  }

  void write_zero(const Rows& rows) const {
    if (is_dense(rows) && !t_.stream) return fill_zero(rows.rows * rows.row_size(), rows.to);
    fill_zero(rows.row_size(), stage_);
    for (int64_t row = 0; row < rows.rows; ++row)
      write(stage_, {rows.to + row * t_.h.in_stride, 1, rows.width, rows.side});
  }

 private:
  bool is_dense(const Rows& rows) const {
    return (rows.side == 1 || t_.side.in_stride == 1) &&
           (rows.width == 1 || t_.w.in_stride == rows.side) &&
           (rows.rows == 1 || t_.h.in_stride == rows.row_size());
  }

  void write_dense(const Stage* made, int64_t n, T* to) const {
    if (!t_.stream) return store(made, 1, n, to);
    if constexpr (!std::is_same_v<T, Stage>) store(made, 1, n, converted_);
    const void* const from = std::is_same_v<T, Stage> ? static_cast<const void*>(made) : converted_;
    stream_out(reinterpret_cast<std::byte*>(to), static_cast<const std::byte*>(from),
               n * static_cast<int64_t>(sizeof(T)));
  }

  static void store(const Stage* made, int64_t stride, int64_t n, T* to) {
    if (stride == 1) return store_dense(made, n, to);
    T held[kBlock];
    for (int64_t at = 0, count; at < n; at += count) {
      count = least(n - at, kBlock);
      store_dense(made + at, count, held);
      copy_spaced(held, 1, count, to + at * stride, stride);
    }
  }

  const UpsampleNearest3dBackwardTask& t_;
  Stage* const stage_;
  T* const converted_;
};

SOFTNPU_LEVEL_END
