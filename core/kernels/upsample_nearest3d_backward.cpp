// SPDX-License-Identifier: Apache-2.0
// upsample_nearest3d_backward: each element of gradInput is the sum of a box of gradOut.
//
// A row of gradInput is made in tiles: first all rows of its box (over z and y) are added up side
// by side, then the sums are added along x. Sums are float64; for DOUBLE they carry along what each
// addition rounds away. Each output adds the same numbers in the same order in every layout.
#include <type_traits>

#include "kernels/kernels.h"
#include "loops/convert.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = UpsampleNearest3dBackwardTask;

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
    // Nothing lost: the sum as it is, which keeps -0. Infinities make the errors NaN; the plain sum
    // is right then, too.
    if constexpr (kCompensated)
      return one_nan(lost == 0 || lost - lost != 0 ? value : value + lost);
    return one_nan(value);
  }
};

// Adds up rows side by side: value[i] = (0 or value[i]) + in[0][i] + in[1][i] + …, in this order.
// Several rows at a time keep the sum in a register: 1.6 times as fast as one by one.
template <bool kCompensated, int kRows, bool kFirst, class V>
SOFTNPU_INLINE void add_rows(const V* const* in, int64_t n, double* value, double* lost) {
  const V* rows[kRows];
  for (int r = 0; r < kRows; ++r) rows[r] = in[r];
  SOFTNPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    Sum<kCompensated> sum;
    sum.value = kFirst ? static_cast<double>(rows[0][i]) : value[i];
    if constexpr (kCompensated) sum.lost = kFirst ? 0 : lost[i];
    for (int r = kFirst ? 1 : 0; r < kRows; ++r) sum.add(rows[r][i], 0);
    value[i] = sum.value;
    if constexpr (kCompensated) lost[i] = sum.lost;
  }
}

template <class T>
class RowMaker {
 public:
  // Sums of DOUBLE are written as they are, all others as float.
  static constexpr bool kCompensated = sizeof(T) == sizeof(double);
  using Stage = std::conditional_t<kCompensated, double, float>;

  RowMaker(const Task& task, const std::byte* grad_out, std::byte* grad_input, std::byte* scratch)
      : task_(task),
        grad_out_(reinterpret_cast<const T*>(grad_out)),
        grad_input_(reinterpret_cast<T*>(grad_input)),
        value_(reinterpret_cast<double*>(scratch)),
        lost_(value_ + kUpsampleTile),
        result_(reinterpret_cast<Stage*>(lost_ + kUpsampleTile)),
        staged_(reinterpret_cast<Stage*>(lost_ + 2 * kUpsampleTile)) {}

  void make(int64_t row) {
    const Task& t = task_;
    const int64_t h = row % t.h.in, d = row / t.h.in % t.d.in;
    const int64_t slice = row / (t.h.in * t.d.in);
    const int64_t channels = t.channels_inner ? 1 : t.channels;
    const int64_t c = slice % channels, n = slice / channels;
    box_ = {t.d.start[d], t.d.start[d + 1], t.h.start[h], t.h.start[h + 1]};
    const T* from = grad_out_ + n * t.out_batch_stride + c * t.out_channel_stride;
    T* to = grad_input_ + n * t.in_batch_stride + c * t.in_channel_stride + d * t.d.in_stride +
            h * t.h.in_stride;
    const int64_t all = t.channels_inner ? t.channels : 1;
    for (int64_t v = 0; v < all; v += kUpsampleTile) {
      nv_ = all - v < kUpsampleTile ? all - v : kUpsampleTile;
      make_along_w(from + v * t.out_channel_stride, to + v * t.in_channel_stride);
    }
  }

 private:
  struct Box {
    int64_t z0, z1, y0, y1;
    bool empty() const { return z0 == z1 || y0 == y1; }
  };

