// SPDX-License-Identifier: Apache-2.0
// A capture records the work that is launched in its streams in a graph, instead of running it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/export.h"
#include "base/observer.h"
#include "base/status.h"
#include "runtime/stream.h"
#include "runtime/work.h"

namespace softnpu::runtime {

class Capture;
class Graph;
class Event;

// A position in a capture: for each stream, by id, how much of its captured work comes before.
using Captured = std::map<int32_t, uint64_t>;

// A captured recording of an event, which no stream reaches.
struct CapturedMark {
  std::weak_ptr<Capture> capture;
  int32_t stream;
  Captured before;
};

SOFTNPU_EXPORT Status begin_capture(const void* stream_handle, int32_t mode);
// `*out` is the graph's handle, or null if the capture failed. The capture ends in both cases.
SOFTNPU_EXPORT Status end_capture(const void* stream_handle, void** out);
// `status` is an aclmdlRICaptureStatus; `graph` is null if the stream is not captured.
SOFTNPU_EXPORT Status capture_info(const void* stream_handle, int32_t& status, void*& graph);

// Sets the calling thread's mode, an aclmdlRICaptureMode, and returns the earlier one.
SOFTNPU_EXPORT Status exchange_thread_mode(int32_t& mode);

// For streams that are captured. They do nothing and return false or null if the capture has ended
// meanwhile.
bool capture(const Stream& stream, Work& work);
bool capture_wait(const Stream& stream, const std::shared_ptr<Event>& event);
std::shared_ptr<const CapturedMark> capture_mark(const Stream& stream,
                                                 const std::shared_ptr<Event>& event);

std::shared_ptr<const Piece> lasting_piece(const Piece& piece, const Stream& stream);
// The graph that the stream's capture makes, and its length so far; null if it is not captured.
std::shared_ptr<Graph> captured_graph(const Stream& stream, size_t& length);
// Makes a group of what the stream captured from `first` on; empty if the capture has ended.
std::vector<size_t> capture_group(const Stream& stream, const Graph& graph, size_t first);

// Orders the stream's next work after the mark. The stream joins the mark's capture, unless it is
// captured already.
Status join_capture(const std::shared_ptr<Stream>& stream, const CapturedMark& mark);

// Ends the capture that the stream began, or invalidates the one that it joined. Returns how many
// pieces of the stream's work were captured.
size_t drop_capture(const Stream& stream);

// Fails if the stream is captured, for calls that cannot be captured.
SOFTNPU_EXPORT Status require_not_captured(const Stream& stream);

namespace detail {
SOFTNPU_EXPORT extern std::atomic<int> capture_count;
// Fails if the mode of a capture forbids the calling thread to change memory immediately.
SOFTNPU_EXPORT Status ask_captures();
}  // namespace detail

inline bool any_capture() { return detail::capture_count.load(std::memory_order_acquire) > 0; }

inline Status require_no_capture() { return any_capture() ? detail::ask_captures() : Status(); }

// Whether the accesses of launched work are needed.
inline bool wants_pieces() { return is_observed() || any_capture(); }

}  // namespace softnpu::runtime
