// SPDX-License-Identifier: Apache-2.0
#include "executor/executor.h"

#include "base/fault_injection.h"
#include "base/few.h"
#include "base/guard.h"
#include "base/lasting.h"
#include "runtime/capture.h"
#include "runtime/graph.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "tensor/overlap.h"

namespace softnpu {

ExecutorTable& executors() { return lasting<ExecutorTable>; }

namespace {

Status check_allocated(const char* name, const void* address, size_t bytes, uint64_t time,
                       int32_t code, const char* since) {
  REQUIRE(runtime::was_allocated_at(time, address, bytes), code, "memory-freed"_rule, name,
          " is in memory that was freed since ", since);
  return {};
}

// From the view's first element to the end of its last; 0 where no element is touched.
size_t bytes_of(const Operand& operand) {
  if (!needs_data(operand)) return 0;
  const auto first = reinterpret_cast<intptr_t>(operand.arg->origin());
  return static_cast<size_t>(Bounds(*operand.arg).end() - first);
}

}  // namespace

Executor::Executor(const OperatorTraits& traits, std::span<const Operand> operands,
                   std::unique_ptr<Launchable> plan, uint64_t time)
    : traits_(traits), plan_(std::move(plan)), workspace_size_(plan_->workspace_size()) {
  if (is_observed()) [[unlikely]]
    workspace_size_ = std::max(workspace_size_, least_workspace());
  operands_.reserve(operands.size());
  for (const Operand& o : operands)
    operands_.push_back({o.name, o.use, o.arg.handle, bytes_of(o), *o.arg, time});
}

Status keep_executor(const OperatorTraits& traits, std::span<const Operand> operands,
                     std::unique_ptr<Launchable> plan, uint64_t time, uint64_t& workspace_size,
                     void*& handle) {
  auto planned = std::make_shared<Executor>(traits, operands, std::move(plan), time);
  const uint64_t size = planned->workspace_size();
  void* const kept = executors().insert(std::move(planned));
  REQUIRE(kept, kCreateExecutor, "executor-limit"_rule, "too many executors are alive");
  workspace_size = size;
  handle = kept;
  return {};
}

Status Executor::place(Placement& out) const {
  std::lock_guard lock(mutex_);
  out.origins.reserve(operands_.size());
  for (const Bound& operand : operands_) {
    REQUIRE(operand.tensor.data != nullptr || operand.bytes == 0, kParamNullptr, "data-null"_rule,
            operand.name, " has no data (its address was null in phase one); set its address with ",
            "aclSetTensorAddr before the launch");
    std::byte* const origin = operand.tensor.origin();
    if (operand.time != out.time && operand.bytes > 0)
      RETURN_IF_FAILED(check_allocated(operand.name, origin, operand.bytes, operand.time,
                                       kParamInvalid, "phase one"));
    out.origins.push_back(origin);
  }
  return out.workspace == nullptr ? Status() : check_apart(out.workspace);
}

std::vector<std::pair<const char*, const std::byte*>> Executor::origins() const {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<const char*, const std::byte*>> all;
  for (const Bound& operand : operands_)
    if (operand.bytes > 0) all.emplace_back(operand.name, operand.tensor.origin());
  return all;
}

Status Executor::run(const Placement& placement) const {
  RETURN_IF_FAILED(
      runtime::recheck_memory(placement.time, [&] { return check_still_allocated(placement); }));
  Few<std::byte*> origins(placement.origins.size());
  for (size_t i = 0; i < placement.origins.size(); ++i)
    origins[i] = runtime::kernel_address(placement.origins[i]);
  return plan_->run(origins.data(), runtime::kernel_address(placement.workspace));
}

std::vector<Access> Executor::accesses(const Placement& placement) const {
  std::vector<Access> all;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const Bound& o = operands_[i];
    if (o.bytes == 0) continue;
    all.push_back(access_of({o.name, {&o.tensor, o.handle}, o.use}, placement.origins[i]));
    if (o.use == Use::update)
      all.push_back(access_of({o.name, {&o.tensor, o.handle}, Use::read}, placement.origins[i]));
  }
  if (placement.workspace != nullptr)
    all.push_back({.name = "workspace",
                   .writes = true,
                   .first = placement.workspace,
                   .dtype = DType::u8,
                   .sizes = {static_cast<int64_t>(workspace_size())},
                   .strides = {1}});
  return all;
}

Status Executor::check_still_allocated(const Placement& placement) const {
  const auto check = [&](const char* name, const void* address, size_t bytes) {
    return check_allocated(name, address, bytes, placement.time, kRuntimeError, "the launch");
  };
  for (size_t i = 0; i < operands_.size(); ++i)
    if (operands_[i].bytes > 0)
      RETURN_IF_FAILED(check(operands_[i].name, placement.origins[i], operands_[i].bytes));
  if (placement.workspace == nullptr) return {};
  return check("workspace", placement.workspace, workspace_size_);
}

Status Executor::check_apart(const std::byte* workspace) const {
  const Bounds::Wide low = reinterpret_cast<intptr_t>(workspace), end = low + workspace_size();
  for (const Bound& operand : operands_) {
    if (operand.bytes == 0) continue;
    const Bounds bounds(operand.tensor);
    REQUIRE(end <= bounds.low() || bounds.end() <= low, kParamInvalid, "workspace-on-operand"_rule,
            "workspace overlaps ", operand.name, " in memory; it needs ", workspace_size(),
            " bytes of its own");
  }
  return {};
}

