// SPDX-License-Identifier: Apache-2.0
// Collective communication of device tensors: by the group's backend for the CPU.
#include <torch/library.h>

#include "fallback.h"

namespace softnpu::npu {
namespace {

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
