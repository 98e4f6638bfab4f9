// SPDX-License-Identifier: Apache-2.0
#include "torch_tensors.h"

namespace softnpu::python {
namespace {

bool says_yes(PyObject* object, PyObject* method) {
  PyObject* answer = PyObject_CallMethodNoArgs(object, method);
  if (answer == nullptr) nb::raise_python_error();
  Py_DECREF(answer);  // True and False live for ever
  return answer == Py_True;
}

PyObject* interned(const char* text) {
  PyObject* name = PyUnicode_InternFromString(text);
  if (name == nullptr) nb::raise_python_error();
  return name;
}

// Memory that holds the negated or conjugated values. Only floating and complex types can.
bool is_lazy(PyObject* object, DType type) {
  static PyObject* const is_neg = interned("is_neg");
  static PyObject* const is_conj = interned("is_conj");
  if (is_complex(type) && says_yes(object, is_conj)) return true;
  return (is_floating(type) || is_complex(type)) && says_yes(object, is_neg);
}

}  // namespace

bool is_torch_type(PyTypeObject* type) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* torch = PyDict_GetItemString(modules, "torch");
  if (torch == nullptr) return false;
  const nb::object tensor = nb::getattr(torch, "Tensor", nb::none());
  return PyType_Check(tensor.ptr()) &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(tensor.ptr()));
}

Status settle_tensor(const char* name, Access access, Array& out, PyObject*& object) {
  const bool lazy = is_lazy(object, out.tensor.dtype);
  if (access == Access::write) {
    if (lazy)
      return fail(kParamInvalid, name,
                  " is a lazily negated or conjugated tensor; an output must "
                  "hold its values");
    if (nb::cast<bool>(nb::getattr(object, "requires_grad")))
      return fail(kParamInvalid, name, " requires grad; an output must not, pass out.detach()");
    return {};
  }
  if (!lazy) return {};
  out.keeper = nb::handle(object).attr("resolve_conj")().attr("resolve_neg")();
  object = out.keeper.ptr();
  return {};
}

Status failed_tensor(const char* name, PyObject* object) {
  Status failure = failure_from_python(name, " cannot be read: ");
  const std::string layout = nb::str(nb::getattr(object, "layout", nb::none())).c_str();
  if (layout != "torch.strided")
    return fail(kParamInvalid, name, " has layout ", layout, "; expected torch.strided");
  const std::string device = nb::str(nb::getattr(object, "device", nb::none())).c_str();
  if (device != "cpu")
    return fail(kParamInvalid, name, " lies on device ", device, "; expected it on the CPU");
  return failure;
}

}  // namespace softnpu::python
