// SPDX-License-Identifier: Apache-2.0
// Operators of PyTorch for the device: the CPU's kernels, over the device's memory.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace softnpu::npu {

// Calls the CPU's kernel of `op` with the arguments on the stack, and puts its results there.
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace softnpu::npu
