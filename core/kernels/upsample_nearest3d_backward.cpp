// SPDX-License-Identifier: Apache-2.0
// upsample_nearest3d_backward: each element of gradInput is the sum of a box of gradOut.
//
// Rows of gradInput are made in tiles: first the rows of their boxes (over z and y) are added up
// side by side, then the sums are added along x. Sums are float64; for DOUBLE they carry along what
// each addition rounds away. Each output adds the same numbers in the same order in every layout.
#include <cstring>
#include <type_traits>

#include "kernels/kernels.h"
#include "loops/boxes.h"
#include "loops/convert.h"
#include "loops/level.h"
#include "loops/picks.h"
#include "loops/stream_out.h"
#include "loops/sums.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = UpsampleNearest3dBackwardTask;

template <class T>
class RowMaker {
 public:
  // Sums of DOUBLE are written as they are, all others as float.
  static constexpr bool kCompensated = sizeof(T) == sizeof(double);
  using Stage = std::conditional_t<kCompensated, double, float>;
#ifdef SOFTNPU_QUADS
  static constexpr bool kDirect = true;  // rows of every type are read where they lie
#else
  static constexpr bool kDirect = std::is_same_v<T, Stage>;
#endif

  RowMaker(const Task& task, const std::byte* grad_out, std::byte* grad_input, std::byte* scratch)
      : task_(task),
        grad_out_(reinterpret_cast<const T*>(grad_out)),
        grad_input_(reinterpret_cast<T*>(grad_input)) {
    double* const rows = reinterpret_cast<double*>(scratch);
    sums_ = {rows, rows + kUpsampleRow};
    open_ = {rows + 2 * kUpsampleRow, rows + 3 * kUpsampleRow};
    result_ = reinterpret_cast<Stage*>(rows + 4 * kUpsampleRow);
    for (int r = 0; r < kBatch; ++r)
      staged_[r] = reinterpret_cast<Stage*>(rows + (5 + r) * kUpsampleRow);
    span_ = task.w.start.back();
    picks_ = task.w.picks.empty() ? 0 : 2;  // the two constant sums behind each row
    const bool short_ranges = (task.w.factor > 0 && task.w.factor <= 4) || picks_ > 0;
    const int64_t row = task.w.in * (task.channels_inner ? task.channels : 1);
    dense_ = task.channels_inner ? task.in_channel_stride == 1 && task.w.in_stride == task.channels
                                 : task.w.in_stride == 1;
    rows_touch_ = dense_ && task.h.in_stride == row;
    whole_rows_ = !task.channels_inner && short_ranges && task.w.tiles.size() == 2;
  }

  void make(int64_t row, int64_t end) {
    const Task& t = task_;
    const int64_t channels = t.channels_inner ? 1 : t.channels;
    const int64_t longer = t.w.in > span_ ? t.w.in : span_;
    const int64_t at_once = whole_rows_ ? kUpsampleTile / (longer + picks_) : 0;
    int64_t h = row % t.h.in, d = row / t.h.in % t.d.in;
    int64_t slice = row / (t.h.in * t.d.in);
    while (row < end) {
      const int64_t c = slice % channels, n = slice / channels;
      const T* from = grad_out_ + n * t.out_batch_stride + c * t.out_channel_stride;
      T* to = grad_input_ + n * t.in_batch_stride + c * t.in_channel_stride + d * t.d.in_stride +
              h * t.h.in_stride;
      int64_t count = 1;
      z0_ = t.d.start[d], z1_ = t.d.start[d + 1];
      const int64_t left = end - row < t.h.in - h ? end - row : t.h.in - h;
      if (z0_ == z1_ && rows_touch_) {
        count = left;
        write_zero(to, count * t.h.in_stride);
      } else if (at_once > 1) {
        count = left < at_once ? left : at_once;
        make_whole_rows(from, to, h, count);
      } else {
        make_row(from, to, h);
      }
      row += count;
      if ((h += count) == t.h.in) h = 0, d = d + 1 == t.d.in ? ++slice, 0 : d + 1;
    }
    if (t.stream) finish_streaming();
  }

 private:
  static constexpr int kBatch = 4;

