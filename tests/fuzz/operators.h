// SPDX-License-Identifier: Apache-2.0
// The operators with both phases, and how their arguments are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "state.h"

namespace fuzz {

using Dims = std::vector<int64_t>;

// Makes arguments for phase one that mostly fit each other, and keeps the tensors among them.
class Arguments {
 public:
  explicit Arguments(State& state);

  aclTensor* tensor(const Dims& dims, aclDataType type);
  aclTensorList* tensors(size_t count, const Dims& dims, aclDataType type);
  aclScalar* scalar();
  aclIntArray* ints(const Dims& values);
  aclDataType floating();
  // The numbers that phase one writes; it writes none, or both.
  uint64_t* size() { return size_out_; }
  aclOpExecutor** executor() { return executor_out_; }

  // Notes the executor, or that there is none, and destroys the arguments, half of the times.
  void planned(const Operator& op, int status);

  State& s;

 private:
  aclTensor* keep(aclTensor* tensor);

  std::vector<void*> tensors_;
  std::vector<void*> scalars_, arrays_;
  uint64_t size_ = kNoSize;
  aclOpExecutor* executor_ = nullptr;
  uint64_t* size_out_;
  aclOpExecutor** executor_out_;
  static constexpr uint64_t kNoSize = 0x123456789;
};

// What an argument is in a call that the contract accepts: a tensor's sizes and type, an array's
// elements, or a number.
struct Value {
  Dims dims;
  aclDataType type;
  double number;
};
using Recipe = std::vector<Value>;

struct Operator {
  const char* name;
  const char* phase_one;
  std::function<void(State& state, const Operator& op)> plan;  // makes arguments, calls phase one
  std::function<int(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream)>
      launch;
};

// Launches an executor, mostly one that was planned for the operator.
void launch(State& state, const Operator& op);

}  // namespace fuzz
