// SPDX-License-Identifier: Apache-2.0
// The operands of a tile as contiguous rows of one type, the compute type (`stage`): the common
// type of all operands, or FLOAT if their types differ. Contiguous rows of that type are used in
// place.
#pragma once

#include <cstring>

#include "loops/row_loops.h"
#include "loops/strided_rows.h"
#include "loops/tile.h"
#include "loops/transpose.h"

SOFTNPU_LEVEL_BEGIN

// Elements of a piece, the unit of conversion: the pieces of all operands fit the L1 cache.
constexpr int64_t kPiece = 2 * kTileElements;

// Calls f.template operator()<T>() with a type of this size, for elements that are copied as raw
// bits.
template <class F>
SOFTNPU_INLINE auto with_item(int64_t size, const F& f) {
  switch (size) {
    case 1:
      return f.template operator()<int8_t>();
    case 2:
      return f.template operator()<f16>();
    case 4:
      return f.template operator()<float>();
    case 8:
      return f.template operator()<double>();
    default:
      return f.template operator()<Complex<double>>();
  }
}

// Converts n dense elements to FLOAT, and back.
inline void to_float(DType type, const std::byte* in, int64_t n, float* out) {
  if (type == DType::f16) return load_dense(reinterpret_cast<const f16*>(in), n, out);
  if (type == DType::bf16) return load_dense(reinterpret_cast<const bf16*>(in), n, out);
  std::memcpy(out, in, static_cast<size_t>(n) * sizeof(float));
}
inline void from_float(const float* in, int64_t n, DType type, std::byte* out) {
  switch (type) {
    case DType::f16:
      return store_dense(in, n, reinterpret_cast<f16*>(out));
    case DType::bf16:
      return store_dense(in, n, reinterpret_cast<bf16*>(out));
    case DType::f64:
      return store_dense(in, n, reinterpret_cast<double*>(out));
    case DType::c64:
      return store_dense(in, n, reinterpret_cast<Complex<float>*>(out));
    case DType::c128:
      return store_dense(in, n, reinterpret_cast<Complex<double>*>(out));
    default:
      std::memcpy(out, in, static_cast<size_t>(n) * sizeof(float));
  }
}

inline DType stage_of(const ElementwiseLayout& l) {
  for (int k = 1; k < l.operands; ++k)
    if (l.dtype[k] != l.dtype[0]) return DType::f32;
  return l.dtype[0];
}

// One input.
class TileInput {
 public:
  static constexpr int64_t kRowBytes = kPiece * 4;

  void set(const ElementwiseLayout& l, int k, DType stage) {
    type_ = l.dtype[k];
    item_ = item_size(type_);
    stage_item_ = item_size(stage);
    sx_ = l.sx[k];
    sy_ = l.sy[k];
    converts_ = type_ != stage;
    transposed_ = l.is_transposed(k);
    // In memory, the part of each column in the tile after next is prefetched.
    ahead_ = l.far && transposed_ ? 2 * l.tile_y : 0;
    held_ = nullptr;
  }
  // `rows` and `raw` hold kRowBytes, aligned to 64 bytes. A transposed input takes its part of
  // `blocks`. Its rows are padded, because rows of a power of two would share cache sets.
  void set_buffers(const ElementwiseLayout& l, std::byte* rows, std::byte* raw,
                   std::byte*& blocks) {
    rows_ = rows;
    raw_ = raw;
    if (!transposed_) return;
    const auto squares = [](int64_t n) {
      return (n + kSquareSide - 1) / kSquareSide * kSquareSide;
    };
    block_ = blocks;
    block_stride_ = squares(l.tile_x) + kSquareSide;
    blocks += squares(l.tile_y) * block_stride_ * item_;
  }

  bool is_transposed() const { return transposed_; }
  bool is_in_place() const { return !converts_ && (sx_ == 0 || sx_ == 1); }
  // Whether consecutive rows of `width` elements are one contiguous row, or repeat the same
  // elements.
  bool joins(int64_t width) const { return sx_ == 0 || (sx_ == 1 && (sy_ == 0 || sy_ == width)); }

  void enter(const Tile& tile, const std::byte* first) {
    first_ = first;
    if (!transposed_) return;
    with_item(item_, [&]<class T>() {
      transpose_block(reinterpret_cast<const T*>(first), sx_, tile.width, tile.height, ahead_,
                      reinterpret_cast<T*>(block_), block_stride_);
    });
  }
  // Prefetches a row of the tile after next. Transposed inputs do this while they are transposed.
  void prefetch_row_of_next(const Tile& tile, int64_t y) const {
    if (transposed_) return;
    const std::byte* const row = first_ + (y + 2 * tile.height) * sy_ * item_;
    const int64_t bytes = sx_ == 1 ? tile.width * item_ : 1;
    for (int64_t at = 0; at < bytes; at += 64) prefetch<kSecondCache>(row, at);
  }

