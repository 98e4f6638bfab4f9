// SPDX-License-Identifier: Apache-2.0
// Captures and the graphs that they make.
#include <cstring>
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

void execute_until(State& s) {
  s.others_run = true;
  void* graph = s.pick(kGraph);
  s.used(kGraph, graph, CALL(aclmdlRIExecute, graph, s.in.once_in(16) ? 0 : 1), "aclmdlRIExecute");
}

void abort(State& s) {
  void* graph = s.pick(kGraph);
  s.used(kGraph, graph, CALL(aclmdlRIAbort, graph), "aclmdlRIAbort");
}

void set_name(State& s) {
  static const char* const kNames[] = {"", "a", "a longer name of a graph", nullptr};
  void* graph = s.pick(kGraph);
  s.used(kGraph, graph, CALL(aclmdlRISetName, graph, s.in.one_of(kNames)), "aclmdlRISetName");
}

void get_name(State& s) {
  char name[32];
  void* graph = s.pick(kGraph);
  const auto length = static_cast<uint32_t>(s.in.below(sizeof name + 1));
  const int status = CALL(aclmdlRIGetName, graph, length, s.in.once_in(24) ? nullptr : name);
  s.used(kGraph, graph, status, "aclmdlRIGetName");
  if (status == 0) expect(std::strlen(name) < length, "a name that fits", "aclmdlRIGetName");
}

void write_graph(State& s) {
  static const char* const kFiles[] = {"/dev/null", "/nowhere/graph.json", "/tmp", "", nullptr};
  CALL(aclmdlRIDebugJsonPrint, s.pick(kGraph), s.in.one_of(kFiles), s.in.byte());
}

void exchange_mode(State& s) {
  auto mode = static_cast<aclmdlRICaptureMode>(s.in.enumerator(3));
  CALL(aclmdlRICaptureThreadExchangeMode, s.out(mode));
}

void end_group(State& s, void* stream) {
  aclrtTaskGrp group = nullptr;
  const int status = CALL(aclmdlRICaptureTaskGrpEnd, stream, s.out(group));
  expect((status == 0) == (group != nullptr), "a group exactly on success",
         "aclmdlRICaptureTaskGrpEnd", status);
  if (status == 0) s.task_groups.push_back(group);
}

// Mostly a graph with a group of one fill.
void capture_group(State& s) {
  if (s.in.once_in(4)) {
    CALL(aclmdlRICaptureTaskGrpBegin, stream_of(s));
    return;
  }
  void* const stream = s.pick(kStream);
  CALL(aclmdlRICaptureBegin, stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  CALL(aclmdlRICaptureTaskGrpBegin, stream);
  CALL(aclrtMemsetAsync, s.room(64), 64, 1, 64, stream);
  end_group(s, stream);
  end(s, stream);
}
void end_group(State& s) { end_group(s, stream_of(s)); }

// Mostly replaces the fill by another one.
void update_group(State& s) {
  if (s.task_groups.empty()) capture_group(s);
  const bool is_wrong = s.task_groups.empty() || s.in.once_in(16);
  void* const group = is_wrong ? s.pick_wrong(kGraph) : s.task_groups.back();
  void* const stream = stream_of(s);
  CALL(aclmdlRICaptureTaskUpdateBegin, stream, group);
  if (s.in.once_in(4)) return;
  if (!s.in.once_in(8)) CALL(aclrtMemsetAsync, s.room(64), 64, 2, 64, stream);
  CALL(aclmdlRICaptureTaskUpdateEnd, stream);
}
void end_update(State& s) {
  if (!s.in.once_in(4)) return update_group(s);
  CALL(aclmdlRICaptureTaskUpdateEnd, stream_of(s));
}

constexpr Call kCalls[] = {
    {"aclmdlRICaptureBegin", begin_capture, 2},
    {"aclmdlRICaptureEnd", end_capture},
    {"aclmdlRICaptureGetInfo", capture_info},
    {"aclmdlRIExecuteAsync", execute},
    {"aclmdlRIExecute", execute_until, 4},
    {"aclmdlRIAbort", abort},
    {"aclmdlRISetName", set_name},
    {"aclmdlRIGetName", get_name},
    {"aclmdlRIDebugJsonPrint", write_graph, 16},
    {"aclmdlRICaptureThreadExchangeMode", exchange_mode},
    {"aclmdlRICaptureTaskGrpBegin", capture_group},
    {"aclmdlRICaptureTaskGrpEnd", end_group},
    {"aclmdlRICaptureTaskUpdateBegin", update_group},
    {"aclmdlRICaptureTaskUpdateEnd", end_update},
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
