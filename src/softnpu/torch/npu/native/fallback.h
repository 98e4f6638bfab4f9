// SPDX-License-Identifier: Apache-2.0
// Operators of PyTorch for the device: the CPU's kernels, over the device's memory.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>
#include <vector>

#include "work.h"

namespace softnpu::npu {

// Calls the CPU's kernel of `op` with the arguments on the stack, and puts its results there.
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// Lets the CPU compute all operators of PyTorch for which it has a kernel, but for those named.
// Else some are composed of others on devices: more calls, and other roundings.
void prefer_cpu_kernels(const std::vector<std::string>& others);

// Whether an operator is one of collective communication, which writes its results after the call.
bool is_collective(const c10::FunctionSchema& schema);
// What it does with the tensors of an argument: its schema does not say that.
Role role_in_collective(const c10::FunctionSchema& schema, const c10::Argument& argument,
                        c10::ArrayRef<c10::IValue> given);

// Lets collective communication of device tensors go through the group's backend for the CPU.
void prefer_cpu_collectives();

}  // namespace softnpu::npu
