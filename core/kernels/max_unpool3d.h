// SPDX-License-Identifier: Apache-2.0
// What phase one hands to the kernels.
#pragma once

#include <cstdint>

namespace softnpu::kernels {

// The scatter of max unpooling. Positions count the elements of self in row-major order.
struct MaxUnpool3dTask {
  int64_t item = 0;        // bytes of an element
  bool has_int32 = false;  // the type of indices
  int64_t batch = 1, channels = 1;
  int64_t d = 1, h = 1, w = 1;   // of self; all in w where one stride fits both inputs
  int64_t self_strides[5] = {};  // n, c, d, h, w
  int64_t index_strides[5] = {};
  int64_t out_strides[5] = {};   // n, c, D, H, W of out
  int64_t out_h = 1, out_w = 1;  // sizes of out; all in out_w where one stride fits
  int64_t limit = 0;             // D·H·W of out
  // Each plane of out is cut into so many parts, each of which is one thread's.
  int64_t parts = 1;
  bool prefetches = false;  // the places of elements
  bool is_zeroed = false;   // out, before the kernel runs

  int64_t positions() const { return batch * channels * d * h * w; }
  int64_t units() const { return batch * channels * parts; }
};

}  // namespace softnpu::kernels
