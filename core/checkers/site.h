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

// A known line of the program, or an address in a loaded file, whose line is looked up later.
struct Frame {
  std::string function;
  std::string file;
  int64_t line = 0;      // 0: `offset` says where
  uintptr_t offset = 0;  // the address as the file has it
  bool operator==(const Frame&) const = default;
};

// A captured call stack. To capture one is cheap, because functions and files are looked up only
// when a finding is written.
class Stack {
 public:
  static Stack here();
  // Innermost first, without the library's own.
  std::vector<Frame> frames() const;
  // The same for equal stacks.
  std::string key() const;

 private:
  std::vector<void*> addresses_;
  std::vector<Frame> known_;  // of an interpreter
};

struct Site {
  // Empty where the program itself did something, outside of any call.
  std::string_view function;
  std::vector<Argument> arguments;
  Stack stack;

  // "aclrtFree(devPtr=0x7f0012345640)"
  std::string text() const {
    return function.empty() ? "" : softnpu::text(function, "(", to_text(arguments), ")");
  }
};
using SharedSite = std::shared_ptr<const Site>;

// The site of the call that this thread is in. Captured once for each call, and only if asked for.
SharedSite current_site();

// The bounds of a call on this thread. Calls may be nested: a callback makes some.
void enter_call(const Call& call);
void leave_call();

// Replaces the native stack by that of an interpreter. False where the interpreter has none.
using StackSource = bool (*)(std::vector<Frame>& out);
SOFTNPU_EXPORT void set_stack_source(StackSource source);

}  // namespace softnpu::checkers