  // Tiles of whole ranges; a range longer than a tile is summed piece by piece.
  void make_along_w(const T* from, T* to) {
    const int64_t* const start = task_.w.start.data();
    const int64_t in = task_.w.in, tile = kUpsampleTile / nv_;
    for (int64_t w = 0; w < in;) {
      int64_t next = w;
      while (next < in && next - w < tile && start[next + 1] - start[w] <= tile) ++next;
      if (next == w) {
        sum_long_range(from, w, tile);
        next = w + 1;
      } else if (box_.empty() || start[w] == start[next]) {
        for (int64_t i = 0; i < (next - w) * nv_; ++i) result_[i] = 0;
      } else {
        sum_box(from, start[w], start[next] - start[w], value_, lost_);
        sum_along_x(w, next);
      }
      write(to, w, next - w);
      w = next;
    }
  }

  // value[x, v] = the sum over y and z of gradOut for x in [x0, x0 + nx).
  void sum_box(const T* from, int64_t x0, int64_t nx, double* value, double* lost) {
    constexpr int kBatch = 4;
    const Stage* rows[kBatch];
    const int64_t n = nx * nv_;
    int waiting = 0;
    bool first = true;
    const auto flush = [&] {
      if (waiting == kBatch && first)
        add_rows<kCompensated, kBatch, true>(rows, n, value, lost);
      else if (waiting == kBatch)
        add_rows<kCompensated, kBatch, false>(rows, n, value, lost);
      else
        for (int r = 0; r < waiting; ++r) {
          if (first && r == 0)
            add_rows<kCompensated, 1, true>(rows + r, n, value, lost);
          else
            add_rows<kCompensated, 1, false>(rows + r, n, value, lost);
        }
      first = false;
      waiting = 0;
    };
    for (int64_t y = box_.y0; y < box_.y1; ++y)
      for (int64_t z = box_.z0; z < box_.z1; ++z) {
        const T* in =
            from + z * task_.d.out_stride + y * task_.h.out_stride + x0 * task_.w.out_stride;
        rows[waiting] = dense_row(in, nx, staged_ + waiting * kUpsampleTile);
        if (++waiting == kBatch) flush();
      }
    if (waiting) flush();
  }

  // The row as dense values of type Stage: where it lies, or converted into `buffer`.
  const Stage* dense_row(const T* in, int64_t nx, Stage* buffer) const {
    const int64_t sx = task_.w.out_stride, sv = task_.out_channel_stride;
    const bool channels = task_.channels_inner;
    const bool dense = channels ? sx == nv_ || nx == 1 : sx == 1;
    if constexpr (std::is_same_v<T, Stage>)
      if (dense) return in;
    if (dense) {
      load_dense(in, nx * nv_, buffer);
      return buffer;
    }
    if (!channels)
      for (int64_t x = 0; x < nx; ++x) buffer[x] = to_stage(in[x * sx]);
    else
      for (int64_t x = 0; x < nx; ++x)
        for (int64_t v = 0; v < nv_; ++v) buffer[x * nv_ + v] = to_stage(in[x * sx + v * sv]);
    return buffer;
  }

  // result[w, v] = the sum over x of value[x, v].
  void sum_along_x(int64_t w0, int64_t w1) {
    const int64_t* const start = task_.w.start.data();
    const int64_t factor = nv_ == 1 ? task_.w.factor : 0;
    const int64_t n = w1 - w0;
    if (factor == 1) return sum_groups<1>(n);
    if (factor == 2) return sum_groups<2>(n);
    if (factor == 3) return sum_groups<3>(n);
    if (factor == 4) return sum_groups<4>(n);
    for (int64_t w = w0; w < w1; ++w) {
      const int64_t at = (start[w] - start[w0]) * nv_, terms = start[w + 1] - start[w];
      for (int64_t v = 0; v < nv_; ++v) {
        Stage& result = result_[(w - w0) * nv_ + v];
        if (terms == 0) {
          result = 0;
          continue;
        }
        Sum<kCompensated> sum = load_sum(value_, lost_, at + v);
        for (int64_t x = 1; x < terms; ++x) add_to(sum, at + x * nv_ + v);
        result = static_cast<Stage>(sum.total());
      }
    }
  }

