// SPDX-License-Identifier: Apache-2.0
// Captures and the graphs that they make.
#include <iterator>

#include "calls.h"

namespace fuzz {
namespace {

void* stream_of(State& s) { return s.in.once_in(8) ? nullptr : s.pick(kStream); }

void begin_capture(State& s) {
  const auto mode = static_cast<aclmdlRICaptureMode>(s.in.enumerator(3));
  CALL(aclmdlRICaptureBegin, stream_of(s), mode);
}

void end(State& s, void* stream) {
  aclmdlRI graph = nullptr;
  const int status = CALL(aclmdlRICaptureEnd, stream, s.out(graph));
  expect((status == 0) == (graph != nullptr), "a graph exactly on success", "aclmdlRICaptureEnd",
         status);
  if (status == 0) s.add(kGraph, {graph});
}

// Captures are short: while one goes on nothing can wait for its streams.
void end_capture(State& s) {
  if (s.in.once_in(2)) return end(s, stream_of(s));
  end_captures(s);
}

void capture_info(State& s) {
  aclmdlRICaptureStatus status;
  aclmdlRI graph = nullptr;
  CALL(aclmdlRICaptureGetInfo, stream_of(s), s.out(status), s.out(graph));
  if (graph == nullptr || !s.in.once_in(4)) return;
  const int code = CALL(aclmdlRIDestroy, graph);
  expect(code != 0, "a graph that is being captured to stay", "aclmdlRIDestroy", code);
}

// It may have host functions, and work that has to wait for them.
void execute(State& s) {
  s.others_run = true;
  void* graph = s.pick(kGraph);
  s.used(kGraph, graph, CALL(aclmdlRIExecuteAsync, graph, stream_of(s)), "aclmdlRIExecuteAsync");
}

constexpr Call kCalls[] = {
    {"aclmdlRICaptureBegin", begin_capture, 2}, {"aclmdlRICaptureEnd", end_capture},
    {"aclmdlRICaptureGetInfo", capture_info},   {"aclmdlRIExecuteAsync", execute},
    {"aclmdlRIDestroy", destroy_one<kGraph>},
};

}  // namespace

Room graph_calls() { return {kCalls, std::size(kCalls)}; }

void end_captures(State& s) {
  end(s, nullptr);
  for (const Thing& stream : s.things[kStream])
    if (stream.is_live) end(s, stream.value);
}

void make_graph(State& s) {
  auto* stream = static_cast<aclrtStream>(s.pick_live(kStream));
  if (CALL(aclmdlRICaptureBegin, stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) != 0) return;
  CALL(aclrtMemsetAsync, s.room(64), 64, 1, 64, stream);
  end(s, stream);
}

}  // namespace fuzz
