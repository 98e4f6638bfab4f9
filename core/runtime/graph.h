// SPDX-License-Identifier: Apache-2.0
// Graphs: captured work that can be executed any number of times.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/export.h"
#include "base/status.h"
#include "runtime/event.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "runtime/work.h"

namespace softnpu::runtime {

struct GraphNode {
  enum class Kind : uint8_t { piece, host_function, mark, wait };

  Kind kind;
  Work work;                               // of pieces and host functions
  std::shared_ptr<Event> event = nullptr;  // of marks and waits
  uint64_t time = 0;                       // when the piece's memory was allocated
  int32_t stream = 0;                      // the id of the stream that captured it
  // For nodes of a task group: what an update has put in its place. Read it by newest().
  bool in_group = false;
  std::shared_ptr<const GraphNode> updated = nullptr;
};

// The node itself, or what an update has put in its place.
std::shared_ptr<const GraphNode> newest(const GraphNode& node);

// Nodes run in the order of their capture, whatever their streams were, because a node is captured
// after all nodes that it depends on.
class Graph {
 public:
  // Streams of this context may execute the graph.
  explicit Graph(void* context) : context_(context) {}

  void* context() const { return context_; }
  size_t size() const { return nodes_.size(); }
  bool is_complete() const { return complete_.load(std::memory_order_acquire); }

  // Called by the capture, under its lock.
  void add(GraphNode node) { nodes_.push_back(std::move(node)); }
  void complete();

  // Called by the capture, under its lock: the pieces from `first` on that the stream captured.
  // They can be updated.
  std::vector<size_t> make_group(size_t first, int32_t stream);
  // Replaces the pieces of a group, by works of the same functions. Fails and changes nothing if
  // they are not the same.
  Status update(const std::vector<size_t>& group, std::vector<Work> works);

  // Executions that were launched before run no more work, and fail.
  void abort() { aborts_.fetch_add(1, std::memory_order_acq_rel); }

  static Status execute(const std::shared_ptr<const Graph>& graph,
                        const std::shared_ptr<Stream>& stream);

  const std::vector<GraphNode>& nodes() const { return nodes_; }

  std::string name;  // guarded by a lock of graph_text.cpp

 private:
  // Nodes that become one piece of a stream's work: consecutive pieces, or one node of another
  // kind.
  struct Segment {
    size_t first;
    size_t last;  // exclusive
    size_t size() const { return last - first; }
  };

  static Work segment_work(const std::shared_ptr<const Graph>& graph, Segment segment,
                           const Stream& stream);
  // Fails if memory of a node was freed since it was captured.
  Status check_memory() const;
  Status check_not_aborted(uint64_t aborts) const;
  // Runs all pieces, unless memory was freed. Returns the first failure. `pieces` are for
  // observers.
  Status run(Segment segment, const std::vector<Piece>* pieces) const;

  void* const context_;
  std::vector<GraphNode> nodes_;
  std::vector<Segment> segments_;
  std::atomic<bool> complete_{false};
  std::atomic<uint64_t> aborts_{0};
  mutable std::atomic<uint64_t> checked_{0};  // when all memory was known to be allocated
};

// Fails if the handle is not that of a graph whose capture has ended.
Status find_graph(const void* handle, std::shared_ptr<Graph>& out);
// Null if there are too many graphs.
void* insert_graph(std::shared_ptr<Graph> graph);
void erase_graph(const void* handle);

// Rechecks the memory of the node that this thread runs; nothing if it runs no graph.
SOFTNPU_EXPORT std::optional<Status> check_by_graph(uint64_t now);

// For queued work whose memory was allocated at `time`: fails if some was freed since. `check`
// decides, or, for nodes of a graph, the graph, which allows memory to be mapped again.
template <class Check>
Status recheck_memory(uint64_t time, const Check& check) {
  const uint64_t now = memory_time();
  if (now == time) return {};
  auto outcome = check_by_graph(now);
  return outcome ? *std::move(outcome) : check();
}

SOFTNPU_EXPORT Status execute_graph(const void* handle, const void* stream_handle);
// In the default stream, and waits for it.
SOFTNPU_EXPORT Status execute_graph_until(const void* handle, const Deadline& deadline);
SOFTNPU_EXPORT Status abort_graph(const void* handle);
SOFTNPU_EXPORT Status set_graph_name(const void* handle, const char* name);
SOFTNPU_EXPORT Status graph_name(const void* handle, std::string& name);
// A line for each captured call, or a JSON file that trace viewers read.
SOFTNPU_EXPORT Status print_graph(const void* handle);
SOFTNPU_EXPORT Status write_graph(const void* handle, const char* path);
// Executions that were launched before still run.
SOFTNPU_EXPORT Status destroy_graph(const void* handle);

}  // namespace softnpu::runtime
