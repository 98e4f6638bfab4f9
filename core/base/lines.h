// SPDX-License-Identifier: Apache-2.0
// Where the library's own lines go: messages, the log, statistics, findings. They neither stop nor
// end the program: nothing waits long for a reader, or for a lock that the program may hold, as
// those of <cstdio> are.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace softnpu {

class OwnFile;

// A file, which is opened for each write, as programs may close and reuse any descriptor; or stdout
// or stderr. Lives as long as the process.
class Lines {
 public:
  static Lines& to_stdout();
  static Lines& to_stderr();
  // Null where the file cannot be written, which is said. `variable` names it.
  static Lines* to_file_of(const char* variable);

  // In one piece, so that threads and processes do not mix their lines. What cannot be written is
  // lost, and that is said: on stderr once, or of stderr's lines when it is read again.
  void write(std::string_view lines) noexcept;
  // 0, or the number of the error, with which nothing is said.
  int try_to_write(std::string_view lines) noexcept;

 private:
  constexpr Lines(const char* name, const char* path, int descriptor)
      : name_(name), path_(path), descriptor_(descriptor) {}

  const char* const name_;
  const char* const path_;  // absolute
  const int descriptor_;    // -1 for a file
  std::atomic<bool> lost_{false};
  std::atomic<bool> stalled_{false};  // nobody has read for a while, so that nothing waits
};

// Writes to stderr.
inline void print_to_stderr(std::string_view lines) noexcept { Lines::to_stderr().write(lines); }

// Writes to a file that is open: 0, or the number of the error that keeps the rest out.
int write_all(const OwnFile& file, std::string_view text) noexcept;

// The path in a variable, for a program that may change its folder.
std::string absolute_path(const char* path);

// For observers, which must not throw: what cannot be told is left out.
template <class Body>
void quietly(Body&& body) noexcept {
  try {
    body();
  } catch (...) {
  }
}

}  // namespace softnpu
