// SPDX-License-Identifier: Apache-2.0
#include "checkers/happens_before.h"

#include <utility>

namespace softnpu::checkers {
namespace {

// A stream with more edges than this drops those that are no longer needed.
constexpr size_t kManyEdges = 64;

}  // namespace

void HappensBefore::wait(int32_t stream, Point point) {
  if (host_knows(point)) return;
  Stream& waiting = streams_[stream];
  if (waiting.edges.size() >= kManyEdges)
    std::erase_if(waiting.edges, [this](const Edge& edge) { return host_knows(edge.to); });
  waiting.edges.push_back({waiting.last = ++count_, point});
}

void HappensBefore::host_saw(Point point) {
  Reached reached;
  walk(point, reached, kNowhere);
  for (const auto& [stream, at] : reached) host_[stream] = at;
}

void HappensBefore::forget(int32_t stream) {
  streams_.erase(stream);
  host_.erase(stream);
}

bool HappensBefore::is_before_next(Point point, int32_t stream) const {
  if (host_knows(point)) return true;
  Reached reached;
  walk(end_of(stream), reached, point);
  return has_reached(reached, point);
}

bool HappensBefore::waits_for(Point later, Point earlier) const {
  Reached reached;
  walk(later, reached, earlier);
  return has_reached(reached, earlier);
}

void HappensBefore::walk(Point from, Reached& reached, Point wanted) const {
  std::vector<Point> left{from};
  while (!left.empty() && !has_reached(reached, wanted)) {
    const Point point = left.back();
    left.pop_back();
    const auto stream = streams_.find(point.stream);
    if (host_knows(point) || stream == streams_.end()) continue;
    uint64_t& known = reached[point.stream];
    if (known >= point.at) continue;
    const uint64_t before = std::exchange(known, point.at);
    for (const Edge& edge : stream->second.edges)
      if (edge.at > before && edge.at <= point.at) left.push_back(edge.to);
  }
}

}  // namespace softnpu::checkers
