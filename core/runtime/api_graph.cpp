// SPDX-License-Identifier: Apache-2.0
// Graphs: capture and execution.
#include "acl/acl.h"
#include "runtime/capture.h"
#include "runtime/entry.h"
#include "runtime/graph.h"

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

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return entry(CALL(modelRI), [&] { return destroy_graph(modelRI); });
}

}  // extern "C"
