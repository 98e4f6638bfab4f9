// SPDX-License-Identifier: Apache-2.0
// initcheck: detects reads of device memory that was never written.
#pragma once

#include <cstdint>
#include <map>

#include "base/fork.h"
#include "base/observer.h"
#include "checkers/shadow.h"
#include "checkers/site.h"

namespace softnpu::checkers {

class InitChecker final : public Observer {
 public:
  void allocated(runtime::Family family, const std::byte* base, size_t size) override;
  void releasing(runtime::Family family, const std::byte* base, size_t size) override;
  void kept(const std::byte* base, size_t) override { set_all(base, true); }
  void handed_out(const std::byte* base) override { set_all(base, false); }
  void started(const Piece& piece) override;

 private:
  // A position in the shadow of one tracked allocation.
  struct Bytes {
    Shadow* shadow;  // null if the memory is not tracked
    size_t begin;
  };
  Bytes watched(const std::byte* address);
  // Calls `body` with the shadow, the first byte and the count of the part in each allocation.
  // Stops and returns false if `body` returns false or a byte is not tracked.
  template <class Body>
  bool for_each_part(const std::byte* first, size_t count, Body&& body);
  // The first unwritten byte that the access reads; null if there is none.
  const std::byte* first_unwritten(const Access& access);
  void mark_written(const Access& access);
  // Lets a whole tracked allocation count as written, or as unwritten.
  void set_all(const std::byte* base, bool written);
  // Copies the written bits together with the bytes of a copy within the device.
  void copy_shadow(const Access& to, const Access& from);
  void report_read(const Piece& piece, SharedSite where, const Access& access,
                   const std::byte* byte) const;

  ProcessMutex<> mutex_;
  std::map<uintptr_t, Shadow> shadows_;  // by first address
};

}  // namespace softnpu::checkers
