// SPDX-License-Identifier: Apache-2.0
// Whatever may run Python code that softnpu did not write: attributes, calls, the release of
// objects. A thread that loses its interpreter meanwhile blocks there (gil.h). nanobind has the
// same functions, but unwinding ends the process in them.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "base/lasting.h"
#include "gil.h"

namespace softnpu::python {

namespace nb = nanobind;

// What a function of Python's C API returns, where null is a pending error, which is thrown.
template <class F>
nb::object ask(F&& f) {
  PyObject* const answer = call_or_stay(f);
  if (answer == nullptr) [[unlikely]]
    nb::raise_python_error();
  return nb::steal(answer);
}

// Drops the pending error, and the frames that it came from.
void forget_error();

// Null where f fails with an error of this class.
template <class F>
nb::object ask_unless(PyObject* error, F&& f) {
  PyObject* const answer = call_or_stay(f);
  if (answer == nullptr) {
    if (!PyErr_ExceptionMatches(error)) nb::raise_python_error();
    forget_error();
  }
  return nb::steal(answer);
}

// Names of attributes that are looked up again and again: "shape"_name is a string of Python that
// is made once. The interpreter's cache of attributes would keep every new string.
// Characters as an argument of a template.
template <size_t kSize>
struct NameText {
  consteval NameText(const char (&text)[kSize]) { std::copy_n(text, kSize, characters); }
  char characters[kSize];
};

template <NameText kText>
nb::handle make_name() {
  PyObject* name = PyUnicode_InternFromString(kText.characters);
  if (name == nullptr) nb::raise_python_error();
  return name;
}

template <NameText kText>
nb::handle operator""_name() {
  return made_once<make_name<kText>>();
}

nb::object attribute(nb::handle object, nb::handle name);
// Null where there is none, or where it cannot be had.
nb::object find_attribute(nb::handle object, nb::handle name);
bool has_attribute(nb::handle object, nb::handle name);

template <class... Arguments>
nb::object invoke(nb::handle function, const Arguments&... arguments) {
  // The callee may use the first place.
  std::array<PyObject*, sizeof...(arguments) + 1> given{nullptr, arguments.ptr()...};
  return ask([&] {
    return PyObject_Vectorcall(function.ptr(), given.data() + 1,
                               sizeof...(arguments) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  });
}
inline nb::object invoke_method(nb::handle object, nb::handle name) {
  return ask([&] { return PyObject_CallMethodNoArgs(object.ptr(), name.ptr()); });
}

nb::object import_module(const char* name);

// The pending error as an object, no longer pending.
nb::object take_error();

// An object that may be the last to hold others' objects.
class Held : public nb::object {
 public:
  Held() = default;
  Held(nb::object&& object) : nb::object(std::move(object)) {}
  Held(Held&&) = default;
  Held& operator=(Held&& other) noexcept {
    const Held before(std::move(*this));
    nb::object::operator=(std::move(other));
    return *this;
  }
  ~Held() {
    if (is_valid()) [[unlikely]]
      let_go();
  }

 private:
  [[gnu::cold]] void let_go() noexcept;
};

// Objects in messages. They may be of any class, so neither relies on it: text that is not UTF-8
// shows as escapes, and what raises an error is left out.

// str() of an object; its class's name where that fails.
std::string readable(nb::handle object);
// "module.name", and the name alone for a type that is written in C.
std::string class_name(nb::handle object);

}  // namespace softnpu::python
