// SPDX-License-Identifier: Apache-2.0
#include "executor/executor.h"

#include "base/guard.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

namespace softnpu {

ExecutorTable& executors() {
  static ExecutorTable& table = *new ExecutorTable;
  return table;
}

Executor::Executor(const OperatorTraits& traits, std::span<const Operand> operands,
                   std::unique_ptr<Launchable> plan)
    : traits_(traits), plan_(std::move(plan)) {
  operands_.reserve(operands.size());
  for (const Operand& o : operands) operands_.push_back({o.name, o.use, o.arg.handle, *o.arg});
}

std::vector<std::byte*> Executor::origins() const {
  std::lock_guard lock(mutex_);
  std::vector<std::byte*> origins;
  origins.reserve(operands_.size());
  for (const Bound& operand : operands_) origins.push_back(operand.tensor.origin());
  return origins;
}

Status Executor::set_address(Counted counted, size_t index, const void* handle, void* address) {
  std::lock_guard lock(mutex_);
  size_t seen = 0;
  Bound* found = nullptr;
  for (Bound& operand : operands_) {
    const bool output = operand.use == Use::write;
    if (counted == Counted::inputs && output) continue;
    if (counted == Counted::outputs && !output) continue;
    if (seen++ == index) found = &operand;
  }
  REQUIRE(found != nullptr, kParamInvalid, "index-range"_rule, "index is ", index, ", but ",
          traits_.name, " has ", seen,
          counted == Counted::inputs    ? " input"
          : counted == Counted::outputs ? " output"
                                        : "",
          " tensors");
  REQUIRE(found->handle == handle, kParamInvalid, "tensor-not-planned"_rule,
          "tensor is not the one that phase one got as ", found->name, ", which index ", index,
          " stands for");
  std::byte* const before = found->tensor.data;
  found->tensor.data = static_cast<std::byte*>(address);
  std::vector<Operand> now;
  for (const Bound& o : operands_) now.push_back({o.name, {&o.tensor, o.handle}, o.use});
  Status status = check_addresses(traits_, now, Memory::device);
  if (!status.ok()) found->tensor.data = before;
  return status;
}

namespace {

Status check_workspace(const Executor& executor, const void* workspace, uint64_t size) {
  const uint64_t planned = executor.workspace_size();
  if (planned == 0) return {};
  REQUIRE(workspace != nullptr, kParamNullptr, "workspace-null"_rule,
          "workspace is null, but phase one planned ", planned, " bytes");
  REQUIRE(size >= planned, kParamInvalid, "workspace-small"_rule, "workspaceSize is ", size,
          ", but phase one planned ", planned, " bytes");
  const auto block = runtime::find_block(workspace);
  REQUIRE(block.has_value(), kParamInvalid, "workspace-not-device-memory"_rule,
          "workspace is not device memory; allocate it with aclrtMalloc");
  const auto room =
      static_cast<uint64_t>(block->base + block->size - static_cast<const std::byte*>(workspace));
  REQUIRE(room >= planned, kParamInvalid, "workspace-past-allocation"_rule, "workspace is to hold ",
          planned, " bytes, but its device allocation ends after ", room);
  return {};
}

Status launch_checked(const OperatorTraits& traits, void* workspace, uint64_t workspace_size,
                      void* handle, void* stream) {
  REQUIRE(handle != nullptr, kParamNullptr, "executor-null"_rule, "executor is null");
  const std::shared_ptr<Executor> executor = executors().find(handle);
  REQUIRE(executor != nullptr, kParamInvalid, "executor-dead"_rule, "executor is ",
          describe_handle(handle, HandleKind::executor), "; expected one from phase one");
  REQUIRE(executor->operator_name() == traits.name, kParamInvalid, "executor-operator"_rule,
          "executor was planned for ", executor->operator_name());
  RETURN_IF_FAILED(check_workspace(*executor, workspace, workspace_size));
  REQUIRE(executor->claim(), kParamInvalid, "executor-dead"_rule,
          "executor is being launched by another thread already");

  auto task = [executor, origins = executor->origins(), workspace] {
    return executor->run(origins.data(), static_cast<std::byte*>(workspace));
  };
  Status launched = runtime::launch(stream, traits.name, std::move(task));
  if (launched.code() == kRtInvalidHandle) launched = Status(kParamInvalid, launched.message());
  if (!launched.ok()) {
    if (!executor->is_repeatable()) executor->unclaim();
    return launched;
  }
  if (!executor->is_repeatable()) executors().erase(handle);
  return {};
}

}  // namespace

int32_t launch_executor(std::string_view function, const OperatorTraits& traits, void* workspace,
                        uint64_t workspace_size, void* executor, void* stream) noexcept {
  return guard(function, {kInnerNullptr, kRuntimeError},
               [&] { return launch_checked(traits, workspace, workspace_size, executor, stream); });
}

}  // namespace softnpu
