// SPDX-License-Identifier: Apache-2.0
// Work that another library of softnpu does itself, at once, in the order of a stream: PyTorch's
// operators on the device `npu`. src/softnpu/torch/npu/native/work.h declares the same.
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

// Whether anybody wants to know.
SOFTNPU_EXPORT bool is_observed();

// Whether streams run their work when it is launched.
SOFTNPU_EXPORT bool runs_at_once();

// Has a stream's work run up to here, as the next piece of it needs. That does not tell observers
// that the host waited.
SOFTNPU_EXPORT void run_work_before(void* stream);

// Tells observers of a piece of the stream's work that was done. `what` is kept.
SOFTNPU_EXPORT void note_work(void* stream, const char* what, const OutsideAccess* accesses,
                              size_t count);

}  // namespace softnpu::runtime
