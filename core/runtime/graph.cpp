// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>

#include "base/fork.h"
#include "base/handle_table.h"
#include "base/lasting.h"
#include "runtime/capture.h"
#include "runtime/memory.h"
#include "runtime/task_groups.h"

namespace softnpu::runtime {
namespace {

constexpr std::string_view kExecute = "aclmdlRIExecuteAsync";

using Graphs = HandleTable<Graph, HandleKind::graph>;
using UpdateMutex = ProcessMutex<>;

Graphs& graphs() { return lasting<Graphs>; }

// The node that this thread runs, if any, and when its graph's memory was last checked.
struct Running {
  const GraphNode* node = nullptr;
  uint64_t checked = 0;
};
thread_local constinit Running running;

bool is_empty(const Access& access) {
  return std::ranges::find(access.sizes, 0) != access.sizes.end();
}

// Bytes from the first element to the end of the last one.
size_t reach_of(const Access& access) {
  int64_t last = 0;
  for (size_t i = 0; i < access.sizes.size(); ++i)
    last += (access.sizes[i] - 1) * access.strides[i];
  return static_cast<size_t>((last + 1) * item_size(access.dtype));
}

// At a reserved address, memory that was mapped after the capture may be used. All other memory
// must be that of the capture.
Status check_memory_of(const GraphNode& node) {
  if (!node.work.piece) return {};
  for (const Access& access : node.work.piece->accesses) {
    if (is_empty(access)) continue;
    const uint64_t time = find_reservation(access.first) ? kNow : node.time;
    RETURN_IF_FAILED(check_range(access.name, access.first, reach_of(access), time));
  }
  return {};
}

// The pieces of one execution, for observers, which identify them by their addresses.
std::shared_ptr<std::vector<Piece>> launched_pieces(std::span<const GraphNode> nodes,
                                                    const Stream& stream) {
  if (!is_observed()) [[likely]]
    return nullptr;
  auto pieces = std::make_shared<std::vector<Piece>>();
  pieces->reserve(nodes.size());
  for (const GraphNode& each : nodes) {
    const auto node = newest(each);
    Piece& piece = pieces->emplace_back(node->work.piece ? *node->work.piece : Piece{});
    piece.stream = stream.id();
    if (node->work.piece) notify(&Observer::launched, piece);
  }
  return pieces;
}

}  // namespace

void Graph::complete() {
  std::vector<Segment> segments;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const bool joins = i > 0 && nodes_[i].kind == GraphNode::Kind::piece &&
                       nodes_[i - 1].kind == GraphNode::Kind::piece;
    if (joins)
      segments.back().last = i + 1;
    else
      segments.push_back({i, i + 1});
  }
  segments_ = std::move(segments);
  complete_.store(true, std::memory_order_release);
}

std::shared_ptr<const GraphNode> newest(const GraphNode& node) {
  const std::shared_ptr<const GraphNode> own(std::shared_ptr<void>(), &node);
  if (!node.in_group) return own;
  std::lock_guard lock(lasting<UpdateMutex>);
  return node.updated ? node.updated : own;
}

std::vector<size_t> Graph::make_group(size_t first, int32_t stream) {
  std::vector<size_t> group;
  for (size_t i = first; i < nodes_.size(); ++i) {
    if (nodes_[i].stream != stream || nodes_[i].kind != GraphNode::Kind::piece) continue;
    group.push_back(i);
    nodes_[i].in_group = true;
  }
  return group;
}

Status Graph::update(const std::vector<size_t>& group, std::vector<Work> works) {
  if (works.size() != group.size())
    return fail("task-group"_rule, kRtParamInvalid, "the update has ", works.size(),
                " tasks, but the task group has ", group.size());
  std::vector<std::shared_ptr<const GraphNode>> updated;
  for (size_t i = 0; i < group.size(); ++i) {
    const GraphNode& node = nodes_[group[i]];
    if (works[i].what != node.work.what)
      return fail("task-group"_rule, kRtParamInvalid, "task ", i + 1, " of the update is ",
                  works[i].what, ", but that of the task group is ", node.work.what);
    updated.push_back(std::make_shared<const GraphNode>(
        GraphNode{node.kind, std::move(works[i]), nullptr, memory_time(), node.stream}));
  }
  std::lock_guard lock(lasting<UpdateMutex>);
  for (size_t i = 0; i < group.size(); ++i) nodes_[group[i]].updated.swap(updated[i]);
  checked_.store(0, std::memory_order_release);
  return {};
}

Status Graph::check_memory() const {
  const uint64_t now = memory_time();  // before the checks, so that no release is missed
  if (checked_.load(std::memory_order_acquire) == now) return {};
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto node = newest(nodes_[i]);
    const Status status = check_memory_of(*node);
    if (!status.ok())
      return status.in(text(node->work.what, ", number ", i + 1, " of the ", nodes_.size(),
                            " that modelRI captured"));
  }
  checked_.store(now, std::memory_order_release);
  return {};
}

