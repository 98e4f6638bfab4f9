// SPDX-License-Identifier: Apache-2.0
// racecheck, synccheck and the lifetime of memory in use: which work is ordered before which.
//
// Streams count their work. A clock says of each stream how much of it is known to be done. The
// host has one, which synchronisation brings forward; all threads of the program share it, since
// how they wait for each other is not seen. Each stream has one, too: what is done before its next
// work begins. An event carries the clock of the stream that recorded it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/observer.h"
#include "checkers/tools.h"
#include "tensor/tensor.h"

namespace softnpu::checkers {

class OrderChecker final : public Observer {
 public:
  explicit OrderChecker(Tools tools) : tools_(tools) {}

  void launched(const Piece& piece) override;
  void started(const Piece& piece) override;
  void releasing(runtime::Family family, const std::byte* base, size_t size) override;
  void recorded(const void* mark, int32_t stream) override;
  void held_back(int32_t stream, const void* mark) override;
  void saw_mark(const void* mark) override;
  void saw_end(int32_t stream) override;

 private:
  using Clock = std::map<int32_t, uint64_t>;

  struct StreamState {
    uint64_t count = 0;  // of its work
    Clock known;
  };
  // What work in a stream reads or writes.
  struct Record {
    std::string_view what;
    const char* name;
    bool writes;
    Tensor view;
    int32_t stream;
    uint64_t at;
    SharedSite site;
  };
  struct Conflict {
    Record earlier;
    Access later;
  };

  static void join(Clock& clock, const Clock& other);
  static bool is_known(const Clock& clock, const Record& record);
  Clock clock_of(int32_t stream);
  // Work that the access is in conflict with and that is not known to be done.
  std::vector<Conflict> conflicts(const Piece& piece, const Clock& known) const;
  void add_records(const Piece& piece, uint64_t at, const SharedSite& site);
  void forget_known(std::vector<Record>& records) const;
  void tell_race(const Piece& piece, const Conflict& conflict) const;
  void tell_host(const Piece& piece, const Conflict& conflict) const;
  void tell_unrecorded(std::string_view what) const;

  const Tools tools_;
  std::mutex mutex_;
  Clock host_;
  std::map<int32_t, StreamState> streams_;
  std::map<const void*, Clock> marks_;
  std::map<const Piece*, Clock> host_functions_;
  std::map<const void*, std::vector<Record>> records_;  // by allocation; null for other memory
};

}  // namespace softnpu::checkers
