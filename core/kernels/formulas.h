// SPDX-License-Identifier: Apache-2.0
// The numbers that phase one hands to each kernel. float64 throughout: products and sums of
// float32 values keep all their bits in it, nothing overflows on the way, and one rounding is left.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "loops/short_groups.h"

namespace softnpu::kernels {

// Whether a formula may be computed in float32, which is twice as fast in cache: only with numbers
// for which two roundings are all that happens.
struct EluBackwardNumbers {
  double scale;
  double alpha_scale;  // alpha · scale, exact
  double input_scale;
  double input_alpha_scale;  // inputScale · alpha · scale

  // x + alpha · scale, then the product with gradOutput. The bound keeps the sum finite.
  bool result_fits_float() const {
    return input_scale == 1 && static_cast<float>(alpha_scale) == alpha_scale &&
           alpha_scale < 1e30 && alpha_scale > -1e30;
  }
  // alpha · scale · exp(x), then the product with gradOutput; the factor is exact and moderate.
  bool input_fits_float() const {
    const double size = std::abs(alpha_scale);
    return input_scale == 1 && static_cast<float>(alpha_scale) == alpha_scale && size < 0x1p20 &&
           size > 0x1p-20;
  }
  // From where on exp(x), and its product with alpha · scale, are normal numbers.
  double least_input() const {
    const double size = std::abs(alpha_scale);
    return size < 1 ? -86 - std::log(size) : -86;
  }
};

struct SeluBackwardNumbers {
  double lambda = 1.0507009873554804934193349852946;
  double lambda_alpha = 1.7580993408473768599402175208123;
};

struct SmoothL1LossBackwardNumbers {
  double beta;
  double norm;  // 1, or 1/N for the mean
  double norm_over_beta;

  // Four roundings are all that happens: of d, of norm / beta, and of two products.
  bool fits_float() const { return is_moderate(norm) && is_moderate(norm_over_beta) && beta > 0; }
  static bool is_moderate(double v) { return v > 0x1p-60 && v < 0x1p60; }
};

// The nearest-upsample gradient along one axis: gradInput's element i is the sum over gradOut's
// elements [start[i], start[i + 1]).
struct UpsampleAxis {
  int64_t in = 1, out = 1;
  int64_t in_stride = 0, out_stride = 0;  // of gradInput and of gradOut, in elements
  std::vector<int64_t> start;
  int64_t factor = 0;   // the length of every range, where they all have the same
  int64_t longest = 0;  // of all ranges
  bool halved = false;  // ranges hold one element and none in turn; the last ones may hold none

  // Of w only. Tiles are pieces of a row, element tiles[i] to tiles[i + 1] of gradInput. Where
  // ranges differ but are short, picks[longest · tiles[i] …] lists for each place in a range, and
  // for each element of tile i, which of the tile's sums to take: nx for a sum of 0, nx + 1 for one
  // of -0.
  std::vector<int64_t> tiles;
  std::vector<int32_t> picks;
  // Where no range is longer than 2, and rows are long enough. Of 16-bit elements eight at a time.
  std::vector<loops::FourGroups> fours;
  std::vector<loops::EightGroups> eights;
};

struct UpsampleNearest3dBackwardTask {
  DType dtype = DType::undefined;
  int64_t batch = 1, channels = 1;
  int64_t in_batch_stride = 0, out_batch_stride = 0;
  int64_t in_channel_stride = 0, out_channel_stride = 0;
  UpsampleAxis d, h, w;
  // Channels are dense in gradOut: they are summed side by side, else one after the other.
  bool channels_inner = false;
  bool far = false;        // the operands are in memory, not in a cache
  bool ask_ahead = false;  // for elements of gradOut
  bool stream = false;     // write past the caches

  // Rows are the unit of work: one (n, c, d, h) of gradInput, or one (n, d, h) with channels inner.
  int64_t rows() const { return batch * (channels_inner ? 1 : channels) * d.in * h.in; }
};

// The gather of the unpool gradient. Positions count the elements of out in row-major order.
struct MaxUnpool3dBackwardTask {
  int64_t item = 0;  // bytes of an element
  int64_t batch = 1, channels = 1;
  int64_t d = 1, h = 1, w = 1;     // of self
  int64_t index_strides[5] = {};   // n, c, d, h, w
  int64_t grad_strides[5] = {};    // n, c, D, H, W of gradOutput
  int64_t grad_h = 1, grad_w = 1;  // sizes of gradOutput
  int64_t limit = 0;               // D·H·W of gradOutput
  bool grad_flat = true;           // D, H, W of gradOutput have one stride
  bool ask_ahead = false;          // for elements of gradOutput
  bool stream = false;             // write past the caches

  int64_t positions() const { return batch * channels * d * h * w; }
};

// The first index, by position, that is out of range.
struct BadIndex {
  int64_t position = -1;  // -1: none
  int64_t value = 0;
};

}  // namespace softnpu::kernels
