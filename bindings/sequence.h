// SPDX-License-Identifier: Apache-2.0
// Sequences as arguments of functions that nanobind binds.
#pragma once

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "bound_number.h"
#include "names.h"

namespace softnpu::python {

// nanobind's casters for lists and optionals must not throw, so they end the process where there is
// no memory for a copy. These throw.
template <class T>
struct Sequence : std::vector<T> {
  using Given = std::conditional_t<std::is_arithmetic_v<T>, Number<T>, T>;
  // What is no sequence, or the first member that cannot be taken; as Number has it.
  Held refused;
  std::optional<size_t> refused_member;
};

inline bool may_change_while_read(PyObject* list) {
  const std::span items(reinterpret_cast<PyListObject*>(list)->ob_item,
                        static_cast<size_t>(PyList_GET_SIZE(list)));
  return !std::ranges::all_of(items, [](PyObject* item) {
    return PyLong_CheckExact(item) || PyFloat_CheckExact(item) || PyBool_Check(item) ||
           item == Py_None;
  });
}

// A tuple or list of the members; null where the object is no sequence or iterator of any. An
// element's own code, as __index__, may change a list that is read, so a list is copied first,
// unless it holds nothing that has such code.
inline nb::object members_of(nb::handle object) {
  PyObject* const given = object.ptr();
  if (PyTuple_CheckExact(given) || (PyList_CheckExact(given) && !may_change_while_read(given)))
    return nb::borrow(object);
  // Sets and dicts have no order of their own. Tensors are no sequences for C, but arrays.
  if (PyUnicode_Check(given) || PyBytes_Check(given)) return {};
  if (!PySequence_Check(given) && !PyIter_Check(given) &&
      !has_attribute(object.type(), "__dlpack__"_name))
    return {};
  PyObject* const copy = call_or_stay([=] { return PySequence_Tuple(given); });
  if (copy == nullptr) {
    const bool no_memory = PyErr_ExceptionMatches(PyExc_MemoryError);
    forget_error();
    if (no_memory) throw std::bad_alloc();
  }
  return nb::steal(copy);
}

}  // namespace softnpu::python

template <class T>
struct nanobind::detail::type_caster<softnpu::python::Sequence<T>> {
  using Given = typename softnpu::python::Sequence<T>::Given;
  using Member = make_caster<Given>;
  NB_TYPE_CASTER(softnpu::python::Sequence<T>,
                 const_name("collections.abc.Sequence[") + Member::Name + const_name("]"))

  template <class Flags>
  bool from_python(handle src, Flags flags, cleanup_list* cleanup) {
    const softnpu::python::Held members = softnpu::python::members_of(src);
    if (!members.is_valid()) {
      value.refused = borrow(src);
      return true;
    }
    const std::span items(PySequence_Fast_ITEMS(members.ptr()),
                          static_cast<size_t>(PySequence_Fast_GET_SIZE(members.ptr())));
    value.reserve(items.size());
    Member member;
    for (PyObject* item : items) {
      if (!member.from_python(item, flags_for_local_caster<Given>(flags), cleanup)) return false;
      if (refused_by(member.value) != nullptr) {
        value.refused = borrow(item);
        value.refused_member = value.size();
        return true;
      }
      value.push_back(member.value);
    }
    return true;
  }
};

template <class T>
struct nanobind::detail::type_caster<std::optional<softnpu::python::Sequence<T>>> {
  using Given = make_caster<softnpu::python::Sequence<T>>;
  NB_TYPE_CASTER(std::optional<softnpu::python::Sequence<T>>, optional_name(Given::Name))

  template <class Flags>
  bool from_python(handle src, Flags flags, cleanup_list* cleanup) {
    if (src.is_none()) return true;
    Given given;
    if (!given.from_python(src, flags, cleanup)) return false;
    value = std::move(given.value);
    return true;
  }
};
