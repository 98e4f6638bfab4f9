// SPDX-License-Identifier: Apache-2.0
// Which work is known to be done before which: a graph of streams, events and the host.
//
// Everything put into streams is counted. A point is a place in a stream's order. A wait for an
// event is an edge to the point where the event was recorded. The host knows points through
// synchronisation, and whatever is launched later comes after them. All threads of the program
// count as one host, since how they wait for each other is not seen.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace softnpu::checkers {

struct Point {
  int32_t stream;
  uint64_t at;
};

// How far each stream is known to have come.
using Reached = std::map<int32_t, uint64_t>;

inline bool has_reached(const Reached& reached, Point point) {
  const auto found = reached.find(point.stream);
  return found != reached.end() && found->second >= point.at;
}

class HappensBefore {
 public:
  // Puts something into a stream.
  Point append(int32_t stream) { return {stream, streams_[stream].last = ++count_}; }
  Point end_of(int32_t stream) const {
    const auto found = streams_.find(stream);
    return {stream, found != streams_.end() ? found->second.last : 0};
  }
  // The next thing appended to the stream comes after the point.
  void wait(int32_t stream, Point point);
  // The host knows that the point was reached.
  void host_saw(Point point);
  // The host has seen the stream's end, and nobody asks of what was in it until now.
  void forget(int32_t stream);

  // Streams that were forgotten have nothing that the host does not know.
  bool host_knows(Point point) const {
    return !streams_.contains(point.stream) || has_reached(host_, point);
  }
  // Whether the one waits for the other, which the host knows or is about to.
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
  // Adds the point and what comes before it, unless the host knows it, until `wanted` is reached.
  void walk(Point from, Reached& reached, Point wanted) const;

  uint64_t count_ = 0;  // of all streams, so that what comes to one that was forgotten is newer
  std::map<int32_t, Stream> streams_;
  Reached host_;
};

}  // namespace softnpu::checkers
