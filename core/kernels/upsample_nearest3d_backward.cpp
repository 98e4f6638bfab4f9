// SPDX-License-Identifier: Apache-2.0
// upsample_nearest3d_backward: each element of gradInput is the sum of a box of gradOut.
//
// A row of gradInput is made in tiles: first all rows of its box (over z and y) are added up side
// by side, then the sums are added along x. Sums are float64; for DOUBLE they carry along what each
// addition rounds away. Each output adds the same numbers in the same order in every layout.
#include "kernels/kernels.h"
#include "loops/convert.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = UpsampleNearest3dBackwardTask;

SOFTNPU_INLINE double to_double(double v) { return v; }
template <class T>
SOFTNPU_INLINE double to_double(T v) {
  return widen(v);
}
SOFTNPU_INLINE void from_double(double v, double& out) { out = v; }
template <class T>
SOFTNPU_INLINE void from_double(double v, T& out) {
  narrow(static_cast<float>(v), out);
}

// A running sum. For DOUBLE the rounding errors are summed beside it (Knuth's two-sum); the other
// types leave float64 bits enough.
template <bool kCompensated>
struct Sum {
  double value, lost;

  SOFTNPU_INLINE void add(double term, double term_lost) {
    const double sum = value + term;
    if constexpr (kCompensated) {
      const double back = sum - value;
      lost += (value - (sum - back)) + (term - back) + term_lost;
    }
    value = sum;
  }
  SOFTNPU_INLINE double total() const {
    // Infinities make the errors NaN; the plain sum is right then.
    if constexpr (kCompensated) return lost - lost == 0 ? value + lost : value;
    return value;
  }
};

// A rectangle of x by channels in memory, and its sums in the scratch, channels fastest.
struct Rectangle {
  int64_t nx, nv;
  int64_t sx, sv;  // strides in gradOut, in elements
};

template <class T, bool kCompensated>
SOFTNPU_INLINE void add_one(const T* in, double* value, double* lost, int64_t at, bool first) {
  const double term = to_double(*in);
  if (first) {
    value[at] = term;
    if constexpr (kCompensated) lost[at] = 0;
    return;
  }
  Sum<kCompensated> sum{value[at], kCompensated ? lost[at] : 0};
  sum.add(term, 0);
  value[at] = sum.value;
  if constexpr (kCompensated) lost[at] = sum.lost;
}

// value[...] += gradOut's rectangle, or = for the first one, which keeps a sum of -0 what it is.
template <class T, bool kCompensated>
void add_rectangle(const T* in, const Rectangle& r, bool first, double* value, double* lost) {
  const bool dense = r.sv == 1 && (r.nx == 1 || r.sx == r.nv);
  const int64_t rows = dense ? 1 : r.nx;
  const int64_t width = dense ? r.nx * r.nv : r.nv;
  for (int64_t x = 0; x < rows; ++x) {
    const T* row = in + x * r.sx;
    const int64_t to = x * width;
    if (r.sv == 1 && first)
      for (int64_t v = 0; v < width; ++v)
        add_one<T, kCompensated>(row + v, value, lost, to + v, true);
    else if (r.sv == 1)
      for (int64_t v = 0; v < width; ++v)
        add_one<T, kCompensated>(row + v, value, lost, to + v, false);
    else
      for (int64_t v = 0; v < width; ++v)
        add_one<T, kCompensated>(row + v * r.sv, value, lost, to + v, first);
  }
}

template <class T>
class RowMaker {
 public:
  static constexpr bool kCompensated = sizeof(T) == sizeof(double);
  static constexpr int64_t kHalf = kUpsampleTile / 2;

  RowMaker(const Task& task, const std::byte* grad_out, std::byte* grad_input, std::byte* scratch)
      : task_(task),
        grad_out_(reinterpret_cast<const T*>(grad_out)),
        grad_input_(reinterpret_cast<T*>(grad_input)),
        value_(reinterpret_cast<double*>(scratch)),
        lost_(value_ + kUpsampleTile) {}

  void make(int64_t row) const {
    const Task& t = task_;
    const int64_t h = row % t.h.in, d = row / t.h.in % t.d.in;
    const int64_t slice = row / (t.h.in * t.d.in);
    const int64_t channels = t.channels_inner ? 1 : t.channels;
    const int64_t c = slice % channels, n = slice / channels;
    const T* from = grad_out_ + n * t.out_batch_stride + c * t.out_channel_stride;
    T* to = grad_input_ + n * t.in_batch_stride + c * t.in_channel_stride + d * t.d.in_stride +
            h * t.h.in_stride;
    const int64_t all = t.channels_inner ? t.channels : 1;
    for (int64_t v = 0; v < all; v += kHalf) {
      const int64_t nv = all - v < kHalf ? all - v : kHalf;
      make_along_w(from + v * t.out_channel_stride, to + v * t.in_channel_stride, d, h, nv);
    }
  }

