// SPDX-License-Identifier: Apache-2.0
// max_unpool3d_backward: out[n, c, i] = gradOutput[n, c, indices[n, c, i]], bit for bit.
#include "kernels/kernels.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN
namespace {

using Task = MaxUnpool3dBackwardTask;

// Consecutive positions of one row. Returns how many came before the first bad index.
template <class Bits, class OffsetOf>
int64_t gather_run(const Bits* grad, const int64_t* index, int64_t stride, int64_t count,
                   int64_t limit, OffsetOf offset_of, Bits* out) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = index[i * stride];
    // Seen as unsigned, a negative index is a large one.
    if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(limit)) [[unlikely]]
      return i;
    out[i] = grad[offset_of(at)];
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
    const int64_t good = task.grad_flat
                             ? gather_run(from, index, is[4], count, task.limit, flat, to)
                             : gather_run(from, index, is[4], count, task.limit, spread, to);
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
      return gather<uint8_t>(task, grad, indices, out, begin, end);
    case 2:
      return gather<uint16_t>(task, grad, indices, out, begin, end);
    case 4:
      return gather<uint32_t>(task, grad, indices, out, begin, end);
    default:
      return gather<uint64_t>(task, grad, indices, out, begin, end);
  }
}

SOFTNPU_LEVEL_END
