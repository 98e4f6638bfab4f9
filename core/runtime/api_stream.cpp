// SPDX-License-Identifier: Apache-2.0
// Streams and the callbacks in them.
#include "acl/acl_rt.h"
#include "runtime/entry.h"
#include "runtime/report.h"
#include "runtime/stream.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

using Find = Status (*)(const void* handle, std::shared_ptr<Stream>& out);

// Finds a stream and does something with it.
template <class Body>
aclError with_stream(std::string_view function, Find find, aclrtStream stream, Body&& body) {
  return entry(function, [&]() -> Status {
    std::shared_ptr<Stream> found;
    RETURN_IF_FAILED(find(stream, found));
    return body(*found);
  });
}

}  // namespace

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) {
  return entry("aclrtCreateStream", [&] { return create_stream(0, 0, stream); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return entry("aclrtCreateStreamWithConfig",
               [&] { return create_stream(priority, flag, stream); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return entry("aclrtDestroyStream", [&] { return destroy_stream(stream, Destroy::finish_work); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return entry("aclrtDestroyStreamForce",
               [&] { return destroy_stream(stream, Destroy::drop_work); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return entry("aclrtSynchronizeStream", [&] { return synchronize_stream(stream, {}); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return entry("aclrtSynchronizeStreamWithTimeout", [&]() -> Status {
    Deadline deadline;
    RETURN_IF_FAILED(parse_timeout(timeout, deadline));
    return synchronize_stream(stream, deadline);
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return with_stream("aclrtStreamQuery", find_stream, stream, [&](const Stream& found) -> Status {
    RETURN_IF_FAILED(found.require_runner());
    return store("status", status,
                 found.is_idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY);
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return with_stream("aclrtStreamGetId", find_stream_anywhere, stream,
                     [&](const Stream& found) { return store("streamId", streamId, found.id()); });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return with_stream("aclrtStreamGetFlags", find_stream_anywhere, stream,
                     [&](const Stream& found) { return store("flags", flags, found.flags()); });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return with_stream(
      "aclrtStreamGetPriority", find_stream_anywhere, stream,
      [&](const Stream& found) { return store("priority", priority, found.priority()); });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return entry("aclrtLaunchCallback", [&]() -> Status {
    if (fn == nullptr) return fail(kRtParamInvalid, "fn is null");
    const std::shared_ptr<void> nobodys;
    return launch_callback(stream, fn, {nobodys, userData}, number_of(blockType));
  });
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return with_stream("aclrtSubscribeReport", find_stream, stream,
                     [&](const Stream& found) { return subscribe(threadId, found); });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return with_stream("aclrtUnSubscribeReport", find_stream_anywhere, stream,
                     [&](const Stream& found) { return unsubscribe(threadId, found); });
}

aclError aclrtProcessReport(int32_t timeout) {
  return entry("aclrtProcessReport", [&]() -> Status {
    Deadline deadline;
    RETURN_IF_FAILED(parse_timeout(timeout, deadline));
    return process_reports(deadline);
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return entry("aclrtLaunchHostFunc", [&]() -> Status {
    if (fn == nullptr) return fail(kRtParamInvalid, "fn is null");
    return launch_host_function(stream, "aclrtLaunchHostFunc", [fn, args] {
      fn(args);
      return Status();
    });
  });
}

}  // extern "C"
