// SPDX-License-Identifier: Apache-2.0
// The live descriptors of the process. Descriptors are immutable; reinitialising one replaces the
// object behind its handle, and readers keep the old object.
#pragma once

#include <cstdint>
#include <vector>

#include "base/export.h"
#include "base/handle_table.h"
#include "tensor/tensor.h"

namespace softnpu {

using IntArray = Dims;
using FloatArray = std::vector<float>;
using BoolArray = std::vector<uint8_t>;
struct HandleList {
  std::vector<const void*> members;  // may be null
  size_t size() const { return members.size(); }
};
using TensorList = HandleList;
using ScalarList = HandleList;

using TensorTable = HandleTable<const Tensor, HandleKind::tensor>;
using ScalarTable = HandleTable<const Scalar, HandleKind::scalar>;
using IntArrayTable = HandleTable<const IntArray, HandleKind::int_array>;
using FloatArrayTable = HandleTable<const FloatArray, HandleKind::float_array>;
using BoolArrayTable = HandleTable<const BoolArray, HandleKind::bool_array>;
using TensorListTable = HandleTable<const TensorList, HandleKind::tensor_list>;
using ScalarListTable = HandleTable<const ScalarList, HandleKind::scalar_list>;

// The tables outlive all static destructors, because programs destroy handles there.
SOFTNPU_EXPORT TensorTable& tensors();
SOFTNPU_EXPORT ScalarTable& scalars();
SOFTNPU_EXPORT IntArrayTable& int_arrays();
SOFTNPU_EXPORT FloatArrayTable& float_arrays();
SOFTNPU_EXPORT BoolArrayTable& bool_arrays();
SOFTNPU_EXPORT TensorListTable& tensor_lists();
SOFTNPU_EXPORT ScalarListTable& scalar_lists();

// The failure of a handle without a live descriptor.
[[gnu::cold]] SOFTNPU_EXPORT Status not_found(const char* argument, const void* handle,
                                              HandleKind wanted);

// Makes a tensor from the arguments of a C caller. Checks for negative sizes, strides or offset,
// null arrays, and products that overflow 64 bits.
struct TensorArguments {
  const int64_t* sizes;
  uint64_t rank;
  DType dtype;
  const int64_t* strides;  // null: contiguous
  int64_t offset;
  Format format;
  const int64_t* storage;
  uint64_t storage_rank;
  void* data;
};
SOFTNPU_EXPORT Status make_tensor(const TensorArguments& arguments, Tensor& out);

}  // namespace softnpu
