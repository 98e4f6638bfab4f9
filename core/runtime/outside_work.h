// SPDX-License-Identifier: Apache-2.0
// Work that another library of softnpu runs itself, immediately, in the order of a stream:
// PyTorch's operators on the device `npu`. src/softnpu/torch/npu/native/work.h has the same
// declarations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/export.h"

namespace softnpu::runtime {

struct OutsideAccess {
  const char* name;
  bool writes;
  const void* first;
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

// Reports a finished piece of the stream's work to observers. `what` must be a literal.
SOFTNPU_EXPORT void note_work(void* stream, const char* what, const OutsideAccess* accesses,
                              size_t count);

// Adds a piece of work to the stream. `run` is called with `state` when it is due, and `release`
// when it has run or was dropped.
SOFTNPU_EXPORT void launch_work(void* stream, const char* what, const OutsideAccess* accesses,
                                size_t count, void (*run)(void*), void* state,
                                void (*release)(void*));

// Adds a piece of work that fails because of an index in a tensor, as on a device: the next
// synchronisation reports it.
SOFTNPU_EXPORT void fail_work(void* stream, const char* what, const char* message);

}  // namespace softnpu::runtime
