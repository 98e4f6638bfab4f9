// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "acl/acl.h"
#include "base/fork.h"
#include "base/lasting.h"
#include "runtime/event.h"
#include "runtime/graph.h"
#include "runtime/memory.h"
#include "runtime/task_groups.h"

namespace softnpu::runtime {

std::atomic<int> detail::capture_count{0};

// Guarded by the lock of Captures.
class Capture {
 public:
  Capture(int32_t mode, const Stream& origin)
      : mode(mode), origin(origin.id()), graph(std::make_shared<Graph>(origin.owner().context)) {}

  struct Branch {
    std::shared_ptr<Stream> stream;
    uint64_t length = 0;
    Captured before = {};
  };

  Captured place(int32_t stream) const {
    Captured here = branches.at(stream).before;
    here[stream] = branches.at(stream).length;
    return here;
  }
  void add(int32_t stream, GraphNode node) {
    node.stream = stream;
    graph->add(std::move(node));
    ++branches.at(stream).length;
  }
  Status outcome() const;

  const int32_t mode;
  const int32_t origin;  // the stream that began it
  const uint64_t thread = static_cast<uint64_t>(pthread_self());
  const std::shared_ptr<Graph> graph;
  void* handle = nullptr;  // the graph's
  std::map<int32_t, Branch> branches;
  Status failure;
};

// The capture's own failure, or that of a stream whose last work the origin did not wait for.
Status Capture::outcome() const {
  if (!failure.ok()) return failure;
  const Captured end = place(origin);
  for (const auto& [id, branch] : branches) {
    const auto found = end.find(id);
    if (branch.length == 0 || (found != end.end() && found->second >= branch.length)) continue;
    return fail("capture-joined"_rule, kRtParamInvalid, "stream ", id,
                " joined the capture of stream ", origin,
                ", which does not wait for its last work; record an event in stream ", id,
                " and let stream ", origin, " wait for it before the capture ends");
  }
  return {};
}

namespace {

struct Captures {
  ProcessMutex<LockRank::outer> mutex;
  std::map<int32_t, std::shared_ptr<Capture>> by_stream;
};

Captures& captures() { return lasting<Captures>; }

thread_local constinit int32_t thread_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

Status check_mode(int32_t mode) {
  if (mode >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
    return {};
  return fail("capture-mode"_rule, kRtParamInvalid, "mode is ", mode,
              "; it must be one of aclmdlRICaptureMode, 0 to 2");
}

// Whether the capture forbids the calling thread to change memory immediately.
bool forbids(const Capture& capture) {
  const bool is_own = capture.thread == static_cast<uint64_t>(pthread_self());
  if (thread_mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return false;
  if (is_own) return capture.mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  return capture.mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
         thread_mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
}

// Requires the lock. Null if the stream is not captured.
std::shared_ptr<Capture> capture_of(const Stream& stream) {
  const auto found = captures().by_stream.find(stream.id());
  return found == captures().by_stream.end() ? nullptr : found->second;
}

// Requires the lock.
void enter(const std::shared_ptr<Capture>& capture, const std::shared_ptr<Stream>& stream) {
  const auto place = captures().by_stream.emplace(stream->id(), capture).first;
  try {
    capture->branches.emplace(stream->id(), Capture::Branch{stream});
  } catch (...) {
    captures().by_stream.erase(place);
    throw;
  }
  stream->set_captured(true);
}

// Requires the lock. The capture's streams run new launches again.
void close_capture(const Capture& capture) {
  for (const auto& [id, branch] : capture.branches) {
    branch.stream->set_captured(false);
    captures().by_stream.erase(id);
  }
  detail::capture_count.fetch_sub(1, std::memory_order_release);
}

Status is_captured_already(const Stream& stream) {
  return fail("captured-already"_rule, kRtParamInvalid,
              "stream is being captured already: it is stream ", stream.id());
}

const char* mode_name(int32_t mode) {
  return mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL ? "ACL_MODEL_RI_CAPTURE_MODE_GLOBAL (0)"
                                                  : "ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL (1)";
}

}  // namespace

Status begin_capture(const void* stream_handle, int32_t mode) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  RETURN_IF_FAILED(check_mode(mode));
  if (stream->is_captured()) return is_captured_already(*stream);
  auto capture = std::make_shared<Capture>(mode, *stream);
  capture->handle = insert_graph(capture->graph);
  if (capture->handle == nullptr)
    return fail("handle-limit"_rule, kRtResourceAllocFail, "too many graphs are alive");
  struct EraseAtEnd {
    const void* handle;
    ~EraseAtEnd() {
      if (handle != nullptr) erase_graph(handle);
    }
  } unused{capture->handle};
  std::lock_guard lock(captures().mutex);
  if (capture_of(*stream)) return is_captured_already(*stream);
  enter(capture, stream);
  detail::capture_count.fetch_add(1, std::memory_order_release);
  unused.handle = nullptr;
  return {};
}

Status end_capture(const void* stream_handle, void** out) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  if (out == nullptr) return fail("handle-null"_rule, kRtParamInvalid, "modelRI is null");
  std::shared_ptr<Capture> capture;
  Status outcome;
  {
    std::lock_guard lock(captures().mutex);
    capture = capture_of(*stream);
    if (!capture)
      return fail("not-captured"_rule, kRtParamInvalid,
                  "stream is not being captured: it is stream ", stream->id());
    if (capture->origin != stream->id())
      return fail("capture-joined"_rule, kRtParamInvalid, "stream is stream ", stream->id(),
                  ", which joined the capture of stream ", capture->origin,
                  "; end the capture there");
    outcome = capture->outcome();
    if (outcome.ok()) capture->graph->complete();
    close_capture(*capture);
  }
  *out = outcome.ok() ? capture->handle : nullptr;
  if (outcome.ok()) return {};
  erase_graph(capture->handle);
  capture.reset();
  forget_dead_groups();
  return outcome;
}

Status capture_info(const void* stream_handle, int32_t& status, void*& graph) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(*stream);
  status = !capture                ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
           : capture->failure.ok() ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE
                                   : ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
  graph = capture ? capture->handle : nullptr;
  return {};
}

