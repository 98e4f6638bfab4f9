// SPDX-License-Identifier: Apache-2.0
// Which work is known to be done before which: a graph of streams, events and the host.
//
// A stream counts what is put into it. A point is a place in that order. A wait for an event is an
// edge to the point where the event was recorded. The host knows points through synchronisation,
// and whatever is launched later comes after them. All threads of the program count as one host,
// since how they wait for each other is not seen.
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
  Point append(int32_t stream) { return {stream, ++streams_[stream].count}; }
  Point end_of(int32_t stream) { return {stream, streams_[stream].count}; }
  // What is appended to the stream next comes after the point.
  void wait(int32_t stream, Point point);
  // The host knows that the point was reached.
  void host_saw(Point point);

  const Reached& host() const { return host_; }
  // What comes before whatever is appended to the stream next.
  Reached before_next(int32_t stream);

 private:
  struct Edge {
    uint64_t at;  // of the wait in its stream
    Point to;
  };
  struct Stream {
    uint64_t count = 0;
    std::vector<Edge> edges;
  };

  // Adds what comes before the point, and the point. What `reached` holds already is not walked.
  void walk(Point from, Reached& reached) const;

  std::map<int32_t, Stream> streams_;
  Reached host_;
};

}  // namespace softnpu::checkers
