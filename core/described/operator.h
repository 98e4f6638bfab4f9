// SPDX-License-Identifier: Apache-2.0
// Operators that are data: a table of parameters, checks, and a function that plans. The everyday
// operators and those from outside of softnpu are made this way. It costs little to compile, and
// each call somewhat more than the code that is generated for the documented operators.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/export.h"
#include "base/guard.h"
#include "executor/operand.h"
#include "tensor/handles.h"

namespace softnpu::described {

// What a parameter is in C.
enum class Kind : uint8_t {
  tensor,
  scalar,
  int_array,
  bool_array,
  tensor_list,
  text,
  integer,  // of any width
  number,   // float or double
  flag,
  dtype,
};

constexpr bool is_handle(Kind kind) { return kind <= Kind::tensor_list; }
constexpr bool is_pointer(Kind kind) { return kind <= Kind::text; }

struct Parameter {
  const char* name;
  Kind kind = Kind::tensor;
  Use use = Use::read;       // of a tensor, or of the members of a list
  bool optional = false;     // a null pointer is allowed
  double absent = 0;         // what a formula takes a null pointer for
  bool may_be_int4 = false;  // its operand is then the bytes, of which each has two elements
};

// An argument as C passes it.
struct Value {
  const void* handle = nullptr;
  int64_t integer = 0;
  double number = 0;

  Value(const void* pointer) : handle(pointer) {}
  template <class T>
    requires(std::is_integral_v<T>)
  Value(T value) : integer(static_cast<int64_t>(value)) {}
  template <class T>
    requires(std::is_enum_v<T>)
  Value(const T& value) : integer(number_of(value)) {}
  Value(double value) : number(value) {}
};

// Leaves a plan or a kernel that cannot go on.
struct Failure {
  Status status;
};

// Fails unless the condition holds. The code is 161002.
template <class... Parts>
void require(bool condition, RuleId rule, const Parts&... parts) {
  if (!condition) [[unlikely]]
    throw Failure{fail(rule, kParamInvalid, parts...)};
}

// Fails unless an operator's C++ source uses its arguments as the description declares them.
template <class... Parts>
void require_of_source(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    throw Failure{fail("operator-source"_rule, kInnerNullptr, parts...)};
}

struct Operator;

// The arguments of one call. Parameters are named as documented.
class SOFTNPU_EXPORT Given {
 public:
  // Looks up the objects behind handles, which stay alive as long as this.
  Given(const Operator& op, std::span<const Value> values);
  // For arguments that are no handles: pointers to Tensor, Scalar and IntArray, or null.
  // `named` is what the caller names each by.
  Given(const Operator& op, std::span<const Value> values, std::span<const void* const> named);

  const Operator& op() const { return *op_; }
  // Of an object behind a handle.
  bool has(std::string_view name) const { return object(index(name)) != nullptr; }
  const Tensor& tensor(std::string_view name) const;
  const Scalar& scalar(std::string_view name) const;
  const IntArray& ints(std::string_view name) const;
  bool flag(std::string_view name, size_t i) const;  // one of a bool array
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;  // or a flag, or a data type
  double number(std::string_view name) const;
  std::string_view text(std::string_view name) const {
    return static_cast<const char*>(value(name).handle);
  }
  DType dtype(std::string_view name) const { return static_cast<DType>(integer(name)); }
  // A scalar as float64. Fails if it is complex.
  double real(std::string_view name) const;
  // The members of a list of tensors; null where the caller passed null.
  std::vector<const Tensor*> list(std::string_view name) const;

  // A dimension of `tensor`, counted from the end if negative; rank 0 has dimension 0.
  size_t dim(std::string_view name, const Tensor& tensor) const;
  // The dimensions that an array lists, or all if it is empty, as flags.
  std::vector<bool> dims(std::string_view name, const Tensor& tensor) const;
  void require_shape(std::string_view name, std::span<const int64_t> sizes) const;
  void require_shape(std::string_view name, std::initializer_list<int64_t> sizes) const {
    require_shape(name, std::span(sizes.begin(), sizes.size()));
  }

  // All tensors in order, the members of lists among them, without absent ones.
  std::span<const Operand> operands() const { return operands_; }
  // The first failure: a null pointer, or a handle that is not a live one of its kind.
  Status null_status() const;
  const Status& status() const { return status_; }

  size_t index(std::string_view name) const;
  // The same; fails unless `reader` reads parameters of its kind.
  size_t index(std::string_view name, std::string_view reader, std::span<const Kind> kinds) const;
  size_t tensor_index(std::string_view name, std::string_view reader) const {
    static constexpr Kind kKinds[] = {Kind::tensor};
    return index(name, reader, kKinds);
  }
  // Where in operands() a parameter begins.
  size_t first_operand(size_t parameter) const { return first_[parameter]; }
  const Value& value(std::string_view name) const { return values_[index(name)]; }

 private:
  const void* object(size_t i) const { return objects_[i].get(); }
  // Fails where the object is of another kind, or absent.
  const void* object(std::string_view name, std::string_view reader, Kind kind) const;
  void look_up(size_t i);
  void look_up_list(size_t i);
  void add_operand(size_t i, const Tensor* tensor, const void* handle);

  const Operator* op_;
  std::vector<Value> values_;
  std::vector<std::shared_ptr<const void>> objects_, members_;
  std::vector<Operand> operands_;
  std::vector<size_t> first_;
  Status status_;
};

class Arrays;
// What a plan leaves for a launch.
using Run = std::function<void(const Arrays&)>;

struct Operator {
  OperatorTraits traits;
  std::span<const Parameter> parameters;
  Status (*check)(const Given& given);  // the checks that the description lists, in order
  Run (*plan)(const Given& given);      // the rest of them, and what is to be computed
  // The parameter whose shape and data type a new result has in Python; null: out must be passed.
  const char* result_like = nullptr;
};

// All checks that come before those of addresses, and the plan.
SOFTNPU_EXPORT Status try_plan(const Given& given, Run& out);

// Runs what was planned on tensors whose elements lie at `origins`.
SOFTNPU_EXPORT Status run(const Run& run, const Given& given, std::byte* const* origins);

// Adds an operator from outside of softnpu to those that can be found.
SOFTNPU_EXPORT void add(const Operator& op);
// Finds one by its documented name; null if there is none.
SOFTNPU_EXPORT const Operator* find(std::string_view name);
SOFTNPU_EXPORT std::vector<const Operator*> all();
// Those of softnpu itself; core/everyday/ defines it.
std::span<const Operator> everyday();

// The two phases of the C API; `function` is the name of the C function.
SOFTNPU_EXPORT int32_t phase_one(const char* function, const Operator& op,
                                 std::span<const Value> values, uint64_t* workspace_size,
                                 void* executor);
inline int32_t phase_one(const char* function, const Operator& op,
                         std::initializer_list<Value> values, uint64_t* workspace_size,
                         void* executor) {
  return phase_one(function, op, std::span(values.begin(), values.size()), workspace_size,
                   executor);
}
SOFTNPU_EXPORT int32_t phase_two(const char* function, const Operator& op, void* workspace,
                                 uint64_t workspace_size, void* executor, void* stream);

}  // namespace softnpu::described
