// SPDX-License-Identifier: Apache-2.0
// Operators as work of streams. They run when they are called; what matters is which queued work
// comes before them, and that the checkers hear of them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include "devices.h"

// Of libsoftnpu.so: core/runtime/outside_work.h.
namespace softnpu::runtime {
struct OutsideAccess {
  const char* name;
  bool writes;
  const void* first;
  int32_t type;
  size_t item_size;
  size_t rank;
  const int64_t* sizes;
  const int64_t* strides;
};
bool is_observed();
bool runs_at_once();
void run_work_before(void* stream);
void note_work(void* stream, const char* what, int64_t began, const OutsideAccess* accesses,
               size_t count);
void note_block(const void* base);
void note_kept(const void* handle);
void launch_work(void* stream, const char* what, const OutsideAccess* accesses, size_t count,
                 void (*run)(void*), void* state, void (*release)(void*));
void fail_work(void* stream, const char* what, const char* message);
}  // namespace softnpu::runtime

namespace softnpu::npu {

// Whether streams may have work that has not run, or a checker looks on. Else nothing is to be
// done for an operator.
bool is_tracked();

// Whether ASCEND_LAUNCH_BLOCKING=1 has each call wait for its work.
bool launch_is_blocking();

enum class Waits : uint8_t { stream, host };

// Has the current stream of a device run what comes before an operator. One that gives numbers to
// the host waits for the stream as synchronize() does.
void run_work_before(DeviceIndex index, Waits waits);

struct Use {
  const char* name;
  at::Tensor tensor;
  bool written;
};

// What an operator does with a tensor. Whether it reads what it writes in place, only collective
// communication says.
struct Role {
  bool read;
  bool written;
};

// Uses as the runtime takes them. They refer to the tensors of the uses.
c10::SmallVector<runtime::OutsideAccess, 8> accesses_of(const c10::SmallVectorImpl<Use>& uses);

// In nanoseconds, for note_work().
int64_t now();

// Tells observers what an operator that began at some time has read and written.
void note_work(DeviceIndex index, const char* what, int64_t began,
               const c10::SmallVectorImpl<Use>& uses);
void note_written(DeviceIndex index, const char* what, const void* first, size_t count);

}  // namespace softnpu::npu
