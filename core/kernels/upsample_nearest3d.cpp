// SPDX-License-Identifier: Apache-2.0
// upsample_nearest3d: each element of out is a copy of one of self, bit for bit.
//
// A row of out is made once. Rows along H and planes along D with the same source are copied from
// it while it is in a cache.
#include "kernels/kernels.h"
#include "loops/bits.h"
#include "loops/scratch.h"
#include "loops/stream_out.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = UpsampleNearest3dTask;

struct Memory {
  alignas(64) std::byte rows[kUpsampleRows * kUpsampleCopied * 8];
  int64_t places[kUpsampleCopied];
};

template <class Bits>
class Copier {
 public:
  Copier(const Task& task, const std::byte* self, std::byte* out, Memory& memory)
      : t_(task),
        self_(reinterpret_cast<const Bits*>(self)),
        out_(reinterpret_cast<Bits*>(out)),
        staged_(reinterpret_cast<Bits*>(memory.rows)),
        places_(memory.places),
        has_runs_(t_.side.size >= kUpsampleSide && t_.side.in_stride == 1),
        has_dense_rows_((t_.side.size == 1 || t_.side.out_stride == 1) &&
                        (t_.w.out == 1 || t_.w.out_stride == t_.side.size)) {}

  void make(int64_t begin, int64_t end) {
    int64_t rest = begin;
    const auto take = [&](int64_t size) {
      const int64_t at = rest % size;
      rest /= size;
      return at;
    };
    int64_t y = take(t_.h.out), c = take(t_.channels.size);
    int64_t group = take(t_.plane_groups), n = take(t_.batch.size), tile = rest;
    enter_tile(tile);
    while (begin < end) {
      const int64_t rows = least(end - begin, t_.h.out - y);
      make_rows(n, c, t_.planes[group], y, rows);
      begin += rows;
      y = 0;
      if (++c < t_.channels.size) continue;
      c = 0;
      if (++group < t_.plane_groups) continue;
      group = 0;
      if (++n < t_.batch.size) continue;
      n = 0;
      if (++tile < t_.tiles) enter_tile(tile);
    }
    if (t_.stream) finish_streaming();
  }

 private:
  void enter_tile(int64_t tile) {
    first_ = tile * t_.tile;
    width_ = least(t_.tile, t_.row_size() - first_);
    if (has_runs_) return;
    for_runs([&](int64_t at, int64_t x, int64_t s, int64_t count) {
      const int64_t place = t_.columns[x] * t_.w.in_stride + s * t_.side.in_stride;
      for (int64_t i = 0; i < count; ++i) places_[at + i] = place + i * t_.side.in_stride;
    });
  }

  // Calls f for each run of the side axis in the tile: its offset in the tile, its column, its
  // first element along the side axis, and its length.
  template <class F>
  SOFTNPU_INLINE void for_runs(const F& f) const {
    int64_t x = first_ / t_.side.size, s = first_ % t_.side.size;
    for (int64_t at = 0, count; at < width_; at += count, ++x, s = 0) {
      count = least(t_.side.size - s, width_ - at);
      f(at, x, s, count);
    }
  }

  // Makes rows [y, y + rows) in each of the planes.
  void make_rows(int64_t n, int64_t c, const UpsamplePlanes& planes, int64_t y, int64_t rows) {
    const Bits* const from =
        self_ + n * t_.batch.in_stride + c * t_.channels.in_stride + planes.source * t_.d.in_stride;
    Bits* const to = out_ + n * t_.batch.out_stride + c * t_.channels.out_stride +
                     planes.first * t_.d.out_stride;
    const bool in_place = has_dense_rows_ && !t_.stream;
    const int64_t fitting = kUpsampleCopied / width_;
    const int64_t most = in_place && planes.count == 1 ? rows
                         : fitting > kUpsampleRows     ? fitting
                                                       : kUpsampleRows;
    for (int64_t end = y + rows, count; y < end; y += count) {
      count = least(end - y, most);
      Bits* const at = to + y * t_.h.out_stride;
      const Rows made =
          in_place ? Rows{at + first_, t_.h.out_stride, count} : Rows{staged_, width_, count};
      copy_rows(from, t_.rows + y, made);
      for (int64_t z = in_place; z < planes.count; ++z) write(made, at + z * t_.d.out_stride);
    }
  }

  // `count` rows of a tile, `stride` elements apart.
  struct Rows {
    Bits* begin;
    int64_t stride, count;
  };

  void copy_rows(const Bits* from, const int32_t* sources, const Rows& made) const {
    for (int64_t row = 0; row < made.count; ++row) {
      Bits* const to = made.begin + row * made.stride;
      if (row > 0 && sources[row] == sources[row - 1])
        copy(to - made.stride, width_, to);
      else
        copy_row(from + sources[row] * t_.h.in_stride, to);
    }
  }

  void copy_row(const Bits* from, Bits* to) const {
    if (has_runs_)
      return for_runs([&](int64_t at, int64_t x, int64_t s, int64_t count) {
        copy(from + t_.columns[x] * t_.w.in_stride + s, count, to + at);
      });
    int64_t i = 0;
    for (; i + kUnrolled <= width_; i += kUnrolled) {
      Bits held[kUnrolled];
      SOFTNPU_UNROLLED
      for (int64_t k = 0; k < kUnrolled; ++k) held[k] = from[places_[i + k]];
      SOFTNPU_UNROLLED
      for (int64_t k = 0; k < kUnrolled; ++k) to[i + k] = held[k];
    }
    for (; i < width_; ++i) to[i] = from[places_[i]];
  }

  // Writes rows to out, the first one at `to`.
  void write(const Rows& made, Bits* to) const {
    if (has_dense_rows_ && made.stride == width_ && t_.h.out_stride == width_)
      return put(made.begin, made.count * width_, to);
    for (int64_t row = 0; row < made.count; ++row)
      write_row(made.begin + row * made.stride, to + row * t_.h.out_stride);
  }
  void write_row(const Bits* made, Bits* to) const {
    if (has_dense_rows_) return put(made, width_, to + first_);
    const int64_t step = t_.w.out_stride;
    if (t_.side.size == 1) return copy_spaced(made, 1, width_, to + first_ * step, step);
    for_runs([&](int64_t at, int64_t x, int64_t s, int64_t count) {
      const int64_t apart = t_.side.out_stride;
      copy_spaced(made + at, 1, count, to + x * step + s * apart, apart);
    });
  }
  void put(const Bits* made, int64_t count, Bits* to) const {
    if (!t_.stream) return copy(made, count, to);
    stream_out(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(made),
               count * static_cast<int64_t>(sizeof(Bits)));
  }

  static void copy(const Bits* from, int64_t count, Bits* to) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(Bits));
  }

  const Task& t_;
  const Bits* self_;
  Bits* out_;
  Bits* staged_;
  int64_t* places_;            // the source of each element of the tile, in self
  const bool has_runs_;        // adjacent elements of self along the side axis are copied together
  const bool has_dense_rows_;  // of out
  int64_t first_ = 0, width_ = 0;  // of the tile
};

}  // namespace

void upsample_nearest3d(const Task& task, const std::byte* self, std::byte* out, int64_t begin,
                        int64_t end) {
  const loops::Scratch scratch;
  auto& memory = scratch.as<Memory>();
  with_bits(task.item,
            [&]<class Bits>() { Copier<Bits>(task, self, out, memory).make(begin, end); });
}

SOFTNPU_LEVEL_END