  // Ranges of one length, the usual case: the compiler vectorises across them.
  template <int kLength>
  void sum_groups(int64_t n) {
    SOFTNPU_INDEPENDENT
    for (int64_t w = 0; w < n; ++w) {
      Sum<kCompensated> sum = load_sum(value_, lost_, w * kLength);
      for (int x = 1; x < kLength; ++x) add_to(sum, w * kLength + x);
      result_[w] = static_cast<Stage>(sum.total());
    }
  }

  // One element of gradInput (for each channel) whose range does not fit a tile. Its sums stay in
  // the second buffers while pieces of the range pass through the first.
  void sum_long_range(const T* from, int64_t w, int64_t tile) {
    const int64_t begin = task_.w.start[w], end = task_.w.start[w + 1];
    double* const open = reinterpret_cast<double*>(staged_ + 4 * kUpsampleTile);
    double* const open_lost = open + kUpsampleTile;
    if (box_.empty()) {
      for (int64_t v = 0; v < nv_; ++v) result_[v] = 0;
      return;
    }
    for (int64_t x0 = begin; x0 < end; x0 += tile) {
      const int64_t nx = end - x0 < tile ? end - x0 : tile;
      sum_box(from, x0, nx, value_, lost_);
      for (int64_t v = 0; v < nv_; ++v) {
        Sum<kCompensated> sum =
            x0 == begin ? load_sum(value_, lost_, v) : load_sum(open, open_lost, v);
        for (int64_t x = x0 == begin ? 1 : 0; x < nx; ++x) add_to(sum, x * nv_ + v);
        open[v] = sum.value;
        if constexpr (kCompensated) open_lost[v] = sum.lost;
        result_[v] = static_cast<Stage>(sum.total());
      }
    }
  }

  void write(T* to, int64_t w0, int64_t n) const {
    const int64_t sw = task_.w.in_stride, sv = task_.in_channel_stride;
    T* const out = to + w0 * sw;
    if (nv_ == 1) return write_row(result_, n, sw, out);
    if (sv == 1 && sw == nv_) return write_row(result_, n * nv_, 1, out);
    for (int64_t w = 0; w < n; ++w) write_row(result_ + w * nv_, nv_, sv, out + w * sw);
  }

  static void write_row(const Stage* in, int64_t n, int64_t stride, T* out) {
    if (stride == 1) return store_dense(in, n, out);
    for (int64_t i = 0; i < n; ++i) narrow(in[i], out[i * stride]);
  }

  static Stage to_stage(T v) { return widen(v); }
  static SOFTNPU_INLINE Sum<kCompensated> load_sum(const double* value, const double* lost,
                                                   int64_t at) {
    if constexpr (kCompensated)
      return {value[at], lost[at]};
    else
      return {value[at], 0};
  }
  SOFTNPU_INLINE void add_to(Sum<kCompensated>& sum, int64_t at) const {
    if constexpr (kCompensated)
      sum.add(value_[at], lost_[at]);
    else
      sum.add(value_[at], 0);
  }

  const Task& task_;
  const T* grad_out_;
  T* grad_input_;
  double* value_;  // sums over z and y of one tile, and what their rounding lost
  double* lost_;
  Stage* result_;  // finished sums, before they are written
  Stage* staged_;  // rows of gradOut that had to be converted or gathered; then the open sums
  Box box_{};
  int64_t nv_ = 1;  // channels side by side
};

template <class T>
void make_rows(const Task& task, const std::byte* grad_out, std::byte* grad_input,
               std::byte* scratch, int64_t begin, int64_t end) {
  RowMaker<T> maker(task, grad_out, grad_input, scratch);
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
