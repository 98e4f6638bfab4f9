// SPDX-License-Identifier: Apache-2.0
// The library's own threads, for host functions and for work of streams that had to wait.
#pragma once

#include <memory>

#include "runtime/queue.h"

namespace softnpu::runtime {

// Lets a thread run the ready work of the queue, in the queue's context. Returns false if no thread
// exists or can be started.
//
// Each queue gets its own thread, because its work may wait for that of another queue. Only if
// hundreds of queues are ready at the same time do some of them wait.
bool run_on_callback_thread(const std::shared_ptr<Queue>& queue) noexcept;

}  // namespace softnpu::runtime
