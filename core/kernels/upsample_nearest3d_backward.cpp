// SPDX-License-Identifier: Apache-2.0
// upsample_nearest3d_backward: each element of gradInput is the sum of a box of gradOut.
//
// Rows of gradInput are made in tiles: first the rows of their boxes (over z and y) are added up
// side by side, then the sums are added along x, then they are written. Each step is a header of
// its own; here is the walk over rows and tiles. Sums are float64; for DOUBLE they carry along what
// each addition rounds away. Each output adds the same numbers in the same order in every layout.
#include <tuple>
#include <utility>

#include "kernels/kernels.h"
#include "kernels/upsample_ahead.h"
#include "kernels/upsample_boxes.h"
#include "kernels/upsample_columns.h"
#include "kernels/upsample_output.h"
#include "kernels/upsample_registers.h"
#include "kernels/upsample_scratch.h"
#include "kernels/upsample_volumes.h"
#include "loops/level.h"
#include "loops/sums.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = UpsampleNearest3dBackwardTask;

template <class T>
class RowMaker {
 public:
  RowMaker(const Task& task, const std::byte* grad_out, std::byte* grad_input, std::byte* scratch)
      : task_(task),
        grad_out_(reinterpret_cast<const T*>(grad_out)),
        grad_input_(reinterpret_cast<T*>(grad_input)),
        scratch_(scratch),
        boxes_(task, scratch_),
        registers_(task, scratch_, boxes_),
        columns_(task.w, scratch_),
        output_(task, scratch_),
        ahead_(task, boxes_),
        span_(task.w.start.back()) {
    const int64_t longer = task.w.in > span_ ? task.w.in : span_;
    has_short_ranges_ = !task.channels_inner && (columns_.uniform() || columns_.picked());
    if (has_short_ranges_ && task.w.tiles.size() == 2) {
      const int64_t fit = kUpsampleTile / (longer + columns_.constants());
      at_once_ = fit > 1 ? fit : 1;
      if (need_no_room()) at_once_ = task.h.in;
    }
    if (task.prefetches) {
      at_once_ = ahead_.plan(at_once_, span_);
      boxes_.expect_groups(at_once_);
    }
  }

  void make(int64_t row, int64_t end) {
    const Task& t = task_;
    int64_t h = row % t.h.in, d = row / t.h.in % t.d.in;
    for (int64_t slice = row / (t.h.in * t.d.in); row < end; ++slice, d = 0) {
      if (const int64_t volumes = h == 0 && d == 0 ? make_volumes(slice, row, end) : 0;
          volumes > 0) {
        slice += volumes - 1;
        row += volumes * t.h.in * t.d.in;
        continue;
      }
      const auto [from, volume] = volume_of(slice);
      for (; d < t.d.in && row < end; ++d, h = 0) {
        const int64_t rows = least(end - row, t.h.in - h);
        make_plane_rows(from, volume + d * t.d.in_stride, d, h, h + rows);
        row += rows;
      }
    }
    output_.finish();
  }

 private:
  static constexpr bool kCompensated = UpsampleScratch<T>::kCompensated;
  using Stage = typename UpsampleScratch<T>::Stage;

  // Whether rows are made where they lie, however many: all of a plane together take 0.86 to 1 of
  // the time of those that would fit a tile. Of streamed ones in the order of memory 1 to 1.05.
  bool need_no_room() const {
    if (task_.stream || (task_.prefetches && task_.in_order_ahead == 0)) return false;
    return output_.rows_touch() && registers_.total_all_rows();
  }

  // Slices whose rows are in [row, end), from number `slice` on, where that is the way to make
  // them. The last four overlap those before; but one or two whose rows are long are left. How
  // many; 0 where there are none.
  int64_t make_volumes([[maybe_unused]] int64_t slice, [[maybe_unused]] int64_t row,
                       [[maybe_unused]] int64_t end) const {
#ifdef SOFTNPU_QUADS
    const UpsampleVolumes<T> volumes(task_);
    if (!volumes.apply()) return 0;
    int64_t count = (end - row) / (task_.h.in * task_.d.in);
    if (count % kQuad <= 2 && task_.has_long_ranges()) count -= count % kQuad;
    if (count < kQuad) return 0;
    for_steps<kQuad>(slice, slice + count, [&](int64_t first) {
      const T* from[kQuad];
      T* to[kQuad];
      for (int k = 0; k < kQuad; ++k) std::tie(from[k], to[k]) = volume_of(first + k);
      volumes.total(from, to);
    });
    return count;
#endif
    return 0;
  }

