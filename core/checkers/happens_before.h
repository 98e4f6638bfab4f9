// SPDX-License-Identifier: Apache-2.0
// Which work is known to finish before other work: a vector clock for each stream and the host.
//
// Every item put into a stream is counted. A point is a position in a stream's order, with what it
// comes after in other streams because of the events that the stream has waited for.
// Synchronisation makes points known to the host, and all later launches come after them. All
// threads of the program count as one host, because their own synchronisation is not visible.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

namespace softnpu::checkers {

// The latest known point of each stream.
using Reached = std::map<int32_t, uint64_t>;

struct Point {
  int32_t stream;
  uint64_t at;
  std::shared_ptr<const Reached> behind = nullptr;  // of other streams; null for nothing
};

inline bool has_reached(const Reached& reached, const Point& point) {
  const auto found = reached.find(point.stream);
  return found != reached.end() && found->second >= point.at;
}

// Whether a point is `other`, or comes after it.
inline bool is_at_or_after(const Point& point, const Point& other) {
  if (point.stream == other.stream) return point.at >= other.at;
  return point.behind && has_reached(*point.behind, other);
}

class HappensBefore {
 public:
  Point append(int32_t stream);
  Point end_of(int32_t stream) const;
  // The next thing appended to the stream comes after the point.
  void wait(int32_t stream, const Point& point);
  void host_saw(const Point& point);
  // The host has seen the stream's end.
  void forget(int32_t stream);

  // The host knows all points of forgotten streams.
  bool host_knows(const Point& point) const { return host_knows(point.stream, point.at); }
  // Whether what is appended to the stream next comes after the point.
  bool is_before_next(const Point& point, int32_t stream) const {
    return host_knows(point) || is_at_or_after(end_of(stream), point);
  }

 private:
  struct Stream {
    uint64_t last = 0;
    std::shared_ptr<const Reached> behind = nullptr;
  };

  Stream& stream(int32_t id);
  bool host_knows(int32_t stream, uint64_t at) const;

  uint64_t count_ = 0;  // of all streams, so that new points of a forgotten stream are larger
  std::map<int32_t, Stream> streams_;
  Reached host_;
};

}  // namespace softnpu::checkers
