// SPDX-License-Identifier: Apache-2.0
#include "autograd.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "base/text.h"
#include "sections.h"

namespace softnpu::python {
namespace {

// softnpu.torch's function that takes calls over; null until it is imported.
std::atomic<PyObject*> taker{nullptr};

bool is_recording() {
  static PyObject* const asked =
      attribute(import_module("torch"), "is_grad_enabled"_name).release().ptr();
  return invoke(asked).is(Py_True);
}

void warn_once(const char* function) {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  const std::string words =
      text("softnpu.", function,
           ": a tensor that requires grad is read like any other, and the result takes no part in "
           "autograd; after `import softnpu.torch` it does");
  if (call_or_stay([&] { return PyErr_WarnEx(PyExc_UserWarning, words.c_str(), 2); }) != 0)
    nb::raise_python_error();
}

bool requires_grad(std::span<const nb::handle> arguments) {
  return std::ranges::any_of(arguments, [](nb::handle argument) {
    return is_tensor(argument.ptr()) && attribute(argument, "requires_grad"_name).is(Py_True);
  });
}

}  // namespace

nb::object take_over(const char* function, std::span<const nb::handle> arguments) {
  PyObject* const takes = taker.load();
  if (takes == nullptr) {
    if (requires_grad(arguments) && is_recording()) warn_once(function);
    return {};
  }
  const nb::object tuple = ask([&] { return PyTuple_New(std::ssize(arguments)); });
  for (size_t i = 0; i < arguments.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i),
                     nb::borrow(arguments[i]).release().ptr());
  nb::object result = invoke(takes, nb::str(function), tuple);
  return result.is(Py_NotImplemented) ? nb::object() : result;
}

void bind_autograd(nb::module_& m) {
  m.def(
      "set_autograd",
      [](nb::object function) { taker = function.is_none() ? nullptr : function.release().ptr(); },
      nb::arg("function").none(),
      nb::sig("def set_autograd(function: Callable[..., Any] | None, /) -> None"));
}

}  // namespace softnpu::python
