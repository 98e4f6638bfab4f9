// SPDX-License-Identifier: Apache-2.0
// Documented C functions as Python functions. Handles and addresses are ints, None is null, and
// results that C returns through pointers are returned. Every call releases the GIL, because nearly
// all of them can wait, or run work that calls back into Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <atomic>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "acl/acl.h"
#include "bound_function.h"
#include "gil.h"
#include "raise.h"

namespace softnpu::python {

namespace nb = nanobind;

// A Python function that waits for its turn in a stream.
struct Waiting;

// Functions that the device has run or dropped, in any thread and possibly with locks held, where
// it cannot wait for the GIL. The next thread with the GIL releases them.
inline constinit std::atomic<Waiting*> dropped_callbacks{nullptr};

[[gnu::cold]] void release_callbacks();
inline void release_dropped_callbacks() {
  if (dropped_callbacks.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    release_callbacks();
}

// Raises the exception for a failed status, with the message of the C function.
void check(aclError status);
// The same for functions that return null on failure.
uintptr_t check_created(const void* handle);

// A file name in the encoding of the file system; null for None.
struct FileName {
  nb::object bytes;
  const char* c_str() const { return bytes.is_valid() ? PyBytes_AS_STRING(bytes.ptr()) : nullptr; }
};
template <>
struct Reader<FileName> {
  static constexpr auto kName = nb::detail::const_name("str | bytes | os.PathLike[Any]");
  static FileName read(const Place& place, nb::handle given);
};

namespace c_function {

// C functions return results through pointers to numbers, enumerators and pointers.
template <class P, class T = std::remove_pointer_t<P>>
constexpr bool is_result = std::is_pointer_v<P> && !std::is_const_v<T> &&
                           (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>);

// The slot of a parameter during the call: a C value, or room for a result.
template <class P>
struct Slot {
  static constexpr bool kTakesArgument = true;
  P value{};
  P get() { return value; }
};
template <class P>
  requires is_result<P>
struct Slot<P> {
  static constexpr bool kTakesArgument = false;
  std::remove_pointer_t<P> value{};
  P get() { return &value; }
};

template <class P>
auto result_of(const Slot<P>& slot) {
  if constexpr (!is_result<P>)
    return std::tuple<>();
  else if constexpr (std::is_pointer_v<std::remove_pointer_t<P>>)
    return std::tuple(reinterpret_cast<uintptr_t>(slot.value));
  else if constexpr (std::is_enum_v<std::remove_pointer_t<P>>)
    return std::tuple(static_cast<int>(slot.value));
  else
    return std::tuple(slot.value);
}

// Each argument goes to the next slot that takes one.
template <size_t kSlot = 0, class Slots>
void fill(Slots&) {}
template <size_t kSlot = 0, class Slots, class First, class... Rest>
void fill(Slots& slots, First first, Rest... rest) {
  if constexpr (std::tuple_element_t<kSlot, Slots>::kTakesArgument) {
    std::get<kSlot>(slots).value = first;
    fill<kSlot + 1>(slots, rest...);
  } else {
    fill<kSlot + 1>(slots, first, rest...);
  }
}

template <class Results>
auto alone_or_all(Results&& results) {
  if constexpr (std::tuple_size_v<Results> == 0)
    return;
  else if constexpr (std::tuple_size_v<Results> == 1)
    return std::get<0>(results);
  else
    return std::move(results);
}

// The types of a Python function's arguments: all parameters that are not results.
template <class... P>
using Arguments =
    decltype(std::tuple_cat(std::conditional_t<is_result<P>, std::tuple<>, std::tuple<P>>()...));

// kRaises: returns the results and raises failures. Otherwise: returns the results, then the
// status.
template <bool kRaises, auto kFunction, class... P, class... A>
auto make_caller(int (*)(P...), std::tuple<A...>) {
  return +[](A... arguments) {
    std::tuple<Slot<P>...> slots;
    fill(slots, arguments...);
    const int status = [&] {
      const GilRelease others_may_run;
      return std::apply([](auto&... slot) { return kFunction(slot.get()...); }, slots);
    }();
    release_dropped_callbacks();
    auto results = std::apply([](auto&... s) { return std::tuple_cat(result_of<P>(s)...); }, slots);
    if constexpr (kRaises) {
      check(status);
      return alone_or_all(std::move(results));
    } else {
      return alone_or_all(std::tuple_cat(std::move(results), std::tuple(status)));
    }
  };
}

template <bool kRaises, auto kFunction, class... P>
auto caller(int (*function)(P...)) {
  return make_caller<kRaises, kFunction>(function, Arguments<P...>());
}

}  // namespace c_function

template <bool kRaises, auto kFunction, class... Extra>
void bind_c_function(nb::module_& m, const char* name, const Extra&... extra) {
  define(m, name, c_function::caller<kRaises, kFunction>(kFunction), extra...);
}

// Binds a function of the runtime in module m: it returns results, then the status.
#define BIND_ACL(name, ...) bind_c_function<false, &name>(m, #name, __VA_ARGS__)
// Binds a function of aclnn: it returns results only.
#define BIND_ACLNN(name, ...) bind_c_function<true, &name>(m, #name, __VA_ARGS__)

}  // namespace softnpu::python
