// SPDX-License-Identifier: Apache-2.0
// Calls on arrays, for observers.
#pragma once

#include <span>
#include <string_view>

#include "base/observer.h"
#include "executor/operand.h"

namespace softnpu::python {

// Notifies observers that an operator begins and, by ended() or an exception, that it ends. Without
// observers it costs a test.
class Observed {
 public:
  Observed(std::string_view name, std::span<const Operand> operands) {
    if (is_observed()) [[unlikely]]
      begin(name, operands);
  }
  ~Observed() {
    if (piece_ != nullptr) [[unlikely]]
      end(fail("ended-by-exception"_rule, kRuntimeError, piece_->what, ": ended by an exception"));
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  void ended(const Status& status) {
    if (piece_ != nullptr) [[unlikely]]
      end(status);
  }

 private:
  void begin(std::string_view name, std::span<const Operand> operands);
  void end(const Status& status) noexcept;

  Piece* piece_ = nullptr;
};

}  // namespace softnpu::python
