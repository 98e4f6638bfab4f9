// SPDX-License-Identifier: Apache-2.0
// Counts every call of the C API by its status, and ends the process where a call gives a status
// that no document has for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "shortage.h"

namespace fuzz {

struct Tally {
  const char* function;
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> successes{0};
  Tally* next = nullptr;

  explicit Tally(const char* name);
};

// All of them, in no order.
Tally* tallies();
uint64_t total_calls();

// Prints what was expected of which function, and ends the process.
[[noreturn]] void give_up(const char* what, const char* function, long long value);

inline void expect(bool holds, const char* what, const char* function = "", long long value = 0) {
  if (!holds) give_up(what, function, value);
}

// Whether a call without memory may give the status.
bool is_shortage(int status);
// Whether a call of the function may give the status, if no callback throws.
bool is_expected(const char* function, int status);

template <class T>
T note(Tally& tally, T result) {
  tally.calls.fetch_add(1, std::memory_order_relaxed);
  tally.successes.fetch_add(1, std::memory_order_relaxed);
  return result;
}
template <class T>
T* note(Tally& tally, T* result) {
  tally.calls.fetch_add(1, std::memory_order_relaxed);
  if (result != nullptr) tally.successes.fetch_add(1, std::memory_order_relaxed);
  return result;
}
inline int note(Tally& tally, int status) {
  tally.calls.fetch_add(1, std::memory_order_relaxed);
  if (status == 0) tally.successes.fetch_add(1, std::memory_order_relaxed);
  note_status(tally.function, status);
  expect(is_expected(tally.function, status), "a documented status", tally.function, status);
  return status;
}

template <class Function, class... Arguments>
auto call(const char* name, Function* function, Arguments... arguments) {
  const Within within(name);
  return function(arguments...);
}

// Calls a function of the C API.
#define CALL(function, ...)                                                                   \
  [&] {                                                                                       \
    static ::fuzz::Tally tally(#function);                                                    \
    return ::fuzz::note(tally, ::fuzz::call(#function, function __VA_OPT__(, ) __VA_ARGS__)); \
  }()

}  // namespace fuzz
