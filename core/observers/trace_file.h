// SPDX-License-Identifier: Apache-2.0
// A file with a JSON array of events, complete after each write, however the program ends.
#pragma once

#include <optional>
#include <string>

namespace softnpu::observers {

class TraceFile {
 public:
  // Null when it cannot be written, or holds something else.
  static std::optional<TraceFile> open(const char* path);

  // Adds events, which are separated by ",\n". Several processes may.
  void append(const std::string& events) const noexcept;

 private:
  explicit TraceFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace softnpu::observers
