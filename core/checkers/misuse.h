// SPDX-License-Identifier: Apache-2.0
// memcheck and synccheck, the part that the device itself refuses: calls that fail by a rule that
// tells of a bug, not of a wrong argument alone.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/observer.h"
#include "checkers/tools.h"

namespace softnpu::checkers {

class MisuseChecker final : public Observer {
 public:
  explicit MisuseChecker(Tools tools);

  void enter(const Call& call) override { enter_call(call); }
  void leave(const Call& call, const Status& status) override;
  void launched(const Piece& piece) override;
  void finished(const Piece& piece, const Status& status) override;

 private:
  void tell(const Status& status, SharedSite where, std::string_view role, const Piece* piece);

  const Tools tools_;
  std::mutex mutex_;
  std::map<const Piece*, SharedSite> launches_;
  std::set<std::string> told_;  // failures of launched work, which a synchronisation returns, too
};

}  // namespace softnpu::checkers
