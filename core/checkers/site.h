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
  uintptr_t offset = 0;  // from the start of the file
  bool operator==(const Frame&) const = default;
};

struct Site {
  std::string call;           // "aclrtFree(devPtr=0x7f0012345640)"
  std::vector<Frame> frames;  // innermost first, without the library's own
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

std::vector<Frame> current_frames();

}  // namespace softnpu::checkers
