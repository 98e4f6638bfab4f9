// SPDX-License-Identifier: Apache-2.0
// The walk for short rows: elements are copied one by one, as raw bits, in the output's order,
// kTileElements at a time. Contiguous operands are used in place.
#pragma once

#include <cstdint>

#include "loops/tile_operands.h"

SOFTNPU_LEVEL_BEGIN

// The location of one operand's elements: its own dimensions, innermost first, merged as far as
// possible.
class ElementPath {
 public:
  ElementPath(const ElementwiseLayout& l, int k) {
    for (size_t d = l.outer.size(); d-- > 0;) {
      const int64_t size = l.outer[d], stride = l.outer_strides[k][d];
      if (count_ > 0 && stride == stride_[count_ - 1] * size_[count_ - 1])
        size_[count_ - 1] *= size;
      else
        size_[count_] = size, stride_[count_++] = stride;
    }
  }

  bool is_dense() const { return count_ == 1 && stride_[0] == 1; }

  // Calls f(at, rows, run) for pieces that cover elements [first, first + n): `rows` rows of `run`
  // elements, which begin at offset `at`. Strides are row_stride() and stride().
  template <class F>
  void for_pieces(int64_t first, int64_t n, const F& f) const {
    int64_t index[loops::kMostGathered], at = 0;
    for (int d = 0; d < count_; ++d) {
      index[d] = first % size_[d];
      first /= size_[d];
      at += index[d] * stride_[d];
    }
    while (n > 0) {
      int64_t rows = 1, run = least(size_[0] - index[0], n);
      if (run == size_[0]) {  // several whole rows at once
        rows = count_ > 1 ? size_[1] - index[1] : 1;
        if (rows * run > n) rows = n / run;
      }
      f(at, rows, run);
      n -= rows * run;
      // A part of a row ends at the end of the row, or is the last piece.
      if (run < size_[0]) {
        index[0] += run;
        at += run * stride_[0];
        if (index[0] < size_[0]) continue;
        at -= size_[0] * stride_[0];
        index[0] = 0;
      }
      if (count_ == 1) continue;
      index[1] += rows;
      at += rows * stride_[1];
      for (int d = 1; index[d] == size_[d] && d + 1 < count_; ++d) {
        at += stride_[d + 1] - size_[d] * stride_[d];
        index[d] = 0;
        ++index[d + 1];
      }
    }
  }
  int64_t stride() const { return stride_[0]; }
  int64_t row_stride() const { return count_ > 1 ? stride_[1] : 0; }

 private:
  int count_ = 0;
  int64_t size_[loops::kMostGathered], stride_[loops::kMostGathered];
};

// Calls f<n>(), for n from 1 to kMost.
template <int kMost, class F>
SOFTNPU_INLINE void with_count(int64_t n, const F& f) {
  if constexpr (kMost > 1)
    if (n < kMost) return with_count<kMost - 1>(n, f);
  f.template operator()<kMost>();
}

// Calls copy(i, r, x, stride) for element i, the x-th of row r. Short rows are unrolled.
template <class Copy>
SOFTNPU_INLINE void for_rows(int64_t rows, int64_t run, int64_t stride, const Copy& copy) {
  constexpr int kMost = kUnrolled;
  if (run > kMost && stride == 1) {
    for (int64_t r = 0, i = 0; r < rows; ++r, i += run) {
      SOFTNPU_INDEPENDENT
      for (int64_t x = 0; x < run; ++x) copy(i + x, r, x, int64_t{1});
    }
    return;
  }
  if (run > kMost) {
    for (int64_t r = 0, i = 0; r < rows; ++r)
      for (int64_t x = 0; x < run; ++x) copy(i++, r, x, stride);
    return;
  }
  with_count<kMost>(run, [&]<int kRun>() {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t x = 0; x < kRun; ++x) copy(r * kRun + x, r, x, stride);
  });
}

