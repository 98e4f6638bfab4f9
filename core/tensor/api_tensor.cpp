// SPDX-License-Identifier: Apache-2.0
// libnnopbase: the C API's functions on aclTensor.
#include <algorithm>

#include "aclnn/acl_meta.h"
#include "tensor/entry.h"

namespace softnpu {
namespace {

template <class Read>
aclnnStatus with_tensor(const Call& call, const aclTensor* handle, Read&& read) {
  return with_object(call, "tensor", tensors(), handle, read);
}

// Writes both results, or none.
Status copy_out(const Dims& dims, const char* values_name, int64_t** values, const char* count_name,
                uint64_t* count) {
  RETURN_IF_FAILED(check_result(values_name, values));
  RETURN_IF_FAILED(check_result(count_name, count));
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
  return create<aclTensor>(
      CALL(viewDims, viewDimsNum, dataType, stride, offset, format, storageDims, storageDimsNum,
           tensorData),
      tensors(), [&](auto& out) -> Status {
        auto tensor = std::make_shared<Tensor>();
        RETURN_IF_FAILED(make_tensor(arguments(viewDims, viewDimsNum, dataType, stride, offset,
                                               format, storageDims, storageDimsNum, tensorData),
                                     *tensor));
        out = std::move(tensor);
        return {};
      });
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorDataAddr) {
  return with_tensor(
      CALL(tensor, viewDims, viewDimsNum, dataType, stride, offset, format, storageDims,
           storageDimsNum, tensorDataAddr),
      tensor, [&](const Tensor&) -> Status {
        auto fresh = std::make_shared<Tensor>();
        RETURN_IF_FAILED(make_tensor(arguments(viewDims, viewDimsNum, dataType, stride, offset,
                                               format, storageDims, storageDimsNum, tensorDataAddr),
                                     *fresh));
        tensors().replace(tensor, std::move(fresh));
        return {};
      });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return destroy(CALL(tensor), "tensor", tensors(), tensor);
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return with_tensor(CALL(tensor, viewDims, viewDimsNum), tensor, [&](const Tensor& t) {
    return copy_out(t.sizes, "viewDims", viewDims, "viewDimsNum", viewDimsNum);
  });
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
  return with_tensor(CALL(tensor, storageDims, storageDimsNum), tensor, [&](const Tensor& t) {
    return copy_out(t.storage, "storageDims", storageDims, "storageDimsNum", storageDimsNum);
  });
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
  return with_tensor(CALL(tensor, stridesValue, stridesNum), tensor, [&](const Tensor& t) {
    return copy_out(t.strides, "stridesValue", stridesValue, "stridesNum", stridesNum);
  });
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return with_tensor(CALL(tensor, offset), tensor,
                     [&](const Tensor& t) { return store("offset", offset, t.offset); });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return with_tensor(CALL(tensor, format), tensor,
                     [&](const Tensor& t) { return store("format", format, t.format); });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return with_tensor(CALL(tensor, dataType), tensor,
                     [&](const Tensor& t) { return store("dataType", dataType, t.dtype); });
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  return with_tensor(CALL(tensor, addr), tensor, [&](const Tensor& t) -> Status {
    auto moved = std::make_shared<Tensor>(t);
    moved->data = static_cast<std::byte*>(addr);
    tensors().replace(tensor, std::move(moved));
    return {};
  });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  return with_tensor(CALL(tensor, addr), tensor,
                     [&](const Tensor& t) { return store("addr", addr, t.data); });
}

}  // extern "C"
