// SPDX-License-Identifier: Apache-2.0
// The log: every failed call, and more on request.
#pragma once

#include <cstdint>

#include "base/lines.h"
#include "base/observer.h"

namespace softnpu::observers {

enum class LogLevel : uint8_t { off, error, info, debug };

class Log final : public Observer {
 public:
  Log(LogLevel level, Lines& lines) : level_(level), lines_(lines) {}

  void leave(const Call& call, const Status& status) override;
  void said(const AppMessage& message) override;
  void captured(const Piece& piece, const CapturedPlace&) override { write("captured", piece); }
  void launched(const Piece& piece) override { write("launched", piece); }
  void finished(const Piece& piece, const Status& status) override;

 private:
  void write(const char* what, const Piece& piece);

  LogLevel level_;
  Lines& lines_;
};

}  // namespace softnpu::observers
