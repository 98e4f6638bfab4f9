// SPDX-License-Identifier: Apache-2.0
#include "ops/unpool.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/checked.h"

namespace softnpu::ops {
namespace {

__extension__ using Wide = __int128;

// D · H · W as its upper and lower part: it may overflow 64 bits if N is 0.
std::pair<Wide, uint64_t> volume(std::span<const int64_t> sizes) {
  const Wide two = Wide(sizes[0]) * sizes[1];
  const Wide lower = Wide(static_cast<uint64_t>(two)) * sizes[2];
  return {(two >> 64) * sizes[2] + (lower >> 64), static_cast<uint64_t>(lower)};
}

bool all_positive(std::span<const int64_t> sizes) {
  return std::ranges::all_of(sizes, [](int64_t size) { return size > 0; });
}

}  // namespace

std::span<const int64_t> spatial(const Dims& sizes) {
  return std::span<const int64_t>(sizes).last(std::min<size_t>(3, sizes.size()));
}

Status check_like_self(std::span<const Operand> tensors, const Tensor& self, RuleId rank_rule,
                       RuleId shape_rule) {
  for (const auto& [name, tensor, use] : tensors)
    if (tensor->rank() != self.rank())
      return fail(rank_rule, kParamInvalid, name, " has rank ", tensor->rank(),
                  ", but self has rank ", self.rank(), "; they must be equal");
  for (const auto& [name, tensor, use] : tensors)
    if (tensor->sizes != self.sizes)
      return fail(shape_rule, kParamInvalid, name, " has shape ", tensor->sizes,
                  ", but self has shape ", self.sizes, "; they must be equal");
  return {};
}

Status check_not_empty(const Tensor& self, RuleId rule) {
  if (all_positive(std::span<const int64_t>(self.sizes).subspan(1))) return {};
  return fail(rule, kParamInvalid, "self has shape ", self.sizes,
              "; every dimension but the first must be above 0");
}

Status check_unpool_sizes(const UnpoolSizes& sizes, const Tensor& self, RuleId length_rule,
                          RuleId positive_rule, RuleId small_rule) {
  const std::pair<const char*, const Dims&> named[] = {
      {"outputSize", sizes.output_size}, {"stride", sizes.stride}, {"padding", sizes.padding}};
  for (const auto& [name, values] : named)
    if (values.size() != 3)
      return fail(length_rule, kParamInvalid, name, " has ", values.size(),
                  " elements; expected 3");
  for (const auto& [name, values] : std::span(named).first(2))  // padding may have any values
    if (!all_positive(values))
      return fail(positive_rule, kParamInvalid, name, " is ", values,
                  "; every element must be above 0");
  if (volume(sizes.output_size) < volume(spatial(self.sizes)))
    return fail(small_rule, kParamInvalid, "outputSize is ", sizes.output_size,
                ", whose product is below D * H * W of self, which has shape ", self.sizes);
  return {};
}

Status check_unpooled(const Operand& unpooled, const Tensor& self, const Dims& output_size,
                      RuleId spatial_rule, RuleId rank_rule, RuleId batch_rule) {
  const char* const name = unpooled.name;
  const Tensor& tensor = *unpooled.arg;
  if (!std::ranges::equal(spatial(tensor.sizes), output_size))
    return fail(spatial_rule, kParamInvalid, name, " has shape ", tensor.sizes,
                ", whose D, H, W differ from outputSize ", output_size);
  if (tensor.rank() != self.rank())
    return fail(rank_rule, kParamInvalid, name, " has rank ", tensor.rank(), ", but self has rank ",
                self.rank(), "; they must be equal");
  for (size_t i = 0; i + 3 < self.rank(); ++i)
    if (tensor.sizes[i] != self.sizes[i])
      return fail(batch_rule, kParamInvalid, name, " has shape ", tensor.sizes,
                  ", but self has shape ", self.sizes,
                  "; all dimensions before D, H, W must be equal");
  return {};
}

void read_strides(const Tensor& tensor, int64_t (&strides)[5]) {
  const size_t rank = tensor.rank();
  strides[0] = tensor.strides[0];
  strides[1] = rank == 5 ? tensor.strides[1] : 0;
  for (size_t i = 0; i < 3; ++i) strides[2 + i] = tensor.strides[rank - 3 + i];
}

bool is_flat(const Tensor& tensor, int64_t& step) {
  int64_t inner = 0;  // the product of the sizes and the step of the axes so far
  for (size_t i = tensor.rank(); i-- > tensor.rank() - 3;) {
    if (tensor.sizes[i] == 1) continue;
    if (inner != 0 && tensor.strides[i] != inner) return false;
    if (inner == 0) step = tensor.strides[i];
    const auto product = checked_mul(tensor.strides[i], tensor.sizes[i]);
    if (!product) return false;
    inner = *product;
    // With stride 0, one step fits only if this axis has all elements.
    if (inner == 0) return tensor.numel() <= tensor.sizes[i];
  }
  return true;
}

void FirstBadIndex::add(const kernels::BadIndex& bad) {
  if (bad.position < 0) return;
  std::lock_guard lock(mutex_);
  if (first_.position < 0 || bad.position < first_.position) first_ = bad;
}

Status FirstBadIndex::status(const Dims& shape, int64_t limit) const {
  if (first_.position < 0) return {};
  Dims where(shape.size());
  int64_t rest = first_.position;
  for (size_t i = shape.size(); i-- > 0; rest /= shape[i]) where[i] = rest % shape[i];
  return Status(kRuntimeError,
                text("indices", where, " is ", first_.value, "; expected 0 or more and less than ",
                     limit, ", the product of outputSize"),
                "index-out-of-range"_rule, Cause::index);
}

}  // namespace softnpu::ops
