// SPDX-License-Identifier: Apache-2.0
// leaky_relu: x above 0, else negativeSlope · x.
#include "kernels/kernels.h"
#include "loops/row_loops.h"

SOFTNPU_LEVEL_BEGIN
namespace {

struct LeakyRelu {
  float slope;
  template <class V>
  SOFTNPU_INLINE V operator()(V x) const {
    return select(x > 0.0f, x, x * slope);
  }
};

}  // namespace

void leaky_relu(const ElementwiseLayout& layout, std::byte* const* origins, const void* numbers,
                int64_t begin, int64_t end) {
  walk<1>(layout, origins, LeakyRelu{*static_cast<const float*>(numbers)}, begin, end);
}

SOFTNPU_LEVEL_END
