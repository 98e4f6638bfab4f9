// SPDX-License-Identifier: Apache-2.0
// Collective communication of device tensors: by the group's backend for the CPU.
#include <torch/library.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "fallback.h"

namespace softnpu::npu {
namespace {

bool is_root(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> given) {
  const auto value = [&](const char* name) { return given[*schema.argumentIndexWithName(name)]; };
  const auto group = value("process_group").toCustomClass<c10d::ProcessGroup>();
  return value("root_rank").toInt() == group->getRank();
}

// gloo wants an output and an input of the same sizes but for the first; hccl wants as many
// elements.
void run_flat(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t first = stack->size() - op.schema().arguments().size();
  const at::Tensor output = (*stack)[first].toTensor();
  for (size_t i = first; i < first + 2; ++i)
    if (const at::Tensor tensor = (*stack)[i].toTensor(); tensor.is_contiguous())
      (*stack)[i] = tensor.view({-1});
  run_on_cpu(op, stack);
  (*stack)[stack->size() - op.schema().returns().size()] = output;
}

}  // namespace

bool is_collective(const c10::FunctionSchema& schema) {
  return schema.name().rfind("c10d::", 0) == 0;
}

Role role_in_collective(const c10::FunctionSchema& schema, const c10::Argument& argument,
                        c10::ArrayRef<c10::IValue> given) {
  const std::string_view operation = std::string_view(schema.name()).substr(sizeof "c10d::" - 1);
  const std::string& name = argument.name();
  if (name.rfind("output", 0) == 0) return {false, true};
  if (operation == "recv_" || operation == "recv_any_source_") return {false, true};
  if (operation == "barrier" || operation == "monitored_barrier_") return {false, false};
  if (operation.rfind("allreduce", 0) == 0) return {true, true};
  if (operation == "reduce_") return {true, is_root(schema, given)};
  if (operation == "broadcast_" && !is_root(schema, given)) return {false, true};
  return {true, false};
}

void prefer_cpu_collectives() {
  static auto& library = *new torch::Library(torch::Library::IMPL, "c10d",
                                             c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  // PyTorch has kernels that hand device tensors to the backend; that they give way is meant.
  class Silence final : public c10::WarningHandler {
    void process(const c10::Warning&) override {}
  } silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind("c10d::", 0) != 0) continue;
    const auto op = dispatcher.findOp(name);
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) continue;
    const bool is_base =
        name.name == "c10d::_allgather_base_" || name.name == "c10d::_reduce_scatter_base_";
    library.impl(c10::toString(name).c_str(),
                 is_base ? torch::CppFunction::makeFromBoxedFunction<&run_flat>()
                         : torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
  }
}

}  // namespace softnpu::npu
