// SPDX-License-Identifier: Apache-2.0
// upsample_nearest3d_backward: each element of gradInput is the sum of a box of gradOut.
//
// Each sum adds along D, then H, then W, in float64 (DOUBLE: with compensated summation), and is
// rounded once, so its bits depend neither on the layout nor on the number of threads. Elements
// along the side axis are summed independently. In channels-last memory it is C; if W has scale 1,
// W joins the side axis or becomes it, and H and D take the roles of W and H. There are four ways
// to read gradOut:
//   side    the side axis is contiguous: vectors along it are summed over D, H, W in registers;
//   row     W is contiguous, apart from the side axis: vectors along W are summed over D and H into
//   a row of
//           scratch memory, and adjacent elements of it are added up (upsample_columns.h);
//   staged  neither: a box is copied to scratch memory with some channels innermost, then summed as
//   above; plain   the box is too large to be staged: element by element.
#include "kernels/kernels.h"
#include "kernels/upsample_boxes.h"
#include "kernels/upsample_columns.h"
#include "kernels/upsample_output.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = UpsampleNearest3dBackwardTask;

template <class T>
class GradientMaker {
 public:
  GradientMaker(const Task& task, const std::byte* grad_out, std::byte* grad_input,
                UpsampleScratch& scratch)
      : t_(task),
        grad_out_(reinterpret_cast<const T*>(grad_out)),
        grad_input_(reinterpret_cast<T*>(grad_input)),
        ahead_(ahead_of(task)),
        scratch_(scratch),
        sums_{scratch.sums, scratch.lost},
        staged_(reinterpret_cast<T*>(scratch.staged)),
        output_(task, reinterpret_cast<Stage*>(scratch.finished), staged_) {}

  void make(int64_t begin, int64_t end) {
    int64_t rest = begin;
    const auto take = [&](int64_t size) {
      const int64_t at = rest % size;
      rest /= size;
      return at;
    };
    int64_t h = take(t_.h.in), d = take(t_.d.in), block = take(t_.side_blocks);
    int64_t c = take(t_.channels.size), n = take(t_.batch.size), tile = rest;
    while (begin < end) {
      if (tile != tile_) enter_tile(tile);
      const int64_t rows = least(end - begin, t_.h.in - h);
      make_plane(n, c, block, d, h, rows);
      begin += rows;
      h = 0;
      if (++d < t_.d.in) continue;
      d = 0;
      if (++block < t_.side_blocks) continue;
      block = 0;
      if (++c < t_.channels.size) continue;
      c = 0;
      if (++n < t_.batch.size) continue;
      n = 0;
      ++tile;
    }
    if (t_.stream) finish_streaming();
  }

 private:
  using Stage = Finished<T>;
  using Rows = typename UpsampleOutput<T>::Rows;

  void enter_tile(int64_t tile) {
    tile_ = tile;
    first_ = tile * t_.tile;
    width_ = least(t_.tile, t_.w.in - first_);
    begin_ = t_.w.start(first_);
    span_ = t_.w.start(first_ + width_) - begin_;
    list_starts(t_.w, first_, width_, scratch_.columns_from);
    for (int64_t w = 0; w <= width_; ++w) scratch_.columns_from[w] -= static_cast<int32_t>(begin_);
    entered_ = 0;
  }

  // Stores start(first) … start(first + count).
  static void list_starts(const UpsampleAxis& axis, int64_t first, int64_t count, int32_t* starts) {
    for (int64_t i = 0; i <= count; ++i) starts[i] = static_cast<int32_t>(axis.start(first + i));
  }

  // Prepares blocks with `side` elements of the side axis: how many rows are made at once, and how
  // they are added up along W.
  void enter_side(int64_t side) {
    entered_ = side;
    const int64_t longer = (width_ > span_ ? width_ : span_) * side;
    rows_at_once_ = longer < kUpsampleTile ? kUpsampleTile / longer : 1;
    by_rows_ = t_.mode == Task::Mode::row || (t_.mode == Task::Mode::staged && side < kWideLanes);
    if (by_rows_ && span_ * side <= kUpsampleTile)
      columns_.enter(t_.w, first_, first_ + width_, side, rows_at_once_, sums_, scratch_.list);
  }

