// SPDX-License-Identifier: Apache-2.0
// Lines for people and programs that read along.
#pragma once

#include <pthread.h>

#include <string>
#include <string_view>
#include <utility>

namespace softnpu::observers {

// Where lines go: to a file, which is opened for each of them, as programs may close and reuse any
// descriptor; or to stdout or stderr.
class Lines {
 public:
  static Lines to_stdout() { return Lines(1, {}); }
  static Lines to_stderr() { return Lines(2, {}); }
  // Says where the file cannot be written; lines go to stderr then. `variable` names it.
  static Lines to_file_of(const char* variable);

  // In one piece, so that threads and processes do not mix their lines. Never throws.
  void write(std::string_view line) const noexcept;

 private:
  Lines(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;  // absolute; "" for none
};

// A cancellation inside would unwind through functions that must not throw.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// The path in a variable, for a program that may change its folder.
std::string absolute_path(const char* path);

// Writes all of it, whatever signals come.
void write_all(int descriptor, std::string_view text) noexcept;

// For observers, which must not throw: what cannot be told is left out.
template <class Body>
void quietly(Body&& body) noexcept {
  try {
    body();
  } catch (...) {
  }
}

}  // namespace softnpu::observers
