// SPDX-License-Identifier: Apache-2.0
// The process, devices, contexts and options, streams and events.
#include "c_function.h"
#include "gil.h"
#include "sections.h"

namespace softnpu::python {
namespace {

int init(const FileName& config) {
  const GilRelease others_may_run;
  return aclInit(config.c_str());
}

int set_model_dir(const FileName& folder) { return aclopSetModelDir(folder.c_str()); }

nb::object recent_message() {
  const char* message = aclGetRecentErrMsg();
  if (message == nullptr) return nb::none();
  return nb::steal(
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(strlen(message)), "replace"));
}

void bind_process(nb::module_& m) {
  define(m, "aclInit", &init, nb::arg("config_path") = nb::none(),
         "Start the process's use of the device; config_path names a JSON file.");
  BIND_ACL(aclFinalize, "End the process's use of all devices.");
  m.def("aclGetRecentErrMsg", &recent_message, nb::sig("def aclGetRecentErrMsg() -> str | None"),
        "Return and clear this thread's latest message.");
  define(m, "aclopSetModelDir", &set_model_dir, nb::arg("model_dir").none(),
         "Accepted and ignored.");
  m.def("aclrtGetSocName", [] { return aclrtGetSocName(); }, "The emulated product.");
  BIND_ACL(aclrtGetVersion, "Major, minor and patch version, status.");
  BIND_ACL(aclrtGetRunMode, "Run mode (ACL_HOST), status.");
  BIND_ACL(aclrtGetLastError, nb::arg("level"),
           "This thread's latest runtime status, which is cleared.");
  BIND_ACL(aclrtPeekAtLastError, nb::arg("level"),
           "This thread's latest runtime status, which is kept.");
  define(m, "aclDataTypeSize", &aclDataTypeSize, nb::arg("data_type"),
         "Bytes of one element; 0 for types without a fixed byte size.");
  define(m, "aclFloatToFloat16", &aclFloatToFloat16, nb::arg("value"),
         "The bits of the nearest float16, saturating.");
  define(m, "aclFloat16ToFloat", &aclFloat16ToFloat, nb::arg("value"),
         "The value of float16 bits, every exponent read as a finite one.");
}

void bind_devices(nb::module_& m) {
  BIND_ACL(aclrtGetDeviceCount, "Number of devices, status.");
  BIND_ACL(aclrtSetDevice, nb::arg("device_id"),
           "Use a device in this thread, with its default context.");
  BIND_ACL(aclrtGetDevice, "This thread's device, status.");
  BIND_ACL(aclrtResetDevice, nb::arg("device_id"), "Undo one aclrtSetDevice.");
  BIND_ACL(aclrtResetDeviceForce, nb::arg("device_id"), "Undo every aclrtSetDevice.");
  BIND_ACL(aclrtSynchronizeDevice, "Wait for all streams of this thread's device.");
  BIND_ACL(aclrtSynchronizeDeviceWithTimeout, nb::arg("timeout"), "The same, in milliseconds.");
}

void bind_contexts(nb::module_& m) {
  BIND_ACL(aclrtCreateContext, nb::arg("device_id"), "Context, status.");
  BIND_ACL(aclrtDestroyContext, nb::arg("context"),
           "Destroy a context and its default stream; streams made in it "
           "are waited for, and remain to be destroyed.");
  BIND_ACL(aclrtSetCurrentContext, nb::arg("context"), "Use a context in this thread.");
  BIND_ACL(aclrtGetCurrentContext, "This thread's context, status.");
  BIND_ACL(aclrtCtxGetCurrentDefaultStream, "The context's default stream, status.");
  BIND_ACL(aclrtCtxSetSysParamOpt, nb::arg("opt"), nb::arg("value"),
           "Set an option of the context.");
  BIND_ACL(aclrtCtxGetSysParamOpt, nb::arg("opt"), "Value of an option of the context, status.");
  BIND_ACL(aclrtSetSysParamOpt, nb::arg("opt"), nb::arg("value"), "Set an option of the process.");
  BIND_ACL(aclrtGetSysParamOpt, nb::arg("opt"), "Value of an option of the process, status.");
}

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

void bind_acl_runtime(nb::module_& m) {
  bind_process(m);
  bind_devices(m);
  bind_contexts(m);
  bind_streams(m);
  bind_events(m);
}

}  // namespace softnpu::python