  // Rows h … h + count of one n, c, d, so short that some fit a tile together: an operation on many
  // short rows costs 3 times as much one by one.
  void make_whole_rows(const T* from, T* to, int64_t h, int64_t count) {
    const UpsampleAxis& w = task_.w;
    const int64_t step = span_ + picks_;
    Stage* const out = place_for(to, rows_touch_);
    // One plane alone is read from end to end, which the machine foresees.
    ahead_ = 0;
    if (task_.far && z1_ - z0_ > 1) {
      const UpsampleAxis& y = task_.h;
      ahead_ = h + count < y.in ? (y.start[h + count] - y.start[h]) * y.out_stride
                                : (z1_ - z0_) * task_.d.out_stride - y.start[h] * y.out_stride;
    }
    if (total_whole_rows(from, h, count, out)) return finish_rows(out, to, count);
    if (picks_ > 0) fill_zero(count * w.in, out);
    for (int64_t r = 0; r < count; ++r) {
      const Sums<kCompensated> sums = sums_.from(r * step);
      const bool any = take_box(h + r);
      if (any && w.longest == 1 && picks_ > 0 && z1_ - z0_ == 1 && y1_ - y0_ == 1) {
        spread_row(from, out + r * w.in);
        continue;
      }
      if (any) sum_row(from, h + r, sums);
      if (picks_ == 0 && !any) sums.set_zero(span_);
      if (picks_ > 0 && any) total_picks(0, sums, out + r * w.in);
    }
    if (picks_ == 0) total_uniform(sums_, count * w.in, out);
    finish_rows(out, to, count);
  }

  void finish_rows(const Stage* out, T* to, int64_t count) const {
    const int64_t n = task_.w.in;
    if (rows_touch_) return write_dense(out, count * n, to);
    for (int64_t r = 0; r < count; ++r) write(to + r * task_.h.in_stride, out + r * n, 0, n);
  }

  // The usual scales of w, with boxes of two rows in two planes at most. False where it is
  // something else.
  bool total_whole_rows([[maybe_unused]] const T* from, [[maybe_unused]] int64_t h,
                        [[maybe_unused]] int64_t count, [[maybe_unused]] Stage* out) {
#ifdef SOFTNPU_QUADS
    if constexpr (!kCompensated) {
      if (task_.w.out_stride != 1 || z1_ - z0_ > 2 || task_.h.longest > 2) return false;
      if (task_.w.factor == 2 && task_.w.in >= kQuad && task_.h.factor > 0)
        return total_doubled_rows(from, h, count, out);
      if (task_.w.halved && span_ >= kQuad) return total_halved_rows(from, h, count, out);
    }
#endif
    return false;
  }

#ifdef SOFTNPU_QUADS
  template <int kY, int kZ>
  Boxes<kY, kZ, T> boxes(const T* from, int64_t h) const {
    const int64_t sy = task_.h.out_stride, sz = task_.d.out_stride;
    return {from + z0_ * sz + task_.h.start[h] * sy, sy, sz};
  }

  // Calls total<kY, kZ>() for the row's box. False where it is larger than two rows in two planes.
  template <class Total>
  bool for_small_box(const Total& total) const {
    const int64_t rows = y1_ - y0_, planes = z1_ - z0_;
    if (rows > 2 || planes > 2) return false;
    if (rows == 1)
      planes == 1 ? total.template operator()<1, 1>() : total.template operator()<1, 2>();
    else
      planes == 1 ? total.template operator()<2, 1>() : total.template operator()<2, 2>();
    return true;
  }

  bool total_doubled_rows(const T* from, int64_t h, int64_t count, Stage* out) {
    if (!take_box(h)) return false;
    return for_small_box([&]<int kY, int kZ>() {
      total_doubled(boxes<kY, kZ>(from, h), task_.w.in, count, ahead_, out);
    });
  }

  bool total_halved_rows(const T* from, int64_t h, int64_t count, Stage* out) {
    const int64_t n = task_.w.in;
    for (int64_t r = 0; r < count; ++r, out += n) {
      const auto total = [&]<int kY, int kZ>() {
        total_halved(boxes<kY, kZ>(from, h + r), span_, out);
      };
      if (!take_box(h + r)) {
        fill_zero(n, out);
        continue;
      }
      for_small_box(total);
      for (int64_t i = 2 * span_; i < n; ++i) out[i] = 0;
    }
    return true;
  }
#endif

