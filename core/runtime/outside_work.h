// SPDX-License-Identifier: Apache-2.0
// Work that another library of softnpu runs itself, immediately, in the order of a stream, and
// memory that it manages: PyTorch's operators and tensors on the device `npu`.
// src/softnpu/torch/npu/native/work.h has the same declarations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/export.h"

namespace softnpu::runtime {

struct OutsideAccess {
  const char* name;
  bool writes;
  const void* first;
  int32_t type;  // an aclDataType; -1 for one that has no name there
  size_t item_size;
  size_t rank;
  const int64_t* sizes;    // in elements
  const int64_t* strides;  // in elements
};

SOFTNPU_EXPORT bool is_observed();

// False if the schedule may defer work.
SOFTNPU_EXPORT bool runs_at_once();

// Runs a stream's work up to here, before the caller runs the next piece itself. Observers do not
// see this as a synchronisation by the host.
SOFTNPU_EXPORT void run_work_before(void* stream);

// Reports a finished piece of the stream's work to observers, and when it began, in nanoseconds of
// CLOCK_MONOTONIC. `what` must be a literal.
SOFTNPU_EXPORT void note_work(void* stream, const char* what, int64_t began,
                              const OutsideAccess* accesses, size_t count);

// Reports to observers that the library hands out memory that it has allocated, and will free.
SOFTNPU_EXPORT void note_block(const void* base);
// Reports that it keeps a handle until the process ends.
SOFTNPU_EXPORT void note_kept(const void* handle);

// Adds a piece of work to the stream. `run` is called with `state` when it is due, and `release`
// when it has run or was dropped.
SOFTNPU_EXPORT void launch_work(void* stream, const char* what, const OutsideAccess* accesses,
                                size_t count, void (*run)(void*), void* state,
                                void (*release)(void*));

// Adds a piece of work that fails because of an index in a tensor, as on a device: the next
// synchronisation reports it.
SOFTNPU_EXPORT void fail_work(void* stream, const char* what, const char* message);

}  // namespace softnpu::runtime