  // Makes rows [h, h + rows) of a plane.
  void make_plane(int64_t n, int64_t c, int64_t block, int64_t d, int64_t h, int64_t rows) {
    const int64_t s = block * t_.side_block, side = least(t_.side_block, t_.side.size - s);
    if (side != entered_) enter_side(side);
    const int64_t z = t_.d.start(d), nz = t_.d.start(d + 1) - z;
    const T* const from = grad_out_ + n * t_.batch.out_stride + c * t_.channels.out_stride +
                          s * t_.side.out_stride + z * t_.d.out_stride + begin_ * t_.w.out_stride;
    T* const to = grad_input_ + n * t_.batch.in_stride + c * t_.channels.in_stride +
                  s * t_.side.in_stride + d * t_.d.in_stride + first_ * t_.w.in_stride;
    if (nz == 0 || span_ == 0)
      return output_.write_zero({to + h * t_.h.in_stride, rows, width_, side});
    for (const int64_t end = h + rows; h < end; h += rows) {
      rows = least(end - h, rows_at_once_);
      make_rows(from, nz, h, {to + h * t_.h.in_stride, rows, width_, side});
    }
  }

  void make_rows(const T* from, int64_t nz, int64_t h, const Rows& target) {
    Stage* const out = output_.place(target);
    const int64_t side = target.side, size = target.row_size();
    if (h != listed_from_ || target.rows > listed_) {
      list_starts(t_.h, listed_from_ = h, listed_ = target.rows, scratch_.rows_from);
    }
    int64_t summed = 0;  // rows whose sums over D and H are ready
    const auto total_rows = [&](int64_t row) SOFTNPU_INLINED {
      if (summed > 0) columns_.total(sums_, summed, out + (row - summed) * size);
      summed = 0;
    };
    for (int64_t row = 0, count; row < target.rows; row += count) {
      const int64_t y = scratch_.rows_from[row], ny = scratch_.rows_from[row + 1] - y;
      for (count = 1; row + count < target.rows; ++count)
        if (scratch_.rows_from[row + count + 1] - scratch_.rows_from[row + count] != ny) break;
      const Box box{nz, t_.d.out_stride, ny, t_.h.out_stride, ahead_};
      const T* const at = from + y * t_.h.out_stride;
      Stage* const made = out + row * size;
      if (ny == 0) {
        total_rows(row);
        fill_zero(count * size, made);
      } else if (by_rows_ && sum_rows(at, box, side, count, sums_.from(summed * span_ * side))) {
        summed += count;
      } else {
        for (int64_t i = 0; i < count; ++i)
          total_row(at + i * ny * box.sy, box, side, made + i * size);
      }
    }
    total_rows(target.rows);
    output_.write(out, target);
  }

  // The distance to the next box along H, for prefetching.
  static int64_t ahead_of(const Task& t) {
    const auto whole = static_cast<int64_t>(t.h.scale);
    return (whole + (static_cast<float>(whole) < t.h.scale)) * t.h.out_stride;
  }

  // Sums `count` rows over D and H. Returns false if a range along W is longer than a row of sums.
  bool sum_rows(const T* from, const Box& box, int64_t side, int64_t count,
                const SumRow<kIsCompensated<T>>& sums) {
    const int64_t n = span_ * side;
    if (n > kUpsampleTile) return false;
    if (t_.mode == Task::Mode::row) {
      sum_columns(from, box, n, count, sums);
      return true;
    }
    for (int64_t row = 0; row < count; ++row)
      sum_columns(staged_, stage_box(from + row * box.ny * box.sy, box, side), n, 1,
                  sums.from(row * n));
    return true;
  }

  // Sums one range along W that is longer than a row of sums.
  void total_long_range(const T* from, const Box& box, int64_t side, Stage* made) {
    const int64_t step = kUpsampleTile / side;
    RunningSum<double, kIsCompensated<T>> totals[kUpsampleSide];
    for (int64_t x = 0; x < span_; x += step) {
      const int64_t count = least(step, span_ - x);
      sum_columns(from + x * side, box, count * side, 1, sums_);
      for (int64_t s = 0; s < side; ++s) {
        int64_t i = 0;
        if (x == 0) totals[s] = sums_.at(s), i = 1;
        for (; i < count; ++i) totals[s].add(sums_.at(i * side + s));
      }
    }
    for (int64_t s = 0; s < side; ++s) made[s] = static_cast<Stage>(totals[s].total());
  }

