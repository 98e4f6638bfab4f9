// SPDX-License-Identifier: Apache-2.0
// Functions that nanobind binds, but whose numbers and lists are converted here: nanobind's casters
// must not throw or be unwound (gil.h). nanobind's messages list the types of all arguments, but
// not a number that is too large or a member of a list.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/text.h"
#include "numbers.h"

namespace softnpu::python {

// An argument of a function, or a member of it.
struct Place {
  const char* function;
  const char* argument;
  std::optional<size_t> member = std::nullopt;
  bool may_be_none = false;
};

[[noreturn, gnu::cold]] void refuse(const Place& place, nb::handle given,
                                    const std::string& expected);

// Reads a T from any object. kName is Python's name of the type.
template <class T>
struct Reader;

template <class T>
concept Readable = requires { Reader<T>::kName; };

template <class T>
  requires std::is_arithmetic_v<T>
struct Reader<T> {
  using Caster = nb::detail::make_caster<T>;
  static constexpr auto kName = [] {
    if constexpr (std::is_same_v<T, bool>)
      return nb::detail::const_name("bool | numpy.bool_");
    else
      return Caster::Name;
  }();

  static std::string expected() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) return "a bool";
    if constexpr (std::is_floating_point_v<T>) return "a number";
    return text("an integer from ", Limits::min(), " to ", Limits::max());
  }

  static T read(const Place& place, nb::handle given) {
    const nb::object number = [&] {
      if constexpr (std::is_same_v<T, bool>) return plain_bool(given);
      if constexpr (std::is_floating_point_v<T>) return plain_float(given);
      return plain_int(given);
    }();
    Caster caster;
    constexpr auto flags = static_cast<uint32_t>(nb::detail::cast_flags::convert);
    if (!number.is_valid() || !caster.from_python(number, flags, nullptr)) [[unlikely]]
      refuse(place, given, expected());
    return caster.value;
  }
};

template <Readable T>
struct Reader<std::vector<T>> {
  static constexpr auto kName = nb::detail::const_name("collections.abc.Sequence[") +
                                Reader<T>::kName + nb::detail::const_name("]");

  static std::string expected() {
    return "a sequence, of which each element is " + Reader<T>::expected();
  }

  static std::vector<T> read(const Place& place, nb::handle given) {
    const Held members = members_of(given);
    if (!members.is_valid()) refuse(place, given, expected());
    std::vector<T> values;
    for (PyObject* item : items_of(members))
      values.push_back(Reader<T>::read({place.function, place.argument, values.size()}, item));
    return values;
  }
};

template <Readable T>
struct Reader<std::optional<T>> {
  static constexpr auto kName = nb::detail::optional_name(Reader<T>::kName);

  static std::string expected() { return Reader<T>::expected() + ", or None"; }

  static std::optional<T> read(Place place, nb::handle given) {
    if (given.is_none()) return std::nullopt;
    place.may_be_none = true;
    return Reader<T>::read(place, given);
  }
};

template <class T>
  requires std::is_enum_v<T>
struct Reader<T> {
  static constexpr auto kName = Reader<int>::kName;
  static T read(const Place& place, nb::handle given) {
    return static_cast<T>(Reader<int>::read(place, given));
  }
};

// Addresses and handles; None is null.
template <class T>
struct Reader<T*> {
  using Address = Reader<std::optional<uintptr_t>>;
  static constexpr auto kName = Address::kName;
  static std::string expected() { return Address::expected(); }
  static T* read(const Place& place, nb::handle given) {
    return reinterpret_cast<T*>(Address::read(place, given).value_or(0));
  }
};

// An argument as it was passed, to be converted to a T.
template <class T>
struct Given {
  nb::handle object;
};

// nanobind itself determines which arguments may be None.
template <class T>
constexpr auto kArgumentName = Reader<T>::kName;
template <class T>
constexpr auto kArgumentName<std::optional<T>> = Reader<T>::kName;
template <class T>
constexpr auto kArgumentName<T*> = Reader<uintptr_t>::kName;

// Types without a Reader are converted by nanobind.
template <class T>
using Parameter = std::conditional_t<Readable<T>, Given<T>, T>;

template <class T>
T take(const Place& place, Parameter<T>& given) {
  if constexpr (Readable<T>)
    return Reader<T>::read(place, given.object);
  else
    return std::move(given);
}

template <class R, class... A, class... Extra>
void define_function(nb::module_& m, const char* name, R (*function)(A...), const Extra&... extra) {
  // The annotations of arguments come first; others, such as documentation, have no name.
  constexpr auto name_of = []<class E>(const E& e) -> const char* {
    if constexpr (requires { e.name_; }) return e.name_;
    return nullptr;
  };
  const std::array<const char*, sizeof...(Extra)> names{name_of(extra)...};
  m.def(
      name,
      [=](Parameter<std::decay_t<A>>... given) -> R {
        [[maybe_unused]] auto argument = names.begin();
        // Braces evaluate the arguments in order.
        return std::apply(function, std::tuple<std::decay_t<A>...>{
                                        take<std::decay_t<A>>({name, *argument++}, given)...});
      },
      extra...);
}

// Like module.def(), for a function or a lambda without captures.
template <class Function, class... Extra>
void define(nb::module_& m, const char* name, const Function& function, const Extra&... extra) {
  define_function(m, name, +function, extra...);
}

}  // namespace softnpu::python

template <class T>
struct nanobind::detail::type_caster<softnpu::python::Given<T>> {
  NB_TYPE_CASTER(softnpu::python::Given<T>, softnpu::python::kArgumentName<T>)
  bool from_python(handle src, uint32_t, cleanup_list*) noexcept {
    value.object = src;
    return true;
  }
};
// May be None.
template <class T>
constexpr bool nanobind::detail::has_arg_defaults_v<softnpu::python::Given<std::optional<T>>> =
    true;
template <class T>
constexpr bool nanobind::detail::has_arg_defaults_v<softnpu::python::Given<T*>> = true;
