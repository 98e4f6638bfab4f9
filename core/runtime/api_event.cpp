// SPDX-License-Identifier: Apache-2.0
// Events.
#include "acl/acl_rt.h"
#include "runtime/entry.h"
#include "runtime/event.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

template <class Body>
aclError with_event(const Call& call, aclrtEvent event, Body&& body) {
  return entry(call, [&]() -> Status {
    std::shared_ptr<Event> found;
    RETURN_IF_FAILED(find_event("event", event, found));
    return body(*found);
  });
}

template <class Body>
aclError with_event_and_stream(const Call& call, aclrtEvent event, aclrtStream stream,
                               Body&& body) {
  return entry(call, [&]() -> Status {
    std::shared_ptr<Event> found_event;
    std::shared_ptr<Stream> found_stream;
    RETURN_IF_FAILED(find_event("event", event, found_event));
    RETURN_IF_FAILED(find_stream(stream, found_stream));
    return body(found_event, found_stream);
  });
}

}  // namespace

extern "C" {

// All events support waiting and timing, whatever their flags are.
aclError aclrtCreateEvent(aclrtEvent* event) {
  return entry(CALL(event), [&] { return create_event(0, event); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return entry(CALL(event, flag), [&] { return create_event(flag, event); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return entry(CALL(event, flag), [&] { return create_event(flag, event); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return entry(CALL(event), [&] { return destroy_event(event); });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return with_event_and_stream(CALL(event, stream), event, stream,
                               [](const auto& e, const auto& s) { return e->record(s); });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return with_event_and_stream(CALL(event, stream), event, stream,
                               [](const auto& e, const auto& s) { return Event::reset(e, *s); });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return with_event_and_stream(CALL(stream, event), event, stream,
                               [](const auto& e, const auto& s) { return e->block(s); });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return with_event(CALL(event), event, [](const Event& e) { return e.synchronize({}); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return with_event(CALL(event, timeout), event, [&](const Event& e) -> Status {
    Deadline deadline;
    RETURN_IF_FAILED(parse_timeout(timeout, deadline));
    return e.synchronize(deadline);
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return with_event(CALL(event, status), event, [&](const Event& e) -> Status {
    bool complete;
    RETURN_IF_FAILED(e.query(complete));
    return store("status", status,
                 complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY);
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return with_event(CALL(event, status), event, [&](const Event& e) -> Status {
    bool complete;
    RETURN_IF_FAILED(e.query(complete));
    return store(
        "status", status,
        complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY);
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return with_event(CALL(event, status), event, [&](const Event& e) {
    return store(
        "status", status,
        e.query_waits() ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY);
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return entry(CALL(ms, startEvent, endEvent), [&]() -> Status {
    int64_t nanoseconds;
    RETURN_IF_FAILED(elapsed_time(startEvent, endEvent, nanoseconds));
    return store("ms", ms, static_cast<double>(nanoseconds) * 1e-6);
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return with_event(CALL(event, timestamp), event, [&](const Event& e) -> Status {
    int64_t nanoseconds;
    RETURN_IF_FAILED(e.reached("event", nanoseconds));
    return store("timestamp", timestamp, nanoseconds / 1000);
  });
}

}  // extern "C"
