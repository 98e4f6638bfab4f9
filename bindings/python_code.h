// SPDX-License-Identifier: Apache-2.0
// Calls that may run foreign Python code: attributes, calls, the release of objects. If the
// interpreter ends meanwhile, the thread blocks (gil.h). nanobind has the same functions, but
// unwinding them aborts the process.
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

// The result of a function of Python's C API. Null means a pending error, which is thrown.
template <class F>
nb::object ask(F&& f) {
  PyObject* const answer = call_or_stay(f);
  if (answer == nullptr) [[unlikely]]
    nb::raise_python_error();
  return nb::steal(answer);
}

// Clears the pending error and the frames that it refers to.
void forget_error();

// Null if f fails with an error of this class.
template <class F>
nb::object ask_unless(PyObject* error, F&& f) {
  PyObject* const answer = call_or_stay(f);
  if (answer == nullptr) {
    if (!PyErr_ExceptionMatches(error)) nb::raise_python_error();
    forget_error();
  }
  return nb::steal(answer);
}

// Cached names of attributes: "shape"_name is a Python string that is created once. The
// interpreter's attribute cache would keep every new string.

// Characters as a template argument.
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
// Null if the attribute does not exist or cannot be read.
nb::object find_attribute(nb::handle object, nb::handle name);
bool has_attribute(nb::handle object, nb::handle name);

template <class... Arguments>
nb::object invoke(nb::handle function, const Arguments&... arguments) {
  // The callee may use the first slot.
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

// Takes the pending error as an object.
nb::object take_error();

// Releases an object that may own other objects.
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
      release_object();
  }

 private:
  [[gnu::cold]] void release_object() noexcept;
};

// Objects in messages. They may have any class, so neither function relies on it: text that is not
// UTF-8 is escaped, and errors are ignored.

// str() of an object, or the name of its class if that fails.
std::string readable(nb::handle object);
// "module.name", or only the name for a type written in C.
std::string class_name(nb::handle object);

}  // namespace softnpu::python
