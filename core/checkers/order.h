// SPDX-License-Identifier: Apache-2.0
// racecheck, synccheck and the lifetime of memory in use: accesses to the same bytes must be
// ordered, between streams and with the host.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/fork.h"
#include "base/observer.h"
#include "checkers/by_address.h"
#include "checkers/happens_before.h"
#include "checkers/tools.h"
#include "tensor/tensor.h"

namespace softnpu::checkers {

class OrderChecker final : public Observer {
 public:
  explicit OrderChecker(Tools tools);

  void launched(const Piece& piece) override;
  void captured(const Piece& piece, const CapturedPlace& place) override;
  void started(const Piece& piece) override;
  void destroyed(HandleKind kind, const void* handle) override;
  void releasing(runtime::Family family, const std::byte* base, size_t size) override;
  void recorded(const void* mark, int32_t stream) override;
  void held_back(int32_t stream, const void* mark) override;
  void resetting(const void* mark) override;
  void saw_mark(const void* mark) override;
  void saw_waits(const void* mark) override;
  void saw_end(int32_t stream) override;
  void finished(const Piece& piece, const Status& status) override;
  void calling(const void* mark) override;
  void called() override;

 private:
  struct Record {
    std::string_view what;
    const char* name;
    bool writes;
    Tensor view;
    Point point;
    SharedSite site;
  };
  using Records = ByAddress<Record>;
  struct Conflict {
    Record earlier;
    Access later;
  };

  struct Mark {
    Point point;
    bool is_reset = false;  // a later wait waits for nothing, at least if the stream is quick
    std::map<int32_t, Point> waits = {};  // of the streams that it holds back, the last of each
  };

  // Whether work waits for a function of the program's that has not ended. While a function holds a
  // stream, any thread may use what the work behind it will use.
  bool is_held(const Point& work) const;
  // Work that conflicts with the piece and is not known to be done.
  std::vector<Conflict> conflicts(const Piece& piece) const;
  template <class IsDone>
  static std::vector<Conflict> conflicts(const Piece& piece, const Records& all, IsDone is_done);
  static void add_records(const Piece& piece, const Point& point, const SharedSite& site,
                          Records& all);
  void forget_known();
  void forget_in_flight() const;
  void report_race(const Piece& piece, const Conflict& conflict) const;
  void report_host(const Piece& piece, const Conflict& conflict) const;
  void report_unrecorded() const;

  static constexpr size_t kMostRecords = 1000;

  const Tools tools_;
  ProcessMutex<> mutex_;
  HappensBefore order_;
  std::map<const void*, Mark> marks_;
  std::map<const void*, Point> functions_;  // that have not ended; by piece or mark
  Records records_;
  size_t most_records_ = kMostRecords;       // before those that the host knows are forgotten
  std::map<const void*, Records> captured_;  // by graph; points are places in the capture
};

}  // namespace softnpu::checkers
