// SPDX-License-Identifier: Apache-2.0
// Results that arrive late. Operators compute when they are called. If the schedule defers work,
// what they computed on a stream besides the default one is hidden until something waits for the
// stream: so a program that forgets to wait reads other values.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "work.h"

namespace softnpu::npu {

// Whether an index out of range is an error of the next synchronisation, not of the call.
bool errors_are_late();
// Has the next synchronisation of the current stream report an error.
void fail_late(DeviceIndex index, const char* what, const char* message);

// Whether results on the current stream of a device are to arrive late.
bool results_are_late(DeviceIndex index);

// A tensor that an operator computed, as a CPU tensor over the device's memory.
struct Computed {
  at::Tensor cpu;
  c10::Storage device;
  at::Tensor before;  // what it contained before the operator; undefined for a new tensor
};

// Hides the values until the stream's work runs.
void delay(DeviceIndex index, const char* what, std::vector<Computed> computed,
           const c10::SmallVectorImpl<Use>& uses);

// Keeps memory that queued work uses until the program waits for the stream. Programs may free it
// before, as PyTorch's allocators do not use it again before the work is done.
void keep_until_waited(const c10::Stream& stream, const c10::Storage& storage);
// Whether so much is kept that the host must wait.
bool kept_is_full();
// The program has waited for these streams.
void release_kept(c10::ArrayRef<c10::Stream> streams);

}  // namespace softnpu::npu
