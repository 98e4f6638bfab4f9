// SPDX-License-Identifier: Apache-2.0
// max_unpool3d: out is 0, but out[n, c, indices[n, c, i]] = self[n, c, i], bit for bit. Where
// indices repeat, the last one wins: each element of out is written by one thread, in order.
#include "kernels/kernels.h"
#include "loops/bits.h"
#include "loops/level.h"
#include "loops/prefetch.h"
#include "loops/read_once.h"

#include <cstring>

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = MaxUnpool3dTask;

constexpr int64_t kAhead = 48;  // elements: how far ahead their places are prefetched

// f.template operator()<Index>() with the type of the indices.
template <class F>
SOFTNPU_INLINE auto with_index(const Task& task, const F& f) {
  return task.has_int32 ? f.template operator()<int32_t>() : f.template operator()<int64_t>();
}

// Whether all of `count` adjacent indices are within [0, last].
template <class Index>
bool all_good(const Index* index, int64_t count, int64_t last) {
  // The sign bit of i | (last - i) is set where i < 0 or i > last.
  uint64_t signs = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = index[i];
    signs |= static_cast<uint64_t>(at) | (static_cast<uint64_t>(last) - static_cast<uint64_t>(at));
  }
  return signs >> 63 == 0;
}

template <class Index>
BadIndex find_bad(const Task& task, const Index* indices, int64_t begin, int64_t end) {
  const int64_t* const strides = task.index_strides;
  const int64_t step = strides[4], last = task.limit - 1;
  for (int64_t position = begin, count; position < end; position += count) {
    const int64_t x = position % task.w, rows = position / task.w;
    const int64_t h = rows % task.h, d = rows / task.h % task.d;
    const int64_t plane = rows / (task.h * task.d);
    const int64_t c = plane % task.channels, n = plane / task.channels;
    const Index* const index =
        indices + n * strides[0] + c * strides[1] + d * strides[2] + h * strides[3] + x * step;
    count = least(end - position, task.w - x);
    if (step == 1 && all_good(index, count, last)) continue;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = read_once(index + i * step);
      if (at < 0 || at > last) return {position + i, at};
    }
  }
  return {};
}

// Positions [first, first + size) of a plane of out.
template <class Bits>
struct Part {
  Bits* plane;
  int64_t first, size;
};

template <class Bits>
void fill_zero(const Task& task, const Part<Bits>& part) {
  const int64_t* const strides = task.out_strides;
  const int64_t end = part.first + part.size;
  for (int64_t at = part.first, count; at < end; at += count) {
    const int64_t x = at % task.out_w, rows = at / task.out_w;
    Bits* const to = part.plane + rows / task.out_h * strides[2] + rows % task.out_h * strides[3] +
                     x * strides[4];
    count = least(end - at, task.out_w - x);
    if (strides[4] == 1) {
      std::memset(to, 0, static_cast<size_t>(count) * sizeof(Bits));
    } else {
      for (int64_t i = 0; i < count; ++i) to[i * strides[4]] = Bits{};
    }
  }
}

// Elements whose index is in another part are left to that part's thread.
template <class Bits, class Index, class OffsetOf>
SOFTNPU_INLINE void scatter_rows(const Task& task, const Bits* self, const Index* indices,
                                 const Part<Bits>& part, OffsetOf offset_of) {
  const int64_t *const ss = task.self_strides, *const is = task.index_strides;
  for (int64_t d = 0; d < task.d; ++d)
    for (int64_t h = 0; h < task.h; ++h) {
      const Bits* const from = self + d * ss[2] + h * ss[3];
      const Index* const index = indices + d * is[2] + h * is[3];
      for (int64_t w = 0; w < task.w; ++w) {
        // It may be bad: then nothing happens.
        if (task.prefetches)
          prefetch(part.plane, offset_of(index[least(w + kAhead, task.w - 1) * is[4]]));
        const int64_t at = read_once(index + w * is[4]);
        if (static_cast<uint64_t>(at) - static_cast<uint64_t>(part.first) <
            static_cast<uint64_t>(part.size))
          part.plane[offset_of(at)] = from[w * ss[4]];
      }
    }
}

template <class Bits, class Index>
void scatter(const Task& task, const Bits* self, const Index* indices, const Part<Bits>& part) {
  const int64_t* const strides = task.out_strides;
  const int64_t step = strides[4];
  if (task.out_w != task.limit)
    return scatter_rows(task, self, indices, part, [&](int64_t at) {
      const int64_t rows = at / task.out_w;
      return rows / task.out_h * strides[2] + rows % task.out_h * strides[3] +
             at % task.out_w * step;
    });
  if (step != 1)
    return scatter_rows(task, self, indices, part, [=](int64_t at) { return at * step; });
  scatter_rows(task, self, indices, part, [](int64_t at) { return at; });
}

template <class Bits, class Index>
void unpool(const Task& task, const Bits* self, const Index* indices, Bits* out, int64_t begin,
            int64_t end) {
  const int64_t *const ss = task.self_strides, *const is = task.index_strides;
  const int64_t* const os = task.out_strides;
  const int64_t size = (task.limit + task.parts - 1) / task.parts;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t plane = unit / task.parts, first = unit % task.parts * size;
    const int64_t n = plane / task.channels, c = plane % task.channels;
    if (first >= task.limit) continue;
    const Part<Bits> part{out + n * os[0] + c * os[1], first, least(size, task.limit - first)};
    if (!task.is_zeroed) fill_zero(task, part);
    scatter(task, self + n * ss[0] + c * ss[1], indices + n * is[0] + c * is[1], part);
  }
}

}  // namespace

BadIndex find_bad_index(const Task& task, const std::byte* indices, int64_t begin, int64_t end) {
  return with_index(task, [&]<class Index>() {
    return find_bad(task, reinterpret_cast<const Index*>(indices), begin, end);
  });
}

void max_unpool3d(const Task& task, const std::byte* self, const std::byte* indices, std::byte* out,
                  int64_t begin, int64_t end) {
  with_bits(task.item, [&]<class Bits>() {
    with_index(task, [&]<class Index>() {
      unpool(task, reinterpret_cast<const Bits*>(self), reinterpret_cast<const Index*>(indices),
             reinterpret_cast<Bits*>(out), begin, end);
    });
  });
}

SOFTNPU_LEVEL_END
