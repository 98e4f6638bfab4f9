// SPDX-License-Identifier: Apache-2.0
// Where something happened: the call of the C API, and the program's call stack.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/call.h"
#include "base/export.h"

namespace softnpu::checkers {

// A known line of the program, or an address in a loaded file whose line is looked up later.
struct Frame {
  std::string function;
  std::string file;
  int64_t line = 0;      // 0: see `offset`
  uintptr_t offset = 0;  // the address in the file
};

// A captured call stack. Capturing is cheap: functions and files are looked up when a finding is
// written, and a stack that the thread has had before is found without unwinding it.
class Stack {
 public:
  static Stack here();
  // For a signal handler: the stack up to the instruction that raised the signal.
  static Stack of_signal(const void* instruction);
  // The frame alone that a call returns to.
  static Stack of_caller(void* return_address);
  // Innermost first, without the library's own frames.
  std::vector<Frame> frames() const;
  // Equal stacks have equal keys.
  std::string key() const;

 private:
  std::shared_ptr<const std::vector<void*>> addresses_;
  std::vector<const Frame*> known_;  // of an interpreter
};

// Whether it is an instruction of the library's own.
bool is_in_library(const void* instruction);

struct Site {
  // Empty for the program's own accesses, outside of any call.
  std::string_view function;
  std::vector<Argument> arguments;
  Stack stack;

  // "aclrtFree(devPtr=0x7f0012345640)"
  std::string text() const {
    return function.empty() ? "" : softnpu::text(function, "(", to_text(arguments), ")");
  }
};
using SharedSite = std::shared_ptr<const Site>;

// The site of this thread's current call. Captured at most once for each call, on request.
SharedSite current_site();

// Begin and end of a call on this thread. Calls may be nested, in callbacks.
void enter_call(const Call& call);
void leave_call();

// Replaces the native stack by an interpreter's, of frames that live as long as the process.
// Returns false if the interpreter has none.
using StackSource = bool (*)(std::vector<const Frame*>& out);
SOFTNPU_EXPORT void set_stack_source(StackSource source);

}  // namespace softnpu::checkers
