// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "c_function.h"
#include "sections.h"

namespace softnpu::python {
namespace {

void bind_streams(nb::module_& m) {
  BIND_ACL(aclrtCreateStream, "Stream, status.");
  BIND_ACL(aclrtCreateStreamWithConfig, nb::arg("priority"), nb::arg("flag"), "Stream, status.");
  BIND_ACL(aclrtDestroyStream, nb::arg("stream"), "Destroy a stream after its work is done.");
  BIND_ACL(aclrtDestroyStreamForce, nb::arg("stream"),
           "Destroy a stream and drop the work that has not started.");
  BIND_ACL(aclrtSynchronizeStream, nb::arg("stream"),
           "Wait for a stream's work, and report what failed in it.");
  BIND_ACL(aclrtSynchronizeStreamWithTimeout, nb::arg("stream"), nb::arg("timeout"),
           "The same, in milliseconds; -1 waits for ever.");
  BIND_ACL(aclrtStreamQuery, nb::arg("stream"),
           "Whether a stream is idle (ACL_STREAM_STATUS_*), status.");
  BIND_ACL(aclrtStreamGetId, nb::arg("stream"), "Number, status.");
  BIND_ACL(aclrtStreamGetFlags, nb::arg("stream"), "Flags, status.");
  BIND_ACL(aclrtStreamGetPriority, nb::arg("stream"), "Priority, status.");
}

void bind_events(nb::module_& m) {
  BIND_ACL(aclrtCreateEvent, "Event, status.");
  BIND_ACL(aclrtCreateEventWithFlag, nb::arg("flag"), "Event, status.");
  BIND_ACL(aclrtCreateEventExWithFlag, nb::arg("flag"), "Event, status.");
  BIND_ACL(aclrtDestroyEvent, nb::arg("event"), "Destroy an event.");
  BIND_ACL(aclrtRecordEvent, nb::arg("event"), nb::arg("stream"),
           "Record the place that a stream has come to.");
  BIND_ACL(aclrtResetEvent, nb::arg("event"), nb::arg("stream"),
           "Make an event unrecorded, in the stream's order.");
  BIND_ACL(aclrtStreamWaitEvent, nb::arg("stream"), nb::arg("event"),
           "Make a stream's later work wait for an event.");
  BIND_ACL(aclrtSynchronizeEvent, nb::arg("event"), "Wait for an event.");
  BIND_ACL(aclrtSynchronizeEventWithTimeout, nb::arg("event"), nb::arg("timeout"),
           "The same, in milliseconds; -1 waits for ever.");
  BIND_ACL(aclrtQueryEvent, nb::arg("event"),
           "Whether it is complete (ACL_EVENT_STATUS_*), status.");
  BIND_ACL(aclrtQueryEventStatus, nb::arg("event"),
           "Whether it is complete (ACL_EVENT_RECORDED_STATUS_*), status.");
  BIND_ACL(aclrtQueryEventWaitStatus, nb::arg("event"),
           "Whether waits are over (ACL_EVENT_WAIT_STATUS_*), status.");
  BIND_ACL(aclrtEventElapsedTime, nb::arg("start_event"), nb::arg("end_event"),
           "Milliseconds between events, status.");
  BIND_ACL(aclrtEventGetTimestamp, nb::arg("event"),
           "Microseconds at which it was reached, status.");
}

}  // namespace

void bind_acl_stream(nb::module_& m) {
  bind_streams(m);
  bind_events(m);
}

}  // namespace softnpu::python
