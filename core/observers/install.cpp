// SPDX-License-Identifier: Apache-2.0
#include "observers/install.h"

#include <cstring>
#include <iterator>

#include "base/environment.h"
#include "base/lines.h"
#include "observers/log.h"
#include "observers/stats.h"
#include "observers/trace.h"
#include "observers/verbose.h"

namespace softnpu::observers {
namespace {

bool wants_stdout() {
  const char* const given = setting("ASCEND_SLOG_PRINT_TO_STDOUT");
  return given != nullptr && std::strcmp(given, "1") == 0;
}

LogLevel log_level() {
  if (const char* const given = setting("SOFTNPU_LOG")) {
    constexpr const char* kNames[] = {"off", "error", "info", "debug"};
    for (size_t i = 0; i < std::size(kNames); ++i)
      if (std::strcmp(given, kNames[i]) == 0) return static_cast<LogLevel>(i);
    report_invalid_setting("SOFTNPU_LOG", "off, error, info or debug");
    return LogLevel::error;
  }
  // The toolkit's levels include warnings, of which there are none here.
  constexpr LogLevel kLevels[] = {LogLevel::debug, LogLevel::info, LogLevel::error, LogLevel::error,
                                  LogLevel::off};
  if (const auto level = number_setting("ASCEND_GLOBAL_LOG_LEVEL", 0, 4)) return kLevels[*level];
  const bool wants_some = setting("SOFTNPU_LOG_FILE") != nullptr || wants_stdout();
  return wants_some ? LogLevel::error : LogLevel::off;
}

Lines& log_lines() {
  if (setting("SOFTNPU_LOG_FILE") != nullptr) {
    Lines* const file = Lines::to_file_of("SOFTNPU_LOG_FILE");
    return file != nullptr ? *file : Lines::to_stderr();
  }
  return wants_stdout() ? Lines::to_stdout() : Lines::to_stderr();
}

void start_verbose() {
  const auto given = number_setting("SOFTNPU_VERBOSE", 0, 1);
  if (given == 1) observe(*new Verbose);
}

void start_trace() {
  const char* const path = setting("SOFTNPU_TRACE");
  if (path == nullptr) return;
  if (auto file = TraceFile::open(path))
    observe(*new Trace(std::move(*file)));
  else
    report_invalid_setting("SOFTNPU_TRACE",
                           "a file that can be written, and has only traces in it");
}

void start_stats() {
  const char* const path = setting("SOFTNPU_STATS");
  if (path == nullptr) return;
  const bool to_stderr = std::strcmp(path, "stderr") == 0;
  observe(*new Stats(to_stderr ? nullptr : Lines::to_file_of("SOFTNPU_STATS")));
}

}  // namespace

void start_as_asked() {
  const LogLevel level = log_level();
  if (level != LogLevel::off) observe(*new Log(level, log_lines()));
  start_verbose();
  start_stats();
  start_trace();
}

}  // namespace softnpu::observers
