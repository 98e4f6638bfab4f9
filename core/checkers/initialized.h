// SPDX-License-Identifier: Apache-2.0
// initcheck: device memory that is read although nothing wrote it.
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
  void kept(const std::byte* base, size_t size) override;
  void started(const Piece& piece) override;

 private:
  // Bytes of one allocation that is watched.
  struct Bytes {
    Shadow* shadow;  // null where the memory is not watched
    size_t begin;
  };
  Bytes watched(const std::byte* address);
  // Calls `body` with the part of the bytes in each allocation that is watched, the first byte in
  // it, and the count, until it returns false or a byte is not watched; then it is false, too.
  template <class Body>
  bool for_each_part(const std::byte* first, size_t count, Body&& body);
  // The first byte that the access reads and nothing wrote; null where there is none.
  const std::byte* first_unwritten(const Access& access);
  void mark_written(const Access& access);
  // A copy within the device takes what is known of its bytes along.
  void copy_shadow(const Access& to, const Access& from);
  void report_read(const Piece& piece, SharedSite where, const Access& access,
                   const std::byte* byte) const;

  ProcessMutex<> mutex_;
  std::map<uintptr_t, Shadow> shadows_;  // by first address
};

}  // namespace softnpu::checkers
