// SPDX-License-Identifier: Apache-2.0
// Callbacks that a stream hands to a thread of the program, which runs them in aclrtProcessReport.
#pragma once

#include <cstdint>
#include <memory>

#include "base/export.h"
#include "base/status.h"
#include "runtime/deadline.h"
#include "runtime/stream.h"

namespace softnpu::runtime {

using Callback = void (*)(void* user_data);

// From now on `thread` (a pthread_t) runs the callbacks of the stream.
SOFTNPU_EXPORT Status subscribe(uint64_t thread, const Stream& stream);
// Callbacks that were handed over and not run yet are dropped. A stream that waits for one goes on,
// and reports that at its next synchronisation.
SOFTNPU_EXPORT Status unsubscribe(uint64_t thread, const Stream& stream);

// Drops callbacks that were handed over and not run yet. Returns how many no stream waits for.
size_t drop_callbacks(const Stream& stream);
// The same for a stream that goes out of use.
size_t forget_subscription(const Stream& stream);

// `user_data` is released when the callback has run, or when it is dropped, by whichever thread
// does that. `block_type` is an aclrtCallbackBlockType: whether the stream's later work waits until
// the callback has run.
SOFTNPU_EXPORT Status launch_callback(const void* stream_handle, Callback callback,
                                      std::shared_ptr<void> user_data, int32_t block_type);

// Waits for callbacks that the calling thread is to run, and runs them.
SOFTNPU_EXPORT Status process_reports(const Deadline& deadline);

}  // namespace softnpu::runtime