// One operand whose elements, from number `first` on, are gathered or scattered.
class GatheredOperand {
 public:
  GatheredOperand(const ElementwiseLayout& l, int k, std::byte* origin, DType stage)
      : path_(l, k),
        type_(l.dtype[k]),
        item_(item_size(type_)),
        origin_(origin),
        converts_(type_ != stage) {}

  bool is_in_place() const { return !converts_ && path_.is_dense(); }

  // Returns n elements of the stage's type: in place, or copied to `rows`.
  const std::byte* load(int64_t first, int64_t n, std::byte* rows, std::byte* raw) const {
    const std::byte* elements = at(first);
    if (!path_.is_dense()) {
      std::byte* const together = converts_ ? raw : rows;
      with_item(item_, [&]<class T>() {
        T* const to = reinterpret_cast<T*>(together);
        for_elements<T>(first, n, [=](int64_t i, const T& element) { to[i] = element; });
      });
      elements = together;
    }
    if (!converts_) return elements;
    to_float(type_, elements, n, reinterpret_cast<float*>(rows));
    return rows;
  }
  // Where to write results: in place, or `rows`.
  std::byte* place(int64_t first, std::byte* rows) const {
    return is_in_place() ? at(first) : rows;
  }
  void store(const std::byte* results, int64_t first, int64_t n, std::byte* narrow) const {
    if (converts_) {
      std::byte* const to = path_.is_dense() ? at(first) : narrow;
      from_float(reinterpret_cast<const float*>(results), n, type_, to);
      results = to;
    }
    if (path_.is_dense()) return;
    with_item(item_, [&]<class T>() {
      const T* const from = reinterpret_cast<const T*>(results);
      for_elements<T>(first, n, [=](int64_t i, T& element) { element = from[i]; });
    });
  }

 private:
  std::byte* at(int64_t element) const { return origin_ + element * item_; }

  // Calls copy(i, element) for element number first + i.
  template <class T, class Copy>
  void for_elements(int64_t first, int64_t n, const Copy& copy) const {
    const int64_t sx = path_.stride(), sy = path_.row_stride();
    int64_t done = 0;
    path_.for_pieces(first, n, [&](int64_t at, int64_t rows, int64_t run) {
      T* const piece = reinterpret_cast<T*>(origin_) + at;
      for_rows(rows, run, sx, [&](int64_t i, int64_t r, int64_t x, int64_t step) SOFTNPU_INLINED {
        copy(done + i, piece[r * sy + x * step]);
      });
      done += rows * run;
    });
  }

  ElementPath path_;
  DType type_;
  int64_t item_;
  std::byte* origin_;
  bool converts_;
};

inline void walk_gathered(const ElementwiseLayout& l, std::byte* const* origins,
                          const RowLoops& loops, const void* formula, int64_t begin, int64_t end) {
  const DType stage = stage_of(l);
  const int inputs = loops.inputs;
  // Formulas with fewer inputs ignore the rest.
  const auto operand = [&](int k) {
    const int which = least(k, inputs - 1);
    return GatheredOperand(l, which, origins[which], stage);
  };
  const GatheredOperand in[kMaxOperands - 1] = {operand(0), operand(1), operand(2)};
  const GatheredOperand out(l, inputs, origins[inputs], stage);
  alignas(64) std::byte rows[kMaxOperands][kTileElements * 4];
  alignas(64) std::byte raw[kTileElements * 4], narrow[kTileElements * 16];
  const RowLoop loop = loops.of(stage)[0];
  Row row;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t first = tile * kTileElements;
    row.n = least(l.nx - first, kTileElements);
    for (int k = 0; k < inputs; ++k) {
      row.in[k] = in[k].load(first, row.n, rows[k], raw);
      row.step[k] = 1;
    }
    std::byte* const results = out.place(first, rows[inputs]);
    row.out = results;
    loop(formula, row);
    if (loops.stores && !out.is_in_place()) out.store(results, first, row.n, narrow);
  }
}

SOFTNPU_LEVEL_END
