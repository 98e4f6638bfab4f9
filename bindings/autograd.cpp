// SPDX-License-Identifier: Apache-2.0
#include "autograd.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

#include "base/text.h"
#include "raise.h"
#include "sections.h"
#include "torch_symbols.h"

namespace softnpu::python {
namespace {

// The function of softnpu.torch that takes over calls; null until it is imported.
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
           "autograd, because softnpu.torch cannot be imported");
  if (call_or_stay([&] { return PyErr_WarnEx(PyExc_UserWarning, words.c_str(), 2); }) != 0)
    nb::raise_python_error();
}

bool any_requires_grad(std::span<const nb::handle> arguments) {
  return std::ranges::any_of(arguments, [](nb::handle argument) {
    return is_tensor(argument.ptr()) && requires_grad(argument);
  });
}

// Null if softnpu.torch cannot be imported, for example with an old PyTorch.
PyObject* find_taker() {
  if (taker.load() == nullptr)
    ask_unless(PyExc_ImportError, [] { return PyImport_ImportModule("softnpu.torch"); });
  return taker.load();
}

nb::handle find_modes() { return from_torch({"_C"_name, "_len_torch_dispatch_stack"_name}); }
nb::handle find_tracing() { return from_torch({"_C"_name, "_is_tracing"_name}); }
nb::handle find_autocast() { return from_torch({"_C"_name, "_is_any_autocast_enabled"_name}); }
nb::handle find_forward_mode() { return from_torch({"autograd"_name, "forward_ad"_name}); }
nb::handle find_increment() { return from_torch({"_C"_name, "_increment_version"_name}); }

[[noreturn]] void refuse_write() {
  raise(PyExc_RuntimeError, "output-inference"_rule,
        "a tensor that was made in inference mode is written to outside of it, which PyTorch does "
        "not allow; write inside torch.inference_mode(), or to tensor.clone()");
}

// The write was to a tensor of inference mode; these have no version counter.
void check_inference_mode() {
  const nb::object enabled =
      invoke(attribute(import_module("torch"), "is_inference_mode_enabled"_name));
  if (!enabled.is(Py_True)) refuse_write();
}

// A dispatch mode, a tracer, or autocast.
bool has_watcher() {
  const nb::handle modes = made_once<find_modes>();
  if (modes.is_valid() && PyLong_AsLong(invoke(modes).ptr()) != 0) return true;
  const nb::handle tracing = made_once<find_tracing>();
  if (tracing.is_valid() && invoke(tracing).is(Py_True)) return true;
  const nb::handle autocast = made_once<find_autocast>();
  return autocast.is_valid() && invoke(autocast).is(Py_True);
}

}  // namespace

bool torch_watches() {
  // The last keys without an observer, because the answer depends on the keys only.
  thread_local std::optional<DispatchKeys> unwatched;
  const DispatchKeys* const keys = dispatch_keys();
  if (keys == nullptr || unwatched != *keys) {
    if (has_watcher()) return true;
    if (keys != nullptr) unwatched = *keys;
  }
  const nb::object level = find_attribute(made_once<find_forward_mode>(), "_current_level"_name);
  return level.is_valid() && PyLong_AsLong(level.ptr()) >= 0;
}

void announce_write(nb::handle tensor) {
  if (!is_tensor(tensor.ptr())) return;
  const Write write = count_write(tensor);
  if (write == Write::counted) return;
  if (write == Write::refused) refuse_write();
  if (invoke_method(tensor, "is_inference"_name).is(Py_True)) return check_inference_mode();
  const nb::handle increment = made_once<find_increment>();
  if (increment.is_valid()) invoke(increment, nb::make_tuple(tensor));
}

nb::object take_over(const char* function, std::span<const nb::handle> arguments) {
  PyObject* const takes = find_taker();
  if (takes == nullptr) {
    if (any_requires_grad(arguments) && is_recording()) warn_once(function);
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
