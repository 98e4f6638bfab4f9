// SPDX-License-Identifier: Apache-2.0
#include "loops/elementwise.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "loops/dimensions.h"

namespace softnpu::loops {
namespace {

// Whether `outer` continues `inner` in every operand, so that the two are one dimension.
bool continues(const Dimension& outer, const Dimension& inner, int operands) {
  for (int k = 0; k < operands; ++k)
    if (outer.stride[k] != inner.stride[k] * inner.size) return false;
  return true;
}

// The stride of an operand along dimension i of `out`, to which it broadcasts.
int64_t stride_along(const Tensor& operand, const Tensor& out, size_t i) {
  const size_t missing = out.rank() - operand.rank();
  if (i < missing || operand.sizes[i - missing] == 1) return 0;
  return operand.strides[i - missing];
}

// Dimensions longer than 1, outermost first, ordered by the output's strides and merged.
Dimensions collapse(std::span<const Tensor* const> operands) {
  const int count = static_cast<int>(operands.size());
  const Tensor& out = *operands.back();
  const auto output_stride = [&](const Dimension& d) { return std::abs(d.stride[count - 1]); };
  Dimensions dims(out.rank());
  for (size_t i = 0; i < out.rank(); ++i) {
    if (out.sizes[i] == 1) continue;
    Dimension d{out.sizes[i], {}};
    for (int k = 0; k < count; ++k) d.stride[k] = stride_along(*operands[k], out, i);
    dims.insert_sorted(d, output_stride);
  }
  size_t kept = 0;
  for (size_t i = 1; i < dims.size(); ++i) {
    if (continues(dims[kept], dims[i], count)) {
      dims[i].size *= dims[kept].size;
      dims[kept] = dims[i];
    } else {
      dims[++kept] = dims[i];
    }
  }
  if (!dims.empty()) dims.truncate(kept + 1);
  return dims;
}

// The dimension, other than x, along which an input is dense that is not dense along x; else the
// next one out, so that short rows can share a tile. The number of dimensions when there is none.
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

// Whether more operands are contiguous along y than along x. Transposing the few is cheaper, as
// long as the output can be written in pieces: with streaming stores it cannot.
bool should_swap(const ElementwiseLayout& l) {
  int more = 0;
  for (int k = 0; k < l.operands; ++k) more += (l.sy[k] == 1) - (l.sx[k] == 1);
  return more > 0 && !l.far;
}

// How much the operands have in memory: what is repeated is there once.
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

bool has_one_type(const ElementwiseLayout& l) {
  for (int k = 1; k < l.operands; ++k)
    if (l.dtype[k] != l.dtype[0]) return false;
  return true;
}

// Decides whether operands of `bytes` in all are assumed to be in memory, not in a cache; the
// output has `elements`.
void set_far(ElementwiseLayout& l, int64_t bytes, int64_t elements) {
  const int64_t output = elements * item_size(l.dtype[l.operands - 1]);
  // Small calls do not ask for the threads.
  const bool keeps = bytes >= kFarBytes && usable_threads() > 1;
  const int64_t kept = keeps ? std::min(output, kKeptOutputBytes) : 0;
  l.far = l.has_dense_rows() ? bytes - kept >= kFarBytes : bytes >= kFarStridedBytes;
  if (bytes >= kNearBytes && !l.far) l.order = Order::turning_at_home;
  if (!l.far) return;
  l.ahead = kLinesAhead * 64 / item_size(l.dtype[0]);
}

// How inputs that are dense along y are cut: rows of a tile, and elements that it takes of each.
struct TransposedTiles {
  int64_t rows, elements;
};

// Whether threads that share the rows would take cache lines from each other: those of an output
// that is dense along y, not along x. Its columns are so short that much of each is near another
// thread's part, which the machine prefetches, too, even where no line has parts of both.
bool would_share_lines(const ElementwiseLayout& l, int64_t bytes) {
  constexpr int64_t kFewBytes = int64_t{4} << 20;
  const int out = l.operands - 1;
  if (l.far || l.sx[out] == 1 || l.sy[out] != 1 || usable_threads() == 1) return false;
  if (!has_one_type(l)) return false;
  if (l.step(out) % 64 == 0) return l.ny <= 128 * item_size(l.dtype[out]);
  return l.ny <= (bytes <= kFewBytes ? 1024 : 512);
}

// In a cache. A small FLOAT tile is in the L1 cache, the rest in the L2.
TransposedTiles choose_near_tiles(const ElementwiseLayout& l, int transposed, int64_t bytes) {
  constexpr int64_t kOneTile = kMostBlockElements / 4;
  if (item_size(l.dtype[0]) <= 2 && transposed <= 1) return {32, kMostBlockElements / 2};
  if (bytes <= kSmallBytes && l.nx * l.ny > kOneTile) return {16, kMostBlockElements / 8};
  return {32, kOneTile};
}

TransposedTiles choose_transposed_tiles(const ElementwiseLayout& l, int64_t bytes) {
  const auto [transposed, spread, aliased] = l.transposed_inputs();
  const int64_t item = std::max<int64_t>(2, item_size(l.dtype[0]));
  if (!l.far) return choose_near_tiles(l, transposed, bytes);
  // From memory. Columns that share pages are read whole. Else few and long rows, for the sake of
  // the operands that are dense along x. Columns whole pages apart fall into the same few places of
  // a cache, where more of each has to be used at once.
  if (!spread) return {64, std::min((int64_t{32} << 10) / item, kMostBlockElements / transposed)};
  const int64_t all = (int64_t{64} << 10) / item;
  return {aliased ? 32 : 16, std::max(all / transposed, kMostBlockElements / 4)};
}

void choose_tiles(ElementwiseLayout& l, bool transposed, int64_t bytes) {
  if (transposed) {
    TransposedTiles tiles = choose_transposed_tiles(l, bytes);
    // Where they would, each has columns to itself.
    const bool columns = l.ny > tiles.rows && would_share_lines(l, bytes);
    if (columns) tiles = {256, kMostBlockElements / 4};
    l.tile_y = std::min<int64_t>(l.ny, tiles.rows);
    // Equal tiles in x, of whole squares: a narrow one left over would cost as much as a full one.
    const int64_t most = tiles.elements / tiles.rows / 16 * 16;
    const int64_t count = (l.nx + most - 1) / most;
    l.tile_x = std::min(l.nx, ((l.nx + count - 1) / count + 15) / 16 * 16);
    // Along y first, the next tile continues the lines that were read, which helps from memory; in
    // cache the other way shares the work better.
    l.y_first = l.far || columns;
  } else {
    l.tile_x = std::min<int64_t>(l.nx, kTileElements);
    if (l.ny > 1)
      l.tile_y = std::min<int64_t>(l.ny, std::max<int64_t>(1, kTileElements / 4 / l.tile_x));
  }
  // Small arrays have one tile, without a division.
  const auto tiles = [](int64_t n, int64_t tile) { return n <= tile ? 1 : (n + tile - 1) / tile; };
  l.tiles_x = tiles(l.nx, l.tile_x);
  l.tiles_y = tiles(l.ny, l.tile_y);
  l.tiles = l.tiles_x * l.tiles_y;
  for (int64_t size : l.outer) l.tiles *= size;
}

// The usual case: all operands have the output's sizes and are contiguous, which makes one
// dimension of everything.
bool is_plain(std::span<const Tensor* const> operands) {
  for (const Tensor* operand : operands)
    if (!(operand->sizes == operands.back()->sizes) || !is_contiguous(*operand)) return false;
  return true;
}

// Whether all operands but one lie in memory in the output's order from end to end, and nothing is
// repeated.
bool has_one_with_gaps(const Dimensions& dims, int operands) {
  int with_gaps = 0;
  for (int k = 0; k < operands; ++k) {
    int64_t step = 1;
    bool dense = true;
    for (size_t i = dims.size(); i-- > 0; step *= dims[i].size) {
      if (dims[i].stride[k] == 0) return false;
      dense &= dims[i].stride[k] == step;
    }
    with_gaps += !dense;
  }
  return with_gaps == 1;
}

// Whether elements are copied one by one: if rows are short, or the tiles to transpose are small.
bool should_gather(const Dimensions& dims, const Y& y, const ElementwiseLayout& l) {
  constexpr int64_t kShortRow = 16, kShortColumn = 9, kSmallTile = 100;
  if (dims.size() < 2 || dims.size() > kMostGathered) return false;
  const int64_t nx = dims.back().size, ny = dims[y.dimension].size;
  if (y.transposed) return nx < kShortColumn || ny < kShortColumn || nx * ny < kSmallTile;
  if (!has_one_type(l)) return nx < 2 * kShortRow;
  const bool longer = l.dtype[0] == DType::f32 && has_one_with_gaps(dims, l.operands);
  return nx < (longer ? 3 : 1) * kShortRow;
}

void choose_gathered_tiles(ElementwiseLayout& l, int64_t elements) {
  l.nx = elements;
  l.tile_x = kTileElements;
  l.tiles = l.tiles_x = (elements + kTileElements - 1) / kTileElements;
}

}  // namespace

ElementwiseLayout::TransposedInputs ElementwiseLayout::transposed_inputs() const {
  TransposedInputs found;
  for (int k = 0; k + 1 < operands; ++k) {
    if (!is_transposed(k)) continue;
    ++found.count;
    found.spread |= is_spread(k);
    found.aliased &= step(k) % kPageBytes == 0;
  }
  return found;
}

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
    set_far(l, bytes, elements);
    choose_tiles(l, false, bytes);
    return l;
  }
  Dimensions dims = collapse(operands);
  const int64_t bytes = bytes_of(dims, l);
  const Y y = dims.empty() ? Y{0, false} : pick_y(dims, l.operands);
  l.gathered = should_gather(dims, y, l);
  if (!l.gathered && !dims.empty()) {
    l.nx = dims.back().size;
    l.sx = dims.back().stride;
    dims.truncate(dims.size() - 1);
    if (y.dimension < dims.size()) {
      l.ny = dims[y.dimension].size;
      l.sy = dims[y.dimension].stride;
      dims.erase(y.dimension);
    }
    set_far(l, bytes, elements);
    if (y.transposed && should_swap(l)) {
      std::swap(l.nx, l.ny);
      std::swap(l.sx, l.sy);
    }
  }
  if (!dims.empty()) {
    l.outer = Dims(dims.size());
    for (int k = 0; k < l.operands; ++k) l.outer_strides[k] = Dims(dims.size());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    l.outer[i] = dims[i].size;
    for (int k = 0; k < l.operands; ++k) l.outer_strides[k][i] = dims[i].stride[k];
  }
  l.gathered ? choose_gathered_tiles(l, elements) : choose_tiles(l, y.transposed, bytes);
  return l;
}

}  // namespace softnpu::loops
