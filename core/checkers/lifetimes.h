// SPDX-License-Identifier: Apache-2.0
// leakcheck, and the lifetimes of handles: leaked or unused objects, and tensors destroyed too
// early.
#pragma once

#include <atomic>
#include <set>

#include "base/fork.h"
#include "base/observer.h"
#include "checkers/tools.h"

namespace softnpu::checkers {

class LifetimeChecker final : public Observer {
 public:
  explicit LifetimeChecker(Tools tools) : tools_(tools) {}

  void captured(const Piece& piece, const CapturedPlace&) override { launched(piece); }
  void launched(const Piece& piece) override;
  void leave(const Call& call, const Status& status) override;
  void destroyed(HandleKind kind, const void* handle) override;
  void ending() override { report_leaks(0); }
  // Reports objects that were created after that moment of the ledger, and are still alive.
  void report_leaks(uint64_t since);

 private:
  void report_leaked_memory(uint64_t since) const;
  void report_leaked_handles(uint64_t since);

  const Tools tools_;
  ProcessMutex<> mutex_;
  std::set<const void*> launched_;         // executors that are alive
  std::atomic<uint64_t> last_failure_{0};  // the moment of the last call that failed
};

}  // namespace softnpu::checkers
