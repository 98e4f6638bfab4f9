// SPDX-License-Identifier: Apache-2.0
#include "runtime/event.h"

#include <time.h>

#include <mutex>
#include <utility>

#include "acl/acl_rt.h"
#include "base/fault_injection.h"
#include "base/fork.h"
#include "base/handle_table.h"
#include "base/lasting.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/scheduler.h"

namespace softnpu::runtime {
namespace {

constexpr std::string_view kReset = "aclrtResetEvent";

using Events = HandleTable<Event, HandleKind::event>;

Events& events() { return lasting<Events>; }

// One lock for the latest recordings of all events, which is free after a fork().
struct MarksMutex : ProcessMutex<LockRank::outer> {};
MarksMutex& marks_mutex() { return lasting<MarksMutex>; }

int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

void notify_seen(const Recording* recording) { notify(&Observer::saw_mark, recording); }

}  // namespace

Work Event::record_work(const std::shared_ptr<Recording>& recording) {
  Task stamp = [recording] {
    recording->reached_ns.store(now_ns(), std::memory_order_release);
    return Status();
  };
  return {std::move(stamp), "aclrtRecordEvent", nullptr, recording->gate};
}

Status Event::record(const std::shared_ptr<Stream>& stream) {
  if (stream->is_captured() && capture_record(stream)) return {};
  auto recording = std::make_shared<Recording>(stream);
  Work work = record_work(recording);
  std::optional<Queue::Ticket> ticket;
  {
    // The recording must be in its queue before a thread can wait for it. Otherwise a wait in the
    // same queue could come before the recording and block it for ever.
    std::lock_guard lock(marks_mutex());
    ticket = stream->append({&work, 1});
    if (!ticket) return stream->refusal();
    recording->gate->set_ticket(*ticket);
    notify(&Observer::recorded, recording.get(), stream->id());
    latest_ = std::move(recording);
  }
  scheduler().on_submit(*stream, *ticket);
  return {};
}

Status Event::submit(Stream& stream, std::vector<Work> works, std::span<const Mark> marks) {
  const size_t count = works.size();
  std::optional<Queue::Ticket> last;
  {
    std::lock_guard lock(marks_mutex());
    last = stream.append(works);
    if (!last) return stream.refusal();
    for (const Mark& mark : marks) {
      mark.recording->gate->set_ticket(*last - count + 1 + mark.index);
      mark.event->latest_ = mark.recording;
    }
  }
  scheduler().on_submit(stream, *last);
  return {};
}

bool Event::capture_record(const std::shared_ptr<Stream>& stream) {
  auto recording = std::make_shared<Recording>(stream);
  recording->captured = capture_mark(*stream, shared_from_this());
  if (!recording->captured) return false;
  std::lock_guard lock(marks_mutex());
  latest_ = std::move(recording);
  return true;
}

Status Event::reset(const std::shared_ptr<Event>& event, Stream& stream) {
  const auto recording = event->latest();
  if (stream.is_captured()) {
    // Resets the recording that the stream has reached when the graph is executed.
    Task forget = [event] {
      std::lock_guard lock(marks_mutex());
      if (event->latest_ && event->latest_->gate->is_open()) event->latest_ = nullptr;
      return Status();
    };
    Work work{std::move(forget), kReset, nullptr, nullptr};
    if (capture(stream, work)) {
      std::lock_guard lock(marks_mutex());
      if (recording && recording->captured && event->latest_ == recording) event->latest_ = nullptr;
      return {};
    }
  }
  if (recording) notify(&Observer::resetting, recording.get());
  // Resets only the current recording: a later recording comes after the reset.
  Task forget = [event, recording] {
    std::lock_guard lock(marks_mutex());
    if (event->latest_ == recording) event->latest_ = nullptr;
    return Status();
  };
  return stream.submit({std::move(forget), kReset, nullptr, nullptr});
}

Status Event::wait_work(const Stream& stream, std::optional<Work>& out) {
  const auto recording = latest();
  RETURN_IF_FAILED(require_not_captured(recording.get()));
  notify(&Observer::held_back, stream.id(), recording.get());
  if (!recording) return {};
  {
    std::lock_guard lock(marks_mutex());
    awaited_ = recording;
  }
  if (recording->gate->is_open() && stream.is_idle()) return {};
  waiting_->fetch_add(1, std::memory_order_relaxed);
  // Counts down when the wait is over or dropped with its stream.
  const std::shared_ptr<void> count(
      nullptr, [waiting = waiting_](void*) { waiting->fetch_sub(1, std::memory_order_release); });
  Task wait = [count] { return Status(); };
  out = {std::move(wait), "aclrtStreamWaitEvent", recording->gate, nullptr};
  return {};
}

Status Event::block(const std::shared_ptr<Stream>& stream) {
  if (const auto recording = latest(); recording && recording->captured)
    return join_capture(stream, *recording->captured);
  if (stream->is_captured() && capture_wait(*stream, shared_from_this())) return {};
  std::optional<Work> wait;
  RETURN_IF_FAILED(wait_work(*stream, wait));
  return wait ? stream->submit(std::move(*wait)) : Status();
}

Status Event::require_not_captured(const Recording* recording) const {
  if (recording == nullptr || !recording->captured) return {};
  return fail("event-captured"_rule, kRtParamInvalid, "event was recorded in a capture of stream ",
              recording->stream->id(), ", so no stream reaches it until the graph is executed");
}

Status Event::synchronize(const Deadline& deadline) const {
  RETURN_IF_FAILED(injected_failure(FaultKind::sync));
  const auto recording = latest();
  if (!recording) {
    notify_seen(nullptr);
    return {};
  }
  RETURN_IF_FAILED(require_not_captured(recording.get()));
  Stream& stream = *recording->stream;
  RETURN_IF_FAILED(stream.wait(recording->gate->ticket(), deadline, kRtEventSyncTimeout,
                               "the stream's work up to the event"));
  notify_seen(recording.get());
  return stream.take_failure();
}

Status Event::query(bool& complete) const {
  const auto recording = latest();
  RETURN_IF_FAILED(require_not_captured(recording.get()));
  complete = recording && recording->gate->is_open();
  if (complete) notify_seen(recording.get());
  if (!recording || complete) return {};
  Stream& stream = *recording->stream;
  RETURN_IF_FAILED(stream.require_runner());
  stream.note_poll();
  return {};
}

bool Event::query_waits() const {
  std::shared_ptr<Recording> awaited;
  {
    std::lock_guard lock(marks_mutex());
    awaited = awaited_;
  }
  const bool complete = waiting_->load(std::memory_order_acquire) == 0;
  if (complete && awaited) notify(&Observer::saw_waits, awaited.get());
  return complete;
}

Status Event::reached(std::string_view argument, int64_t& nanoseconds) const {
  const auto recording = latest();
  if (!recording)
    return fail("event-unrecorded"_rule, kRtEventTimestampInvalid, argument,
                " was never recorded, or was reset since");
  nanoseconds = recording->reached_ns.load(std::memory_order_acquire);
  if (nanoseconds != 0) {
    notify_seen(recording.get());
    return {};
  }
  return fail("event-not-reached"_rule, kRtEventTimestampInvalid, argument,
              " was recorded, but its stream has not reached it; synchronise first");
}

std::shared_ptr<Recording> Event::latest() const {
  std::lock_guard lock(marks_mutex());
  return latest_;
}

Status create_event(uint32_t flags, void** out) {
  RETURN_IF_FAILED(injected_failure(FaultKind::event));
  if (out == nullptr) return fail("output-pointer-null"_rule, kRtParamInvalid, "event is null");
  constexpr uint32_t kKnownFlags =
      ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;
  if ((flags & ~kKnownFlags) != 0)
    return fail("flag-unknown"_rule, kRtParamInvalid, "flag is ", flags,
                "; it must be a union of ACL_EVENT_SYNC (1), ACL_EVENT_CAPTURE_STREAM_PROGRESS (2) "
                "and ACL_EVENT_TIME_LINE (8)");
  RETURN_IF_FAILED(require_device());
  void* handle = events().insert(std::make_shared<Event>());
  if (handle == nullptr)
    return fail("handle-limit"_rule, kRtResourceAllocFail, "too many events are alive");
  *out = handle;
  return {};
}

Status destroy_event(const void* handle) {
  return events().erase(handle) ? Status() : dead_handle("event", handle, HandleKind::event);
}

Status find_event(std::string_view argument, const void* handle, std::shared_ptr<Event>& out) {
  out = events().find(handle);
  return out ? Status() : dead_handle(argument, handle, HandleKind::event);
}

Status elapsed_time(const void* start, const void* end, int64_t& nanoseconds) {
  std::shared_ptr<Event> first, second;
  RETURN_IF_FAILED(find_event("startEvent", start, first));
  RETURN_IF_FAILED(find_event("endEvent", end, second));
  int64_t from, to;
  RETURN_IF_FAILED(first->reached("startEvent", from));
  RETURN_IF_FAILED(second->reached("endEvent", to));
  nanoseconds = to - from;
  if (to >= from) return {};
  return fail("events-reversed"_rule, kRtEventTimestampReversal, "endEvent was reached ", from - to,
              " ns before startEvent; it must come after");
}

}  // namespace softnpu::runtime
