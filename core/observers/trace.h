// SPDX-License-Identifier: Apache-2.0
// SOFTNPU_TRACE: a timeline for chrome://tracing and Perfetto. Threads and streams are tracks;
// arrows lead from launches to the work that they launched, and from events to the work that
// waited.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "observers/timed.h"
#include "observers/trace_file.h"

namespace softnpu::observers {

class Trace final : public Timed<Trace> {
 public:
  explicit Trace(TraceFile file) : file_(std::move(file)) {}

  void enter(const Call& call) override;
  void leave(const Call& call, const Status& status) override;
  void launched(const Piece& piece) override;
  void ran(const Piece& piece, const Status& status, const Span& span);
  void recorded(const void* mark, int32_t stream) override;
  void held_back(int32_t stream, const void* mark) override;

 private:
  struct Track {
    int64_t process;
    int64_t thread;

    auto operator<=>(const Track&) const = default;
  };
  // Work of a stream, from which arrows can begin.
  struct Work {
    int32_t stream;
    Span span = {0, 0};  // ends at 0 while unfinished
  };
  struct Launch {
    Track caller;
    int64_t time;
    std::shared_ptr<Work> work;
    std::vector<std::shared_ptr<const Work>> after;  // the work that it waited for, through events
  };
  struct Stream {
    std::shared_ptr<Work> last;
    std::vector<std::shared_ptr<const Work>> awaited;  // by the next launch
  };

  static Track this_thread();
  static Track track_of(int32_t stream);

  // Require the lock. introduced() returns the metadata of a new track.
  std::string introduced(const Track& track, const std::string& name);
  std::string arrow(const char* name, Track from, int64_t from_ns, Track to, int64_t to_ns);
  std::string arrows_to(const Launch& launch, const Span& span);

  const TraceFile file_;
  ProcessMutex<LockRank::innermost> mutex_;
  std::map<const Piece*, Launch> launches_;
  std::map<int32_t, Stream> streams_;
  std::map<const void*, std::shared_ptr<const Work>> marks_;
  std::set<Track> named_;
  int64_t arrows_ = 0;
};

}  // namespace softnpu::observers
