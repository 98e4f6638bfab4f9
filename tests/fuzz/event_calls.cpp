// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "calls.h"

namespace fuzz {
namespace {

template <class Create>
void create(State& s, const Create& call) {
  aclrtEvent event = nullptr;
  const auto flag = static_cast<uint32_t>(s.in.enumerator(12));
  if (call(s.out(event), flag) == 0) s.add(kEvent, {event});
}

void create_event(State& s) {
  create(s, [](aclrtEvent* event, uint32_t) { return CALL(aclrtCreateEvent, event); });
}
void create_event_with_flag(State& s) {
  create(s, [](aclrtEvent* e, uint32_t f) { return CALL(aclrtCreateEventWithFlag, e, f); });
}
void create_event_ex(State& s) {
  create(s, [](aclrtEvent* e, uint32_t f) { return CALL(aclrtCreateEventExWithFlag, e, f); });
}
void destroy_event(State& s) { destroy_thing(s, kEvent, s.pick(kEvent)); }

// Calls with an event and a stream.
template <class Function>
void with_stream(State& s, const char* name, const Function& call) {
  void* event = s.pick(kEvent);
  void* stream = s.in.once_in(8) ? nullptr : s.pick(kStream);
  s.used(kEvent, event, call(event, stream), name);
}
void record_event(State& s) {
  with_stream(s, "aclrtRecordEvent",
              [](void* event, void* stream) { return CALL(aclrtRecordEvent, event, stream); });
}
void reset_event(State& s) {
  with_stream(s, "aclrtResetEvent",
              [](void* event, void* stream) { return CALL(aclrtResetEvent, event, stream); });
}
void wait_event(State& s) {
  with_stream(s, "aclrtStreamWaitEvent",
              [](void* event, void* stream) { return CALL(aclrtStreamWaitEvent, stream, event); });
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
    {"aclrtCreateEvent", create_event},
    {"aclrtCreateEventWithFlag", create_event_with_flag},
    {"aclrtCreateEventExWithFlag", create_event_ex},
    {"aclrtDestroyEvent", destroy_event},
    {"aclrtRecordEvent", record_event},
    {"aclrtResetEvent", reset_event},
    {"aclrtStreamWaitEvent", wait_event},
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
