// SPDX-License-Identifier: Apache-2.0
// The library's own threads, for host functions and for work of streams that had to wait.
#pragma once

#include <memory>

#include "runtime/queue.h"

namespace softnpu::runtime {

// Has a thread run what is ready in the queue, in the queue's context. False where there is none
// and none can be started.
//
// Each queue gets a thread of its own, because its work may wait for that of another. Only where
// hundreds are ready at the same time, some of them wait for a thread.
bool run_on_callback_thread(const std::shared_ptr<Queue>& queue) noexcept;

}  // namespace softnpu::runtime
