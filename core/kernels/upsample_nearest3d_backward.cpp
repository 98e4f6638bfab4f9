// SPDX-License-Identifier: Apache-2.0
// upsample_nearest3d_backward: each element of gradInput is the sum of a box of gradOut.
//
// Rows of gradInput are made in tiles: first the rows of their boxes (over z and y) are added up
// side by side, then the sums are added along x, then they are written. Each step is a header of
// its own; here is the walk over rows and tiles. Sums are float64; for DOUBLE they carry along what
// each addition rounds away. Each output adds the same numbers in the same order in every layout.
#include "kernels/kernels.h"
#include "kernels/upsample_boxes.h"
#include "kernels/upsample_columns.h"
#include "kernels/upsample_output.h"
#include "kernels/upsample_scratch.h"
#include "loops/box_totals.h"
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
        columns_(task.w, scratch_),
        output_(task, scratch_),
        span_(task.w.start.back()) {
    const bool short_ranges = columns_.uniform() || columns_.picked();
    const int64_t longer = task.w.in > span_ ? task.w.in : span_;
    if (!task.channels_inner && short_ranges && task.w.tiles.size() == 2)
      at_once_ = kUpsampleTile / (longer + columns_.constants());
    if (task.prefetches) plan_prefetches();
  }

  void make(int64_t row, int64_t end) {
    const Task& t = task_;
    const int64_t channels = t.channels_inner ? 1 : t.channels;
    int64_t h = row % t.h.in, d = row / t.h.in % t.d.in;
    int64_t slice = row / (t.h.in * t.d.in);
    while (row < end) {
      const int64_t c = slice % channels, n = slice / channels;
      const T* from = grad_out_ + n * t.out_batch_stride + c * t.out_channel_stride;
      T* to = grad_input_ + n * t.in_batch_stride + c * t.in_channel_stride + d * t.d.in_stride +
              h * t.h.in_stride;
      int64_t count = 1;
      const int64_t left = least(end - row, t.h.in - h);
      if (!boxes_.take_planes(d) && output_.rows_touch()) {
        count = left;
        output_.write_zero(to, count * t.h.in_stride);
      } else if (at_once_ > 1) {
        count = least(left, at_once_);
        make_whole_rows(from, to, h, count);
      } else {
        make_row(from, to, h);
      }
      row += count;
      h += count;
      if (h < t.h.in) continue;
      h = 0;
      if (++d < t.d.in) continue;
      d = 0;
      ++slice;
    }
    output_.finish();
  }

 private:
  static constexpr bool kCompensated = UpsampleScratch<T>::kCompensated;
  using Stage = typename UpsampleScratch<T>::Stage;

  // Rows h … h + count of one n, c, d, so short that some fit a tile together: an operation on many
  // short rows costs 3 times as much one by one.
  void make_whole_rows(const T* from, T* to, int64_t h, int64_t count) {
    const UpsampleAxis& w = task_.w;
    const int64_t step = span_ + columns_.constants();
    const bool picked = columns_.picked();
    T* const place = output_.place_for(to, output_.rows_touch());
    // One plane alone is read from end to end, which the machine foresees.
    boxes_.set_prefetch_distance(
        task_.prefetches && boxes_.planes() > 1 ? distance_of_rows(h, count) : 0);
    if (total_in_registers(from, h, count, place)) return finish_rows(place, to, count);
    Stage* const out = output_.stage_for(place);
    if (picked) fill_zero(count * w.in, out);
    for (int64_t r = 0; r < count; ++r) {
      const Sums<kCompensated> sums = scratch_.sums.from(r * step);
      const bool any = boxes_.take_rows(h + r);
      if (any && w.longest == 1 && picked && boxes_.planes() == 1 && boxes_.rows() == 1) {
        columns_.spread_row(boxes_.only_row(from, span_), span_, out + r * w.in);
        continue;
      }
      if (any) boxes_.sum_row(from, span_, sums);
      if (!picked && !any) sums.set_zero(span_);
      if (picked && any) columns_.total_picks(0, sums, out + r * w.in);
    }
    if (!picked) columns_.total_uniform(scratch_.sums, count * w.in, out);
    finish_rows(out, to, count);
  }

  // Rows that are made together are split into groups of one size, so that what is prefetched with
  // one group is all that the next one needs. For rows that are made one by one, elements are
  // prefetched about 8 KB ahead: with a scale of 3.3 and rows of 59 elements from memory, that is
  // 1.5 times as fast as for the next row only.
  void plan_prefetches() {
    constexpr int64_t kAheadBytes = 8192;
    const UpsampleAxis &d = task_.d, &h = task_.h;
    const auto divided = [](int64_t n, int64_t by) { return (n + by - 1) / by; };
    if (at_once_ > 1 && d.longest > 1) at_once_ = divided(h.in, divided(h.in, at_once_));
    const int64_t box = d.longest * h.longest * span_ * channels_inside() * int64_t{sizeof(T)};
    if (box > 0) rows_ahead_ = divided(kAheadBytes, box);
  }

  int64_t channels_inside() const { return task_.channels_inner ? task_.channels : 1; }

  // How far from the box of row h that of the row `count` later is.
  int64_t distance_of_rows(int64_t h, int64_t count) const {
    const UpsampleAxis& y = task_.h;
    const int64_t next = h + count;
    if (next < y.in) return (y.start[next] - y.start[h]) * y.out_stride;
    const int64_t wrapped = next - y.in < y.in ? next - y.in : 0;
    return boxes_.planes() * task_.d.out_stride + (y.start[wrapped] - y.start[h]) * y.out_stride;
  }

  template <class Made>
  void finish_rows(const Made* out, T* to, int64_t count) const {
    const int64_t n = task_.w.in;
    if (output_.rows_touch()) return output_.write_dense(out, count * n, to);
    for (int64_t r = 0; r < count; ++r)
      output_.write(out + r * n, n, 1, to + r * task_.h.in_stride);
  }

  // All steps at once, for the usual scales of w and boxes of two rows in two planes at most.
  // False where it is something else.
  bool total_in_registers([[maybe_unused]] const T* from, [[maybe_unused]] int64_t h,
                          [[maybe_unused]] int64_t count, [[maybe_unused]] T* out) {
#ifdef SOFTNPU_QUADS
    const UpsampleAxis& w = task_.w;
    if (w.out_stride != 1 || boxes_.planes() > 2 || task_.h.longest > 2) return false;
    if (w.factor == 2 && w.in >= kQuad && task_.h.factor > 0)
      return total_doubled_rows(from, h, count, out);
    const BoxRows<T> rows = boxes_.box_rows(from, h, count);
    if (w.halved && span_ >= kQuad) {
      boxes_.prefetch_distance() == 0
          ? total_halved_rows<false>(rows, w.in, span_, 0, out)
          : total_halved_rows<true>(rows, w.in, span_, boxes_.prefetch_distance(), out);
      return true;
    }
#ifdef SOFTNPU_PICKS_QUADS
    const auto total_picked = [&](const auto& groups) {
      if (groups.empty()) return false;
      total_picked_rows(rows, groups.data(), w.in, boxes_.prefetch_distance(), out);
      return true;
    };
    if constexpr (kSumsExactly<T, 2>)
      if (total_picked(w.eights)) return true;
    if constexpr (!kCompensated) return total_picked(w.fours);
#endif
#endif
    return false;
  }