Status Executor::set_address(Counted counted, size_t index, const void* handle, void* address) {
  std::lock_guard lock(mutex_);
  size_t seen = 0;
  Bound* found = nullptr;
  for (Bound& operand : operands_) {
    const bool output = writes(operand.use);
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
  const uint64_t time = runtime::memory_time();
  Tensor moved = found->tensor;
  moved.data = static_cast<std::byte*>(address);
  const Operand changed{found->name, {&moved, found->handle}, found->use};
  // Operands without memory are ignored: they must get an address before they can be launched.
  std::vector<Operand> live;
  for (const Bound& o : operands_) {
    if (&o == found)
      live.push_back(changed);
    else if (o.tensor.data != nullptr &&
             runtime::was_allocated_at(o.time, o.tensor.origin(), o.bytes))
      live.push_back({o.name, {&o.tensor, o.handle}, o.use});
  }
  RETURN_IF_FAILED(check_new_address(traits_, changed, live));
  found->tensor.data = moved.data;
  found->time = time;
  return {};
}

namespace {

constexpr uintptr_t kWorkspaceAlignment = 64;

Status check_workspace(const Executor& executor, void* workspace, uint64_t size, Placement& out) {
  const uint64_t planned = executor.workspace_size();
  if (planned == 0) return {};
  REQUIRE(workspace != nullptr, kParamNullptr, "workspace-null"_rule,
          "workspace is null, but phase one planned ", planned, " bytes");
  REQUIRE(size >= planned, kParamInvalid, "workspace-small"_rule, "workspaceSize is ", size,
          ", but phase one planned ", planned, " bytes");
  const auto block = runtime::find_block(workspace);
  REQUIRE(block.has_value() || !runtime::find_reservation(workspace), kParamInvalid,
          "memory-unmapped"_rule, "workspace is at a reserved address, but ",
          runtime::describe_unmapped(workspace));
  REQUIRE(block.has_value(), kParamInvalid, "workspace-not-device-memory"_rule,
          "workspace is not device memory; allocate it with aclrtMalloc");
  const auto room =
      static_cast<uint64_t>(block->base + block->size - static_cast<const std::byte*>(workspace));
  REQUIRE(room >= planned, kParamInvalid, "workspace-past-allocation"_rule, "workspace is to hold ",
          planned, " bytes, but its device allocation ends after ", room,
          runtime::describe_unmapped(block->base + block->size, "; "));
  REQUIRE(reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment == 0, kParamInvalid,
          "workspace-misaligned"_rule, "workspace is not aligned to ", kWorkspaceAlignment,
          " bytes, as memory of aclrtMalloc is");
  out.workspace = static_cast<std::byte*>(workspace);
  return {};
}

// Releases the claim on an executor if the launch fails or throws.
struct Claim {
  Executor* executor;
  bool kept = false;
  ~Claim() {
    if (!kept && !executor->is_repeatable()) executor->unclaim();
  }
};

Status launch_checked(const OperatorTraits& traits, void* workspace, uint64_t workspace_size,
                      void* handle, void* stream) {
  RETURN_IF_FAILED(injected_failure(FaultKind::launch));
  REQUIRE(handle != nullptr, kParamNullptr, "executor-null"_rule, "executor is null");
  const std::shared_ptr<Executor> executor = executors().find(handle);
  REQUIRE(executor != nullptr, kParamInvalid, "executor-dead"_rule, "executor is ",
          describe_handle(handle, HandleKind::executor), "; expected one from phase one");
  REQUIRE(executor->operator_name() == traits.name, kParamInvalid, "executor-operator"_rule,
          "executor was planned for ", executor->operator_name());
  Placement placement{.time = runtime::memory_time()};
  RETURN_IF_FAILED(check_workspace(*executor, workspace, workspace_size, placement));
  RETURN_IF_FAILED(executor->place(placement));
  std::shared_ptr<Piece> piece;
  if (runtime::wants_pieces()) [[unlikely]]
    piece = std::make_shared<Piece>(Piece{.kind = Piece::Kind::kernel,
                                          .what = traits.name,
                                          .accesses = executor->accesses(placement),
                                          .executor = handle,
                                          .everyday = traits.everyday});
  runtime::Task task = [executor, placement = std::move(placement)] {
    return executor->run(placement);
  };
  REQUIRE(executor->claim(), kParamInvalid, "executor-dead"_rule,
          "executor is being launched by another thread already");
  Claim claim{executor.get()};
  Status launched = runtime::launch(stream, traits.name, std::move(task), std::move(piece));
  if (launched.code() == kRtInvalidHandle)
    launched = Status(kParamInvalid, launched.message(), {launched.rule()});
  if (!launched.ok()) return launched;
  claim.kept = true;
  if (!executor->is_repeatable()) executors().erase(handle);
  return {};
}

}  // namespace

int32_t launch_executor(const Call& call, const OperatorTraits& traits, void* workspace,
                        uint64_t workspace_size, void* executor, void* stream) {
  return guard(call, {kInnerNullptr, kRuntimeError},
               [&] { return launch_checked(traits, workspace, workspace_size, executor, stream); });
}

}  // namespace softnpu