Status exchange_thread_mode(int32_t& mode) {
  RETURN_IF_FAILED(check_mode(mode));
  std::swap(mode, thread_mode);
  return {};
}

// A description of captured work. The tensors and the executor may be destroyed before it runs.
std::shared_ptr<const Piece> lasting_piece(const Piece& piece, const Stream& stream) {
  const auto lasting = std::make_shared<Piece>(piece);
  lasting->stream = stream.id();
  lasting->executor = nullptr;
  lasting->began = 0;  // it runs when the graph does
  for (Access& access : lasting->accesses) access.tensor = nullptr;
  return lasting;
}

bool capture(const Stream& stream, Work& work) {
  std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(stream);
  if (!capture) return take_for_update(stream, work);
  if (work.piece) {
    Piece launched = *work.piece;
    launched.stream = stream.id();
    notify(&Observer::captured, launched,
           CapturedPlace{capture->handle, capture->place(stream.id())});
    work.piece = lasting_piece(launched, stream);
  }
  const auto kind = work.hosted ? GraphNode::Kind::host_function : GraphNode::Kind::piece;
  capture->add(stream.id(), {kind, std::move(work), nullptr, memory_time()});
  return true;
}

std::shared_ptr<Graph> captured_graph(const Stream& stream, size_t& length) {
  std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(stream);
  if (!capture) return nullptr;
  length = capture->graph->size();
  return capture->graph;
}

std::vector<size_t> capture_group(const Stream& stream, const Graph& graph, size_t first) {
  std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(stream);
  if (!capture || capture->graph.get() != &graph) return {};
  return capture->graph->make_group(first, stream.id());
}

bool capture_wait(const Stream& stream, const std::shared_ptr<Event>& event) {
  std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(stream);
  if (capture) capture->add(stream.id(), {GraphNode::Kind::wait, {}, event});
  return capture != nullptr;
}

std::shared_ptr<const CapturedMark> capture_mark(const Stream& stream,
                                                 const std::shared_ptr<Event>& event) {
  std::lock_guard lock(captures().mutex);
  const auto capture = capture_of(stream);
  if (!capture) return nullptr;
  auto mark = std::make_shared<CapturedMark>(
      CapturedMark{capture, stream.id(), capture->place(stream.id())});
  ++mark->before.at(stream.id());  // the mark itself
  capture->add(stream.id(), {GraphNode::Kind::mark, {}, event});
  return mark;
}

Status join_capture(const std::shared_ptr<Stream>& stream, const CapturedMark& mark) {
  const auto wanted = mark.capture.lock();
  std::lock_guard lock(captures().mutex);
  if (!wanted || !captures().by_stream.contains(wanted->origin) ||
      captures().by_stream.at(wanted->origin) != wanted)
    return fail("event-captured"_rule, kRtParamInvalid,
                "event was recorded in a capture of stream ", mark.stream,
                ", which has ended: no stream reaches it until the graph is executed");
  const auto current = capture_of(*stream);
  if (current && current != wanted)
    return fail("event-captured"_rule, kRtParamInvalid,
                "event was recorded in a capture that stream ", wanted->origin,
                " began, but stream ", stream->id(), " is in the capture of stream ",
                current->origin);
  if (!current && stream->owner().context != wanted->graph->context())
    return fail("event-captured"_rule, kRtStreamContext,
                "event was recorded in a capture of another context");
  Captured before = current ? wanted->branches.at(stream->id()).before : Captured();
  for (const auto& [id, length] : mark.before) before[id] = std::max(before[id], length);
  if (!current) enter(wanted, stream);
  wanted->branches.at(stream->id()).before.swap(before);
  return {};
}

size_t drop_capture(const Stream& stream) {
  if (!stream.is_captured()) return 0;
  std::shared_ptr<Capture> capture;
  {
    std::lock_guard lock(captures().mutex);
    capture = capture_of(stream);
    if (!capture) return 0;
    if (capture->origin != stream.id()) {
      if (capture->failure.ok())
        capture->failure = fail("capture-broken"_rule, kRtParamInvalid, "stream ", stream.id(),
                                ", which had joined the capture, was destroyed");
      const auto branch = capture->branches.extract(stream.id());
      captures().by_stream.erase(stream.id());
      branch.mapped().stream->set_captured(false);
      return branch.mapped().length;
    }
    close_capture(*capture);
  }
  erase_graph(capture->handle);
  return capture->graph->size();
}

Status require_not_captured(const Stream& stream) {
  if (!stream.is_captured()) [[likely]]
    return {};
  return fail("stream-captured"_rule, kRtParamInvalid, "stream ", stream.id(),
              " is being captured: its work is recorded and does not run, so that this call cannot "
              "be served; end the capture first (aclmdlRICaptureEnd)");
}

Status detail::ask_captures() {
  std::lock_guard lock(captures().mutex);
  for (const auto& [id, capture] : captures().by_stream) {
    if (forbids(*capture))
      return fail("forbidden-in-capture"_rule, kRtParamInvalid, "stream ", capture->origin,
                  " is being captured in mode ", mode_name(capture->mode),
                  ", which forbids this call: it would run at once and not be captured; use the "
                  "asynchronous function, or ACL_MODEL_RI_CAPTURE_MODE_RELAXED (2)");
  }
  return {};
}

}  // namespace softnpu::runtime
