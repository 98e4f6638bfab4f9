// SPDX-License-Identifier: Apache-2.0
#include "loops/elementwise.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace softnpu::loops {
namespace {

struct Dimension {
  int64_t size;
  std::array<int64_t, kMaxOperands> stride;
};
using Dimensions = std::vector<Dimension>;

// Whether `outer` continues `inner` in every operand, so that the two can be merged.
bool continues(const Dimension& outer, const Dimension& inner, int operands) {
  for (int k = 0; k < operands; ++k)
    if (outer.stride[k] != inner.stride[k] * inner.size) return false;
  return true;
}

// The stride of an operand along dimension i of `out`, to which it is broadcast.
int64_t stride_along(const Tensor& operand, const Tensor& out, size_t i) {
  const size_t missing = out.rank() - operand.rank();
  if (i < missing || operand.sizes[i - missing] == 1) return 0;
  return operand.strides[i - missing];
}

// Dimensions longer than 1, outermost first, sorted by the output's strides and merged.
Dimensions collapse(std::span<const Tensor* const> operands) {
  const int count = static_cast<int>(operands.size());
  const Tensor& out = *operands.back();
  const auto output_stride = [&](const Dimension& d) { return std::abs(d.stride[count - 1]); };
  Dimensions dims;
  dims.reserve(out.rank());
  for (size_t i = 0; i < out.rank(); ++i) {
    if (out.sizes[i] == 1) continue;
    Dimension d{out.sizes[i], {}};
    for (int k = 0; k < count; ++k) d.stride[k] = stride_along(*operands[k], out, i);
    const auto next = std::ranges::find_if(
        dims, [&](const Dimension& other) { return output_stride(other) < output_stride(d); });
    dims.insert(next, d);
  }
  Dimensions merged;
  merged.reserve(dims.size());
  for (const Dimension& d : dims) {
    if (merged.empty() || !continues(merged.back(), d, count))
      merged.push_back(d);
    else
      merged.back() = {merged.back().size * d.size, d.stride};
  }
  return merged;
}

// A dimension along which an input is dense that is not dense along x; otherwise the innermost
// dimension, so that short rows can share a tile. dims.size() if there is none.
struct Y {
  size_t dimension;
  bool transposed;
};
Y pick_y(const Dimensions& dims, int operands) {
  const Dimension& x = dims.back();
  for (int k = 0; k + 1 < operands; ++k) {
    if (std::abs(x.stride[k]) <= 1) continue;
    for (size_t i = dims.size() - 1; i-- > 0;)
      if (dims[i].stride[k] == 1) return {i, true};
  }
  return {dims.size() < 2 ? dims.size() : dims.size() - 2, false};
}

// The size of the operands in memory; a repeated element counts once.
int64_t bytes_of(const Dimensions& dims, const ElementwiseLayout& l) {
  int64_t bytes = 0;
  for (int k = 0; k < l.operands; ++k) {
    int64_t own = item_size(l.dtype[k]);
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i].stride[k] != 0) own *= dims[i].size;
    bytes += own;
  }
  return bytes;
}

void set_far(ElementwiseLayout& l, int64_t bytes) {
  l.far = bytes >= kFarBytes;
  if (bytes >= kNearBytes && !l.far) l.order = Order::turning;
}

// The number of elements in a tile of each transposed input. Tiles in memory are larger, to use
// more of each page.
int64_t transposed_elements(const ElementwiseLayout& l) {
  const int64_t bytes = (l.far ? 2 : 1) * kBlockBytes;
  const int64_t item = std::max<int64_t>(2, item_size(l.dtype[0]));
  return std::min(bytes / item, kMostTransposed / std::max(l.transposed_inputs(), 1));
}

