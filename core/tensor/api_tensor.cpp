// SPDX-License-Identifier: Apache-2.0
// libnnopbase: the C API's functions on aclTensor.
#include <algorithm>

#include "aclnn/acl_meta.h"
#include "base/guard.h"
#include "tensor/handles.h"

namespace softnpu {
namespace {

constexpr GuardCodes kCodes{kInnerNullptr, kInnerNullptr};

Status check_live(const aclTensor* handle, bool live) {
  if (live) return {};
  if (handle == nullptr) return fail(kParamNullptr, "tensor is null");
  return fail(kParamInvalid, not_live("tensor", handle, HandleKind::tensor));
}

// Calls `read` with the live tensor behind the handle. Every pointer in `results` must not be null.
template <class Read>
aclnnStatus with_tensor(const char* function, const aclTensor* handle,
                        std::initializer_list<const void*> results, Read&& read) {
  return guard(function, kCodes, [&]() -> Status {
    const auto tensor = tensors().find(handle);
    RETURN_IF_FAILED(check_live(handle, tensor != nullptr));
    for (const void* result : results)
      if (result == nullptr) return fail(kParamNullptr, "the pointer for the result is null");
    return read(*tensor);
  });
}

Status copy_out(const Dims& dims, int64_t** values, uint64_t* count) {
  *values = new int64_t[std::max<size_t>(dims.size(), 1)];  // the caller frees it with delete[]
  std::copy(dims.begin(), dims.end(), *values);
  *count = dims.size();
  return {};
}

TensorArguments arguments(const int64_t* sizes, uint64_t rank, const aclDataType& type,
                          const int64_t* strides, int64_t offset, const aclFormat& format,
                          const int64_t* storage, uint64_t storage_rank, void* data) {
  return {sizes,   rank,         static_cast<DType>(number_of(type)),
          strides, offset,       static_cast<Format>(number_of(format)),
          storage, storage_rank, data};
}

}  // namespace
}  // namespace softnpu

using namespace softnpu;

extern "C" {

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  void* handle = nullptr;
  guard("aclCreateTensor", kCodes, [&]() -> Status {
    auto tensor = std::make_shared<Tensor>();
    RETURN_IF_FAILED(make_tensor(arguments(viewDims, viewDimsNum, dataType, stride, offset, format,
                                           storageDims, storageDimsNum, tensorData),
                                 *tensor));
    handle = tensors().insert(std::move(tensor));
    if (handle == nullptr) return fail(kInnerNullptr, "too many tensors are alive");
    return {};
  });
  return static_cast<aclTensor*>(handle);
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorDataAddr) {
  return with_tensor("aclInitTensor", tensor, {}, [&](const Tensor&) -> Status {
    auto fresh = std::make_shared<Tensor>();
    RETURN_IF_FAILED(make_tensor(arguments(viewDims, viewDimsNum, dataType, stride, offset, format,
                                           storageDims, storageDimsNum, tensorDataAddr),
                                 *fresh));
    tensors().replace(tensor, std::move(fresh));
    return {};
  });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return guard("aclDestroyTensor", kCodes,
               [&] { return check_live(tensor, tensors().erase(tensor) != nullptr); });
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return with_tensor("aclGetViewShape", tensor, {viewDims, viewDimsNum},
                     [&](const Tensor& t) { return copy_out(t.sizes, viewDims, viewDimsNum); });
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  return with_tensor(
      "aclGetStorageShape", tensor, {storageDims, storageDimsNum},
      [&](const Tensor& t) { return copy_out(t.storage, storageDims, storageDimsNum); });
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  return with_tensor("aclGetViewStrides", tensor, {stridesValue, stridesNum}, [&](const Tensor& t) {
    return copy_out(t.strides, stridesValue, stridesNum);
  });
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return with_tensor("aclGetViewOffset", tensor, {offset}, [&](const Tensor& t) -> Status {
    *offset = t.offset;
    return {};
  });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return with_tensor("aclGetFormat", tensor, {format}, [&](const Tensor& t) -> Status {
    *format = static_cast<aclFormat>(t.format);
    return {};
  });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return with_tensor("aclGetDataType", tensor, {dataType}, [&](const Tensor& t) -> Status {
    *dataType = static_cast<aclDataType>(t.dtype);
    return {};
  });
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  return with_tensor("aclSetRawTensorAddr", tensor, {}, [&](const Tensor& t) -> Status {
    auto moved = std::make_shared<Tensor>(t);
    moved->data = static_cast<std::byte*>(addr);
    tensors().replace(tensor, std::move(moved));
    return {};
  });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  return with_tensor("aclGetRawTensorAddr", tensor, {addr}, [&](const Tensor& t) -> Status {
    *addr = t.data;
    return {};
  });
}

}  // extern "C"
