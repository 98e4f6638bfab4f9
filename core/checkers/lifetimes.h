// SPDX-License-Identifier: Apache-2.0
// leakcheck, and the lifetimes of handles: what is never freed, never launched, or gone too early.
#pragma once

#include <mutex>
#include <set>

#include "base/observer.h"
#include "checkers/tools.h"

namespace softnpu::checkers {

class LifetimeChecker final : public Observer {
 public:
  explicit LifetimeChecker(Tools tools);

  void captured(const Piece& piece, const CapturedPlace&) override { launched(piece); }
  void launched(const Piece& piece) override;
  void destroyed(HandleKind kind, const void* handle) override;
  void ending() override { tell_leaks(0); }
  // What is alive, was made after that moment of the ledger, and is to be gone by now.
  void tell_leaks(uint64_t since);

 private:
  void tell_leaked_memory(uint64_t since) const;
  void tell_leaked_handles(uint64_t since);

  const Tools tools_;
  std::mutex mutex_;
  std::set<const void*> launched_;  // executors that are alive
};

}  // namespace softnpu::checkers
