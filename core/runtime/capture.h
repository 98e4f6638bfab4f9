// SPDX-License-Identifier: Apache-2.0
// Captures: what is launched in their streams is recorded in a graph instead of run.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "base/export.h"
#include "base/observer.h"
#include "base/status.h"
#include "runtime/stream.h"
#include "runtime/work.h"

namespace softnpu::runtime {

class Capture;
class Event;

// How much of the captured work of each stream, by its id, comes before a place in a capture.
using Captured = std::map<int32_t, uint64_t>;

// A recording of an event that was captured: no stream reaches it.
struct CapturedMark {
  std::weak_ptr<Capture> capture;
  int32_t stream;
  Captured before;
};

SOFTNPU_EXPORT Status begin_capture(const void* stream_handle, int32_t mode);
// The graph's handle, or null where the capture failed, which ends it, too.
SOFTNPU_EXPORT Status end_capture(const void* stream_handle, void** out);
// `status` is an aclmdlRICaptureStatus; `graph` is null where the stream is not captured.
SOFTNPU_EXPORT Status capture_info(const void* stream_handle, int32_t& status, void*& graph);

// These are for streams that are captured. They do nothing, and say so by false or null, where the
// capture has ended in between.
bool capture(const Stream& stream, Work& work);
bool capture_wait(const Stream& stream, const std::shared_ptr<Event>& event);
std::shared_ptr<const CapturedMark> capture_mark(const Stream& stream,
                                                 const std::shared_ptr<Event>& event);

// The stream's next work comes after the mark: it joins the mark's capture, if it is in none.
Status join_capture(const std::shared_ptr<Stream>& stream, const CapturedMark& mark);

// Ends the capture that the stream began, or spoils the one that it joined. Returns how many pieces
// of the stream's work were captured.
size_t drop_capture(const Stream& stream);

// Fails for a stream that is captured, for which a call cannot wait.
SOFTNPU_EXPORT Status require_not_captured(const Stream& stream);

namespace detail {
SOFTNPU_EXPORT extern std::atomic<int> capture_count;
// Fails where a capture's mode forbids the calling thread to change memory at once.
SOFTNPU_EXPORT Status ask_captures();
}  // namespace detail

inline bool any_capture() { return detail::capture_count.load(std::memory_order_acquire) > 0; }

inline Status require_no_capture() { return any_capture() ? detail::ask_captures() : Status(); }

// Whether it must be known what launched work reads and writes.
inline bool wants_pieces() { return is_observed() || any_capture(); }

}  // namespace softnpu::runtime
