// SPDX-License-Identifier: Apache-2.0
// The shell of every C entry point: no exception leaves it, every failure leaves its message, and
// the caller's setting for floating-point arithmetic does not matter.
#pragma once

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

// Runs `body`, which returns a Status, and returns its code.
template <class Body>
int32_t guard(std::string_view function, GuardCodes codes, Body&& body) noexcept {
  const DefaultFloats floats;
  try {
    const Status status = body();
    if (status.ok()) [[likely]]
      return kSuccess;
    remember_message(status.in(function));
    return status.code();
  } catch (const std::bad_alloc&) {
    try {
      remember_message(Status(codes.out_of_memory, text(function, ": out of host memory")));
    } catch (...) {  // not even the message fits; the code alone must do
    }
    return codes.out_of_memory;
  } catch (const std::exception& error) {
    try {
      remember_message(Status(codes.internal, text(function, ": internal error: ", error.what())));
    } catch (...) {
    }
    return codes.internal;
  } catch (...) {
    return codes.internal;
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
