// SPDX-License-Identifier: Apache-2.0
// A JSON array of events in a file, valid after each write, even if the program crashes.
#pragma once

#include <optional>
#include <string>

namespace softnpu::observers {

class TraceFile {
 public:
  // Nothing if the file cannot be written or is not a trace.
  static std::optional<TraceFile> open(const char* path);

  // Appends events, which are separated by ",\n". Several processes may write to the file.
  void append(const std::string& events) const noexcept;

 private:
  explicit TraceFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace softnpu::observers
