// SPDX-License-Identifier: Apache-2.0
#include "runtime/task_groups.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/lasting.h"
#include "runtime/capture.h"
#include "runtime/graph.h"

namespace softnpu::runtime {
namespace {

struct Group {
  std::weak_ptr<Graph> graph;
  std::vector<size_t> nodes;
};

struct Open {
  std::weak_ptr<Graph> graph;  // dead if its capture was given up
  size_t first = 0;
};

struct Update {
  std::shared_ptr<const Group> group;
  std::vector<Work> works = {};
};

struct TaskGroups {
  ProcessMutex<> mutex;
  std::map<const void*, std::shared_ptr<const Group>> groups;  // by handle, which is the address
  std::map<int32_t, Open> open;                                // by stream
  std::map<int32_t, Update> updates;                           // by stream
};

TaskGroups& task_groups() { return lasting<TaskGroups>; }

template <class... Parts>
Status misuse(const Parts&... parts) {
  return fail("task-group"_rule, kRtParamInvalid, parts...);
}

// Requires the lock. While streams have updates, launches must describe their accesses, as for a
// capture.
void set_updated(Stream& stream, bool updated) {
  stream.set_captured(updated);
  detail::capture_count.fetch_add(updated ? 1 : -1, std::memory_order_acq_rel);
}

}  // namespace

void forget_dead_groups() {
  std::lock_guard lock(task_groups().mutex);
  std::erase_if(task_groups().groups,
                [](const auto& each) { return each.second->graph.expired(); });
}

Status begin_task_group(const void* stream_handle) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  size_t length = 0;
  auto graph = captured_graph(*stream, length);
  if (!graph) return misuse("stream is not being captured: it is stream ", stream->id());
  std::lock_guard lock(task_groups().mutex);
  Open& open = task_groups().open[stream->id()];
  if (open.graph.lock() == graph)
    return misuse("stream ", stream->id(), " has a task group that has not ended");
  open = {graph, length};
  return {};
}

Status end_task_group(const void* stream_handle, void** out) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  if (out == nullptr) return fail("output-pointer-null"_rule, kRtParamInvalid, "handle is null");
  *out = nullptr;
  std::shared_ptr<Graph> graph;
  size_t first = 0;
  {
    std::lock_guard lock(task_groups().mutex);
    const auto found = task_groups().open.extract(stream->id());
    if (!found.empty()) graph = found.mapped().graph.lock(), first = found.mapped().first;
    if (!graph) return misuse("stream ", stream->id(), " has no task group that could end");
  }
  const auto group = std::make_shared<Group>();
  group->graph = graph;
  group->nodes = capture_group(*stream, *graph, first);
  if (group->nodes.empty())
    return misuse("the task group has no operator, copy or fill of stream ", stream->id());
  std::lock_guard lock(task_groups().mutex);
  task_groups().groups.emplace(group.get(), group);
  *out = group.get();
  return {};
}

Status begin_task_update(const void* stream_handle, const void* handle) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  RETURN_IF_FAILED(require_not_captured(*stream));
  std::lock_guard lock(task_groups().mutex);
  const auto found = task_groups().groups.find(handle);
  const auto graph = found == task_groups().groups.end() ? nullptr : found->second->graph.lock();
  if (!graph) return misuse("handle is not that of a task group, or its graph was destroyed");
  if (!graph->is_complete())
    return fail("graph-incomplete"_rule, kRtParamInvalid,
                "handle is of a graph that is still being captured; end the capture first "
                "(aclmdlRICaptureEnd)");
  task_groups().updates.insert_or_assign(stream->id(), Update{found->second});
  set_updated(*stream, true);
  return {};
}

Status end_task_update(const void* stream_handle) {
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(find_stream(stream_handle, stream));
  Update update;
  {
    std::lock_guard lock(task_groups().mutex);
    const auto found = task_groups().updates.extract(stream->id());
    if (found.empty()) return misuse("stream ", stream->id(), " has no update that could end");
    update = std::move(found.mapped());
    set_updated(*stream, false);
  }
  const auto graph = update.group->graph.lock();
  if (!graph) return misuse("the graph of the task group was destroyed");
  return graph->update(update.group->nodes, std::move(update.works));
}

bool take_for_update(const Stream& stream, Work& work) {
  std::lock_guard lock(task_groups().mutex);
  const auto found = task_groups().updates.find(stream.id());
  if (found == task_groups().updates.end()) return false;
  if (work.piece) work.piece = lasting_piece(*work.piece, stream);
  found->second.works.push_back(std::move(work));
  return true;
}

void drop_tasks(Stream& stream) {
  std::lock_guard lock(task_groups().mutex);
  task_groups().open.erase(stream.id());
  if (task_groups().updates.erase(stream.id()) > 0) set_updated(stream, false);
}

}  // namespace softnpu::runtime
