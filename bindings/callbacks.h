// SPDX-License-Identifier: Apache-2.0
// Python functions that wait in streams for their turn. All functions here need the GIL.
#pragma once

#include <cstdint>

namespace softnpu::python {

// Releases the functions of a stream that is gone; what has not run will not run.
void forget_callbacks(uintptr_t stream);
void forget_all_callbacks();

}  // namespace softnpu::python
