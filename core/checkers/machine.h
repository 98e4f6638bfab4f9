// SPDX-License-Identifier: Apache-2.0
// What the machine says of a fault: the third argument of a signal handler.
#pragma once

#include <ucontext.h>

#include <cstddef>

namespace softnpu::checkers {

#if defined(__x86_64__)
constexpr bool kSaysWhetherItWrites = true;
inline bool writes_memory(const void* context) {
  constexpr greg_t kWrites = 2;
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & kWrites) != 0;
}
inline const void* instruction_of(const void* context) {
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<const void*>(machine->uc_mcontext.gregs[REG_RIP]);
}
// Where the function returns to that was entered last.
inline void* caller_of(const void* context) {
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return *reinterpret_cast<void**>(machine->uc_mcontext.gregs[REG_RSP]);
}
#elif defined(__aarch64__)
constexpr bool kSaysWhetherItWrites = false;
inline bool writes_memory(const void*) { return true; }
inline const void* instruction_of(const void* context) {
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<const void*>(machine->uc_mcontext.pc);
}
inline void* caller_of(const void* context) {
  constexpr size_t kLinkRegister = 30;
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<void*>(machine->uc_mcontext.regs[kLinkRegister]);
}
#else
constexpr bool kSaysWhetherItWrites = false;
inline bool writes_memory(const void*) { return true; }
inline const void* instruction_of(const void*) { return nullptr; }
inline void* caller_of(const void*) { return nullptr; }
#endif

inline const char* what_it_does(const void* context) {
  if (!kSaysWhetherItWrites) return "reads or writes";
  return writes_memory(context) ? "writes" : "reads";
}

}  // namespace softnpu::checkers
