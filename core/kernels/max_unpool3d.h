// SPDX-License-Identifier: Apache-2.0
// The task that phase one passes to the kernels.
#pragma once

#include <cstdint>
#include <limits>

namespace softnpu::kernels {

// The scatter of max unpooling. A plane has fixed n and c; its positions count the elements of self
// in row-major order.
struct MaxUnpool3dTask {
  int64_t item = 0;        // bytes of an element
  bool has_int32 = false;  // the type of indices
  int64_t batch = 1, channels = 1;
  int64_t d = 1, h = 1, w = 1;   // of self; merged into w if one stride fits both inputs
  int64_t self_strides[5] = {};  // n, c, d, h, w
  int64_t index_strides[5] = {};
  int64_t out_strides[5] = {};   // n, c, D, H, W of out
  int64_t out_h = 1, out_w = 1;  // sizes of out; merged into out_w if one stride fits
  int64_t limit = 0;             // D·H·W of out
  bool is_zeroed = false;        // out is 0 before the kernel runs
  bool prefetches = false;       // prefetch the destinations

  int64_t planes() const { return batch * channels; }
  int64_t positions() const { return d * h * w; }
};

struct UnpoolPart {
  int64_t plane = 0, begin = 0, end = 0;
};

// The first index, by its position in row-major order, that is out of range.
struct BadIndex {
  int64_t position = -1;  // -1: none
  int64_t value = 0;
};

struct IndexRange {
  int64_t low = std::numeric_limits<int64_t>::max();
  int64_t high = std::numeric_limits<int64_t>::min();

  void add(const IndexRange& other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
  }
};

}  // namespace softnpu::kernels
