// SPDX-License-Identifier: Apache-2.0
// Which memory was allocated and freed where, and which handles were created and destroyed.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

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
  SharedSite freed = nullptr;  // null while it lives
};

class Ledger final : public Observer {
 public:
  Ledger();

  void allocated(runtime::Family family, const std::byte* base, size_t size) override;
  void releasing(runtime::Family family, const std::byte* base, size_t size) override;
  void created(HandleKind kind, const void* handle) override;
  void destroyed(HandleKind kind, const void* handle) override;

  // The allocation that contains the address, or the last one that did.
  std::optional<Allocation> find(const void* address) const;
  std::vector<Allocation> live() const;

  struct Handle {
    const void* handle;
    HandleKind kind;
    uint64_t when;
    SharedSite made;
  };
  std::vector<Handle> live_handles() const;
  // Grows with all that is made.
  uint64_t now() const;
  // What was made until then is the parent's, where this process is a forked child.
  uint64_t inherited() const;
  // Null unless it was destroyed, not too long ago.
  SharedSite destruction(const void* handle) const;

 private:
  mutable std::mutex mutex_;
  uint64_t now_ = 0;
  uint64_t inherited_ = 0;
  std::map<uintptr_t, Allocation> live_;   // by base
  std::map<uintptr_t, Allocation> freed_;  // by base
  std::map<const void*, Handle> handles_;
  std::map<const void*, SharedSite> destroyed_;
};

// The one that all checkers ask.
Ledger& ledger();

// Where memory was allocated, and freed if it was, as parts of a finding.
void add_history(std::string_view memory, const void* address, Finding& finding);

// The same for memory and handles among a call's arguments, as they stand in its text, that the
// message speaks of.
void add_history_of(std::string_view call, std::string_view message, Finding& finding);

// "16 bytes into an allocation of 64 bytes"
std::string place_in(const Allocation& allocation, const void* address);

}  // namespace softnpu::checkers
