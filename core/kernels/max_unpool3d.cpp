// SPDX-License-Identifier: Apache-2.0
// max_unpool3d: out is 0, but out[n, c, indices[n, c, i]] = self[n, c, i], bit for bit.
#include <cstring>

#include "kernels/kernels.h"
#include "loops/access.h"
#include "loops/bits.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = MaxUnpool3dTask;

constexpr int64_t kAhead = 48;  // elements: prefetch distance of a scatter

// Calls f.template operator()<Index>() with the type of the indices.
template <class F>
SOFTNPU_INLINE auto with_index(const Task& task, const F& f) {
  return task.has_int32 ? f.template operator()<int32_t>() : f.template operator()<int64_t>();
}

// The first element of a plane in an operand with these strides.
template <class T>
T* plane_of(const Task& task, T* data, const int64_t (&strides)[5], int64_t plane) {
  return data + plane / task.channels * strides[0] + plane % task.channels * strides[1];
}

// Calls f for each row of a part: with its first position, a function for its offset along d, h, w,
// and its length.
template <class F>
SOFTNPU_INLINE void for_rows(const Task& task, const UnpoolPart& part, const F& f) {
  for (int64_t position = part.begin, count; position < part.end; position += count) {
    const int64_t x = position % task.w, rows = position / task.w;
    count = least(part.end - position, task.w - x);
    const auto offset = [&](const int64_t (&strides)[5]) SOFTNPU_INLINED {
      return rows / task.h * strides[2] + rows % task.h * strides[3] + x * strides[4];
    };
    f(position, offset, count);
  }
}

template <class Index>
IndexRange range_of(const Task& task, const Index* indices, const UnpoolPart& part) {
  const Index* const plane = plane_of(task, indices, task.index_strides, part.plane);
  const int64_t step = task.index_strides[4];
  IndexRange all;
  for_rows(task, part, [&](int64_t, const auto& offset, int64_t count) {
    const Index* const index = plane + offset(task.index_strides);
    Index low = *index, high = low;
    const auto widen = [&](Index at) SOFTNPU_INLINED {
      low = at < low ? at : low;
      high = at > high ? at : high;
    };
    if (step == 1) {
      for (int64_t i = 0; i < count; ++i) widen(index[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) widen(index[i * step]);
    }
    all.add({low, high});
  });
  return all;
}

template <class Index>
BadIndex find_bad(const Task& task, const Index* indices) {
  BadIndex bad;
  for (int64_t plane = 0; plane < task.planes() && bad.position < 0; ++plane) {
    const Index* const from = plane_of(task, indices, task.index_strides, plane);
    const UnpoolPart whole{plane, 0, task.positions()};
    for_rows(task, whole, [&](int64_t position, const auto& offset, int64_t count) {
      const Index* const index = from + offset(task.index_strides);
      for (int64_t i = 0; i < count && bad.position < 0; ++i) {
        const int64_t at = read_once(index + i * task.index_strides[4]);
        if (at < 0 || at >= task.limit) bad = {plane * task.positions() + position + i, at};
      }
    });
  }
  return bad;
}

template <class Bits>
void fill_zero(const Task& task, Bits* plane) {
  const int64_t* const strides = task.out_strides;
  for (int64_t row = 0; row < task.limit / task.out_w; ++row) {
    Bits* const to = plane + row / task.out_h * strides[2] + row % task.out_h * strides[3];
    if (strides[4] == 1) {
      std::memset(to, 0, static_cast<size_t>(task.out_w) * sizeof(Bits));
    } else {
      for (int64_t x = 0; x < task.out_w; ++x) to[x * strides[4]] = Bits{};
    }
  }
}

// Scatters in the order of positions. Skips an index that became invalid after it was checked.
template <class Bits, class Index, class OffsetOf>
SOFTNPU_INLINE void scatter(const Task& task, const Bits* self, const Index* indices, Bits* out,
                            const UnpoolPart& part, OffsetOf offset_of) {
  // Copies, because compilers must assume that stores to out change the task.
  const int64_t self_step = task.self_strides[4], index_step = task.index_strides[4];
  const auto limit = static_cast<uint64_t>(task.limit);
  const bool prefetches = task.prefetches;
  for_rows(task, part, [&](int64_t, const auto& offset, int64_t count) SOFTNPU_INLINED {
    const Bits* const from = self + offset(task.self_strides);
    const Index* const index = indices + offset(task.index_strides);
    for (int64_t i = 0; i < count; ++i) {
      // An invalid index is harmless here.
      if (prefetches) prefetch(out, index[least(i + kAhead, count - 1) * index_step]);
      const int64_t at = read_once(index + i * index_step);
      if (static_cast<uint64_t>(at) < limit) [[likely]]
        out[offset_of(at)] = from[i * self_step];
    }
  });
}

template <class Bits, class Index>
void unpool(const Task& task, const Bits* self, const Index* indices, Bits* out,
            const UnpoolPart& part) {
  self = plane_of(task, self, task.self_strides, part.plane);
  indices = plane_of(task, indices, task.index_strides, part.plane);
  out = plane_of(task, out, task.out_strides, part.plane);
  if (!task.is_zeroed) fill_zero(task, out);
  const int64_t* const strides = task.out_strides;
  const int64_t step = strides[4];
  const auto run = [&](auto offset_of)
                       SOFTNPU_INLINED { scatter(task, self, indices, out, part, offset_of); };
  if (task.out_w == task.limit && step == 1) return run([](int64_t at) { return at; });
  if (task.out_w == task.limit) return run([=](int64_t at) { return at * step; });
  run([&](int64_t at) {
    const int64_t rows = at / task.out_w;
    return rows / task.out_h * strides[2] + rows % task.out_h * strides[3] + at % task.out_w * step;
  });
}

}  // namespace

IndexRange unpool_index_range(const Task& task, const std::byte* indices, const UnpoolPart& part) {
  return with_index(task, [&]<class Index>() {
    return range_of(task, reinterpret_cast<const Index*>(indices), part);
  });
}

BadIndex find_bad_unpool_index(const Task& task, const std::byte* indices) {
  return with_index(
      task, [&]<class Index>() { return find_bad(task, reinterpret_cast<const Index*>(indices)); });
}

void max_unpool3d(const Task& task, const std::byte* self, const std::byte* indices, std::byte* out,
                  const UnpoolPart& part) {
  with_bits(task.item, [&]<class Bits>() {
    with_index(task, [&]<class Index>() {
      unpool(task, reinterpret_cast<const Bits*>(self), reinterpret_cast<const Index*>(indices),
             reinterpret_cast<Bits*>(out), part);
    });
  });
}

SOFTNPU_LEVEL_END
