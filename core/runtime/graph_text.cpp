// SPDX-License-Identifier: Apache-2.0
// Names and descriptions of graphs, for debugging.
#include <fcntl.h>

#include <cerrno>
#include <mutex>
#include <system_error>

#include "base/fork.h"
#include "base/lasting.h"
#include "base/lines.h"
#include "base/own_file.h"
#include "runtime/graph.h"

namespace softnpu::runtime {
namespace {

ProcessMutex<>& name_mutex() { return lasting<ProcessMutex<>>; }

std::string_view name_of(const GraphNode& node) {
  if (node.kind == GraphNode::Kind::mark) return "aclrtRecordEvent";
  if (node.kind == GraphNode::Kind::wait) return "aclrtStreamWaitEvent";
  return node.work.what;
}

// An event that trace viewers show: node i runs from second i to second i + 1.
std::string json_of(const GraphNode& node, size_t i) {
  constexpr size_t kSecond = 1000000;
  return text(R"({"name": )", quoted(name_of(node)), R"(, "ph": "X", "ts": )", i * kSecond,
              R"(, "dur": )", kSecond, R"(, "pid": 0, "tid": )", node.stream, "}");
}

}  // namespace

Status set_graph_name(const void* handle, const char* name) {
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(find_graph(handle, graph));
  if (name == nullptr) return fail("argument-null"_rule, kRtParamInvalid, "name is null");
  std::string copy = name;
  std::lock_guard lock(name_mutex());
  graph->name.swap(copy);
  return {};
}

Status graph_name(const void* handle, std::string& name) {
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(find_graph(handle, graph));
  std::lock_guard lock(name_mutex());
  name = graph->name;
  return {};
}

Status print_graph(const void* handle) {
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(find_graph(handle, graph));
  std::string name;
  RETURN_IF_FAILED(graph_name(handle, name));
  std::string lines = text("softnpu: graph ", quoted(name), ": ", graph->size(), " calls\n");
  for (size_t i = 0; i < graph->size(); ++i) {
    const GraphNode& node = graph->nodes()[i];
    lines += text("softnpu:   ", i + 1, ": ", name_of(node), " in stream ", node.stream, "\n");
  }
  print_to_stderr(lines);
  return {};
}

Status write_graph(const void* handle, const char* path) {
  std::shared_ptr<Graph> graph;
  RETURN_IF_FAILED(find_graph(handle, graph));
  if (path == nullptr) return fail("argument-null"_rule, kRtParamInvalid, "path is null");
  std::string events;
  for (size_t i = 0; i < graph->size(); ++i)
    events += text(i == 0 ? "\n" : ",\n", json_of(graph->nodes()[i], i));
  const OwnFile file(open_own(path, O_WRONLY | O_CREAT | O_TRUNC));
  int error = file.was_opened() ? 0 : errno;
  if (error == 0) error = write_all(file, text("[", events, "\n]\n"));
  if (error == 0) return {};
  return fail("graph-file"_rule, kRtParamInvalid, "path \"", path,
              "\" cannot be written: ", std::generic_category().message(error));
}

}  // namespace softnpu::runtime
