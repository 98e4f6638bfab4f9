// SPDX-License-Identifier: Apache-2.0
// The task that phase one passes to the kernel.
#pragma once

#include <cstdint>

#include "loops/threads.h"

namespace softnpu::kernels {

// The gather of the unpool gradient. Positions count the elements of out in row-major order.
struct MaxUnpool3dBackwardTask {
  int64_t item = 0;  // bytes of an element
  int64_t batch = 1, channels = 1;
  int64_t d = 1, h = 1, w = 1;     // of self
  int64_t index_strides[5] = {};   // n, c, d, h, w
  int64_t grad_strides[5] = {};    // n, c, D, H, W of gradOutput
  int64_t grad_h = 1, grad_w = 1;  // sizes of gradOutput
  int64_t limit = 0;               // D·H·W of gradOutput
  bool grad_flat = true;           // one stride fits D, H, W of gradOutput
  bool is_far = false;             // the operands come from memory
  bool stream = false;             // non-temporal stores
  loops::Order order = loops::Order::forward;

  int64_t positions() const { return batch * channels * d * h * w; }
};

}  // namespace softnpu::kernels
