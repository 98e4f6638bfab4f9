// SPDX-License-Identifier: Apache-2.0
#include "tensor/handles.h"

#include "base/lasting.h"

namespace softnpu {
namespace {

Status read_sizes(const char* name, const int64_t* values, uint64_t count, Dims& out) {
  if (count > 0 && values == nullptr)
    return fail("array-null"_rule, kParamNullptr, name, " is null, but its length is ", count);
  if (count > 1024)
    return fail("array-too-long"_rule, kParamInvalid, name, " has length ", count,
                "; at most 1024 is supported");
  out = Dims(std::span(values, count));
  for (size_t i = 0; i < count; ++i)
    if (out[i] < 0)
      return fail("element-negative"_rule, kParamInvalid, name, " is ", out,
                  "; no element may be negative");
  return {};
}

}  // namespace

TensorTable& tensors() { return lasting<TensorTable>; }
ScalarTable& scalars() { return lasting<ScalarTable>; }
IntArrayTable& int_arrays() { return lasting<IntArrayTable>; }
FloatArrayTable& float_arrays() { return lasting<FloatArrayTable>; }
BoolArrayTable& bool_arrays() { return lasting<BoolArrayTable>; }
TensorListTable& tensor_lists() { return lasting<TensorListTable>; }
ScalarListTable& scalar_lists() { return lasting<ScalarListTable>; }

Status not_found(const char* argument, const void* handle, HandleKind wanted) {
  if (handle == nullptr) return fail("argument-null"_rule, kParamNullptr, argument, " is null");
  return fail("dead-handle"_rule, kParamInvalid, not_live(argument, handle, wanted));
}

Status make_tensor(const TensorArguments& a, Tensor& out) {
  RETURN_IF_FAILED(read_sizes("viewDims", a.sizes, a.rank, out.sizes));
  RETURN_IF_FAILED(read_sizes("storageDims", a.storage, a.storage_rank, out.storage));
  if (!checked_numel(out.sizes))
    return fail("too-many-elements"_rule, kParamInvalid, "viewDims ", out.sizes,
                " has more elements than 64 bits can count");
  if (!checked_numel(out.storage))
    return fail("too-many-elements"_rule, kParamInvalid, "storageDims ", out.storage,
                " has more elements than 64 bits can count");
  if (a.strides == nullptr)
    out.strides = contiguous_strides(out.sizes);
  else
    RETURN_IF_FAILED(read_sizes("stride", a.strides, a.rank, out.strides));
  if (a.offset < 0)
    return fail("offset-negative"_rule, kParamInvalid, "offset is ", a.offset,
                "; it must not be negative");
  out.data = static_cast<std::byte*>(a.data);
  out.offset = a.offset;
  out.dtype = a.dtype;
  out.format = a.format;
  out.has_storage = true;
  Extent extent;
  RETURN_IF_FAILED(view_extent(out, extent));
  const int64_t elements = std::max(std::max(extent.high, a.offset), *checked_numel(out.storage));
  const auto past_end = checked_add(elements, 1);
  if (!past_end || !checked_mul(*past_end, 16))
    return fail("view-past-64-bits"_rule, kParamInvalid, "offset ", a.offset, " and shape ",
                out.sizes, " with strides ", out.strides, " reach past what 64 bits can address");
  return {};
}

}  // namespace softnpu
