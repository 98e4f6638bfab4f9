// SPDX-License-Identifier: Apache-2.0
// upsample_nearest3d_backward: each element of gradInput is the sum of a box of gradOut.
//
// Every sum adds up along D, then H, then W, in float64 (DOUBLE with the rounding errors beside
// it), and is rounded once: the bits depend neither on the layout nor on the threads. An axis of
// scale 1 adds nothing up: where it is the innermost one, its elements are a vector beside each
// other, as channels are in channels-last memory. That is the side axis, and the axes outside it
// move in. Memory is then read in one of three ways:
//   side    the side axis is adjacent: vectors along it are summed over D, H, W in registers;
//   row     W is adjacent: vectors along W are summed over D and H into a row of scratch memory,
//           and its neighbours are added up (upsample_columns.h);
//   staged  neither: a box is copied to scratch memory, sixteen channels beside each other, and
//           read from there in one of the former ways.
#include "kernels/kernels.h"
#include "kernels/upsample_boxes.h"
#include "kernels/upsample_columns.h"
#include "loops/convert.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = UpsampleNearest3dBackwardTask;

template <class T>
class GradientMaker {
 public:
  GradientMaker(const Task& task, const std::byte* grad_out, std::byte* grad_input,
                std::byte* scratch)
      : t_(task),
        grad_out_(reinterpret_cast<const T*>(grad_out)),
        grad_input_(reinterpret_cast<T*>(grad_input)) {
    auto* const rows = reinterpret_cast<double*>(scratch);
    sums_ = {rows, rows + kUpsampleTile + 8};
    stage_ = reinterpret_cast<Stage*>(rows + 2 * (kUpsampleTile + 8));
    list_ = reinterpret_cast<int32_t*>(rows + 3 * kUpsampleTile + 16);
    staged_ = reinterpret_cast<T*>(list_ + kUpsampleList);
  }

  void make(int64_t begin, int64_t end) {
    int64_t rest = begin;
    const auto take = [&](int64_t size) {
      const int64_t at = rest % size;
      rest /= size;
      return at;
    };
    int64_t h = take(t_.h.in), d = take(t_.d.in), block = take(t_.side_blocks);
    int64_t c = take(t_.channels.size), n = take(t_.batch.size), tile = rest;
    enter_tile(tile);
    for (int64_t unit = begin; unit < end; ++unit) {
      make_unit(n, c, block, d, h);
      if (++h < t_.h.in) continue;
      h = 0;
      if (++d < t_.d.in) continue;
      d = 0;
      if (++block < t_.side_blocks) continue;
      block = 0;
      if (++c < t_.channels.size) continue;
      c = 0;
      if (++n < t_.batch.size) continue;
      n = 0;
      if (unit + 1 < end) enter_tile(++tile);
    }
  }

 private:
  using Stage = Finished<T>;
  // A tile of a row of gradInput: `width` elements along W, `side` beside each other.
  struct Target {
    T* to;
    int64_t width, side;
  };

  void enter_tile(int64_t tile) {
    first_ = tile * t_.tile;
    end_ = least(first_ + t_.tile, t_.w.in);
    begin_ = t_.w.start(first_);
    span_ = t_.w.start(end_) - begin_;
    entered_ = 0;
  }

  void make_unit(int64_t n, int64_t c, int64_t block, int64_t d, int64_t h) {
    const int64_t s = block * t_.side_block, side = least(t_.side_block, t_.side.size - s);
    const int64_t z = t_.d.start(d), y = t_.h.start(h);
    const Box box{t_.d.start(d + 1) - z, t_.d.out_stride, t_.h.start(h + 1) - y, t_.h.out_stride};
    const T* const from = grad_out_ + n * t_.batch.out_stride + c * t_.channels.out_stride +
                          s * t_.side.out_stride + z * t_.d.out_stride + y * t_.h.out_stride +
                          begin_ * t_.w.out_stride;
    const Target target{grad_input_ + n * t_.batch.in_stride + c * t_.channels.in_stride +
                            s * t_.side.in_stride + d * t_.d.in_stride + h * t_.h.in_stride +
                            first_ * t_.w.in_stride,
                        end_ - first_, side};
    if (box.is_empty() || span_ == 0) return write_zero(target);
    switch (t_.mode) {
      case Task::Mode::side:
        return make_sides(from, t_.w.out_stride, box, target);
      case Task::Mode::row:
        return make_row(from, box, target);
      case Task::Mode::staged:
        return make_staged(from, box, target);
      case Task::Mode::plain:
        return make_elements(from, box, target);
    }
  }

  // Vectors along the side axis; `sx` is the step along W.
  void make_sides(const T* from, int64_t sx, Box box, const Target& target) {
    box.sx = sx;
    int64_t at = 0;
    for (int64_t w = 0; w < target.width; ++w) {
      const int64_t next = t_.w.start(first_ + w + 1) - begin_;
      const Target one{target.to + w * t_.w.in_stride, 1, target.side};
      box.nx = next - at;
      if (box.nx == 0) {
        write_zero(one);
      } else {
        Stage* const out = stage_for(one);
        sum_boxes(from + at * sx, box, target.side, out);
        write(out, one);
      }
      at = next;
    }
  }

