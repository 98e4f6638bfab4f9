// SPDX-License-Identifier: Apache-2.0
// max_unpool3d_backward: out[n, c, i] = gradOutput[n, c, indices[n, c, i]], bit for bit.
#include <type_traits>

#include "kernels/kernels.h"
#include "loops/indices.h"
#include "loops/level.h"
#include "loops/prefetch.h"
#include "loops/stream_out.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = MaxUnpool3dBackwardTask;

// A byte that, unlike uint8_t, no compiler takes to share memory with the indices.
enum class Bits8 : uint8_t {};

// Where the element of an index lies in dense memory.
struct Same {
  int64_t operator()(int64_t at) const { return at; }
};
// The same, and elements are brought in by vectors of them.
struct SameInVectors : Same {};

// Consecutive positions of one row. Returns how many came before the first bad index.
template <class Bits, class OffsetOf>
SOFTNPU_INLINE int64_t gather_run(const Bits* grad, const int64_t* index, int64_t stride,
                                  int64_t count, int64_t last, OffsetOf offset_of, Bits* out) {
  int64_t begin = 0;
  for (; stride == 1 && begin + kIndices <= count; begin += kIndices) {
    const int64_t* const at = index + begin;
    if (has_bad<kIndices>(at, last)) [[unlikely]]
      break;
#ifdef SOFTNPU_GATHERS
    if constexpr (std::is_same_v<OffsetOf, SameInVectors>) {
      gather_vectors(grad, at, out + begin);
      continue;
    }
#endif
    if constexpr (std::is_same_v<OffsetOf, Same>) {
      SOFTNPU_UNROLLED
      for (int64_t i = 0; i < kIndices; i += 8) gather_eight(grad, at + i, out + begin + i);
      continue;
    }
    SOFTNPU_UNROLLED
    for (int64_t i = 0; i < kIndices; ++i) out[begin + i] = grad[offset_of(at[i])];
  }
  for (; begin < count; ++begin) {
    const int64_t at = index[begin * stride];
    if (is_bad(at, last)) [[unlikely]]
      return begin;
    out[begin] = grad[offset_of(at)];
  }
  return count;
}

constexpr int64_t kBlock = 64;

// Whether the indices of a block jump about in all of a slice, not in a few rows or planes of it.
inline bool are_scattered(const int64_t* block, int64_t limit) {
  int64_t lowest = block[0], highest = block[0];
  for (int64_t i = 1; i < kBlock; ++i) {
    lowest = block[i] < lowest ? block[i] : lowest;
    highest = block[i] > highest ? block[i] : highest;
  }
  return lowest >= 0 && highest - lowest > limit / 2;
}

// What follows a slice of which every line is read several times: its lines are prefetched in
// their order, not where elements are. On a Xeon, 1M random: int8 480 -> 400 us, float16 640 ->
// 600. Of larger elements, and where indices do not jump about, it takes up to 1.3 times as long.
template <class Bits>
class SliceAhead {
 public:
  SliceAhead() = default;
  // `size` elements in as many steps as `count` indices have blocks.
  SliceAhead(const Bits* next, int64_t size, int64_t count)
      : next_(next), lines_(size / (count / kBlock) / kLine + 1) {}
  bool any() const { return lines_ > 0; }
  void step() {
    for (int64_t i = 0; i < lines_; ++i) prefetch<kSecondCache>(next_, i * kLine);
    next_ += lines_ * kLine;
  }

 private:
  static constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(Bits));
  const Bits* next_ = nullptr;
  int64_t lines_ = 0;
};

// The same for dense operands from memory. Every element is prefetched kAhead places ahead, also
// where indices ascend, and so are the indices: 16M float32 with two threads 25 -> 20 ms pooled,
// 29 -> 20 ms random, with one thread 46 -> 25 and 56 -> 32. A row's first elements are prefetched
// together. Indices ahead are not looked over yet: to prefetch what is nowhere does nothing.
// Far more lines are on their way into the second cache at a time than into the first. Random: on a
// Xeon float32 41 -> 35 ms, float64 60 -> 49 ms, on a Zen 4 50 -> 26 and 59 -> 32 ms; with one
// thread and two bytes in ascending order up to 1.15 times slower. The first cache of a Zen 5 takes
// as many: 0.75 to 1 of the time. There, eight places that are prefetched before they are read take
// 0.9 to 1 of the time that one after the other does.
template <bool kStreams, class Bits>
int64_t gather_prefetched(const Bits* grad, const int64_t* index, int64_t count, int64_t last,
                          SliceAhead<Bits> slice, bool into_first, Bits* out) {
  constexpr int64_t kAhead = 192, kIndicesAhead = 512, kNear = 8192;
  const auto run = [&](int64_t begin, int64_t end) {
    return begin + gather_run(grad, index + begin, 1, end - begin, last, Same{}, out + begin);
  };
  for (int64_t i = 0; i < count && i < kAhead && !slice.any(); ++i)
    prefetch<kSecondCache>(grad, index[i]);
  int64_t begin = 0;
  if constexpr (kStreams) {
    const int64_t head = elements_before_line(out);
    begin = run(0, least(head, count));
    if (begin < head) return begin;
  }
  for (; begin + kBlock + kAhead <= count; begin += kBlock) {
    const int64_t* const at = index + begin;
    if (has_bad<kBlock>(at, last)) [[unlikely]]
      break;
    alignas(64) Bits lines[kBlock];
    Bits* const to = kStreams ? lines : out + begin;
    for (int64_t i = 0; i < kBlock; i += 8) prefetch(at, kAhead + kIndicesAhead + i);
    const auto gather_block = [&]<int kCache, int kOneOf = 1>() SOFTNPU_INLINED {
      for (int64_t i = 0; i < kBlock; i += 8) {
        SOFTNPU_UNROLLED
        for (int64_t k = i; k < i + 8 && kCache != kNoCache; k += kOneOf)
          prefetch<kCache>(grad, at[k + kAhead]);
        gather_eight(grad, at + i, to + i);
      }
    };
    // Elements near each other share lines: of bytes prefetching every fourth takes 0.8 to 0.95 of
    // the time, of two bytes on a Zen 5 every second 0.84 to 1.02.
    const bool near =
        sizeof(Bits) <= 2 && static_cast<uint64_t>(at[kBlock - 1] - at[0]) < uint64_t{kNear};
    if (slice.any()) {
      slice.step();
      gather_block.template operator()<kNoCache>();
    } else if (sizeof(Bits) == 1 && near) {
      gather_block.template operator()<kSecondCache, 4>();
    } else if (into_first) {
      near ? gather_block.template operator()<kFirstCache, 2>()
           : gather_block.template operator()<kFirstCache>();
    } else {
      gather_block.template operator()<kSecondCache>();
    }
    if constexpr (kStreams) stream_lines(out + begin, lines);
  }
  return run(begin, count);
}