  // sums = the sums of the row's box, y0_, y1_, z0_, z1_.
  void sum_row(const T* from, [[maybe_unused]] int64_t h, Sums<kCompensated> sums) {
#ifdef SOFTNPU_QUADS
    if constexpr (!kCompensated)
      if (task_.w.out_stride == 1 && span_ >= kQuad)
        if (for_small_box(
                [&]<int kY, int kZ>() { sum_boxes(boxes<kY, kZ>(from, h), span_, sums.value); }))
          return;
#endif
    sum_box(from, 0, span_, sums);
  }

  void make_row(const T* from, T* to, int64_t h) {
    const bool any = take_box(h);
    const int64_t all = task_.channels_inner ? task_.channels : 1;
    if (!any && dense_) {
      write_zero(to, task_.w.in * all);
      return;
    }
    for (int64_t v = 0; v < all; v += kUpsampleTile) {
      nv_ = all - v < kUpsampleTile ? all - v : kUpsampleTile;
      for (size_t tile = 0; tile + 1 < task_.w.tiles.size(); ++tile)
        make_tile(from + v * task_.out_channel_stride, to + v * task_.in_channel_stride, tile, any);
    }
  }

  // Elements [w0, w1) of a row; one whose range is longer than a tile has a tile of its own.
  void make_tile(const T* from, T* to, size_t tile, bool any) {
    const UpsampleAxis& w = task_.w;
    const int64_t w0 = w.tiles[tile], w1 = w.tiles[tile + 1];
    const int64_t x0 = w.start[w0], nx = w.start[w1] - x0;
    if (task_.far) ahead_ = w1 < w.in ? nx * w.out_stride : next_rows(x0);
    const bool touch = dense_ && (nv_ == 1 || nv_ == w.in_stride);
    Stage* const out = place_for(to + w0 * w.in_stride, touch);
    if (!any || nx == 0) {
      fill_zero((w1 - w0) * nv_, out);
    } else if (nx * nv_ > kUpsampleTile) {
      sum_long_range(from, w0, out);
    } else {
      sum_box(from, x0, nx, sums_);
      if (picks_ > 0 && w.longest == 1) fill_zero(w1 - w0, out);
      total_along_x(tile, sums_, out);
    }
    touch ? write_dense(out, (w1 - w0) * nv_, to + w0 * w.in_stride) : write(to, out, w0, w1);
  }

  // How far from column x0 of the box's rows the first column of the next box is.
  int64_t next_rows(int64_t x0) const {
    return (y1_ - y0_) * task_.h.out_stride - x0 * task_.w.out_stride;
  }

  bool take_box(int64_t h) {
    y0_ = task_.h.start[h], y1_ = task_.h.start[h + 1];
    return z0_ < z1_ && y0_ < y1_;
  }

  // sums[x, v] = the sum over y and z of gradOut for x in [x0, x0 + nx).
  void sum_box(const T* from, int64_t x0, int64_t nx, Sums<kCompensated> sums) {
    if (kDirect && is_dense(nx))
      sum_box_of<true>(from, x0, nx, sums);
    else
      sum_box_of<false>(from, x0, nx, sums);
  }

  template <bool kInPlace>
  void sum_box_of(const T* from, int64_t x0, int64_t nx, Sums<kCompensated> sums) {
    using Row = std::conditional_t<kInPlace, T, Stage>;
    const Row* rows[kBatch];
    const int64_t n = nx * nv_;
    int waiting = 0;
    bool first = true;
    for (int64_t y = y0_; y < y1_; ++y)
      for (int64_t z = z0_; z < z1_; ++z) {
        const T* in =
            from + z * task_.d.out_stride + y * task_.h.out_stride + x0 * task_.w.out_stride;
        if constexpr (kInPlace)
          rows[waiting] = in;
        else
          rows[waiting] = staged_row(in, nx, staged_[waiting]);
        if (++waiting < kBatch) continue;
        first ? add_rows<kBatch, true>(rows, n, ahead_, sums)
              : add_rows<kBatch, false>(rows, n, ahead_, sums);
        first = false;
        waiting = 0;
      }
    if (first)
      add_rest<true>(rows, waiting, n, sums);
    else
      add_rest<false>(rows, waiting, n, sums);
  }

