// SPDX-License-Identifier: Apache-2.0
// Two axes of the upsample gradient as one, and axes along which everything is as it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/upsample_nearest3d_backward.h"

namespace softnpu::ops {

using Axis = kernels::UpsampleAxis;

inline bool is_one(const Axis& axis) { return axis.in == 1 && axis.out == 1; }

inline int64_t longer_side(const Axis& axis) { return std::max(axis.in, axis.out); }

// `outer` takes the place of `inner`, which has one element.
inline void take_place(Axis& outer, Axis& inner) {
  std::swap(outer, inner);
  outer.in_stride = inner.in * inner.in_stride;
  outer.out_stride = inner.out * inner.out_stride;
}

// Whether ranges of both axes as one hold one element and none in turn, as those of `inner` do.
inline bool stays_halved(const Axis& outer, const Axis& inner) {
  return inner.halved && outer.factor == 1 && inner.in == 2 * inner.out;
}

// Makes one axis of two, whose elements are those of `inner` in each of `outer`, which is left with
// one.
inline void join(Axis& outer, Axis& inner) {
  std::vector<int64_t> start;
  start.reserve(static_cast<size_t>(outer.in * inner.in) + 1);
  for (size_t i = 0; i + 1 < outer.start.size(); ++i) {
    const bool empty = outer.start[i] == outer.start[i + 1];
    for (size_t k = 0; k + 1 < inner.start.size(); ++k)
      start.push_back(outer.start[i] * inner.out + (empty ? 0 : inner.start[k]));
  }
  start.push_back(outer.start.back() * inner.out);
  inner.halved = stays_halved(outer, inner);
  inner.start = std::move(start);
  inner.in *= outer.in;
  inner.out *= outer.out;
  if (outer.factor != 1) inner.factor = 0;
  outer.in_stride *= outer.in;
  outer.out_stride *= outer.out;
  outer.start = {0, 1};
  outer.in = outer.out = outer.factor = outer.longest = 1;
}

// Whether none of `outer` is added to another, and elements of `inner` follow each other in both
// tensors from one of `outer` to the next.
inline bool can_join(const Axis& outer, const Axis& inner) {
  return outer.longest == 1 && inner.start.back() == inner.out &&
         outer.in_stride == inner.in * inner.in_stride &&
         outer.out_stride == inner.out * inner.out_stride;
}

// An axis along which everything is as it is.
struct Steps {
  int64_t count, in_stride, out_stride;

  explicit Steps(const Axis& axis) : Steps(axis.in, axis.in_stride, axis.out_stride) {}
  Steps(int64_t n, int64_t in, int64_t out) : count(n), in_stride(in), out_stride(out) {}

  bool follow(const Steps& inner) const {
    return in_stride == inner.count * inner.in_stride &&
           out_stride == inner.count * inner.out_stride;
  }
  // The most elements that divide all of them, `most` at most.
  int64_t largest_part(int64_t most) const {
    int64_t part = std::clamp<int64_t>(most, 1, count);
    while (count % part != 0) --part;
    return part;
  }
  void divide(int64_t part) {
    count /= part;
    in_stride *= part;
    out_stride *= part;
  }
  // The first n elements.
  Axis axis(int64_t n) const {
    Axis made;
    made.in = made.out = n;
    made.in_stride = in_stride;
    made.out_stride = out_stride;
    made.start.resize(static_cast<size_t>(n) + 1);
    std::iota(made.start.begin(), made.start.end(), 0);
    made.factor = made.longest = 1;
    return made;
  }
};

}  // namespace softnpu::ops
