// SPDX-License-Identifier: Apache-2.0
// Calls on arrays, as observers see them.
#pragma once

#include <span>
#include <string_view>

#include "base/observer.h"
#include "executor/operand.h"

namespace softnpu::python {

// Notifies observers of the begin of an operator and, in ended() or on an exception, of its end.
// Costs one test without observers.
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
