// SPDX-License-Identifier: Apache-2.0
// selu_backward: gradInput = gradOutput · selu'(x), from the forward's output y.
#include "kernels/kernels.h"
#include "loops/walk.h"

SOFTNPU_LEVEL_BEGIN
namespace {

struct FromResult {
  SeluBackwardNumbers c;
  template <class Stage>
  SOFTNPU_INLINE Stage operator()(Stage grad, Stage y) const {
    // NaN is not >= 0 and takes the branch that keeps it.
    return static_cast<Stage>(grad * (y >= 0 ? c.lambda : y + c.lambda_alpha));
  }
};

}  // namespace

void selu_backward(const ElementwiseLayout& layout, std::byte* const* origins, const void* numbers,
                   int64_t begin, int64_t end) {
  walk<2, float, FromResult>(layout, origins, numbers, begin, end);
}

void selu_backward_int32(const ElementwiseLayout& layout, std::byte* const* origins,
                         const void* numbers, int64_t begin, int64_t end) {
  walk<2, double, FromResult>(layout, origins, numbers, begin, end);
}

SOFTNPU_LEVEL_END
