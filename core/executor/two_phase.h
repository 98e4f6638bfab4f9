// SPDX-License-Identifier: Apache-2.0
// Phase one of the C API, for every operator. An operator is a struct with
//   kTraits            its name, products, and whether it may work in place
//   Args               its arguments
//   check_pointers()   the contract's null checks, in order
//   check()            the rest of the contract, in order
//   operands()         its tensors, inputs first
//   Plan, plan()       the plan that a launch runs: workspace_size() and run()
#pragma once

#include "base/fault_injection.h"
#include "base/guard.h"
#include "executor/executor.h"
#include "executor/operand.h"
#include "runtime/memory.h"

namespace softnpu {

template <class Plan>
class PlannedOperator final : public Launchable {
 public:
  explicit PlannedOperator(Plan plan) : plan_(std::move(plan)) {}
  uint64_t workspace_size() const override { return plan_.workspace_size(); }
  Status run(std::byte* const* origins, std::byte* workspace) const override {
    return plan_.run(origins, workspace);
  }

 private:
  Plan plan_;
};

// Phase one of the C API. `read` converts handles to Op::Args. Writes and allocates nothing unless
// all checks pass.
template <class Op, class Handle, class Read>
int32_t phase_one(const Call& call, uint64_t* workspace_size, Handle** executor, Read&& read) {
  return guard(call, {kInnerNullptr, kCreateExecutor}, [&]() -> Status {
    RETURN_IF_FAILED(injected_failure(FaultKind::plan));
    Handles handles;
    const typename Op::Args args = read(handles);
    RETURN_IF_FAILED(Op::check_pointers(args));
    REQUIRE(workspace_size, kParamNullptr, "workspace-size-null"_rule, "workspaceSize is null");
    REQUIRE(executor, kParamNullptr, "executor-null"_rule, "executor is null");
    RETURN_IF_FAILED(handles.status());
    RETURN_IF_FAILED(Op::check(args));
    const auto operands = Op::operands(args);
    const uint64_t time =
        runtime::memory_time();  // before the checks, so that no release is missed
    RETURN_IF_FAILED(check_common(Op::kTraits, operands, Memory::device));

    auto plan = std::make_unique<PlannedOperator<typename Op::Plan>>(Op::plan(args));
    void* handle = nullptr;
    RETURN_IF_FAILED(
        keep_executor(Op::kTraits, operands, std::move(plan), time, *workspace_size, handle));
    *executor = static_cast<Handle*>(handle);
    return {};
  });
}

}  // namespace softnpu