  template <bool kFirst, class Row>
  void add_rest(const Row* const* rows, int count, int64_t n, Sums<kCompensated> sums) const {
    if (count == 1) add_rows<1, kFirst>(rows, n, ahead_, sums);
    if (count == 2) add_rows<2, kFirst>(rows, n, ahead_, sums);
    if (count == 3) add_rows<3, kFirst>(rows, n, ahead_, sums);
  }

  // Whether nx positions of a row of gradOut lie behind each other, channels included.
  bool is_dense(int64_t nx) const {
    const int64_t step = task_.w.out_stride;
    return task_.channels_inner ? step == nv_ || nx == 1 : step == 1;
  }

  // The row as dense values of type Stage: converted or gathered into `buffer`.
  const Stage* staged_row(const T* in, int64_t nx, Stage* buffer) const {
    const int64_t sx = task_.w.out_stride, sv = task_.out_channel_stride;
    if (is_dense(nx)) {
      load_dense(in, nx * nv_, buffer);
      return buffer;
    }
    for (int64_t x = 0; x < nx; ++x)
      for (int64_t v = 0; v < nv_; ++v) buffer[x * nv_ + v] = widen(in[x * sx + v * sv]);
    return buffer;
  }

  // out[w, v] = the sum over x of sums[x, v].
  void total_along_x(size_t tile, Sums<kCompensated> sums, Stage* out) const {
    const UpsampleAxis& axis = task_.w;
    const int64_t w0 = axis.tiles[tile], w1 = axis.tiles[tile + 1];
    const int64_t* const start = axis.start.data();
    if (nv_ == 1 && axis.factor > 0 && axis.factor <= 4) return total_uniform(sums, w1 - w0, out);
    if (picks_ > 0) return total_picks(tile, sums, out);
    for (int64_t w = w0; w < w1; ++w)
      total_range(sums.from((start[w] - start[w0]) * nv_), start[w + 1] - start[w],
                  out + (w - w0) * nv_);
  }

  void total_uniform(Sums<kCompensated> sums, int64_t n, Stage* out) const {
    if (task_.w.factor == 1) total_groups<1>(sums, n, out);
    if (task_.w.factor == 2) total_groups<2>(sums, n, out);
    if (task_.w.factor == 3) total_groups<3>(sums, n, out);
    if (task_.w.factor == 4) total_groups<4>(sums, n, out);
  }

  void total_picks(size_t tile, Sums<kCompensated> sums, Stage* out) const {
    const UpsampleAxis& axis = task_.w;
    const int64_t w0 = axis.tiles[tile], w1 = axis.tiles[tile + 1], n = w1 - w0;
    const int64_t nx = axis.start[w1] - axis.start[w0];
    if (axis.longest == 1) return spread(sums, axis.picks.data() + axis.start[w0], nx, out);
    sums.set(nx, 0.0);
    sums.set(nx + 1, -0.0);
    const int32_t* const picks = axis.picks.data() + axis.longest * w0;
#if defined(__AVX512F__)
    if constexpr (!kCompensated)
      if (axis.longest == 2) return total_picked_pairs(sums.value, nx, picks, n, out);
#endif
    if (axis.longest == 2) total_picked<2>(sums, picks, n, out);
    if (axis.longest == 3) total_picked<3>(sums, picks, n, out);
    if (axis.longest == 4) total_picked<4>(sums, picks, n, out);
  }

  // Boxes of at most one element: no sums at all. What they leave out is 0 already.
  void spread_row(const T* from, Stage* out) const {
    const T* const in = from + z0_ * task_.d.out_stride + y0_ * task_.h.out_stride;
    const Stage* row = staged_[0];
    if constexpr (std::is_same_v<T, Stage>)
      row = is_dense(span_) ? in : staged_row(in, span_, staged_[0]);
    else
      staged_row(in, span_, staged_[0]);
    const int32_t* const places = task_.w.picks.data();
    for (int64_t x = 0; x < span_; ++x) out[places[x]] = one_nan(row[x]);
  }

