// SPDX-License-Identifier: Apache-2.0
// Output of the library's own lines: messages, the log, statistics, findings. Writing never blocks
// or ends the program: it waits only briefly for a reader, and takes no lock of <cstdio>, which the
// program may hold.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace softnpu {

class OwnFile;

// stdout, stderr, or a file. A file is reopened for each write, because programs may close and
// reuse any descriptor. Lives as long as the process.
class Lines {
 public:
  static Lines& to_stdout();
  static Lines& to_stderr();
  // Opens the file that an environment variable names. Null if it cannot be written, which is
  // reported.
  static Lines* to_file_of(const char* variable);

  // Writes all lines at once, so that threads and processes do not mix their lines. Lines that
  // cannot be written are lost; this is reported once on stderr, or, for stderr itself, when it is
  // read again.
  void write(std::string_view lines) noexcept;
  // Returns 0 or the errno, and reports nothing.
  int try_to_write(std::string_view lines) noexcept;

 private:
  constexpr Lines(const char* name, const char* path, int descriptor)
      : name_(name), path_(path), descriptor_(descriptor) {}

  const char* const name_;
  const char* const path_;  // absolute
  const int descriptor_;    // -1 for a file
  std::atomic<bool> lost_{false};
  std::atomic<bool> stalled_{false};  // the last write timed out, so the next does not wait
};

inline void print_to_stderr(std::string_view lines) noexcept { Lines::to_stderr().write(lines); }

// Writes to an open file. Returns 0 or the errno that stopped it.
int write_all(const OwnFile& file, std::string_view text) noexcept;

// Makes the path absolute, because the program may change its working directory.
std::string absolute_path(const char* path);

// For observers, which must not throw: drops what cannot be reported.
template <class Body>
void quietly(Body&& body) noexcept {
  try {
    body();
  } catch (...) {
  }
}

}  // namespace softnpu
