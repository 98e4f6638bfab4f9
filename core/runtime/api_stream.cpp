// SPDX-License-Identifier: Apache-2.0
// Streams and the callbacks in them.
#include "acl/acl_rt.h"
#include "runtime/capture.h"
#include "runtime/entry.h"
#include "runtime/report.h"
#include "runtime/stream.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

using Find = Status (*)(const void* handle, std::shared_ptr<Stream>& out);

template <class Body>
aclError with_stream(const Call& call, Find find, aclrtStream stream, Body&& body) {
  return entry(call, [&]() -> Status {
    std::shared_ptr<Stream> found;
    RETURN_IF_FAILED(find(stream, found));
    return body(*found);
  });
}

}  // namespace

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) {
  return entry(CALL(stream), [&] { return create_stream(0, 0, stream); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return entry(CALL(stream, priority, flag), [&] { return create_stream(priority, flag, stream); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return entry(CALL(stream), [&] { return destroy_stream(stream, Destroy::finish_work); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return entry(CALL(stream), [&] { return destroy_stream(stream, Destroy::drop_work); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return entry(CALL(stream), [&] { return synchronize_stream(stream, {}); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return entry_until(CALL(stream, timeout), timeout, [&](const Deadline& deadline) {
    return synchronize_stream(stream, deadline);
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return with_stream(CALL(stream, status), find_stream, stream, [&](Stream& found) -> Status {
    RETURN_IF_FAILED(found.require_runner());
    RETURN_IF_FAILED(require_not_captured(found));
    const bool idle = found.is_idle();
    if (!idle) found.note_poll();
    if (idle) notify(&Observer::saw_end, found.id());
    return store("status", status, idle ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY);
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return with_stream(CALL(stream, streamId), find_stream_anywhere, stream,
                     [&](const Stream& found) { return store("streamId", streamId, found.id()); });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return with_stream(CALL(stream, flags), find_stream_anywhere, stream,
                     [&](const Stream& found) { return store("flags", flags, found.flags()); });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return with_stream(
      CALL(stream, priority), find_stream_anywhere, stream,
      [&](const Stream& found) { return store("priority", priority, found.priority()); });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return entry(CALL(fn, userData, blockType, stream), [&]() -> Status {
    if (fn == nullptr) return fail("function-null"_rule, kRtParamInvalid, "fn is null");
    const std::shared_ptr<void> nobodys;
    return launch_callback(stream, fn, {nobodys, userData}, number_of(blockType));
  });
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return with_stream(CALL(threadId, stream), find_stream, stream,
                     [&](const Stream& found) { return subscribe(threadId, found); });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return with_stream(CALL(threadId, stream), find_stream_anywhere, stream,
                     [&](const Stream& found) { return unsubscribe(threadId, found); });
}

aclError aclrtProcessReport(int32_t timeout) {
  return entry_until(CALL(timeout), timeout, process_reports);
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return entry(CALL(stream, fn, args), [&]() -> Status {
    if (fn == nullptr) return fail("function-null"_rule, kRtParamInvalid, "fn is null");
    return launch_host_function(stream, "aclrtLaunchHostFunc", [fn, args] {
      fn(args);
      return Status();
    });
  });
}

}  // extern "C"