  // Provides `count` rows of n elements from (x, y) of the tile on, contiguous, as input k of
  // `row`.
  void put(Row& row, int k, int64_t x, int64_t y, int64_t count, int64_t n) {
    const std::byte* const from = transposed_ ? block_ + (y * block_stride_ + x) * item_
                                              : first_ + (y * sy_ + x * sx_) * item_;
    row.step[k] = 1;
    row.in[k] = rows_;
    const bool dense = transposed_ || sx_ == 1;
    if (count == 1 && sx_ == 0) {
      row.step[k] = 0;
      if (!holds(from, kRepeated)) load(from, kRepeated, rows_);
      hold(from, kRepeated);
    } else if (dense && (count == 1 || (sy_ == n && !transposed_))) {
      hold(nullptr, 0);
      if (converts_)
        to_float(type_, from, n * count, reinterpret_cast<float*>(rows_));
      else
        row.in[k] = from;
    } else if (sy_ == 0 && count > 1) {
      if (!holds(from, n * count)) repeat(from, n, count);
      hold(from, n * count);
    } else {
      hold(nullptr, 0);
      const int64_t step = transposed_ ? block_stride_ : sy_;
      for (int64_t i = 0; i < count; ++i)
        load(from + i * step * item_, n, rows_ + i * n * stage_item_);
    }
  }

 private:
  // Whether `rows_` already has `elements` elements that were repeated from `from`.
  bool holds(const std::byte* from, int64_t elements) const {
    return held_ == from && held_elements_ >= elements;
  }
  void hold(const std::byte* from, int64_t elements) {
    held_ = from;
    held_elements_ = elements;
  }

  void load(const std::byte* from, int64_t n, std::byte* to) {
    if (converts_ && sx_ == 1) return to_float(type_, from, n, reinterpret_cast<float*>(to));
    with_item(item_, [&]<class T>() {
      const T* const in = reinterpret_cast<const T*>(from);
      T* const out = reinterpret_cast<T*>(converts_ ? raw_ : to);
      if (sx_ == 0)
        repeat_element(*in, n, out);
      else if (transposed_ || sx_ == 1)
        std::memcpy(out, in, static_cast<size_t>(n) * sizeof(T));
      else
        gather_row(in, sx_, n, out);
    });
    if (converts_) to_float(type_, raw_, n, reinterpret_cast<float*>(to));
  }
  // Stores `count` copies of a row, doubling the number of copies in each step.
  void repeat(const std::byte* from, int64_t n, int64_t count) {
    if (sx_ == 0) return load(from, n * count, rows_);
    load(from, n, rows_);
    const int64_t bytes = n * stage_item_;
    for (int64_t done = 1; done < count;) {
      const int64_t more = least(count - done, done);
      std::memcpy(rows_ + done * bytes, rows_, static_cast<size_t>(more * bytes));
      done += more;
    }
  }

  DType type_;
  int64_t item_, stage_item_, sx_, sy_, ahead_, block_stride_, held_elements_;
  bool converts_, transposed_;
  const std::byte *first_, *held_;
  std::byte *rows_ = nullptr, *raw_, *block_;
};

// The output.
class TileOutput {
 public:
  static constexpr int64_t kNarrowBytes = kPiece * 16;

  TileOutput(const ElementwiseLayout& l, DType stage)
      : type_(l.dtype[l.operands - 1]),
        item_(item_size(type_)),
        sx_(l.sx[l.operands - 1]),
        sy_(l.sy[l.operands - 1]),
        converts_(type_ != stage),
        streams_(l.stream && sx_ == 1) {}

  // `rows` holds TileInput::kRowBytes, `narrow` kNarrowBytes.
  void set_buffers(std::byte* rows, std::byte* narrow) {
    rows_ = rows;
    narrow_ = narrow;
  }

  bool is_in_place() const { return !converts_ && sx_ == 1; }
  bool joins(int64_t width) const { return sx_ == 1 && sy_ == width; }
  bool streams() const { return streams_; }
  int64_t item() const { return item_; }

  void enter(std::byte* first) { first_ = first; }
  // Where to compute the results of `count` rows of n elements.
  std::byte* place(int64_t x, int64_t y, int64_t count, int64_t n) const {
    return is_in_place() && (count == 1 || sy_ == n) ? at(x, y) : rows_;
  }
  // Stores results that were not computed in place.
  void store(const std::byte* results, int64_t x, int64_t y, int64_t count, int64_t n) {
    if (results != rows_) return;
    if (converts_) from_float(reinterpret_cast<const float*>(results), n * count, type_, narrow_);
    const std::byte* from = converts_ ? narrow_ : rows_;
    for (int64_t i = 0; i < count; ++i, from += n * item_) {
      std::byte* const to = at(x, y + i);
      if (streams_)
        stream_out(to, from, n * item_);
      else if (sx_ == 1)
        std::memcpy(to, from, static_cast<size_t>(n * item_));
      else
        with_item(item_, [&]<class T>() {
          scatter_row(reinterpret_cast<const T*>(from), n, reinterpret_cast<T*>(to), sx_);
        });
    }
  }

 private:
  std::byte* at(int64_t x, int64_t y) const { return first_ + (x * sx_ + y * sy_) * item_; }

  DType type_;
  int64_t item_, sx_, sy_;
  bool converts_, streams_;
  std::byte *first_ = nullptr, *rows_ = nullptr, *narrow_ = nullptr;
};

SOFTNPU_LEVEL_END
