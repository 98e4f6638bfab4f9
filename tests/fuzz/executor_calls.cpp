// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "aclnn/aclnn_base.h"
#include "calls.h"

namespace fuzz {
namespace {

void init(State& s) { CALL(aclnnInit, s.in.once_in(2) ? nullptr : "/nowhere"); }
void finalize(State&) { CALL(aclnnFinalize); }

template <class Function>
void repeat(State& s, const Function& call) {
  auto* executor = s.pick_as<aclOpExecutor>(kExecutor);
  const int status = call(executor);
  s.used(kExecutor, executor, status, "aclSetAclOpExecutorRepeatable");
  if (status == 0) s.find(kExecutor, executor)->is_repeatable = true;
}
void set_repeatable(State& s) {
  repeat(s, [](aclOpExecutor* e) { return CALL(aclSetAclOpExecutorRepeatable, e); });
}
void set_repeatable_capital(State& s) {
  repeat(s, [](aclOpExecutor* e) { return CALL(AclSetAclOpExecutorRepeatable, e); });
}

enum class Counted { inputs, outputs, all };

// Mostly a tensor that phase one got, by its index.
template <class Function>
void set_address(State& s, Counted counted, const Function& call) {
  auto* executor = s.pick_as<aclOpExecutor>(kExecutor);
  const Thing* planned = s.find(kExecutor, executor);
  size_t index = s.in.below(4);
  auto* tensor = s.pick_as<aclTensor>(kTensor);
  if (planned != nullptr && !planned->members.empty() && !s.in.once_in(8)) {
    index = index % planned->members.size();
    if (counted == Counted::outputs) index = planned->members.size() - 1;
    tensor = static_cast<aclTensor*>(planned->members[index]);
    if (counted == Counted::outputs) index = 0;
  }
  if (s.in.once_in(16)) index = static_cast<size_t>(s.in.number());
  void* address = s.in.once_in(4) ? s.pick(kDeviceMemory) : s.room(1);
  s.used(kExecutor, executor, call(executor, index, tensor, address), "an executor's addresses");
}

#define SET_ADDRESS(function, counted)                                                        \
  [](State& s) {                                                                              \
    set_address(s, counted, [](aclOpExecutor* e, size_t index, aclTensor* t, void* address) { \
      return CALL(function, e, index, t, address);                                            \
    });                                                                                       \
  }

const Call kCalls[] = {
    {"aclnnInit", init},
    {"aclnnFinalize", finalize},
    {"aclSetAclOpExecutorRepeatable", set_repeatable},
    {"AclSetAclOpExecutorRepeatable", set_repeatable_capital},
    {"aclDestroyAclOpExecutor", destroy_one<kExecutor>},
    {"aclSetInputTensorAddr", SET_ADDRESS(aclSetInputTensorAddr, Counted::inputs)},
    {"AclSetInputTensorAddr", SET_ADDRESS(AclSetInputTensorAddr, Counted::inputs)},
    {"aclSetOutputTensorAddr", SET_ADDRESS(aclSetOutputTensorAddr, Counted::outputs)},
    {"AclSetOutputTensorAddr", SET_ADDRESS(AclSetOutputTensorAddr, Counted::outputs)},
    {"aclSetTensorAddr", SET_ADDRESS(aclSetTensorAddr, Counted::all)},
    {"AclSetTensorAddr", SET_ADDRESS(AclSetTensorAddr, Counted::all)},
};

}  // namespace

Room executor_calls() { return {kCalls, std::size(kCalls)}; }

}  // namespace fuzz
