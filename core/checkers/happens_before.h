// SPDX-License-Identifier: Apache-2.0
// A graph of streams, events and the host that decides which work is known to finish before other
// work.
//
// Every item put into a stream is counted. A point is a position in a stream's order. A wait for an
// event is an edge to the point where the event was recorded. Synchronisation makes points known to
// the host, and all later launches come after them. All threads of the program count as one host,
// because their own synchronisation is not visible.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace softnpu::checkers {

struct Point {
  int32_t stream;
  uint64_t at;
};

// The latest known point of each stream.
using Reached = std::map<int32_t, uint64_t>;

inline bool has_reached(const Reached& reached, Point point) {
  const auto found = reached.find(point.stream);
  return found != reached.end() && found->second >= point.at;
}

class HappensBefore {
 public:
  Point append(int32_t stream) { return {stream, streams_[stream].last = ++count_}; }
  Point end_of(int32_t stream) const {
    const auto found = streams_.find(stream);
    return {stream, found != streams_.end() ? found->second.last : 0};
  }
  // The next thing appended to the stream comes after the point.
  void wait(int32_t stream, Point point);
  void host_saw(Point point);
  // The host has seen the stream's end, and no earlier point of it is needed any more.
  void forget(int32_t stream);

  // The host knows all points of forgotten streams.
  bool host_knows(Point point) const {
    return !streams_.contains(point.stream) || has_reached(host_, point);
  }
  // Whether `later` waits for `earlier`; the host knows both, or is about to.
  bool waits_for(Point later, Point earlier) const;
  // Whether what is appended to the stream next comes after the point.
  bool is_before_next(Point point, int32_t stream) const;

 private:
  struct Edge {
    uint64_t at;  // of the wait in its stream
    Point to;
  };
  struct Stream {
    uint64_t last = 0;
    std::vector<Edge> edges;
  };

  static constexpr Point kNowhere{INT32_MIN, 0};
  // Adds the point and all points before it that the host does not know, until `wanted` is reached.
  void walk(Point from, Reached& reached, Point wanted) const;

  uint64_t count_ = 0;  // of all streams, so that new points of a forgotten stream are larger
  std::map<int32_t, Stream> streams_;
  Reached host_;
};

}  // namespace softnpu::checkers
