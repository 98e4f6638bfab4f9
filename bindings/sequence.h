// SPDX-License-Identifier: Apache-2.0
// Sequences as arguments of functions that nanobind binds.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>
#include <vector>

namespace softnpu::python {

// nanobind reads a list in place, but an element's own code, as __index__, may change it meanwhile.
// So a list is copied first, unless it holds nothing that has such code.
template <class T>
struct Sequence : std::vector<T> {};

inline bool may_change_while_read(PyObject* object) {
  if (!PyList_Check(object)) return false;
  const std::span items(reinterpret_cast<PyListObject*>(object)->ob_item,
                        static_cast<size_t>(PyList_GET_SIZE(object)));
  return !std::ranges::all_of(items, [](PyObject* item) {
    return PyLong_CheckExact(item) || PyFloat_CheckExact(item) || PyBool_Check(item) ||
           item == Py_None;
  });
}

}  // namespace softnpu::python

template <class T>
struct nanobind::detail::type_caster<softnpu::python::Sequence<T>> {
  using Vector = make_caster<std::vector<T>>;
  NB_TYPE_CASTER(softnpu::python::Sequence<T>, Vector::Name)

  template <class Flags>
  bool from_python(handle src, Flags flags, cleanup_list* cleanup) noexcept {
    object copy;
    if (softnpu::python::may_change_while_read(src.ptr())) {
      copy = steal(PyList_AsTuple(src.ptr()));
      if (!copy.is_valid()) {
        PyErr_Clear();
        return false;
      }
      src = copy;
    }
    Vector read;
    if (!read.from_python(src, flags, cleanup)) return false;
    static_cast<std::vector<T>&>(value) = std::move(read.value);
    return true;
  }
};
