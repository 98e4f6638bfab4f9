// SPDX-License-Identifier: Apache-2.0
// Python functions that wait in streams for their turn.
#pragma once

#include <atomic>

namespace softnpu::python {

struct Waiting;

// What the device has run or dropped. It may do so in any thread and with locks held, where nobody
// can wait for the GIL; whoever has it next releases the functions.
inline constinit std::atomic<Waiting*> dropped_callbacks{nullptr};

[[gnu::cold]] void release_callbacks();
inline void release_dropped_callbacks() {
  if (dropped_callbacks.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    release_callbacks();
}

}  // namespace softnpu::python
