// SPDX-License-Identifier: Apache-2.0
// Callbacks that a stream passes to a thread of the program, which runs them in aclrtProcessReport.
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
// Drops the stream's pending callbacks. If the stream waits for one, it continues, and reports this
// at its next synchronisation.
SOFTNPU_EXPORT Status unsubscribe(uint64_t thread, const Stream& stream);

// Drops the stream's pending callbacks. Returns the number for which no stream waits.
enum class Subscription : uint8_t { stays, ends };
size_t drop_callbacks(const Stream& stream, Subscription then);

// `user_data` is released after the callback has run or was dropped, by the thread that does this.
// `block_type` is an aclrtCallbackBlockType: whether the stream's later work waits for the
// callback.
SOFTNPU_EXPORT Status launch_callback(const void* stream_handle, Callback callback,
                                      std::shared_ptr<void> user_data, int32_t block_type);

// Waits for callbacks of the calling thread, and runs them.
SOFTNPU_EXPORT Status process_reports(const Deadline& deadline);

}  // namespace softnpu::runtime
