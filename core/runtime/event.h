// SPDX-License-Identifier: Apache-2.0
// Events: marks in a stream's order. Threads and other streams can wait for them, and they record
// the time when the stream reaches them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/export.h"
#include "base/status.h"
#include "runtime/deadline.h"
#include "runtime/stream.h"

namespace softnpu::runtime {

struct CapturedMark;

// One mark. Its gate opens when the stream reaches it.
struct Recording {
  explicit Recording(std::shared_ptr<Stream> recorded_in)
      : stream(std::move(recorded_in)), gate(std::make_shared<Gate>(stream)) {}

  std::shared_ptr<Stream> stream;
  std::shared_ptr<Gate> gate;
  std::atomic<int64_t> reached_ns{0};  // CLOCK_MONOTONIC; 0 until reached
  // Set if the recording was captured instead of put into the stream, which then never reaches it.
  std::shared_ptr<const CapturedMark> captured;
};

// Waits and queries use the latest recording at the time of the call. An event without a recording
// blocks nothing, but it is not complete either.
class SOFTNPU_EXPORT Event : public std::enable_shared_from_this<Event> {
 public:
  Status record(const std::shared_ptr<Stream>& stream);
  // In the stream's order: the event keeps its recording until the stream gets there.
  static Status reset(const std::shared_ptr<Event>& event, Stream& stream);
  // Blocks the stream until the recording is reached.
  Status block(const std::shared_ptr<Stream>& stream);
  Status synchronize(const Deadline& deadline) const;

  Status query(bool& complete) const;
  // Whether no stream waits for the event any more.
  bool query_waits() const;
  // The time when the recording was reached. Fails if there is none, or if it was not reached.
  Status reached(std::string_view argument, int64_t& nanoseconds) const;

  // For graphs: the work of record() and block(). wait_work() returns none if the recording is
  // reached already.
  static Work record_work(const std::shared_ptr<Recording>& recording);
  Status wait_work(const Stream& stream, std::optional<Work>& out);
  // Puts all works into a stream, or none if that fails. Marks identify the recordings among them.
  struct Mark {
    size_t index;
    std::shared_ptr<Event> event;
    std::shared_ptr<Recording> recording;
  };
  static Status submit(Stream& stream, std::vector<Work> works, std::span<const Mark> marks);

 private:
  std::shared_ptr<Recording> latest() const;
  // Captures a recording. Returns false if the stream is no longer captured.
  bool capture_record(const std::shared_ptr<Stream>& stream);
  Status require_not_captured(const Recording* recording) const;

  std::shared_ptr<Recording> latest_;
  std::shared_ptr<Recording> awaited_;  // the last one that a stream has waited for
  std::shared_ptr<std::atomic<int>> waiting_ = std::make_shared<std::atomic<int>>(0);
};

SOFTNPU_EXPORT Status create_event(uint32_t flags, void** out);
SOFTNPU_EXPORT Status destroy_event(const void* handle);
SOFTNPU_EXPORT Status find_event(std::string_view argument, const void* handle,
                                 std::shared_ptr<Event>& out);

SOFTNPU_EXPORT Status elapsed_time(const void* start, const void* end, int64_t& nanoseconds);

}  // namespace softnpu::runtime
