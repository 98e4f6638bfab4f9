// SPDX-License-Identifier: Apache-2.0
// The wrapper of every C entry point: no exception leaves it, every failure stores its message, and
// the caller's floating-point environment has no effect. pthread_cancel() takes effect after the
// call; pthread_exit() in a callback ends the thread.
#pragma once

#include <cxxabi.h>
#include <pthread.h>

#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <type_traits>

#include "base/call.h"
#include "base/float_state.h"
#include "base/last_error.h"
#include "base/observer.h"
#include "base/status.h"

namespace softnpu {

// The codes that an entry point returns when a C++ exception reaches it.
struct GuardCodes {
  int32_t out_of_memory;
  int32_t internal;
};

// The failure of a call in which an unexpected exception was thrown.
[[gnu::cold]] inline Status internal_failure(int32_t code, const Call& call,
                                             std::string_view details) noexcept {
  return fail("internal-error"_rule, code, call.function(), ": internal error: ", details);
}

// Defers pthread_cancel(): a cancellation in the middle of a call would leave its work half done.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  // May unwind: a thread with asynchronous cancellation can end here.
  ~NoCancellation() noexcept(false) { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Runs `body`, which returns a Status; the message of a failure begins with the name of the call.
template <class Body>
Status outcome(const Call& call, GuardCodes codes, Body& body) {
  try {
    const Status status = body();
    if (status.ok()) [[likely]]
      return {};
    return status.in(call.function());
  } catch (const abi::__forced_unwind&) {  // pthread_exit()
    throw;
  } catch (const std::bad_alloc&) {
    return fail("out-of-host-memory"_rule, codes.out_of_memory, call.function(),
                ": out of host memory");
  } catch (const std::exception& error) {
    return internal_failure(codes.internal, call, error.what());
  } catch (...) {
    return internal_failure(codes.internal, call, "an unknown exception");
  }
}

// Runs `body`, which returns a Status; returns its code.
template <class Body>
int32_t guard(const Call& call, GuardCodes codes, Body&& body) {
  const DefaultFloats floats;
  const NoCancellation until_the_end;
  notify(&Observer::enter, call);
  const Status status = outcome(call, codes, body);
  if (!status.ok()) [[unlikely]]
    remember_message(status);
  notify(&Observer::leave, call, status);
  return status.code();
}

// The number of an enumerator. Callers may pass any number, and reading such a value as the
// enumeration would be undefined behaviour.
template <class Enum>
int32_t number_of(const Enum& value) {
  static_assert(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(int32_t));
  int32_t number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

}  // namespace softnpu
