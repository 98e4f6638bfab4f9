// SPDX-License-Identifier: Apache-2.0
// The GIL in threads that may outlive the interpreter.
//
// Before Python 3.14, a thread that acquires the GIL during finalization is terminated by unwinding
// its stack. This aborts the process in code that must not throw: nanobind's functions, and
// destructors that release objects. Here such threads block until the process ends, as they do from
// Python 3.14 on.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace softnpu::python {

// Blocks until the process ends.
[[noreturn, gnu::cold]] inline void stay() noexcept {
  for (;;) pause();
}

// Calls f, which acquires the GIL or runs Python code that may, and does not throw. Must not be
// used while an exception is being handled: C++ cannot catch the unwinding there.
template <class F>
auto call_or_stay(F&& f) noexcept {
  try {
    return f();
  } catch (...) {  // the unwinding, which would continue at the end of this block
    stay();
  }
}

class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  GilRelease(const GilRelease&) = delete;
  ~GilRelease() {
    call_or_stay([this] { PyEval_RestoreThread(state_); });
  }

 private:
  PyThreadState* const state_;
};

class GilAcquire {
 public:
  GilAcquire() : state_(call_or_stay([] { return PyGILState_Ensure(); })) {}
  GilAcquire(const GilAcquire&) = delete;
  ~GilAcquire() {  // for threads that Python did not start, releases their thread state
    call_or_stay([this] { PyGILState_Release(state_); });
  }

 private:
  const PyGILState_STATE state_;
};

}  // namespace softnpu::python
