// SPDX-License-Identifier: Apache-2.0
// The floating-point environment of a thread.
#pragma once

#include <cstdint>

namespace softnpu {

// While this object lives, the calling thread rounds to nearest, keeps subnormals and traps no
// exceptions. PyTorch's set_flush_denormal(), fesetround() and libraries linked with -ffast-math
// change this for some threads, so results would depend on which thread computes an element.
class DefaultFloats {
 public:
  DefaultFloats() : before_(read()) {
    if ((before_ & kControl) != kDefault) [[unlikely]]
      write(kDefault);
  }
  ~DefaultFloats() {
    if ((before_ & kControl) != kDefault) [[unlikely]]
      write(before_);
  }
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
#if defined(__x86_64__)
  using Setting = uint32_t;
  static constexpr Setting kControl = 0xFFC0;  // all bits except the sticky exception flags
  static constexpr Setting kDefault = 0x1F80;  // all exceptions masked
  static Setting read() {
    Setting setting;
    asm volatile("stmxcsr %0" : "=m"(setting));
    return setting;
  }
  static void write(Setting setting) { asm volatile("ldmxcsr %0" : : "m"(setting)); }
#elif defined(__aarch64__)
  using Setting = uint64_t;
  static constexpr Setting kControl = ~Setting{0};
  static constexpr Setting kDefault = 0;
  static Setting read() {
    Setting setting;
    asm volatile("mrs %0, fpcr" : "=r"(setting));
    return setting;
  }
  static void write(Setting setting) { asm volatile("msr fpcr, %0" : : "r"(setting)); }
#else
  using Setting = int;
  static constexpr Setting kControl = 0, kDefault = 0;
  static Setting read() { return 0; }
  static void write(Setting) {}
#endif

  const Setting before_;
};

}  // namespace softnpu
