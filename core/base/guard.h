// SPDX-License-Identifier: Apache-2.0
// The wrapper of every C entry point: no exception leaves it, every failure leaves its message, and
// the caller's floating-point environment does not matter. pthread_cancel() takes effect
// after the call; pthread_exit() in a callback ends the thread.
#pragma once

#include <cxxabi.h>
#include <pthread.h>

#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <type_traits>

#include "base/float_state.h"
#include "base/last_error.h"
#include "base/status.h"

namespace softnpu {

// What an entry point answers when C++ itself fails under it.
struct GuardCodes {
  int32_t out_of_memory;
  int32_t internal;
};

// Leaves the message, and returns the code.
[[gnu::cold]] inline int32_t internal_failure(int32_t code, std::string_view function,
                                              std::string_view what,
                                              std::string_view details = {}) noexcept {
  remember_message(fail(code, function, ": ", what, details));
  return code;
}

// A cancellation in the middle of a call would leave its work half done.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  // May unwind: a thread with asynchronous cancellation ends here.
  ~NoCancellation() noexcept(false) { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Runs `body`, which returns a Status, and returns its code.
template <class Body>
int32_t guard(std::string_view function, GuardCodes codes, Body&& body) {
  const DefaultFloats floats;
  const NoCancellation until_the_end;
  try {
    const Status status = body();
    if (status.ok()) [[likely]]
      return kSuccess;
    remember_message(status.in(function));
    return status.code();
  } catch (const abi::__forced_unwind&) {  // pthread_exit()
    throw;
  } catch (const std::bad_alloc&) {
    return internal_failure(codes.out_of_memory, function, "out of host memory");
  } catch (const std::exception& error) {
    return internal_failure(codes.internal, function, "internal error: ", error.what());
  } catch (...) {
    return internal_failure(codes.internal, function, "internal error: an unknown exception");
  }
}

// The number of an enumerator that a caller may have made up. To read it as what it is declared to
// be would be undefined then.
template <class Enum>
int32_t number_of(const Enum& value) {
  static_assert(std::is_enum_v<Enum> && sizeof(Enum) == sizeof(int32_t));
  int32_t number;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

}  // namespace softnpu
