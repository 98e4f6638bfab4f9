// SPDX-License-Identifier: Apache-2.0
// Records where memory was allocated and freed, and where handles were created and destroyed.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/fork.h"
#include "base/handle_table.h"
#include "base/observer.h"
#include "checkers/findings.h"
#include "runtime/memory.h"

namespace softnpu::checkers {

struct Allocation {
  uintptr_t base;
  size_t size;
  runtime::Family family;
  uint64_t when;
  SharedSite made;
  bool is_librarys = false;    // which frees it
  SharedSite freed = nullptr;  // null while it lives
  uint64_t ended = 0;
};

class Ledger final : public Observer {
 public:
  Ledger() { keep_free_over_fork(*this, LockRank::innermost); }
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }
  void renew_in_forked_child() {
    std::construct_at(&mutex_);
    inherited_ = now_;
  }

  void allocated(runtime::Family family, const std::byte* base, size_t size) override;
  void releasing(runtime::Family family, const std::byte* base, size_t size) override;
  void handed_out(const std::byte* base) override;
  void created(HandleKind kind, const void* handle) override;
  void kept_by_library(const void* handle) override;
  void destroyed(HandleKind kind, const void* handle) override;
  void launched(const Piece& piece) override;
  void finished(const Piece& piece, const Status& status) override;

  // The allocation that contains the address, or contained it last.
  std::optional<Allocation> find(const void* address) const;
  // The allocation, or the one that was freed, that ends or begins next to the address.
  std::optional<Allocation> find_beside(const void* address) const;
  std::vector<Allocation> live() const;

  struct Handle {
    const void* handle;
    HandleKind kind;
    uint64_t when;
    SharedSite made;
    bool is_librarys = false;
  };
  std::vector<Handle> live_handles() const;
  // Grows with each allocation and each handle.
  uint64_t now() const;
  // The time before which, in a forked child, all objects belong to the parent.
  uint64_t inherited() const;
  // Where an unfinished piece was launched; null if it was not launched.
  SharedSite launch(const Piece& piece) const;
  // Where a live handle was created; null if it is none.
  SharedSite creation(const void* handle) const;
  // Where a handle was destroyed; null if it was not, or too long ago.
  SharedSite destruction(const void* handle) const;

 private:
  // The number of freed or destroyed objects that are remembered, beside those that a live object
  // may refer to.
  static constexpr size_t kMostKept = 10'000;

  mutable std::mutex mutex_;
  uint64_t now_ = 0;
  uint64_t inherited_ = 0;
  struct Destroyed {
    uint64_t when;  // of its creation
    uint64_t ended;
    SharedSite site;
  };
  template <class Ended>
  void make_room(Ended& ended, size_t& most) const;

  std::map<uintptr_t, Allocation> live_;   // by base
  std::map<uintptr_t, Allocation> freed_;  // by base
  std::map<const void*, Handle> handles_;
  std::map<const void*, Destroyed> destroyed_;
  size_t most_freed_ = kMostKept, most_destroyed_ = kMostKept;
  std::map<const Piece*, SharedSite> launches_;
};

Ledger& ledger();

// Adds to a finding where memory was allocated and, if so, freed.
void add_history(std::string_view memory, const Allocation& allocation, Finding& finding);
void add_history(std::string_view memory, const void* address, Finding& finding);

// The same for the memory and handles that the message names: arguments of the call, and of the
// executor that it launches.
void add_history_of_arguments(const Site& site, std::string_view message, Finding& finding);

// "16 bytes into an allocation of 64 bytes"; the address may also be before or behind it.
std::string place_in(const Allocation& allocation, const void* address);

}  // namespace softnpu::checkers
