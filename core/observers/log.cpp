// SPDX-License-Identifier: Apache-2.0
#include "observers/log.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "observers/describe.h"

namespace softnpu::observers {
namespace {

// Threads poll for callbacks, so a timeout is not worth logging as a failure.
bool is_polling(const Call& call, const Status& status) {
  return call.function() == "aclrtProcessReport" && status.code() == kRtStreamSyncTimeout;
}

std::string line(const std::string& content) {
  return text("softnpu: ", in_one_line(content), "\n");
}

// With the rule, which `softnpu explain` explains.
std::string failure_line(std::string_view place, const Status& status) {
  return line(
      text("error ", status.code(), ": ", place, status.message(), " [", status.rule(), "]"));
}

}  // namespace

void Log::leave(const Call& call, const Status& status) {
  quietly([&] {
    if (level_ == LogLevel::debug)
      lines_.write(line(text("debug: ", call.function(), "(", to_text(call.arguments()), ") -> ",
                             status.code())));
    if (status.ok() || (is_polling(call, status) && level_ < LogLevel::info)) return;
    lines_.write(failure_line("", status));
  });
}

void Log::said(const AppMessage& message) {
  constexpr std::pair<LogLevel, const char*> kLevels[] = {{LogLevel::debug, "debug"},
                                                          {LogLevel::info, "info"},
                                                          {LogLevel::error, "warning"},
                                                          {LogLevel::error, "error"}};
  const size_t last = std::size(kLevels) - 1;
  const auto [level, name] = kLevels[std::min(static_cast<size_t>(message.level), last)];
  if (level_ < level) return;
  quietly([&] {
    lines_.write(line(text(name, ": ", message.function, " (", message.file, ":", message.line,
                           "): ", message.text)));
  });
}

void Log::write(const char* what, const Piece& piece) {
  if (level_ < LogLevel::info) return;
  quietly([&] {
    lines_.write(line(text("info: ", piece.what, " ", what, " in stream ", piece.stream, ": ",
                           described(piece))));
  });
}

void Log::finished(const Piece& piece, const Status& status) {
  // A call that waits for the work returns the failure itself.
  if (status.ok() || piece.stream == Piece::kHostThread) return;
  quietly([&] { lines_.write(failure_line(text("stream ", piece.stream, ": "), status)); });
}

}  // namespace softnpu::observers
