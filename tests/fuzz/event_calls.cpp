// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "calls.h"

namespace fuzz {
namespace {

#define CREATE(...)                                               \
  [](State& s) {                                                  \
    aclrtEvent event = nullptr;                                   \
    const auto flag = static_cast<uint32_t>(s.in.enumerator(12)); \
    aclrtEvent* const out = s.out(event);                         \
    (void)flag;                                                   \
    if (CALL(__VA_ARGS__) == 0) s.add(kEvent, {event});           \
  }

// Calls with an event and a stream.
#define WITH_STREAM(function, ...)                                 \
  [](State& s) {                                                   \
    void* event = s.pick(kEvent);                                  \
    void* stream = s.in.once_in(8) ? nullptr : s.pick(kStream);    \
    s.used(kEvent, event, CALL(function, __VA_ARGS__), #function); \
  }

void synchronize_event(State& s) {
  s.let_waits_end();
  void* event = s.pick(kEvent);
  s.used(kEvent, event, CALL(aclrtSynchronizeEvent, event), "aclrtSynchronizeEvent");
}
void synchronize_event_in_time(State& s) {
  void* event = s.pick(kEvent);
  CALL(aclrtSynchronizeEventWithTimeout, event, s.in.once_in(4) ? INT32_MIN : 1);
}
void query_event(State& s) {
  aclrtEventStatus status;
  void* event = s.pick(kEvent);
  s.used(kEvent, event, CALL(aclrtQueryEvent, event, s.out(status)), "aclrtQueryEvent");
}
void query_event_status(State& s) {
  aclrtEventRecordedStatus status;
  void* event = s.pick(kEvent);
  s.used(kEvent, event, CALL(aclrtQueryEventStatus, event, s.out(status)), "aclrtQueryEventStatus");
}
void query_event_wait(State& s) {
  aclrtEventWaitStatus status;
  void* event = s.pick(kEvent);
  CALL(aclrtQueryEventWaitStatus, event, s.out(status));
}
void elapsed_time(State& s) {
  float ms;
  void *start = s.pick(kEvent), *end = s.pick(kEvent);
  s.used(kEvent, end, CALL(aclrtEventElapsedTime, s.out(ms), start, end), "aclrtEventElapsedTime");
}
void timestamp(State& s) {
  uint64_t us;
  void* event = s.pick(kEvent);
  CALL(aclrtEventGetTimestamp, event, s.out(us));
}

constexpr Call kCalls[] = {
    {"aclrtCreateEvent", CREATE(aclrtCreateEvent, out)},
    {"aclrtCreateEventWithFlag", CREATE(aclrtCreateEventWithFlag, out, flag)},
    {"aclrtCreateEventExWithFlag", CREATE(aclrtCreateEventExWithFlag, out, flag)},
    {"aclrtDestroyEvent", destroy_one<kEvent>},
    {"aclrtRecordEvent", WITH_STREAM(aclrtRecordEvent, event, stream)},
    {"aclrtResetEvent", WITH_STREAM(aclrtResetEvent, event, stream)},
    {"aclrtStreamWaitEvent", WITH_STREAM(aclrtStreamWaitEvent, stream, event)},
    {"aclrtSynchronizeEvent", synchronize_event},
    {"aclrtSynchronizeEventWithTimeout", synchronize_event_in_time, 4},
    {"aclrtQueryEvent", query_event},
    {"aclrtQueryEventStatus", query_event_status},
    {"aclrtQueryEventWaitStatus", query_event_wait},
    {"aclrtEventElapsedTime", elapsed_time},
    {"aclrtEventGetTimestamp", timestamp},
};

}  // namespace

Room event_calls() { return {kCalls, std::size(kCalls)}; }

void make_event(State& s) {
  aclrtEvent event = nullptr;
  if (CALL(aclrtCreateEvent, &event) == 0) s.add(kEvent, {event});
}

}  // namespace fuzz
