// SPDX-License-Identifier: Apache-2.0
#include "checkers/happens_before.h"

#include <algorithm>

namespace softnpu::checkers {
namespace {

void reach(Reached& reached, int32_t stream, uint64_t at) {
  uint64_t& latest = reached[stream];
  latest = std::max(latest, at);
}

}  // namespace

HappensBefore::Stream& HappensBefore::stream(int32_t id) {
  const auto [found, is_new] = streams_.try_emplace(id);
  if (is_new) host_[id] = count_;  // the points from before it was forgotten
  return found->second;
}

Point HappensBefore::append(int32_t id) {
  Stream& to = stream(id);
  to.last = ++count_;
  return {id, to.last, to.behind};
}

Point HappensBefore::end_of(int32_t id) const {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return {id, 0};
  return {id, found->second.last, found->second.behind};
}

void HappensBefore::wait(int32_t id, const Point& point) {
  if (host_knows(point)) return;
  Stream& waiting = stream(id);
  waiting.last = ++count_;
  if (is_at_or_after(end_of(id), point)) return;
  Reached behind = waiting.behind ? *waiting.behind : Reached{};
  reach(behind, point.stream, point.at);
  if (point.behind)
    for (const auto& [other, at] : *point.behind) reach(behind, other, at);
  std::erase_if(behind, [&](const auto& one) {
    return one.first == id || host_knows(one.first, one.second);
  });
  waiting.behind = std::make_shared<const Reached>(std::move(behind));
}

void HappensBefore::host_saw(const Point& point) {
  const auto see = [this](int32_t stream, uint64_t at) {
    if (streams_.contains(stream)) reach(host_, stream, at);
  };
  see(point.stream, point.at);
  if (point.behind)
    for (const auto& [stream, at] : *point.behind) see(stream, at);
}

void HappensBefore::forget(int32_t stream) {
  streams_.erase(stream);
  host_.erase(stream);
}

bool HappensBefore::host_knows(int32_t stream, uint64_t at) const {
  if (!streams_.contains(stream)) return true;
  const auto found = host_.find(stream);
  return found != host_.end() && found->second >= at;
}

}  // namespace softnpu::checkers
