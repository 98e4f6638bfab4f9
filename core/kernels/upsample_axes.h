// SPDX-License-Identifier: Apache-2.0
// The axes of nearest upsampling. `in` is the smaller side (self or gradInput), `out` the upsampled
// one (out or gradOut).
#pragma once

#include <cstdint>

namespace softnpu::kernels {

// An upsampled axis: element i of `in` corresponds to elements [start(i), start(i + 1)) of `out`.
struct UpsampleAxis {
  int64_t in = 1, out = 1;                // sizes
  int64_t in_stride = 0, out_stride = 0;  // in elements
  float scale = 1;

  // The contract's start(i): ceil(i · scale) in float32, at most `out`. Sizes are at most 2^20,
  // which float32 and int32 represent exactly.
  int64_t start(int64_t i) const {
    const float product = static_cast<float>(i) * scale, end = static_cast<float>(out);
    const float at = product < end ? product : end;
    const auto below = static_cast<int32_t>(at);
    return below + (static_cast<float>(below) < at);
  }
  // The inverse: the i whose range contains z; the last i for elements past start(in).
  int64_t source(int64_t z) const {
    const auto guess = static_cast<int64_t>(static_cast<float>(z) / scale);
    int64_t i = guess < in ? guess : in - 1;
    while (i > 0 && start(i) > z) --i;
    while (i + 1 < in && start(i + 1) <= z) ++i;
    return i;
  }
  bool is_identity() const { return scale == 1 && in == out; }
  // The maximum length of a range. Because products are rounded, it can exceed ceil(scale).
  int64_t longest() const { return static_cast<int64_t>(scale < out ? scale : out) + 2; }
};

struct UpsampleOuter {
  int64_t size = 1, in_stride = 0, out_stride = 0;
};

struct UpsampleAxes {
  UpsampleOuter batch, channels;
  UpsampleAxis d, h, w;
  // The side axis: channels that are innermost in `out`, merged with all adjacent axes of scale 1.
  UpsampleOuter side;
};

}  // namespace softnpu::kernels
