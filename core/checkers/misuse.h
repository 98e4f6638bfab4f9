// SPDX-License-Identifier: Apache-2.0
// What the device itself detects: calls that fail. Rules that indicate a certain bug belong to
// memcheck and synccheck, all others to apicheck.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <string_view>

#include "base/export.h"
#include "base/fork.h"
#include "base/observer.h"
#include "checkers/tools.h"

namespace softnpu::checkers {

// As what a call that breaks the rule is reported, as TOOL/KIND; "" if it is not.
SOFTNPU_EXPORT std::string finding_of(std::string_view rule);

class MisuseChecker final : public Observer {
 public:
  explicit MisuseChecker(Tools tools) : tools_(tools) {}

  void enter(const Call& call) override;
  void leave(const Call& call, const Status& status) override;
  void finished(const Piece& piece, const Status& status) override;
  void copies(const void* dst, const void* src, int32_t kind) override;

 private:
  void report_failure(const Status& status, SharedSite where, std::string_view role,
                      const Piece* piece);

  const Tools tools_;
  std::atomic<bool> reported_early_use_{false};
  ProcessMutex<> mutex_;
  std::set<std::string>
      reported_;  // failures of launched work; a synchronisation returns them again
};

}  // namespace softnpu::checkers
