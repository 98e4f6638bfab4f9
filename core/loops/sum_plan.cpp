// SPDX-License-Identifier: Apache-2.0
#include "loops/sum_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "loops/free_sum.h"

namespace softnpu::loops {
namespace {

// The distance between elements along dimension i of the broadcast shape; 0 if all are the same
// element.
int64_t distance(const Tensor& tensor, size_t rank, size_t i) {
  const size_t missing = rank - tensor.rank();
  if (i < missing || tensor.sizes[i - missing] == 1) return 0;
  return std::abs(tensor.strides[i - missing]);
}

template <class T>
void put(T value, std::byte* out) {
  std::memcpy(out, &value, sizeof value);
}

void store(float value, DType type, std::byte* out) {
  if (std::isnan(value)) value = std::numeric_limits<float>::quiet_NaN();  // the canonical NaN
  if (type == DType::f16) return put(float_to_half(value), out);
  if (type == DType::bf16) return put(float_to_bfloat(value), out);
  put(value, out);
}

}  // namespace

Tensor array_like(std::span<const Tensor* const, 2> inputs, const Dims& sizes) {
  const bool second_is_larger = inputs[1]->numel() > inputs[0]->numel();
  const Tensor &larger = *inputs[second_is_larger], &other = *inputs[!second_is_larger];
  const size_t rank = sizes.size();
  Dims apart(rank), order(rank);
  for (size_t i = 0; i < rank; ++i) {
    apart[i] = distance(larger, rank, i);
    if (apart[i] == 0) apart[i] = distance(other, rank, i);
    order[i] = static_cast<int64_t>(i);
  }
  std::ranges::sort(order, [&](int64_t i, int64_t j) {
    return apart[i] != apart[j] ? apart[i] > apart[j] : i < j;
  });
  Tensor whole;
  whole.sizes = whole.strides = sizes;
  whole.dtype = promote(larger.dtype, other.dtype);
  if (whole.numel() == 0) return whole;  // its strides need not fit
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0; stride *= sizes[order[i]]) whole.strides[order[i]] = stride;
  return whole;
}

Status SumPlan::run(std::byte* const* origins, std::byte* workspace) const {
  SharedSum sum;
  std::byte* const with_sum[] = {origins[0], origins[1], reinterpret_cast<std::byte*>(&sum)};
  RETURN_IF_FAILED(terms_.run(with_sum, workspace));
  store(static_cast<float>(sum.value() / divisor_), result_, origins[2]);
  return {};
}

}  // namespace softnpu::loops
