// SPDX-License-Identifier: Apache-2.0
// Graphs: capture and execution.
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "runtime/capture.h"
#include "runtime/entry.h"
#include "runtime/graph.h"
#include "runtime/task_groups.h"

using namespace softnpu;
using namespace softnpu::runtime;

extern "C" {

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return entry(CALL(stream, mode), [&] { return begin_capture(stream, number_of(mode)); });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  return entry(CALL(stream, modelRI), [&] { return end_capture(stream, modelRI); });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI) {
  return entry(CALL(stream, status, modelRI), [&]() -> Status {
    int32_t state;
    void* graph;
    RETURN_IF_FAILED(capture_info(stream, state, graph));
    if (modelRI == nullptr) return fail("handle-null"_rule, kRtParamInvalid, "modelRI is null");
    RETURN_IF_FAILED(store("status", status, state));
    return store("modelRI", modelRI, graph);
  });
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return entry(CALL(modelRI, stream), [&] { return execute_graph(modelRI, stream); });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  return entry_until(CALL(modelRI, timeout), timeout, [&](const Deadline& deadline) {
    return execute_graph_until(modelRI, deadline);
  });
}

aclError aclmdlRIAbort(aclmdlRI modelRI) {
  return entry(CALL(modelRI), [&] { return abort_graph(modelRI); });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return entry(CALL(mode), [&]() -> Status {
    if (mode == nullptr) return fail("argument-null"_rule, kRtParamInvalid, "mode is null");
    int32_t exchanged = number_of(*mode);
    RETURN_IF_FAILED(exchange_thread_mode(exchanged));
    return store("mode", mode, exchanged);
  });
}

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
  return entry(CALL(modelRI, name), [&] { return set_graph_name(modelRI, name); });
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
  return entry(CALL(modelRI, maxLen), [&]() -> Status {
    std::string found;
    RETURN_IF_FAILED(graph_name(modelRI, found));
    if (name == nullptr) return fail("output-pointer-null"_rule, kRtParamInvalid, "name is null");
    if (found.size() >= maxLen)
      return fail("text-room"_rule, kRtParamInvalid, "maxLen is ", maxLen,
                  ", but the name and its null character have ", found.size() + 1, " bytes");
    std::memcpy(name, found.c_str(), found.size() + 1);
    return {};
  });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  return entry(CALL(modelRI), [&] { return print_graph(modelRI); });
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags) {
  return entry(CALL(modelRI, path, flags), [&] { return write_graph(modelRI, path); });
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return entry(CALL(stream), [&] { return begin_task_group(stream); });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return entry(CALL(stream, handle), [&] { return end_task_group(stream, handle); });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return entry(CALL(stream, handle), [&] { return begin_task_update(stream, handle); });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return entry(CALL(stream), [&] { return end_task_update(stream); });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return entry(CALL(modelRI), [&] { return destroy_graph(modelRI); });
}

}  // extern "C"