void choose_tiles(ElementwiseLayout& l, bool transposed) {
  if (transposed) {
    // A multiple of the squares that are transposed.
    const int64_t most_x = transposed_elements(l) / kTransposedRows / 16 * 16;
    l.tile_y = std::min(l.ny, kTransposedRows);
    // Tiles of equal width, because a narrow last tile would cost as much as a full one.
    const int64_t count = (l.nx + most_x - 1) / most_x;
    l.tile_x = std::min(l.nx, ((l.nx + count - 1) / count + 15) / 16 * 16);
    // With y first, the next tile continues the cache lines of this one, which is faster in memory.
    // In a cache, x first balances the work better.
    l.y_first = l.far;
  } else {
    l.tile_x = std::min<int64_t>(l.nx, kTileElements);
    if (l.ny > 1)
      l.tile_y = std::min<int64_t>(l.ny, std::max<int64_t>(1, kTileElements / 4 / l.tile_x));
  }
  // Avoids a division for small arrays.
  const auto tiles = [](int64_t n, int64_t tile) { return n <= tile ? 1 : (n + tile - 1) / tile; };
  l.tiles_x = tiles(l.nx, l.tile_x);
  l.tiles_y = tiles(l.ny, l.tile_y);
  l.tiles = l.tiles_x * l.tiles_y;
  for (int64_t size : l.outer) l.tiles *= size;
}

// The usual case: all operands are contiguous and have the output's sizes, so everything is one
// dimension.
bool is_plain(std::span<const Tensor* const> operands) {
  for (const Tensor* operand : operands)
    if (!(operand->sizes == operands.back()->sizes) || !is_contiguous(*operand)) return false;
  return true;
}

// Whether elements are gathered one by one: if rows are short, or too few rows share a tile. Longer
// rows are computed in place.
bool should_gather(const Dimensions& dims, const Y& y) {
  if (dims.size() < 2 || dims.size() > kMostGathered) return false;
  if (dims.back().size < kShortRow) return true;
  return y.transposed && dims[y.dimension].size < kShortRow / 2;
}

void choose_gathered_tiles(ElementwiseLayout& l, int64_t elements) {
  l.nx = elements;
  l.tile_x = kTileElements;
  l.tiles = l.tiles_x = (elements + kTileElements - 1) / kTileElements;
}

}  // namespace

ElementwiseLayout classify(std::span<const Tensor* const> operands) {
  ElementwiseLayout l;
  l.operands = static_cast<int>(operands.size());
  for (int k = 0; k < l.operands; ++k) l.dtype[k] = operands[k]->dtype;
  const int64_t elements = operands.back()->numel();
  if (elements == 0) return l;  // no tiles
  if (is_plain(operands)) {
    l.nx = elements;
    l.sx.fill(1);
    int64_t bytes = 0;
    for (int k = 0; k < l.operands; ++k) bytes += elements * item_size(l.dtype[k]);
    set_far(l, bytes);
    choose_tiles(l, false);
    return l;
  }
  Dimensions dims = collapse(operands);
  const int64_t bytes = bytes_of(dims, l);
  const Y y = dims.empty() ? Y{0, false} : pick_y(dims, l.operands);
  l.gathered = should_gather(dims, y);
  if (!l.gathered && !dims.empty()) {
    l.nx = dims.back().size;
    l.sx = dims.back().stride;
    dims.pop_back();
    if (y.dimension < dims.size()) {
      l.ny = dims[y.dimension].size;
      l.sy = dims[y.dimension].stride;
      dims.erase(dims.begin() + static_cast<ptrdiff_t>(y.dimension));
    }
    set_far(l, bytes);
  }
  if (!dims.empty()) {
    l.outer = Dims(dims.size());
    for (int k = 0; k < l.operands; ++k) l.outer_strides[k] = Dims(dims.size());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    l.outer[i] = dims[i].size;
    for (int k = 0; k < l.operands; ++k) l.outer_strides[k][i] = dims[i].stride[k];
  }
  l.gathered ? choose_gathered_tiles(l, elements) : choose_tiles(l, y.transposed);
  return l;
}

}  // namespace softnpu::loops