  // Where the slice of that number, of all n, begins in gradOut and in gradInput.
  std::pair<const T*, T*> volume_of(int64_t slice) const {
    const Task& t = task_;
    const int64_t n = slice / t.slices(), c = slice % t.slices();
    return {grad_out_ + n * t.out_batch_stride + c * t.slice_stride_out(),
            grad_input_ + n * t.in_batch_stride + c * t.slice_stride_in()};
  }

  // Rows h … end of gradInput's plane d.
  SOFTNPU_INLINE void make_plane_rows(const T* from, T* plane, int64_t d, int64_t h, int64_t end) {
    const int64_t stride = task_.h.in_stride;
    if (!boxes_.take_planes(d) && output_.rows_touch())
      return output_.write_zero(plane + h * stride, (end - h) * stride);
    if (at_once_ == 0) {
      for (; h < end; ++h) make_row(from, plane + h * stride, h);
      return;
    }
    for (; h < end; h += at_once_)
      make_whole_rows(from, plane + h * stride, h, least(end - h, at_once_));
  }

  // Rows h … h + count of one n, c, d, so short that some fit a tile together: an operation on many
  // short rows costs 3 times as much one by one.
  void make_whole_rows(const T* from, T* to, int64_t h, int64_t count) {
    const UpsampleAxis& w = task_.w;
    const int64_t step = span_ + columns_.constants();
    const bool picked = columns_.picked();
    T* const place = output_.place_for(to, output_.rows_touch());
    if (ahead_.comes_with_any_row()) {
      if (total_whole_rows(from, h, count, place)) return finish_rows(place, to, count);
    } else {
      boxes_.set_prefetch_distance(task_.prefetches && !ahead_.is_foreseen(h, count)
                                       ? ahead_.distance_of_rows(h, count)
                                       : 0);
      if (registers_.total_rows(from, 0, h, count, place)) return finish_rows(place, to, count);
    }
    Stage* const out = output_.stage_for(place);
    if (picked) fill_zero(count * w.in, out);
    const bool few_lines = boxes_.ahead().any() && ahead_.comes_box_by_box();
    if (few_lines) boxes_.set_prefetch_distance(0);
    int64_t begun = 0;  // the first of the rows whose sums are not added up along w yet
    const auto total_until = [&](int64_t r) SOFTNPU_INLINED {
      const int64_t first = std::exchange(begun, r + 1);
      if (r > first)
        columns_.total_uniform(scratch_.sums.from(first * step), (r - first) * w.in,
                               out + first * w.in);
    };
    for (int64_t r = 0; r < count; ++r) {
      const Sums<kCompensated> sums = scratch_.sums.from(r * step);
      const bool any = boxes_.take_rows(h + r);
      if (few_lines) boxes_.prefetch_next_box(from, h, r, count, span_);
      if (any && w.longest == 1 && picked && boxes_.planes() == 1 && boxes_.rows() == 1) {
        columns_.spread_row(boxes_.only_row(from, span_), span_, out + r * w.in);
        continue;
      }
      if (any) boxes_.sum_row(from, span_, sums);
      if (picked && any) columns_.total_picks(0, sums, out + r * w.in);
      if (picked || any) continue;
      total_until(r);
      fill_zero(w.in, out + r * w.in);
    }
    if (!picked) total_until(count);
    finish_rows(out, to, count);
  }

  // In registers, if that is the way for them. Apart from make_whole_rows(), where boxes in a cache
  // take up to 1.1 times as long with a loop.
  __attribute__((noinline)) bool total_whole_rows(const T* from, int64_t h, int64_t count,
                                                  T* place) {
    for (const int64_t end = h + count; h < end;) {
      const int64_t rows = ahead_.rows_alike(h, end - h);
      boxes_.set_prefetch_distance(ahead_.distance_of_any_row(h));
      if (!registers_.total_rows(from, 0, h, rows, place)) return false;
      h += rows, place += rows * task_.w.in;
    }
    return true;
  }

  int64_t channels_inside() const { return task_.channels_inner ? task_.channels : 1; }

  template <class Made>
  void finish_rows(const Made* out, T* to, int64_t count) {
    const int64_t n = task_.w.in;
    if (output_.rows_touch()) return output_.write_dense(out, count * n, to);
    for (int64_t r = 0; r < count; ++r)
      output_.write(out + r * n, n, 1, to + r * task_.h.in_stride);
  }

