// SPDX-License-Identifier: Apache-2.0
// Functions of Python objects, all positional, without nanobind's matching of arguments to types:
// 30 to 50 ns less for a call, a tenth of a small one.
#pragma once

#include <nanobind/nanobind.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "base/float_state.h"

namespace softnpu::python {

namespace nb = nanobind;

template <auto kFunction>
struct FastFunction;

template <class... Arguments, nb::object (*kFunction)(Arguments...)>
struct FastFunction<kFunction> {
  static constexpr auto kCount = static_cast<Py_ssize_t>(sizeof...(Arguments));

  static inline PyMethodDef definition = {};

  static PyObject* call(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) {
    if (count != kCount)
      return PyErr_Format(PyExc_TypeError, "%s() takes %zd positional arguments but %zd were given",
                          definition.ml_name, kCount, count);
    const DefaultFloats floats;
    try {
      return [&]<size_t... i>(std::index_sequence<i...>) {
        return kFunction(nb::handle(arguments[i])...).release().ptr();
      }(std::index_sequence_for<Arguments...>());
    } catch (nb::python_error& error) {
      error.restore();
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    return nullptr;
  }
};

// `signature` is "name(argument, …, /)\n--\n\n"; it and `name` must live as long as the process.
template <auto kFunction>
void define_fast(nb::module_& m, const char* name, const char* signature) {
  using Function = FastFunction<kFunction>;
  const auto call = reinterpret_cast<void (*)()>(&Function::call);
  Function::definition = {name, reinterpret_cast<PyCFunction>(call), METH_FASTCALL, signature};
  const nb::object module_name = nb::getattr(m, "__name__");
  PyObject* function = PyCFunction_NewEx(&Function::definition, m.ptr(), module_name.ptr());
  if (function == nullptr) nb::raise_python_error();
  m.attr(name) = nb::steal(function);
}

}  // namespace softnpu::python
