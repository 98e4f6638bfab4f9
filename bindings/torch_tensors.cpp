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

// Lazy negation comes from the imaginary part of a lazily conjugated tensor, whose elements lie two
// apart. Asking a tensor takes 70 ns, so those are not asked that have a dimension with an odd
// stride; it would take as_strided, and a stride that mixes real and imaginary parts, to fool this.
bool may_be_negated(const Tensor& t) {
  for (size_t i = 0; i < t.rank(); ++i)
    if (t.sizes[i] > 1 && t.strides[i] % 2 != 0) return false;
  return true;
}

// Whether memory holds the negated or conjugated values. Only floating and complex types can.
bool is_lazy(PyObject* object, const Tensor& t) {
  static PyObject* const is_neg = interned("is_neg");
  static PyObject* const is_conj = interned("is_conj");
  if (is_complex(t.dtype)) return says_yes(object, is_conj) || says_yes(object, is_neg);
  return is_floating(t.dtype) && may_be_negated(t) && says_yes(object, is_neg);
}

// The C getter of torch.Tensor.requires_grad; null where it is something else. Calling it directly
// takes half of the 50 ns of looking the attribute up.
const PyGetSetDef* find_getter(PyTypeObject* type, PyObject* name) {
  PyObject* descriptor = PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name);
  if (descriptor == nullptr) nb::raise_python_error();
  const bool native = Py_TYPE(descriptor) == &PyGetSetDescr_Type;
  Py_DECREF(descriptor);  // the type keeps it
  return native ? reinterpret_cast<PyGetSetDescrObject*>(descriptor)->d_getset : nullptr;
}

bool requires_grad(PyObject* object) {
  static PyObject* const name = interned("requires_grad");
  static PyTypeObject* known = nullptr;  // kept alive, so that no other type takes its address
  static const PyGetSetDef* getter = nullptr;
  PyTypeObject* const type = Py_TYPE(object);
  if (known == nullptr && type->tp_getattro == PyObject_GenericGetAttr) {
    getter = find_getter(type, name);
    Py_INCREF(type);
    known = type;
  }
  PyObject* answer = type == known && getter != nullptr ? getter->get(object, getter->closure)
                                                        : PyObject_GetAttr(object, name);
  if (answer == nullptr) nb::raise_python_error();
  Py_DECREF(answer);
  return answer == Py_True;
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
  const bool lazy = is_lazy(object, out.tensor);
  if (access == Access::write) {
    if (lazy)
      return fail(kParamInvalid, name,
                  " is a lazily negated or conjugated tensor; an output must "
                  "hold its values");
    if (requires_grad(object))
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
