// SPDX-License-Identifier: Apache-2.0
// libnnopbase: the C API's functions on scalars, arrays and lists.
#include <cstring>

#include "aclnn/acl_meta.h"
#include "tensor/entry.h"

namespace softnpu {
namespace {

constexpr uint64_t kLongestArray = uint64_t{1} << 32;

Status check_values(const void* value, uint64_t size) {
  if (value == nullptr && size > 0)
    return fail("array-null"_rule, kParamNullptr, "value is null, but size is ", size);
  if (size > kLongestArray)
    return fail("array-too-long"_rule, kParamInvalid, "size is ", size, "; at most ", kLongestArray,
                " is supported");
  return {};
}

template <class Array, class Value>
Status copy_values(const Value* value, uint64_t size, std::shared_ptr<const Array>& out) {
  RETURN_IF_FAILED(check_values(value, size));
  out = size ? std::make_shared<Array>(value, value + size) : std::make_shared<Array>();
  return {};
}

Status copy_scalar(const void* value, DType type, std::shared_ptr<const Scalar>& out) {
  if (value == nullptr) return fail("argument-null"_rule, kParamNullptr, "value is null");
  auto scalar = std::make_shared<Scalar>();
  scalar->dtype = type;
  if (item_size(type) == 0 || is_small_float(type))
    return fail("scalar-type-unknown"_rule, kParamInvalid, "dataType ", type,
                " has no scalar values");
  std::memcpy(scalar->bytes.data(), value, static_cast<size_t>(item_size(type)));
  out = std::move(scalar);
  return {};
}

// A list owns its members. One that is dead would be destroyed twice.
template <class Table>
Status check_members(const void* const* value, uint64_t size, Table& table) {
  for (uint64_t i = 0; i < size; ++i)
    if (value[i] != nullptr && !table.find(value[i]))
      return fail("list-member-dead"_rule, kParamInvalid,
                  not_live(text("member ", i), value[i], Table::kKind), " or null");
  return {};
}

template <class List, class Table>
Status copy_members(const void* const* value, uint64_t size, Table& table,
                    std::shared_ptr<const List>& out) {
  RETURN_IF_FAILED(check_values(value, size));
  RETURN_IF_FAILED(check_members(value, size, table));
  auto list = std::make_shared<List>();
  list->members.assign(value, value + size);
  out = std::move(list);
  return {};
}

template <class Lists, class Table>
aclnnStatus destroy_list(const Call& call, Lists& lists, Table& table, const void* handle) {
  return guard(call, kEntryCodes, [&]() -> Status {
    const auto list = lists.erase(handle);
    if (list == nullptr) return not_found("array", handle, Lists::kKind);
    const Status found = check_members(list->members.data(), list->members.size(), table);
    for (const void* member : list->members) table.erase(member);
    return found;
  });
}

template <class Table>
aclnnStatus get_size(const Call& call, const char* name, Table& table, const void* handle,
                     uint64_t* size) {
  return with_object(call, name, table, handle,
                     [&](const auto& array) { return store("size", size, array.size()); });
}

}  // namespace
}  // namespace softnpu

using namespace softnpu;

extern "C" {

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  return create<aclScalar>(CALL(value, dataType), scalars(), [&](auto& out) {
    return copy_scalar(value, static_cast<DType>(number_of(dataType)), out);
  });
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return destroy(CALL(scalar), "scalar", scalars(), scalar);
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return create<aclIntArray>(CALL(value, size), int_arrays(),
                             [&](auto& out) { return copy_values(value, size, out); });
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return destroy(CALL(array), "array", int_arrays(), array);
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return get_size(CALL(array, size), "array", int_arrays(), array, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return create<aclFloatArray>(CALL(value, size), float_arrays(),
                               [&](auto& out) { return copy_values(value, size, out); });
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return destroy(CALL(array), "array", float_arrays(), array);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return get_size(CALL(array, size), "array", float_arrays(), array, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return create<aclBoolArray>(CALL(value, size), bool_arrays(),
                              [&](auto& out) { return copy_values(value, size, out); });
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return destroy(CALL(array), "array", bool_arrays(), array);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return get_size(CALL(array, size), "array", bool_arrays(), array, size);
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return create<aclTensorList>(CALL(value, size), tensor_lists(), [&](auto& out) {
    return copy_members(reinterpret_cast<const void* const*>(value), size, tensors(), out);
  });
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
  return destroy_list(CALL(array), tensor_lists(), tensors(), array);
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return get_size(CALL(tensorList, size), "tensorList", tensor_lists(), tensorList, size);
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return create<aclScalarList>(CALL(value, size), scalar_lists(), [&](auto& out) {
    return copy_members(reinterpret_cast<const void* const*>(value), size, scalars(), out);
  });
}

aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
  return destroy_list(CALL(array), scalar_lists(), scalars(), array);
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  return get_size(CALL(scalarList, size), "scalarList", scalar_lists(), scalarList, size);
}

}  // extern "C"
