// SPDX-License-Identifier: Apache-2.0
// An operator's arguments as its checks see them, and the checks that all operators share.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "base/export.h"
#include "base/observer.h"
#include "runtime/product.h"
#include "tensor/handles.h"
#include "tensor/tensor.h"

namespace softnpu {

// A tensor argument; null when the caller passed null. `handle` is what the C caller named it by.
struct TensorArg {
  const Tensor* tensor = nullptr;
  const void* handle = nullptr;

  explicit operator bool() const { return tensor != nullptr; }
  const Tensor& operator*() const { return *tensor; }
  const Tensor* operator->() const { return tensor; }
};

enum class Use : uint8_t { read, write, update, shape_only };  // update: read, then written

constexpr bool writes(Use use) { return use == Use::write || use == Use::update; }

// No documented operator has more tensors, scalars and arrays together.
constexpr size_t kMostArguments = 8;

struct Operand {
  const char* name;  // as documented
  TensorArg arg;
  Use use;
};

// Whether its elements are touched.
SOFTNPU_EXPORT bool needs_data(const Operand& operand);

// For observers: what an operand's elements are, if it lies at `first`.
SOFTNPU_EXPORT Access access_of(const Operand& operand, std::byte* first);

// The products that have an operator.
class Products {
 public:
  consteval Products(std::initializer_list<runtime::Soc> list) {
    for (runtime::Soc soc : list) bits_ |= 1u << static_cast<unsigned>(soc);
  }
  constexpr bool have(runtime::Soc soc) const { return bits_ >> static_cast<unsigned>(soc) & 1u; }

 private:
  unsigned bits_ = 0;
};

// What the checks after an operator's own need to know of it.
struct OperatorTraits {
  std::string_view name;
  Products products;
  bool in_place;  // an output may be exactly the same view as an input
};

// Whether pointers must lie in device memory (the C API) or may point anywhere (Python arrays).
enum class Memory : uint8_t { device, host };

// The common rules, after all of the operator's own: storage, output layout, data, overlap,
// product.
SOFTNPU_EXPORT Status check_common(const OperatorTraits& traits, std::span<const Operand> operands,
                                   Memory memory);

// The part of them that depends on addresses, for an operand that gets a new one: data present,
// device memory, and that none of `operands`, it and those whose memory was not freed, overlaps
// an output.
SOFTNPU_EXPORT Status check_new_address(const OperatorTraits& traits, const Operand& changed,
                                        std::span<const Operand> operands);

// Private formats have a storage layout that a view cannot describe.
SOFTNPU_EXPORT Status check_format(const char* name, const Tensor& tensor);

// Looks up the handles of one call, keeps their objects alive for its duration, and remembers the
// first handle that is not a live one of its kind. A null handle gives a null argument.
class SOFTNPU_EXPORT Handles {
 public:
  TensorArg tensor(const char* name, const void* handle);
  const Scalar* scalar(const char* name, const void* handle);
  const IntArray* int_array(const char* name, const void* handle);
  const Status& status() const { return status_; }

 private:
  template <class Table, class T>
  const T* look_up(const char* name, Table& table, const void* handle, const T& stand_in);

  std::array<std::shared_ptr<const void>, kMostArguments> kept_;
  size_t count_ = 0;
  Status status_;
};

}  // namespace softnpu
