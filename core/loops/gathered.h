// SPDX-License-Identifier: Apache-2.0
// The walk for operands whose rows are short, or that have no rows in common: elements are taken in
// the output's order, 1024 at a time, and brought together one by one, bit by bit. What is dense is
// used where it lies.
#pragma once

#include <cstdint>
#include <type_traits>

#include "loops/convert.h"
#include "loops/count.h"
#include "loops/tiles.h"

SOFTNPU_LEVEL_BEGIN

using loops::kTileElements;

// Where the elements of one operand lie: its own dimensions, innermost first, merged as far as this
// operand allows.
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
  // elements, row_stride() and stride() apart. `at` is where the piece begins.
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
      if (run == size_[0]) {  // whole rows, as far as the next dimension goes
        rows = count_ > 1 ? size_[1] - index[1] : 1;
        if (rows * run > n) rows = n / run;
      }
      f(at, rows, run);
      n -= rows * run;
      // A part of a row ends it, or the piece of elements.
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

// copy(i, r, x) for element i, the x-th of row r, which is dense if `stride` is 1. Rows of up to
// eight are unrolled.
template <class Copy>
SOFTNPU_INLINE void for_rows(int64_t rows, int64_t run, int64_t stride, const Copy& copy) {
  constexpr int kMost = 8;
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

// One operand of a walk: its elements from number `first` on, brought together or spread.
class GatheredOperand {
 public:
  GatheredOperand(const ElementwiseLayout& l, int k, std::byte* origin)
      : path_(l, k), type_(l.dtype[k]), origin_(origin) {}

  // As float32.
  const float* load(int64_t first, int64_t n, float* space) const {
    return with_lanes_type(type_, [&]<class T>() -> const float* {
      const T* const in = reinterpret_cast<const T*>(origin_);
      if (path_.is_dense()) {
        if constexpr (std::is_same_v<T, float>) return in + first;
        load_dense(in + first, n, space);
        return space;
      }
      alignas(64) T elements[kTileElements];
      T* to = elements;
      if constexpr (std::is_same_v<T, float>) to = space;
      const int64_t sx = path_.stride(), sy = path_.row_stride();
      T* next = to;
      path_.for_pieces(first, n, [&](int64_t at, int64_t rows, int64_t run) {
        const T* const from = in + at;
        for_rows(rows, run, sx, [&](int64_t i, int64_t r, int64_t x, int64_t step) SOFTNPU_INLINED {
          next[i] = from[r * sy + x * step];
        });
        next += rows * run;
      });
      if constexpr (!std::is_same_v<T, float>) load_dense(elements, n, space);
      return space;
    });
  }
  // Where results may be written at once, or `space`.
  float* place(int64_t first, float* space) const {
    const bool here = type_ == DType::f32 && path_.is_dense();
    return here ? reinterpret_cast<float*>(origin_) + first : space;
  }
  void store(const float* results, int64_t first, int64_t n) const {
    with_lanes_type(type_, [&]<class T>() {
      T* const out = reinterpret_cast<T*>(origin_);
      if (path_.is_dense()) return store_dense(results, n, out + first);
      alignas(64) T elements[kTileElements];
      const T* from = elements;
      if constexpr (std::is_same_v<T, float>)
        from = results;
      else
        store_dense(results, n, elements);
      const int64_t sx = path_.stride(), sy = path_.row_stride();
      path_.for_pieces(first, n, [&](int64_t at, int64_t rows, int64_t run) {
        T* const to = out + at;
        for_rows(rows, run, sx, [&](int64_t i, int64_t r, int64_t x, int64_t step) SOFTNPU_INLINED {
          to[r * sy + x * step] = from[i];
        });
        from += rows * run;
      });
    });
  }

 private:
  ElementPath path_;
  DType type_;
  std::byte* origin_;
};

template <int Inputs, class Formula>
__attribute__((noinline)) void walk_gathered(const ElementwiseLayout& l, std::byte* const* origins,
                                             const Formula& formula, int64_t begin, int64_t end) {
  // The third one is there for formulas of three inputs only.
  const GatheredOperand in[3] = {
      {l, 0, origins[0]}, {l, 1, origins[1]}, {l, Inputs - 1, origins[Inputs - 1]}};
  const GatheredOperand out(l, Inputs, origins[Inputs]);
  alignas(64) float space[Inputs + 1][kTileElements];
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t first = tile * kTileElements, n = least(l.nx - first, kTileElements);
    float* const results = out.place(first, space[Inputs]);
    with_inputs<Inputs>(
        [&](auto... k) { apply(formula, n, results, in[k].load(first, n, space[k])...); });
    if (results == space[Inputs]) out.store(results, first, n);
  }
}

SOFTNPU_LEVEL_END
