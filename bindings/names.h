// SPDX-License-Identifier: Apache-2.0
// Names of attributes that are looked up again and again: "shape"_name is a string of Python that
// is made once. The interpreter's cache of attributes would keep every new string.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>

#include "base/lasting.h"

namespace softnpu::python {

// Characters as an argument of a template.
template <size_t kSize>
struct NameText {
  consteval NameText(const char (&text)[kSize]) { std::copy_n(text, kSize, characters); }
  char characters[kSize];
};

template <NameText kText>
nanobind::handle make_name() {
  PyObject* name = PyUnicode_InternFromString(kText.characters);
  if (name == nullptr) nanobind::raise_python_error();
  return name;
}

template <NameText kText>
nanobind::handle operator""_name() {
  return made_once<make_name<kText>>();
}

}  // namespace softnpu::python
