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

// A tensor argument; null if the caller passed null. `handle` is the C caller's handle.
struct TensorArg {
  const Tensor* tensor = nullptr;
  const void* handle = nullptr;

  explicit operator bool() const { return tensor != nullptr; }
  const Tensor& operator*() const { return *tensor; }
  const Tensor* operator->() const { return tensor; }
};

enum class Use : uint8_t { read, write, update, shape_only };  // update: read and written

constexpr bool writes(Use use) { return use == Use::write || use == Use::update; }

// The maximum number of tensors, scalars and arrays of a documented operator.
constexpr size_t kMostArguments = 8;

struct Operand {
  const char* name;  // as documented
  TensorArg arg;
  Use use;
};

SOFTNPU_EXPORT bool needs_data(const Operand& operand);

// The access to an operand at address `first`, for observers.
SOFTNPU_EXPORT Access access_of(const Operand& operand, std::byte* first);

class Products {
 public:
  consteval Products(std::initializer_list<runtime::Soc> list) {
    for (runtime::Soc soc : list) bits_ |= 1u << static_cast<unsigned>(soc);
  }
  constexpr bool have(runtime::Soc soc) const { return bits_ >> static_cast<unsigned>(soc) & 1u; }

 private:
  unsigned bits_ = 0;
};

struct OperatorTraits {
  std::string_view name;
  Products products;
  bool in_place;          // an output may be exactly the same view as an input
  bool everyday = false;  // no vendor document describes it
};

// Device: pointers must be in device memory (the C API). Device later: the same, but null pointers
// are replaced before the launch (aclSetTensorAddr). Host: anywhere (Python arrays).
enum class Memory : uint8_t { device, device_later, host };

// The common rules, checked after the operator's own: storage, output layout, data, overlap,
// product.
SOFTNPU_EXPORT Status check_common(const OperatorTraits& traits, std::span<const Operand> operands,
                                   Memory memory);

// Those of the common rules that depend on addresses, for an operand with a new address: its data,
// and the overlap among `operands`, which are that operand and all others in live memory.
SOFTNPU_EXPORT Status check_new_address(const OperatorTraits& traits, const Operand& changed,
                                        std::span<const Operand> operands);

// Fails for private formats, whose storage layout a view cannot describe.
SOFTNPU_EXPORT Status check_format(const char* name, const Tensor& tensor);

// Looks up the handles of one call, keeps their objects alive for its duration, and remembers the
// first invalid handle. A null handle becomes a null argument.
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