  // Sums over D, H and W: vectors along the side axis, or its elements one by one.
  void total_row(const T* from, Box box, int64_t side, Stage* made) {
    if (by_rows_) return total_long_range(from, box, side, made);
    box.sx = t_.w.out_stride;
    if (t_.mode == Task::Mode::plain) {
      const int64_t step = t_.side.out_stride;
      return for_columns(side, made, [&](int64_t at, int64_t nx, Stage* out) {
        box.nx = nx;
        for (int64_t s = 0; s < side; ++s)
          sum_boxes<0, 0, 0>(from + at * box.sx + s * step, box, 1, out + s);
      });
    }
    if (t_.mode == Task::Mode::staged) {
      box = stage_box(from, box, side);
      from = staged_;
    }
    with_few(box, [&]<int kZ, int kY>() SOFTNPU_INLINED {
      for_columns(side, made, [&](int64_t at, int64_t nx, Stage* out) SOFTNPU_INLINED {
        box.nx = nx;
        sum_boxes<kZ, kY, 0>(from + at * box.sx, box, side, out);
      });
    });
  }

  // Calls make() for each element along W: with the begin and the length of its range, and the
  // place of its total.
  template <class Make>
  SOFTNPU_INLINE void for_columns(int64_t side, Stage* made, const Make& make) {
    for (int64_t w = 0; w < width_; ++w, made += side) {
      const int64_t at = scratch_.columns_from[w], nx = scratch_.columns_from[w + 1] - at;
      if (nx == 0)
        fill_zero(side, made);
      else
        make(at, nx, made);
    }
  }

  // Copies a box to scratch memory, with its side axis innermost.
  Box stage_box(const T* from, const Box& box, int64_t side) {
    const int64_t sx = t_.w.out_stride, ss = t_.side.out_stride;
    T* to = staged_;
    for (int64_t z = 0; z < box.nz; ++z)
      for (int64_t y = 0; y < box.ny; ++y, to += span_ * side) {
        const T* const row = from + z * box.sz + y * box.sy;
        for (int64_t s = 0; s < side; ++s)
          for (int64_t x = 0; x < span_; ++x) to[x * side + s] = row[x * sx + s * ss];
      }
    const int64_t sy = span_ * side;
    return {box.nz, box.ny * sy, box.ny, sy, 0, box.nx, side};
  }

  const Task& t_;
  const T* grad_out_;
  T* grad_input_;
  const int64_t ahead_;
  UpsampleScratch& scratch_;
  const SumRow<kIsCompensated<T>> sums_;
  T* const staged_;
  const UpsampleOutput<T> output_;
  Columns<T> columns_;
  // The tile along W: its begin and its length, in gradInput and in gradOut.
  int64_t tile_ = -1, first_ = 0, width_ = 0, begin_ = 0, span_ = 0;
  // Valid for the number of elements of the side axis in entered_.
  int64_t entered_ = 0, rows_at_once_ = 1;
  int64_t listed_from_ = 0, listed_ = 0;
  bool by_rows_ = false;
};

template <class T>
void make_gradient(const Task& task, const std::byte* grad_out, std::byte* grad_input,
                   std::byte* scratch, int64_t begin, int64_t end) {
  GradientMaker<T>(task, grad_out, grad_input, *reinterpret_cast<UpsampleScratch*>(scratch))
      .make(begin, end);
}

}  // namespace

void upsample_nearest3d_backward(const UpsampleNearest3dBackwardTask& task,
                                 const std::byte* grad_out, std::byte* grad_input,
                                 std::byte* scratch, int64_t begin, int64_t end) {
  switch (task.dtype) {
    case DType::f16:
      return make_gradient<f16>(task, grad_out, grad_input, scratch, begin, end);
    case DType::bf16:
      return make_gradient<bf16>(task, grad_out, grad_input, scratch, begin, end);
    case DType::f64:
      return make_gradient<double>(task, grad_out, grad_input, scratch, begin, end);
    default:
      return make_gradient<float>(task, grad_out, grad_input, scratch, begin, end);
  }
}

SOFTNPU_LEVEL_END