// The same for operands of every layout.
template <class Bits>
int64_t gather_row(const Task& task, const Bits* grad, const int64_t* index, int64_t count,
                   SliceAhead<Bits> slice, Bits* out) {
  const int64_t* const gs = task.grad_strides;
  const int64_t stride = task.index_strides[4], last = task.limit - 1;
  const auto run = [&](auto offset_of) SOFTNPU_INLINED {
    return gather_run(grad, index, stride, count, last, offset_of, out);
  };
  if (!task.grad_flat)
    return run([&](int64_t at) {
      const int64_t rest = at / task.grad_w;
      return rest / task.grad_h * gs[2] + rest % task.grad_h * gs[3] + at % task.grad_w * gs[4];
    });
  if (gs[4] != 1 || stride != 1) return run([step = gs[4]](int64_t at) { return at * step; });
  if (!task.prefetches) {
#ifdef SOFTNPU_GATHERS
    // 64K elements in a cache 1.1 to 1.2 times as fast on a Xeon; types of 8 bytes up to 1.1 times
    // slower.
    if constexpr (sizeof(Bits) <= 4)
      if (task.vectors) return gather_run(grad, index, 1, count, last, SameInVectors{}, out);
#endif
    return gather_run(grad, index, 1, count, last, Same{}, out);
  }
  return task.stream
             ? gather_prefetched<true>(grad, index, count, last, slice, task.into_first, out)
             : gather_prefetched<false>(grad, index, count, last, slice, task.into_first, out);
}

// The slices that are gathered one after the other, where their lines are prefetched in order.
template <class Bits>
class Slices {
 public:
  Slices(const Task& task, const std::byte* grad)
      : task_(task), grad_(reinterpret_cast<const Bits*>(grad)) {}

  const Bits* at(int64_t slice) const {
    return grad_ + slice / task_.channels * task_.grad_strides[0] +
           slice % task_.channels * task_.grad_strides[1];
  }
  // What to prefetch while `count` indices of a slice are gathered: the next one, if it is wanted.
  SliceAhead<Bits> ahead_of(int64_t slice, const int64_t* index, int64_t count, bool wants_next) {
    if (!task_.whole_slices || count < 4 * kBlock) return {};
    if (!are_scattered(index + count / 2, task_.limit)) return {};
    if (ready_ != slice) SliceAhead<Bits>(at(slice), task_.limit, kBlock).step();
    ready_ = slice + 1;
    return {at(wants_next ? ready_ : slice), task_.limit, task_.w};
  }

 private:
  const Task& task_;
  const Bits* grad_;
  int64_t ready_ = -1;
};

template <class Bits>
BadIndex gather(const Task& task, const std::byte* grad, const int64_t* indices, std::byte* out,
                int64_t begin, int64_t end) {
  const int64_t* const is = task.index_strides;
  Slices<Bits> slices(task, grad);
  for (int64_t position = begin; position < end;) {
    const int64_t x = position % task.w, row = position / task.w;
    const int64_t h = row % task.h, d = row / task.h % task.d;
    const int64_t slice = row / (task.h * task.d);
    const int64_t c = slice % task.channels, n = slice / task.channels;
    const int64_t left = end - position, in_row = task.w - x;
    const int64_t count = least(left, in_row);
    const int64_t* index = indices + n * is[0] + c * is[1] + d * is[2] + h * is[3] + x * is[4];
    const SliceAhead<Bits> ahead = slices.ahead_of(slice, index, count, count < left);
    const int64_t good = gather_row(task, slices.at(slice), index, count, ahead,
                                    reinterpret_cast<Bits*>(out) + position);
    if (good != count) return {position + good, index[good * is[4]]};
    position += count;
  }
  return {};
}

}  // namespace

BadIndex max_unpool3d_backward(const Task& task, const std::byte* grad, const int64_t* indices,
                               std::byte* out, int64_t begin, int64_t end) {
  const auto run = [&]<class Bits>() {
    const BadIndex bad = gather<Bits>(task, grad, indices, out, begin, end);
    if (task.stream) finish_streaming();
    return bad;
  };
  switch (task.item) {
    case 1:
      return run.template operator()<Bits8>();
    case 2:
      return run.template operator()<uint16_t>();
    case 4:
      return run.template operator()<uint32_t>();
    default:
      return run.template operator()<uint64_t>();
  }
}

SOFTNPU_LEVEL_END
