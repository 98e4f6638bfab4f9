// SPDX-License-Identifier: Apache-2.0
// Functions that nanobind binds, with messages of our own for numbers that cannot be taken:
// nanobind's have the classes of all arguments, but neither a number that is too large nor a member
// of a list.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "bound_number.h"
#include "sequence.h"

namespace softnpu::python {

// An argument of a function, or a member of it.
struct Place {
  const char* function;
  const char* argument;
  std::optional<size_t> member = std::nullopt;
};

[[noreturn, gnu::cold]] void refuse(const Place& place, nb::handle given,
                                    const std::string& expected);

template <class T>
std::string expected(const Number<T>&) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) return "a bool";
  if constexpr (std::is_floating_point_v<T>) return "a number";
  return text("an integer from ", Limits::min(), " to ", Limits::max());
}
template <class T>
std::string expected(const Sequence<T>&) {
  return text("a sequence, of which each element is ", expected(typename Sequence<T>::Given()));
}
template <class T>
std::string expected(const std::optional<T>&) {
  return expected(T()) + ", or None";
}

// Other types are nanobind's own to refuse.
template <class T>
void require(const Place&, const T&) {}

template <class Given>
  requires requires(const Given& given) { refused_by(given); }
void require(const Place& place, const Given& given) {
  if (refused_by(given) != nullptr) [[unlikely]]
    refuse(place, refused_by(given), expected(given));
}

template <class T>
void require(const Place& place, const Sequence<T>& sequence) {
  if (!sequence.refused.is_valid()) [[likely]]
    return;
  if (!sequence.refused_member) refuse(place, sequence.refused, expected(sequence));
  refuse({place.function, place.argument, sequence.refused_member}, sequence.refused,
         expected(typename Sequence<T>::Given()));
}
template <class T>
void require(const Place& place, const std::optional<Sequence<T>>& sequence) {
  if (!sequence) return;
  if (sequence->refused.is_valid() && !sequence->refused_member)
    refuse(place, sequence->refused, expected(sequence));
  require(place, *sequence);
}

template <class R, class... A, class... Extra>
void define_function(nb::module_& m, const char* name, R (*function)(A...), const Extra&... extra) {
  // The annotations of arguments come first; documentation and the like have no name.
  constexpr auto name_of = []<class E>(const E& e) -> const char* {
    if constexpr (requires { e.name_; }) return e.name_;
    return nullptr;
  };
  const std::array<const char*, sizeof...(Extra)> names{name_of(extra)...};
  m.def(
      name,
      [=](A... arguments) -> R {
        auto argument = names.begin();
        (require({name, *argument++}, arguments), ...);
        return function(std::forward<A>(arguments)...);
      },
      extra...);
}

// As module.def(), of a function or of a lambda that captures nothing.
template <class Function, class... Extra>
void define(nb::module_& m, const char* name, const Function& function, const Extra&... extra) {
  define_function(m, name, +function, extra...);
}

}  // namespace softnpu::python