  // Elements that are adjacent along W, with those of the side axis between them.
  void make_row(const T* from, const Box& box, const Target& target) {
    if (span_ * target.side > kUpsampleTile) return make_long_range(from, box, target);
    if (entered_ != target.side) {
      columns_.enter(t_.w, first_, end_, target.side, list_);
      entered_ = target.side;
    }
    sum_boxes(from, box, span_ * target.side, sums_);
    Stage* const out = stage_for(target);
    columns_.total(sums_, out);
    write(out, target);
  }

  // One range along W that is longer than a row of sums.
  void make_long_range(const T* from, const Box& box, const Target& target) {
    const int64_t side = target.side, step = kUpsampleTile / side;
    RunningSum<double, kIsCompensated<T>> totals[kWideLanes];
    for (int64_t x = 0; x < span_; x += step) {
      const int64_t count = least(step, span_ - x);
      sum_boxes(from + x * side, box, count * side, sums_);
      for (int64_t s = 0; s < side; ++s) {
        for (int64_t i = 0; i < count; ++i) {
          if (x + i == 0)
            totals[s] = sums_.at(s);
          else
            totals[s].add(sums_.at(i * side + s));
        }
      }
    }
    for (int64_t s = 0; s < side; ++s) stage_[s] = static_cast<Stage>(totals[s].total());
    write(stage_, target);
  }

  // A copy of the box with its side axis innermost.
  void make_staged(const T* from, const Box& box, const Target& target) {
    const int64_t side = target.side, sx = t_.w.out_stride, ss = t_.side.out_stride;
    T* to = staged_;
    for (int64_t z = 0; z < box.nz; ++z)
      for (int64_t y = 0; y < box.ny; ++y, to += span_ * side) {
        const T* const row = from + z * box.sz + y * box.sy;
        for (int64_t s = 0; s < side; ++s)
          for (int64_t x = 0; x < span_; ++x) to[x * side + s] = row[x * sx + s * ss];
      }
    const int64_t sy = span_ * side;
    const Box dense{box.nz, box.ny * sy, box.ny, sy};
    if (side < kWideLanes) return make_row(staged_, dense, target);
    make_sides(staged_, side, dense, target);
  }

  void make_elements(const T* from, Box box, const Target& target) {
    box.sx = t_.w.out_stride;
    int64_t at = 0;
    for (int64_t w = 0; w < target.width; ++w) {
      const int64_t next = t_.w.start(first_ + w + 1) - begin_;
      box.nx = next - at;
      Stage* const out = stage_ + w * target.side;
      for (int64_t s = 0; s < target.side; ++s) {
        if (box.nx == 0)
          out[s] = 0;
        else
          sum_boxes(from + at * box.sx + s * t_.side.out_stride, box, 1, out + s);
      }
      at = next;
    }
    write(stage_, target);
  }

  bool is_dense(const Target& target) const {
    return (target.side == 1 || t_.side.in_stride == 1) &&
           (target.width == 1 || t_.w.in_stride == target.side);
  }
  // Where to make the elements of a target: there, if they need not be converted or spread.
  Stage* stage_for(const Target& target) const {
    if constexpr (std::is_same_v<T, Stage>)
      if (is_dense(target)) return target.to;
    return stage_;
  }
  void write(const Stage* made, const Target& target) const {
    if constexpr (std::is_same_v<T, Stage>)
      if (made == target.to) return;
    if (is_dense(target)) return store(made, 1, target.width * target.side, target.to);
    if (target.side == 1) return store(made, t_.w.in_stride, target.width, target.to);
    for (int64_t w = 0; w < target.width; ++w)
      store(made + w * target.side, t_.side.in_stride, target.side, target.to + w * t_.w.in_stride);
  }
  static void store(const Stage* made, int64_t stride, int64_t n, T* to) {
    store_row<T, Stage>(made, stride, n, reinterpret_cast<std::byte*>(to));
  }
  void write_zero(const Target& target) const {
    const int64_t count = target.width * target.side;
    if (is_dense(target)) {
      std::memset(target.to, 0, static_cast<size_t>(count) * sizeof(T));
      return;
    }
    std::memset(stage_, 0, static_cast<size_t>(count) * sizeof(Stage));
    write(stage_, target);
  }

  const Task& t_;
  const T* grad_out_;
  T* grad_input_;
  SumRow<kIsCompensated<T>> sums_;
  Stage* stage_;
  int32_t* list_;
  T* staged_;
  Columns<T> columns_;
  // The tile along W, of gradInput and of gradOut; the side axis that its lists are for.
  int64_t first_ = 0, end_ = 0, begin_ = 0, span_ = 0, entered_ = 0;
};

template <class T>
void make_gradient(const Task& task, const std::byte* grad_out, std::byte* grad_input,
                   std::byte* scratch, int64_t begin, int64_t end) {
  GradientMaker<T>(task, grad_out, grad_input, scratch).make(begin, end);
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