Status Graph::run(Segment segment, const std::vector<Piece>* pieces) const {
  RETURN_IF_FAILED(check_memory());
  const struct AtEnd {
    ~AtEnd() { running = {}; }
  } at_end;
  const uint64_t checked = checked_.load(std::memory_order_relaxed);
  Status failure;
  for (size_t i = segment.first; i < segment.last; ++i) {
    const auto node = newest(nodes_[i]);
    running = {node.get(), checked};
    const Work& work = node->work;
    Status status = run_work(work, pieces && work.piece ? &(*pieces)[i - segment.first] : nullptr);
    if (!status.ok() && failure.ok()) failure = std::move(status);
  }
  return failure;
}

Status Graph::check_not_aborted(uint64_t aborts) const {
  if (aborts_.load(std::memory_order_acquire) == aborts) return {};
  return fail("work-dropped"_rule, kRtInternalError,
              "modelRI was aborted (aclmdlRIAbort) before this execution was done");
}

Work Graph::segment_work(const std::shared_ptr<const Graph>& graph, Segment segment,
                         const Stream& stream) {
  const std::span nodes = std::span(graph->nodes_).subspan(segment.first, segment.size());
  auto pieces = launched_pieces(nodes, stream);
  const uint64_t aborts = graph->aborts_.load(std::memory_order_acquire);
  if (nodes.front().kind == GraphNode::Kind::host_function) {
    const Work& function = nodes.front().work;
    const Piece* const piece = pieces ? &pieces->front() : nullptr;
    Task task = [graph, &function, aborts]() -> Status {
      RETURN_IF_FAILED(graph->check_not_aborted(aborts));
      return function.run();
    };
    return {std::move(task), function.what, nullptr,
            nullptr,         true,          std::shared_ptr<const Piece>(pieces, piece)};
  }
  Task task = [graph, segment, pieces, aborts]() -> Status {
    RETURN_IF_FAILED(graph->check_not_aborted(aborts));
    return graph->run(segment, pieces.get());
  };
  return {std::move(task), kExecute, nullptr, nullptr};
}

Status Graph::execute(const std::shared_ptr<const Graph>& graph,
                      const std::shared_ptr<Stream>& stream) {
  RETURN_IF_FAILED(graph->check_memory());
  std::vector<Work> works;
  std::vector<Event::Mark> marks;
  for (const Segment& segment : graph->segments_) {
    const GraphNode& first = graph->nodes_[segment.first];
    if (first.kind == GraphNode::Kind::mark) {
      marks.push_back({works.size(), first.event, std::make_shared<Recording>(stream)});
      works.push_back(Event::record_work(marks.back().recording));
      notify(&Observer::recorded, marks.back().recording.get(), stream->id());
    } else if (first.kind == GraphNode::Kind::wait) {
      std::optional<Work> wait;
      RETURN_IF_FAILED(first.event->wait_work(*stream, wait));
      if (wait) works.push_back(std::move(*wait));
    } else {
      works.push_back(segment_work(graph, segment, *stream));
    }
  }
  return works.empty() ? Status() : Event::submit(*stream, std::move(works), marks);
}

std::optional<Status> check_by_graph(uint64_t now) {
  // A launch that overlapped with the begin of a capture may have no piece.
  if (running.node == nullptr || !running.node->work.piece) return std::nullopt;
  return running.checked == now ? Status() : check_memory_of(*running.node);
}

Status find_graph(const void* handle, std::shared_ptr<Graph>& out) {
  out = graphs().find(handle);
  if (!out) return dead_handle("modelRI", handle, HandleKind::graph);
  if (out->is_complete()) return {};
  return fail("graph-incomplete"_rule, kRtParamInvalid,
              "modelRI is still being captured; end the capture first (aclmdlRICaptureEnd)");
}

void* insert_graph(std::shared_ptr<Graph> graph) { return graphs().insert(std::move(graph)); }

void erase_graph(const void* handle) { graphs().erase(handle); }

Status execute_graph(const void* handle, const void* stream_handle) {
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(find_graph(handle, graph));
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  RETURN_IF_FAILED(require_not_captured(*stream));
  if (graph->context() != stream->owner().context)
    return fail("graph-of-other-context"_rule, kRtStreamContext,
                "modelRI was captured in another context than that of stream");
  return Graph::execute(graph, stream);
}

Status execute_graph_until(const void* handle, const Deadline& deadline) {
  RETURN_IF_FAILED(execute_graph(handle, nullptr));
  return synchronize_stream(nullptr, deadline);
}

Status abort_graph(const void* handle) {
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(find_graph(handle, graph));
  graph->abort();
  return {};
}

Status destroy_graph(const void* handle) {
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(find_graph(handle, graph));
  if (!graphs().erase(handle)) return dead_handle("modelRI", handle, HandleKind::graph);
  graph.reset();
  forget_dead_groups();
  return {};
}

}  // namespace softnpu::runtime
