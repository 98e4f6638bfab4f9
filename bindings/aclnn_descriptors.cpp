// SPDX-License-Identifier: Apache-2.0
// Tensors, scalars, arrays and lists of aclnn.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "aclnn/acl_meta.h"
#include "base/dtype.h"
#include "c_function.h"
#include "sections.h"

namespace softnpu::python {
namespace {

using nb::arg;
using Ints = std::vector<int64_t>;

// None is a null array.
const int64_t* values(const std::optional<Ints>& ints) { return ints ? ints->data() : nullptr; }
uint64_t count(const std::optional<Ints>& ints) { return ints ? ints->size() : 0; }

// C uses one length for both, so it would read past the end of a shorter list of strides.
void require_as_many(const char* function, const std::optional<Ints>& dims,
                     const std::optional<Ints>& stride) {
  if (stride && count(dims) != stride->size())
    raise(fail("stride-length"_rule, kParamInvalid, function, ": stride has ", stride->size(),
               " elements, but viewDims has ", count(dims)));
}

uintptr_t create_tensor(const std::optional<Ints>& dims, aclDataType type,
                        const std::optional<Ints>& stride, int64_t offset, aclFormat format,
                        const std::optional<Ints>& storage, void* data) {
  require_as_many("aclCreateTensor", dims, stride);
  return check_created(aclCreateTensor(values(dims), count(dims), type, values(stride), offset,
                                       format, values(storage), count(storage), data));
}

void init_tensor(aclTensor* tensor, const std::optional<Ints>& dims, aclDataType type,
                 const std::optional<Ints>& stride, int64_t offset, aclFormat format,
                 const std::optional<Ints>& storage, void* data) {
  require_as_many("aclInitTensor", dims, stride);
  check(aclInitTensor(tensor, values(dims), count(dims), type, values(stride), offset, format,
                      values(storage), count(storage), data));
}

template <aclnnStatus (*kGet)(const aclTensor*, int64_t**, uint64_t*)>
std::vector<int64_t> get_ints(const aclTensor* tensor) {
  int64_t* found = nullptr;
  uint64_t size = 0;
  check(kGet(tensor, &found, &size));
  const std::unique_ptr<int64_t[]> owner(found);
  return {found, found + size};
}

uintptr_t create_scalar(const std::optional<nb::bytes>& value, aclDataType type) {
  if (value && value->size() < aclDataTypeSize(type))
    raise(fail("scalar-bytes"_rule, kParamInvalid, "aclCreateScalar: value has ", value->size(),
               " bytes, but an element of ", static_cast<DType>(type), " has ",
               aclDataTypeSize(type)));
  void* bytes = value ? const_cast<char*>(value->c_str()) : nullptr;
  return check_created(aclCreateScalar(bytes, type));
}

template <auto kCreate, class T>
uintptr_t create_from(const std::vector<T>& members) {
  return check_created(kCreate(members.data(), members.size()));
}

void bind_tensors(nb::module_& m) {
  define(m, "aclCreateTensor", &create_tensor, arg("viewDims"), arg("dataType"), arg("stride"),
         arg("offset"), arg("format"), arg("storageDims"), arg("tensorData"),
         "A view of device memory; a stride of None means contiguous.");
  define(m, "aclInitTensor", &init_tensor, arg("tensor"), arg("viewDims"), arg("dataType"),
         arg("stride"), arg("offset"), arg("format"), arg("storageDims"), arg("tensorDataAddr"),
         "Describe another view with the same handle.");
  BIND_ACLNN(aclDestroyTensor, arg("tensor"), "Destroy a tensor.");
  define(m, "aclGetViewShape", &get_ints<&aclGetViewShape>, arg("tensor"), "The view's sizes.");
  define(m, "aclGetStorageShape", &get_ints<&aclGetStorageShape>, arg("tensor"),
         "The storage's sizes.");
  define(m, "aclGetViewStrides", &get_ints<&aclGetViewStrides>, arg("tensor"),
         "Strides in elements.");
  BIND_ACLNN(aclGetViewOffset, arg("tensor"), "Offset in elements.");
  BIND_ACLNN(aclGetFormat, arg("tensor"), "The format.");
  BIND_ACLNN(aclGetDataType, arg("tensor"), "The data type.");
  BIND_ACLNN(aclSetRawTensorAddr, arg("tensor"), arg("addr"), "Give a tensor another address.");
  BIND_ACLNN(aclGetRawTensorAddr, arg("tensor"), "The address.");
}

void bind_scalars_and_arrays(nb::module_& m) {
  define(m, "aclCreateScalar", &create_scalar, arg("value").none(), arg("dataType"),
         "A number from its bytes.");
  BIND_ACLNN(aclDestroyScalar, arg("scalar"), "Destroy a scalar.");
  define(m, "aclCreateIntArray", &create_from<&aclCreateIntArray, int64_t>, arg("value"),
         "A copy of some integers.");
  BIND_ACLNN(aclDestroyIntArray, arg("array"), "Destroy an array.");
  BIND_ACLNN(aclGetIntArraySize, arg("array"), "Number of members.");
  define(m, "aclCreateFloatArray", &create_from<&aclCreateFloatArray, float>, arg("value"),
         "A copy of some numbers as float32.");
  BIND_ACLNN(aclDestroyFloatArray, arg("array"), "Destroy an array.");
  BIND_ACLNN(aclGetFloatArraySize, arg("array"), "Number of members.");
  define(
      m, "aclCreateBoolArray",
      [](const std::vector<bool>& value) {
        const auto copy = std::make_unique<bool[]>(value.size() + 1);
        std::copy(value.begin(), value.end(), copy.get());
        return check_created(aclCreateBoolArray(copy.get(), value.size()));
      },
      arg("value"), "A copy of some bools.");
  BIND_ACLNN(aclDestroyBoolArray, arg("array"), "Destroy an array.");
  BIND_ACLNN(aclGetBoolArraySize, arg("array"), "Number of members.");
}

void bind_lists(nb::module_& m) {
  define(m, "aclCreateTensorList", &create_from<&aclCreateTensorList, const aclTensor*>,
         arg("value"), "A list that takes its members over; they may be None.");
  BIND_ACLNN(aclDestroyTensorList, arg("array"), "Destroy a list and its members.");
  BIND_ACLNN(aclGetTensorListSize, arg("tensorList"), "Number of members.");
  define(m, "aclCreateScalarList", &create_from<&aclCreateScalarList, const aclScalar*>,
         arg("value"), "A list that takes its members over; they may be None.");
  BIND_ACLNN(aclDestroyScalarList, arg("array"), "Destroy a list and its members.");
  BIND_ACLNN(aclGetScalarListSize, arg("scalarList"), "Number of members.");
}

}  // namespace

void bind_aclnn_descriptors(nb::module_& m) {
  bind_tensors(m);
  bind_scalars_and_arrays(m);
  bind_lists(m);
}

}  // namespace softnpu::python
