// SPDX-License-Identifier: Apache-2.0
// Between the checkers and the library that `softnpu check` preloads.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>

namespace softnpu {

// What the checkers learn of a program.
struct CheckedProgram {
  // The program sets or asks for its handler of SIGSEGV, as by sigaction().
  int (*set_fault_handler)(const struct sigaction* handler, struct sigaction* old);
  // A function failed with EFAULT. This is its buffer.
  void (*refused)(const char* function, const void* buffer, size_t size);
  // Whether it matters what the program frees: only if this is not 0.
  const std::atomic<size_t>* buffers;
  // The program frees, moves or unmaps memory.
  void (*freed)(const void* memory, size_t size);
};

// A function of the preloaded library: begins to report to the checkers. Returns the system's
// sigaction().
using WatchProgram = decltype (&sigaction) (*)(const CheckedProgram*);
constexpr const char* kWatchProgram = "softnpu_watch_program";

}  // namespace softnpu
