// SPDX-License-Identifier: Apache-2.0
// max_unpool3d_backward: out[n, c, i] = gradOutput[n, c, indices[n, c, i]], bit for bit.
//
// Each index is loaded once and checked, because another thread may overwrite it. Prefetching may
// read it earlier, as a hint only.
#include "base/tuning.h"
#include "kernels/kernels.h"
#include "loops/access.h"
#include "loops/bits.h"
#include "loops/level.h"
#include "loops/stream_out.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = MaxUnpool3dBackwardTask;

// Consecutive positions of one row, and the data to gather.
template <class Bits>
struct Row {
  const Bits* grad;
  const int64_t* index;
  int64_t count, last;  // the largest valid index
  Bits* out;

  Row part(int64_t begin, int64_t end) const {
    return {grad, index + begin, end - begin, last, out + begin};
  }
};

SOFTNPU_INLINE void read_some(const int64_t* index, int64_t (&at)[kUnrolled]) {
  SOFTNPU_UNROLLED
  for (int64_t i = 0; i < kUnrolled; ++i) at[i] = read_once(index + i);
}

// The sign bit of i | (last - i) is set where i < 0 or i > last.
SOFTNPU_INLINE bool has_bad(const int64_t (&at)[kUnrolled], int64_t last) {
  uint64_t signs = 0;
  SOFTNPU_UNROLLED
  for (const int64_t i : at)
    signs |= static_cast<uint64_t>(i) | (static_cast<uint64_t>(last) - static_cast<uint64_t>(i));
  return signs >> 63 != 0;
}

// Returns false and writes nothing if one of kUnrolled indices is invalid.
template <class Bits, class OffsetOf>
SOFTNPU_INLINE bool gather_some(const Bits* grad, const int64_t* index, int64_t last,
                                OffsetOf offset_of, Bits* out) {
  int64_t at[kUnrolled];
  read_some(index, at);
  if (has_bad(at, last)) [[unlikely]]
    return false;
  SOFTNPU_UNROLLED
  for (int64_t i = 0; i < kUnrolled; ++i) out[i] = grad[offset_of(at[i])];
  return true;
}

// Returns the first invalid index of a row: its position in the row and its value.
template <class Bits, class OffsetOf>
SOFTNPU_INLINE BadIndex gather_run(const Row<Bits> row, int64_t stride, OffsetOf offset_of) {
  int64_t i = 0;
  for (; stride == 1 && i + kUnrolled <= row.count; i += kUnrolled)
    if (!gather_some(row.grad, row.index + i, row.last, offset_of, row.out + i)) break;
  for (; i < row.count; ++i) {
    const int64_t at = read_once(row.index + i * stride);
    if (at < 0 || at > row.last) [[unlikely]]
      return {i, at};
    row.out[i] = row.grad[offset_of(at)];
  }
  return {};
}

constexpr auto kSame = [](int64_t at) { return at; };

// For dense operands in memory: prefetches elements and indices.
template <bool kStreams, class Bits>
BadIndex gather_far(const Row<Bits> row) {
  const auto run = [&](int64_t begin, int64_t end) {
    BadIndex bad = gather_run(row.part(begin, end), 1, kSame);
    if (bad.position >= 0) bad.position += begin;
    return bad;
  };
  int64_t begin = kStreams ? least(elements_before_line(row.out), row.count) : 0;
  if (const BadIndex bad = run(0, begin); bad.position >= 0) return bad;
  for (; begin + kBlock + kGatherAhead <= row.count; begin += kBlock) {
    alignas(64) Bits lines[kBlock];
    const int64_t* const index = row.index + begin;
    Bits* const to = kStreams ? lines : row.out + begin;
    bool good = true;
    for (int64_t i = 0; i < kBlock && good; i += kUnrolled) {
      for (int64_t k = i; k < i + kUnrolled; ++k) {
        if (k % 8 == 0) prefetch(index, k + 2 * kGatherAhead);
        prefetch<kSecondCache>(row.grad, index[k + kGatherAhead]);  // harmless if invalid
      }
      good = gather_some(row.grad, index + i, row.last, kSame, to + i);
    }
    if (!good) [[unlikely]]
      break;
    if constexpr (kStreams) stream_lines(row.out + begin, lines);
  }
  return run(begin, row.count);
}

// Gathers a row of operands with any layout.
template <class Bits>
BadIndex gather_row(const Task& task, const Row<Bits>& row) {
  const int64_t* const gs = task.grad_strides;
  const int64_t stride = task.index_strides[4];
  if (!task.grad_flat)
    return gather_run(row, stride, [&](int64_t at) {
      const int64_t rest = at / task.grad_w;
      return rest / task.grad_h * gs[2] + rest % task.grad_h * gs[3] + at % task.grad_w * gs[4];
    });
  if (gs[4] != 1 || stride != 1)
    return gather_run(row, stride, [step = gs[4]](int64_t at) { return at * step; });
  if (!task.is_far) return gather_run(row, 1, kSame);
  return task.stream ? gather_far<true>(row) : gather_far<false>(row);
}

template <class Bits>
BadIndex gather(const Task& task, const std::byte* grad, const int64_t* indices, std::byte* out,
                int64_t begin, int64_t end) {
  const int64_t *const is = task.index_strides, *const gs = task.grad_strides;
  for (int64_t position = begin; position < end;) {
    const int64_t x = position % task.w, rows = position / task.w;
    const int64_t h = rows % task.h, d = rows / task.h % task.d;
    const int64_t slice = rows / (task.h * task.d);
    const int64_t c = slice % task.channels, n = slice / task.channels;
    const Row<Bits> row{
        .grad = reinterpret_cast<const Bits*>(grad) + n * gs[0] + c * gs[1],
        .index = indices + n * is[0] + c * is[1] + d * is[2] + h * is[3] + x * is[4],
        .count = least(end - position, task.w - x),
        .last = task.limit - 1,
        .out = reinterpret_cast<Bits*>(out) + position,
    };
    const BadIndex bad = gather_row(task, row);
    if (bad.position >= 0) return {position + bad.position, bad.value};
    position += row.count;
  }
  return {};
}

}  // namespace

BadIndex max_unpool3d_backward(const Task& task, const std::byte* grad, const int64_t* indices,
                               std::byte* out, int64_t begin, int64_t end) {
  return with_bits(task.item, [&]<class Bits>() {
    const BadIndex bad = gather<Bits>(task, grad, indices, out, begin, end);
    if (task.stream) finish_streaming();
    return bad;
  });
}

SOFTNPU_LEVEL_END