 private:
  // The sums over z and y for x in [x0, x0 + nx), for nv channels. False when the box is empty.
  bool sum_box(const T* from, int64_t d, int64_t h, int64_t x0, int64_t nx, int64_t nv) const {
    const Task& t = task_;
    const Rectangle r = t.channels_inner ? Rectangle{nx, nv, t.w.out_stride, t.out_channel_stride}
                                         : Rectangle{1, nx, 0, t.w.out_stride};
    bool first = true;
    for (int64_t y = t.h.start[h]; y < t.h.start[h + 1]; ++y)
      for (int64_t z = t.d.start[d]; z < t.d.start[d + 1]; ++z) {
        add_rectangle<T, kCompensated>(
            from + z * t.d.out_stride + y * t.h.out_stride + x0 * t.w.out_stride, r, first, value_,
            lost_);
        first = false;
      }
    return !first;
  }

  // Adds the sums along x into elements of gradInput; an element whose range goes on past the tile
  // keeps its running sum in `open`.
  void make_along_w(const T* from, T* to, int64_t d, int64_t h, int64_t nv) const {
    const Task& t = task_;
    const int64_t* const start = t.w.start.data();
    const bool empty_box = t.h.start[h] == t.h.start[h + 1] || t.d.start[d] == t.d.start[d + 1];
    const int64_t last = empty_box ? start[0] : start[t.w.in];
    const int64_t tile = kHalf / nv;
    int64_t tile_begin = start[0], tile_end = start[0];
    for (int64_t w = 0; w < t.w.in; ++w) {
      const int64_t begin = empty_box ? last : start[w], end = empty_box ? last : start[w + 1];
      T* out = to + w * t.w.in_stride;
      if (begin == end) {
        for (int64_t v = 0; v < nv; ++v) from_double(0.0, out[v * t.in_channel_stride]);
        continue;
      }
      double* const open = value_ + kHalf;
      double* const open_lost = lost_ + kHalf;
      for (int64_t x = begin; x < end;) {
        if (x == tile_end) {
          tile_begin = tile_end;
          tile_end = last - tile_begin < tile ? last : tile_begin + tile;
          sum_box(from, d, h, tile_begin, tile_end - tile_begin, nv);
        }
        const int64_t stop = end < tile_end ? end : tile_end;
        add_along_x(x - tile_begin, stop - tile_begin, nv, x == begin, open, open_lost);
        x = stop;
      }
      for (int64_t v = 0; v < nv; ++v) {
        const Sum<kCompensated> sum{open[v], kCompensated ? open_lost[v] : 0};
        from_double(sum.total(), out[v * t.in_channel_stride]);
      }
    }
  }

  void add_along_x(int64_t x, int64_t stop, int64_t nv, bool first, double* open,
                   double* open_lost) const {
    if (first) {
      for (int64_t v = 0; v < nv; ++v) {
        open[v] = value_[x * nv + v];
        if constexpr (kCompensated) open_lost[v] = lost_[x * nv + v];
      }
      ++x;
    }
    for (; x < stop; ++x)
      for (int64_t v = 0; v < nv; ++v) {
        Sum<kCompensated> sum{open[v], kCompensated ? open_lost[v] : 0};
        sum.add(value_[x * nv + v], kCompensated ? lost_[x * nv + v] : 0);
        open[v] = sum.value;
        if constexpr (kCompensated) open_lost[v] = sum.lost;
      }
  }

  const Task& task_;
  const T* grad_out_;
  T* grad_input_;
  double* value_;  // one half: sums over z and y; the other: the open sums along x
  double* lost_;
};

template <class T>
void make_rows(const Task& task, const std::byte* grad_out, std::byte* grad_input,
               std::byte* scratch, int64_t begin, int64_t end) {
  const RowMaker<T> maker(task, grad_out, grad_input, scratch);
  for (int64_t row = begin; row < end; ++row) maker.make(row);
}

}  // namespace

void upsample_nearest3d_backward(const Task& task, const std::byte* grad_out, std::byte* grad_input,
                                 std::byte* scratch, int64_t begin, int64_t end) {
  switch (task.dtype) {
    case DType::f16:
      return make_rows<f16>(task, grad_out, grad_input, scratch, begin, end);
    case DType::bf16:
      return make_rows<bf16>(task, grad_out, grad_input, scratch, begin, end);
    case DType::f64:
      return make_rows<double>(task, grad_out, grad_input, scratch, begin, end);
    default:
      return make_rows<float>(task, grad_out, grad_input, scratch, begin, end);
  }
}

SOFTNPU_LEVEL_END
