// SPDX-License-Identifier: Apache-2.0
// Where something happened: the call of the C API, and the program's call stack.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/call.h"
#include "base/export.h"

namespace softnpu::checkers {

// A line of the program that is known, or an address in a loaded file that is yet to be looked up.
struct Frame {
  std::string function;
  std::string file;
  int64_t line = 0;      // 0: `offset` says where
  uintptr_t offset = 0;  // the address as the file has it
  bool operator==(const Frame&) const = default;
};

// A call stack as it is captured, which is cheap; what its addresses stand for is looked up when a
// finding is written.
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
  std::string call;  // "aclrtFree(devPtr=0x7f0012345640)"
  Stack stack;
};
using SharedSite = std::shared_ptr<const Site>;

// The site of the call that this thread is in. Captured once for each call, and only if asked for.
SharedSite current_site();

// The bounds of a call on this thread. Calls may be nested: a callback makes some.
void enter_call(const Call& call);
void leave_call();

// Where the program is an interpreter: whoever knows its stack gives it, instead of the native one.
// False where it has none.
using StackSource = bool (*)(std::vector<Frame>& out);
SOFTNPU_EXPORT void set_stack_source(StackSource source);

}  // namespace softnpu::checkers
