// SPDX-License-Identifier: Apache-2.0
// The walk over the tiles of an elementwise operator, compiled once for all formulas: it makes rows
// of all operands contiguous and calls the formula's loop on them. It handles rows of at least 16
// elements and transposed tiles; loops/gathered.h handles shorter rows.
#include "loops/gathered.h"
#include "loops/scratch.h"
#include "loops/tile_operands.h"

SOFTNPU_LEVEL_BEGIN
namespace {

constexpr int kMostInputs = kMaxOperands - 1;

struct Buffers {
  alignas(64) std::byte in[kMostInputs][TileInput::kRowBytes];
  alignas(64) std::byte out[TileInput::kRowBytes];
  alignas(64) std::byte raw[TileInput::kRowBytes];
  alignas(64) std::byte narrow[TileOutput::kNarrowBytes];
  // For all transposed inputs; each row has 16 elements of padding.
  alignas(64) std::byte blocks[(loops::kMostTransposed / 4 * 5) * 4];
};

class TileWalk {
 public:
  TileWalk(const ElementwiseLayout& l, std::byte* const* origins, const RowLoops& loops,
           const void* formula)
      : l_(l),
        origins_(origins),
        formula_(formula),
        inputs_(loops.inputs),
        stores_(loops.stores),
        stage_(stage_of(l)),
        out_(l, stage_) {
    whole_ = out_.is_in_place();
    for (int k = 0; k < inputs_; ++k) {
      in_[k].set(l, k, stage_);
      transposes_ |= in_[k].is_transposed();
      whole_ &= in_[k].is_in_place();
    }
    loop_ = loops.of(stage_)[out_.streams() && out_.is_in_place()];
  }

  void run(int64_t begin, int64_t end) {
    // The usual case: no row is converted, joined or repeated.
    if (whole_ && l_.ny == 1 && l_.has_dense_rows_only()) return run_tiles(begin, end);
    const loops::Scratch scratch;
    auto& buffers = scratch.as<Buffers>();
    std::byte* blocks = buffers.blocks;
    for (int k = 0; k < inputs_; ++k) in_[k].set_buffers(l_, buffers.in[k], buffers.raw, blocks);
    out_.set_buffers(buffers.out, buffers.narrow);
    run_tiles(begin, end);
  }

 private:
  // How many rows are computed as one. Short rows are joined even if this takes a copy.
  int64_t rows_together(int64_t width) const {
    if (2 * width > kPiece || transposes_ || !out_.joins(width)) return 1;
    bool joins = true;
    for (int k = 0; k < inputs_; ++k) joins &= in_[k].joins(width);
    return joins || width < kJoinedRow ? kPiece / width : 1;
  }

  void run_tiles(int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end;) {
      Tile tile = locate(l_, index);
      index += transposes_ ? 1 : join_tiles(l_, index, end, tile);
      run_tile(tile);
    }
    if (out_.streams()) finish_streaming();
  }

  void run_tile(const Tile& tile) {
    for (int k = 0; k < inputs_; ++k)
      in_[k].enter(tile, origins_[k] + tile.at[k] * item_size(l_.dtype[k]));
    out_.enter(origins_[inputs_] + tile.at[inputs_] * out_.item());
    const int64_t most = rows_together(tile.width);
    for (int64_t y = 0, count; y < tile.height; y += count) {
      count = least(tile.height - y, most);
      if (transposes_ && l_.far)
        for (int k = 0; k < inputs_; ++k) in_[k].prefetch_row_of_next(tile, y);
      for (int64_t x = 0; x < tile.width; x += row_.n / count)
        run_piece(x, y, count, whole_ ? tile.width : least(tile.width - x, kPiece));
    }
  }

  void run_piece(int64_t x, int64_t y, int64_t count, int64_t n) {
    for (int k = 0; k < inputs_; ++k) in_[k].put(row_, k, x, y, count, n);
    std::byte* const results = out_.place(x, y, count, n);
    row_.out = results;
    row_.n = n * count;
    loop_(formula_, row_);
    if (stores_) out_.store(results, x, y, count, n);
  }

  const ElementwiseLayout& l_;
  std::byte* const* origins_;
  const void* formula_;
  int inputs_;
  bool stores_;
  DType stage_;
  RowLoop loop_;
  bool transposes_ = false;
  bool whole_;  // all rows are used in place, at any length
  Row row_;
  TileInput in_[kMostInputs];
  TileOutput out_;
};

}  // namespace

void walk_rows(const ElementwiseLayout& l, std::byte* const* origins, const RowLoops& loops,
               const void* formula, int64_t begin, int64_t end) {
  if (l.gathered) return walk_gathered(l, origins, loops, formula, begin, end);
  TileWalk(l, origins, loops, formula).run(begin, end);
}

SOFTNPU_LEVEL_END