  __attribute__((noinline)) void make_row(const T* from, T* to, int64_t h) {
    const bool any = boxes_.take_rows(h);
    const int64_t all = channels_inside();
    if (!any && output_.dense()) {
      output_.write_zero(to, task_.w.in * all);
      return;
    }
    for (int64_t v = 0; v < all; v += kUpsampleTile) {
      nv_ = least(all - v, kUpsampleTile);
      for (size_t tile = 0; tile + 1 < task_.w.tiles.size(); ++tile)
        make_tile(from + v * task_.out_channel_stride, to + v * task_.in_channel_stride, h, tile,
                  any);
    }
  }

  // A tile of a row; an element whose range is longer than a tile has one of its own.
  void make_tile(const T* from, T* to, int64_t h, size_t tile, bool any) {
    const UpsampleAxis& w = task_.w;
    const UpsampleAxis::Tile piece = w.tile(tile);
    const int64_t n = piece.n, nx = piece.span;
    if (task_.prefetches) boxes_.set_prefetch_distance(ahead_.distance_of_tile(h, piece));
    const bool touch = output_.dense() && (nv_ == 1 || n == 1 || nv_ == w.in_stride);
    to += piece.w * w.in_stride;
    const auto write = [&](const auto* made) {
      touch ? output_.write_dense(made, n * nv_, to) : output_.write(made, n, nv_, to);
    };
    if (touch && (!any || nx == 0)) return output_.write_zero(to, n * nv_);
    T* const place = output_.place_for(to, touch);
    if (any && nx > 0) {
      if (has_short_ranges_ && registers_.total_rows(from, tile, h, 1, place)) return write(place);
      if (registers_.total_positions(from, tile, nv_, place)) return write(place);
    }
    Stage* const out = output_.stage_for(place);
    if (!any || nx == 0) {
      fill_zero(n * nv_, out);
    } else if (nx * nv_ > kUpsampleTile) {
      sum_long_range(from, piece.w, out);
    } else {
      boxes_.sum(from, piece.x, nx, nv_, scratch_.sums);
      if (columns_.picked() && w.longest == 1) fill_zero(n, out);
      columns_.total(tile, nv_, scratch_.sums, out);
    }
    write(out);
  }

  // One element of gradInput (for each channel) whose range does not fit a tile. Its sums stay open
  // while pieces of the range pass through.
  void sum_long_range(const T* from, int64_t w, Stage* out) {
    const int64_t begin = task_.w.start[w], end = task_.w.start[w + 1];
    const int64_t piece = kUpsampleTile / nv_;
    const Sums<kCompensated> sums = scratch_.sums, open = scratch_.open;
    if (task_.prefetches) boxes_.prefetch_next_rows();
    for (int64_t x0 = begin; x0 < end; x0 += piece) {
      const int64_t nx = least(end - x0, piece);
      boxes_.sum(from, x0, nx, nv_, sums);
      x0 == begin ? add_positions<true>(sums, nx, nv_, open)
                  : add_positions<false>(sums, nx, nv_, open);
    }
    total_rows(open, 1, nv_, nv_, out);
  }

  const Task& task_;
  const T* grad_out_;
  T* grad_input_;
  UpsampleScratch<T> scratch_;
  UpsampleBoxes<T> boxes_;
  UpsampleRegisters<T> registers_;
  UpsampleColumns<T> columns_;
  UpsampleOutput<T> output_;
  UpsampleAhead<T> ahead_;
  int64_t span_;                   // how much of a row of gradOut has a part in gradInput
  bool has_short_ranges_ = false;  // and channels outside
  int64_t at_once_ = 0;            // whole rows that are made together; in tiles if it is 0
  int64_t nv_ = 1;                 // channels side by side
};

}  // namespace

void upsample_nearest3d_backward(const Task& task, const std::byte* grad_out, std::byte* grad_input,
                                 std::byte* scratch, int64_t begin, int64_t end) {
  const auto make_rows = [&]<class T>() {
    RowMaker<T>(task, grad_out, grad_input, scratch).make(begin, end);
  };
  switch (task.dtype) {
    case DType::f16:
      return make_rows.template operator()<f16>();
    case DType::bf16:
      return make_rows.template operator()<bf16>();
    case DType::f64:
      return make_rows.template operator()<double>();
    default:
      return make_rows.template operator()<float>();
  }
}

SOFTNPU_LEVEL_END
