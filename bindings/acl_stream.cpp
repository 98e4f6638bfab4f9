// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "c_function.h"
#include "sections.h"

namespace softnpu::python {
namespace {

void bind_streams(nb::module_& m) {
  bind_acl<&aclrtCreateStream>(m, "aclrtCreateStream", "Stream, status.");
  bind_acl<&aclrtCreateStreamWithConfig>(m, "aclrtCreateStreamWithConfig", nb::arg("priority"),
                                         nb::arg("flag"), "Stream, status.");
  bind_acl<&aclrtDestroyStream>(m, "aclrtDestroyStream", nb::arg("stream"),
                                "Destroy a stream after its work is done.");
  bind_acl<&aclrtDestroyStreamForce>(m, "aclrtDestroyStreamForce", nb::arg("stream"),
                                     "Destroy a stream and drop the work that has not started.");
  bind_acl<&aclrtSynchronizeStream>(m, "aclrtSynchronizeStream", nb::arg("stream"),
                                    "Wait for a stream's work, and report what failed in it.");
  bind_acl<&aclrtSynchronizeStreamWithTimeout>(m, "aclrtSynchronizeStreamWithTimeout",
                                               nb::arg("stream"), nb::arg("timeout"),
                                               "The same, in milliseconds; -1 waits for ever.");
  bind_acl<&aclrtStreamQuery>(m, "aclrtStreamQuery", nb::arg("stream"),
                              "Whether a stream is idle (ACL_STREAM_STATUS_*), status.");
  bind_acl<&aclrtStreamGetId>(m, "aclrtStreamGetId", nb::arg("stream"), "Number, status.");
  bind_acl<&aclrtStreamGetFlags>(m, "aclrtStreamGetFlags", nb::arg("stream"), "Flags, status.");
  bind_acl<&aclrtStreamGetPriority>(m, "aclrtStreamGetPriority", nb::arg("stream"),
                                    "Priority, status.");
}

void bind_events(nb::module_& m) {
  bind_acl<&aclrtCreateEvent>(m, "aclrtCreateEvent", "Event, status.");
  bind_acl<&aclrtCreateEventWithFlag>(m, "aclrtCreateEventWithFlag", nb::arg("flag"),
                                      "Event, status.");
  bind_acl<&aclrtCreateEventExWithFlag>(m, "aclrtCreateEventExWithFlag", nb::arg("flag"),
                                        "Event, status.");
  bind_acl<&aclrtDestroyEvent>(m, "aclrtDestroyEvent", nb::arg("event"), "Destroy an event.");
  bind_acl<&aclrtRecordEvent>(m, "aclrtRecordEvent", nb::arg("event"), nb::arg("stream"),
                              "Record the place that a stream has come to.");
  bind_acl<&aclrtResetEvent>(m, "aclrtResetEvent", nb::arg("event"), nb::arg("stream"),
                             "Make an event unrecorded, in the stream's order.");
  bind_acl<&aclrtStreamWaitEvent>(m, "aclrtStreamWaitEvent", nb::arg("stream"), nb::arg("event"),
                                  "Make a stream's later work wait for an event.");
  bind_acl<&aclrtSynchronizeEvent>(m, "aclrtSynchronizeEvent", nb::arg("event"),
                                   "Wait for an event.");
  bind_acl<&aclrtSynchronizeEventWithTimeout>(m, "aclrtSynchronizeEventWithTimeout",
                                              nb::arg("event"), nb::arg("timeout"),
                                              "The same, in milliseconds; -1 waits for ever.");
  bind_acl<&aclrtQueryEvent>(m, "aclrtQueryEvent", nb::arg("event"),
                             "Whether it is complete (ACL_EVENT_STATUS_*), status.");
  bind_acl<&aclrtQueryEventStatus>(m, "aclrtQueryEventStatus", nb::arg("event"),
                                   "Whether it is complete (ACL_EVENT_RECORDED_STATUS_*), status.");
  bind_acl<&aclrtQueryEventWaitStatus>(m, "aclrtQueryEventWaitStatus", nb::arg("event"),
                                       "Whether waits are over (ACL_EVENT_WAIT_STATUS_*), status.");
  bind_acl<&aclrtEventElapsedTime>(m, "aclrtEventElapsedTime", nb::arg("start_event"),
                                   nb::arg("end_event"), "Milliseconds between events, status.");
  bind_acl<&aclrtEventGetTimestamp>(m, "aclrtEventGetTimestamp", nb::arg("event"),
                                    "Microseconds at which it was reached, status.");
}

}  // namespace

void bind_acl_stream(nb::module_& m) {
  bind_streams(m);
  bind_events(m);
}

}  // namespace softnpu::python
