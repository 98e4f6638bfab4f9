// SPDX-License-Identifier: Apache-2.0
// max_unpool3d_backward: out[n, c, i] = gradOutput[n, c, indices[n, c, i]], bit for bit.
#include "kernels/kernels.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = MaxUnpool3dBackwardTask;

// A byte that, unlike uint8_t, no compiler takes to share memory with the indices.
enum class Bits8 : uint8_t {};

// Whether one of these indices is out of range: it is negative, or the last place less the index
// is.
inline bool has_bad(const int64_t* index, int64_t stride, int64_t count, int64_t limit) {
  const uint64_t last = static_cast<uint64_t>(limit) - 1;
  uint64_t signs = 0;
  const auto look = [&](int64_t at) {
    const auto place = static_cast<uint64_t>(at);
    signs |= place | (last - place);
  };
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i) look(index[i]);
  else
    for (int64_t i = 0; i < count; ++i) look(index[i * stride]);
  return static_cast<int64_t>(signs) < 0;
}

// Asks for an element soon to be read. Its index may be bad: nothing happens then.
template <class Bits>
SOFTNPU_INLINE void prefetch(const Bits* grad, int64_t index) {
  const uintptr_t address =
      reinterpret_cast<uintptr_t>(grad) + static_cast<uint64_t>(index) * sizeof(Bits);
  __builtin_prefetch(reinterpret_cast<const void*>(address));
}

// Whether a block of good indices goes from one place to quite another.
inline bool jumps(int64_t first, int64_t last) {
  constexpr uint64_t kNear = 1 << 16;  // an index that descends is seen as far, too
  return static_cast<uint64_t>(last - first) > kNear;
}

// Consecutive positions of one row. Returns how many came before the first bad index. Indices are
// looked over in blocks, which the compiler vectorises: 1.3 times as fast in cache as one by one.
// Where gradOutput is `far`, in memory, and indices jump about in it, asking for elements ahead
// takes 0.85 of the time; where they ascend, the machine's own guesses are better.
template <class Bits, class OffsetOf>
SOFTNPU_INLINE int64_t gather_run(const Bits* grad, const int64_t* index, int64_t stride,
                                  int64_t count, int64_t limit, bool far, OffsetOf offset_of,
                                  Bits* out) {
  constexpr int64_t kBlock = 64, kAhead = 32;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t n = count - begin < kBlock ? count - begin : kBlock;
    const int64_t* const at = index + begin * stride;
    int64_t good = n;
    if (has_bad(at, stride, n, limit)) [[unlikely]]
      for (good = 0; !has_bad(at + good * stride, stride, 1, limit);) ++good;
    if (far && begin + kBlock + kAhead <= count && good == n && jumps(at[0], at[kBlock - 1])) {
      for (int64_t i = 0; i < kBlock; ++i) {
        prefetch(grad, at[i + kAhead]);
        out[begin + i] = grad[at[i]];
      }
      continue;
    }
    SOFTNPU_FOUR_AT_ONCE
    for (int64_t i = 0; i < good; ++i) out[begin + i] = grad[offset_of(at[i * stride])];
    if (good < n) return begin + good;
  }
  return count;
}

template <class Bits>
BadIndex gather(const Task& task, const std::byte* grad_bytes, const int64_t* indices,
                std::byte* out_bytes, int64_t begin, int64_t end) {
  const Bits* grad = reinterpret_cast<const Bits*>(grad_bytes);
  Bits* out = reinterpret_cast<Bits*>(out_bytes);
  const int64_t* const gs = task.grad_strides;
  const int64_t* const is = task.index_strides;
  constexpr int64_t kFarBytes = int64_t{4} << 20;
  const bool far = task.limit > kFarBytes / task.item / (task.batch * task.channels);
  for (int64_t position = begin; position < end;) {
    const int64_t x = position % task.w, row = position / task.w;
    const int64_t h = row % task.h, d = row / task.h % task.d;
    const int64_t slice = row / (task.h * task.d);
    const int64_t c = slice % task.channels, n = slice / task.channels;
    const int64_t left = end - position, in_row = task.w - x;
    const int64_t count = left < in_row ? left : in_row;
    const Bits* from = grad + n * gs[0] + c * gs[1];
    const int64_t* index = indices + n * is[0] + c * is[1] + d * is[2] + h * is[3] + x * is[4];
    const auto flat = [step = gs[4]](int64_t at) { return at * step; };
    const auto spread = [&](int64_t at) {
      const int64_t rest = at / task.grad_w;
      return rest / task.grad_h * gs[2] + rest % task.grad_h * gs[3] + at % task.grad_w * gs[4];
    };
    Bits* to = out + position;
    const auto same = [](int64_t at) { return at; };
    int64_t good = 0;
    if (!task.grad_flat)
      good = gather_run(from, index, is[4], count, task.limit, false, spread, to);
    else if (gs[4] == 1 && is[4] == 1)
      good = gather_run(from, index, 1, count, task.limit, far, same, to);
    else
      good = gather_run(from, index, is[4], count, task.limit, false, flat, to);
    if (good != count) return {position + good, index[good * is[4]]};
    position += count;
  }
  return {};
}

}  // namespace

BadIndex max_unpool3d_backward(const Task& task, const std::byte* grad, const int64_t* indices,
                               std::byte* out, int64_t begin, int64_t end) {
  switch (task.item) {
    case 1:
      return gather<Bits8>(task, grad, indices, out, begin, end);
    case 2:
      return gather<uint16_t>(task, grad, indices, out, begin, end);
    case 4:
      return gather<uint32_t>(task, grad, indices, out, begin, end);
    default:
      return gather<uint64_t>(task, grad, indices, out, begin, end);
  }
}

SOFTNPU_LEVEL_END