  // Ranges of at most one sum: each goes to its place, and there is 0 between them already.
  void spread(Sums<kCompensated> sums, const int32_t* places, int64_t nx, Stage* out) const {
    Stage* const totals = staged_[0];
    total_groups<1>(sums, nx, totals);
    for (int64_t x = 0; x < nx; ++x) out[places[x]] = totals[x];
  }

  SOFTNPU_INLINE void total_range(Sums<kCompensated> sums, int64_t length, Stage* out) const {
    if (length == 0) return fill_zero(nv_, out);
    if (length == 1) return total_rows(sums, 1, nv_, nv_, out);
    if (length == 2) return total_rows(sums, 2, nv_, nv_, out);
    total_rows(sums, length, nv_, nv_, out);
  }

  // One element of gradInput (for each channel) whose range does not fit a tile. Its sums stay open
  // while pieces of the range pass through.
  void sum_long_range(const T* from, int64_t w, Stage* out) {
    const int64_t begin = task_.w.start[w], end = task_.w.start[w + 1];
    const int64_t piece = kUpsampleTile / nv_;
    for (int64_t x0 = begin; x0 < end; x0 += piece) {
      const int64_t nx = end - x0 < piece ? end - x0 : piece;
      sum_box(from, x0, nx, sums_);
      for (int64_t v = 0; v < nv_; ++v) {
        Sum<kCompensated> sum = x0 == begin ? sums_.at(v) : open_.at(v);
        for (int64_t x = x0 == begin ? 1 : 0; x < nx; ++x) sums_.add_to(sum, x * nv_ + v);
        open_.value[v] = sum.value;
        if constexpr (kCompensated) open_.lost[v] = sum.lost;
        out[v] = static_cast<Stage>(sum.total());
      }
    }
  }

  static void fill_zero(int64_t n, Stage* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = 0;
  }

  // Where to put results for `to`: there, if nothing has to be done to them.
  Stage* place_for(T* to, bool dense) const {
    if constexpr (std::is_same_v<T, Stage>)
      if (dense && !task_.stream) return to;
    return result_;
  }
  void write_dense(const Stage* from, int64_t n, T* to) const {
    const auto bytes = n * static_cast<int64_t>(sizeof(T));
    if constexpr (std::is_same_v<T, Stage>) {
      if (from == to) return;
      stream_out(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from), bytes);
    } else {
      T* const narrowed = task_.stream ? reinterpret_cast<T*>(staged_[0]) : to;
      store_dense(from, n, narrowed);
      if (task_.stream)
        stream_out(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(narrowed),
                   bytes);
    }
  }
  void write_zero(T* to, int64_t n) const {
    const auto bytes = n * static_cast<int64_t>(sizeof(T));
    if (task_.stream) return stream_zero(reinterpret_cast<std::byte*>(to), bytes);
    std::memset(to, 0, static_cast<size_t>(bytes));
  }

  void write(T* to, const Stage* from, int64_t w0, int64_t w1) const {
    const int64_t sw = task_.w.in_stride, sv = task_.in_channel_stride, n = w1 - w0;
    T* const out = to + w0 * sw;
    if (nv_ == 1) return write_row(from, n, sw, out);
    for (int64_t w = 0; w < n; ++w) write_row(from + w * nv_, nv_, sv, out + w * sw);
  }

  static void write_row(const Stage* in, int64_t n, int64_t stride, T* out) {
    if (stride == 1) return store_dense(in, n, out);
    for (int64_t i = 0; i < n; ++i) narrow(in[i], out[i * stride]);
  }

  const Task& task_;
  const T* grad_out_;
  T* grad_input_;
  Sums<kCompensated> sums_;  // over z and y, of one tile
  Sums<kCompensated> open_;  // of a range longer than a tile
  Stage* result_;            // finished sums, before they are written
  Stage* staged_[kBatch];    // rows of gradOut that had to be converted or gathered
  int64_t span_ = 0;         // how much of a row of gradOut has a part in gradInput
  int64_t picks_ = 0;
  bool dense_ = false;       // a row of gradInput is dense
  bool rows_touch_ = false;  // and the next row follows it
  bool whole_rows_ = false;
  int64_t ahead_ = 0;  // how far in gradOut the elements are that will be needed next
  int64_t z0_ = 0, z1_ = 0, y0_ = 0, y1_ = 0;
  int64_t nv_ = 1;  // channels side by side
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