#ifdef SOFTNPU_QUADS
  bool total_doubled_rows(const T* from, int64_t h, int64_t count, T* out) {
    if (!boxes_.take_rows(h)) return false;
    return boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
      const Boxes<kY, kZ, T> boxes = boxes_.template small<kY, kZ>(from);
      boxes_.prefetch_distance() == 0
          ? total_doubled<false>(boxes, task_.w.in, count, 0, out)
          : total_doubled<true>(boxes, task_.w.in, count, boxes_.prefetch_distance(), out);
    });
  }
#endif

  // The same for channels beside each other, where boxes are two rows in two planes at most and
  // ranges of w no longer. False where they are not.
  bool total_positions_in_registers([[maybe_unused]] const T* from, [[maybe_unused]] size_t tile,
                                    [[maybe_unused]] T* out) {
#ifdef SOFTNPU_QUADS
    const UpsampleAxis& w = task_.w;
    if (!task_.channels_inner || nv_ < kQuad || w.longest > 2) return false;
    return boxes_.if_small([&]<int kY, int kZ>() SOFTNPU_INLINED {
      total_positions(boxes_.template small<kY, kZ>(from), w.out_stride,
                      w.start.data() + w.tiles[tile], w.tiles[tile + 1] - w.tiles[tile], nv_,
                      boxes_.prefetch_distance(), out);
    });
#endif
    return false;
  }

  void make_row(const T* from, T* to, int64_t h) {
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

  // Elements [w0, w1) of a row; one whose range is longer than a tile has a tile of its own.
  void make_tile(const T* from, T* to, int64_t h, size_t tile, bool any) {
    const UpsampleAxis& w = task_.w;
    const int64_t w0 = w.tiles[tile], w1 = w.tiles[tile + 1];
    const int64_t x0 = w.start[w0], nx = w.start[w1] - x0;
    if (task_.prefetches)
      boxes_.set_prefetch_distance(w1 < w.in ? nx * w.out_stride
                                             : distance_of_rows(h, w0 == 0 ? rows_ahead_ : 1) -
                                                   x0 * w.out_stride);
    const bool touch = output_.dense() && (nv_ == 1 || nv_ == w.in_stride);
    to += w0 * w.in_stride;
    const auto write = [&](const auto* made) {
      touch ? output_.write_dense(made, (w1 - w0) * nv_, to)
            : output_.write(made, w1 - w0, nv_, to);
    };
    T* const place = output_.place_for(to, touch);
    if (any && nx > 0 && total_positions_in_registers(from, tile, place)) return write(place);
    Stage* const out = output_.stage_for(place);
    if (!any || nx == 0) {
      fill_zero((w1 - w0) * nv_, out);
    } else if (nx * nv_ > kUpsampleTile) {
      sum_long_range(from, w0, out);
    } else {
      boxes_.sum(from, x0, nx, nv_, scratch_.sums);
      if (columns_.picked() && w.longest == 1) fill_zero(w1 - w0, out);
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
    for (int64_t x0 = begin; x0 < end; x0 += piece) {
      const int64_t nx = least(end - x0, piece);
      boxes_.sum(from, x0, nx, nv_, sums);
      for (int64_t v = 0; v < nv_; ++v) {
        Sum<kCompensated> sum = x0 == begin ? sums.at(v) : open.at(v);
        for (int64_t x = x0 == begin ? 1 : 0; x < nx; ++x) sums.add_to(sum, x * nv_ + v);
        open.put(v, sum);
        out[v] = static_cast<Stage>(sum.total());
      }
    }
  }

  const Task& task_;
  const T* grad_out_;
  T* grad_input_;
  UpsampleScratch<T> scratch_;
  UpsampleBoxes<T> boxes_;
  UpsampleColumns<T> columns_;
  UpsampleOutput<T> output_;
  int64_t span_;            // how much of a row of gradOut has a part in gradInput
  int64_t at_once_ = 0;     // rows that are made together; one by one if it is no more than 1
  int64_t rows_ahead_ = 1;  // which of the next rows, else, is prefetched
  int64_t nv_ = 1;          // channels side by side
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
