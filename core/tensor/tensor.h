// SPDX-License-Identifier: Apache-2.0
// A tensor argument: a strided view of memory that it does not own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/dtype.h"
#include "base/export.h"
#include "base/status.h"
#include "tensor/dims.h"

namespace softnpu {

struct Tensor {
  std::byte* data = nullptr;  // element 0 of the storage, before `offset`
  int64_t offset = 0;         // in elements
  Dims sizes;
  Dims strides;  // in elements; may be negative from Python
  DType dtype = DType::undefined;
  Format format = Format::nd;
  Dims storage;              // the storage's sizes; only their product matters
  bool has_storage = false;  // false for arrays from Python

  size_t rank() const { return sizes.size(); }
  // Creation checks that the product fits. Unsigned, because partial products may overflow if a
  // size is 0.
  int64_t numel() const {
    uint64_t n = 1;
    for (int64_t size : sizes) n *= static_cast<uint64_t>(size);
    return static_cast<int64_t>(n);
  }
  std::byte* origin() const { return data + offset * item_size(dtype); }
};

// The strides of a contiguous tensor of these sizes. For an empty one, they may overflow and mean
// nothing.
SOFTNPU_EXPORT Dims contiguous_strides(const Dims& sizes);
SOFTNPU_EXPORT bool is_contiguous(const Tensor& tensor);

// The lowest and the highest element that the view touches, as offsets from element 0 of its
// storage; an empty range for an empty view. Fails if an offset does not fit int64.
struct Extent {
  int64_t low = 0;
  int64_t high = -1;
};
SOFTNPU_EXPORT Status view_extent(const Tensor& tensor, Extent& out);

// A number with the data type of its creator.
struct Scalar {
  DType dtype = DType::undefined;
  std::array<std::byte, 16> bytes{};

  bool converts_to_float() const {
    return is_integer(dtype) || is_floating(dtype) || dtype == DType::boolean;
  }
};

// The scalar's bytes as a T, which must correspond to its data type.
template <class T>
T value_of(const Scalar& scalar) {
  T value;
  std::memcpy(&value, scalar.bytes.data(), sizeof value);
  return value;
}

// The number in its own data type, as text. Requires converts_to_float().
SOFTNPU_EXPORT std::string to_text(const Scalar& scalar);

// The scalar as float32, rounded once. Requires converts_to_float().
SOFTNPU_EXPORT float to_float(const Scalar& scalar);

// The shape that sizes, aligned at the right, broadcast to; nothing if they do not.
SOFTNPU_EXPORT std::optional<Dims> broadcast_sizes(const Dims& a, const Dims& b);

// The common type to which floating-point tensors are promoted.
SOFTNPU_EXPORT DType promote(DType a, DType b);

// Whether a result of type `from` may be written to an output of type `to`.
SOFTNPU_EXPORT bool can_cast(DType from, DType to);

}  // namespace softnpu
