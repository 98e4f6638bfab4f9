// SPDX-License-Identifier: Apache-2.0
// Numbers as arguments of functions that nanobind binds.
#pragma once

#include <nanobind/nanobind.h>

#include <type_traits>

#include "python_code.h"

namespace softnpu::python {

// Takes what nanobind takes for a T. But __index__ and __float__ run here: nanobind's casters must
// not be left by unwinding.
template <class T>
struct Number {
  Number(T number = 0) : value(number) {}
  operator T() const { return value; }
  T value;
};

// A plain int or float for an object that has code for it, otherwise the object itself; null where
// that code fails.
nb::object plain_int(nb::handle object);
nb::object plain_float(nb::handle object);

}  // namespace softnpu::python

template <class T>
struct nanobind::detail::type_caster<softnpu::python::Number<T>> {
  using Plain = make_caster<T>;
  NB_TYPE_CASTER(softnpu::python::Number<T>, Plain::Name)

  template <class Flags>
  bool from_python(handle src, Flags flags, cleanup_list* cleanup) noexcept {
    object plain = borrow(src);
    if (flags & static_cast<Flags>(cast_flags::convert))
      plain = std::is_floating_point_v<T> ? softnpu::python::plain_float(src)
                                          : softnpu::python::plain_int(src);
    Plain read;
    if (!plain.is_valid() || !read.from_python(plain, flags, cleanup)) return false;
    value = read.value;
    return true;
  }
};
