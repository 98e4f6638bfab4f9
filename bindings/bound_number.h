// SPDX-License-Identifier: Apache-2.0
// Numbers as arguments of functions that nanobind binds.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <type_traits>

#include "python_code.h"

namespace softnpu::python {

// Takes what nanobind takes for a T. But __index__ and __float__ run here: nanobind's casters must
// not be left by unwinding. And it takes anything else, too, and keeps it for define() to refuse.
template <class T>
struct Number {
  Number(T number = 0) : value(number) {}
  operator T() const { return value; }
  T value;
  PyObject* refused = nullptr;  // borrowed from whoever calls
};

template <class T>
PyObject* refused_by(const Number<T>& number) {
  return number.refused;
}
template <class T>
PyObject* refused_by(const std::optional<Number<T>>& number) {
  return number ? number->refused : nullptr;
}

// A plain int or float for an object that has code for it, otherwise the object itself; null where
// that code fails.
nb::object plain_int(nb::handle object);
nb::object plain_float(nb::handle object);
// The same for a bool, which a bool of NumPy's or an integer is, too.
nb::object plain_bool(nb::handle object);

}  // namespace softnpu::python

template <class T>
struct nanobind::detail::type_caster<softnpu::python::Number<T>> {
  using Plain = make_caster<T>;
  static constexpr auto said_type() {
    if constexpr (std::is_same_v<T, bool>)
      return const_name("bool | numpy.bool_");
    else
      return Plain::Name;
  }
  NB_TYPE_CASTER(softnpu::python::Number<T>, said_type())

  template <class Flags>
  bool from_python(handle src, Flags flags, cleanup_list* cleanup) {
    const object plain = plain_number(src);
    Plain read;
    const bool taken = plain.is_valid() && read.from_python(plain, flags, cleanup);
    if (taken) value.value = read.value;
    value.refused = taken ? nullptr : src.ptr();
    return true;
  }

 private:
  static object plain_number(handle src) {
    if constexpr (std::is_same_v<T, bool>)
      return softnpu::python::plain_bool(src);
    else if constexpr (std::is_floating_point_v<T>)
      return softnpu::python::plain_float(src);
    else
      return softnpu::python::plain_int(src);
  }
};
