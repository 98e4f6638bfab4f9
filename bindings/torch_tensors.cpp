// SPDX-License-Identifier: Apache-2.0
#include "torch_tensors.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "names.h"
#include "readable.h"

namespace softnpu::python {
namespace {

// An attribute of torch.Tensor that is written in C, for tensors of the class that was asked for
// first. Calling it directly takes half of the 50 to 70 ns of looking it up.
class NativeAttribute {
 public:
  explicit NativeAttribute(nb::handle name) : name_(name.ptr()) {}

  // Whether a method without arguments, or a property, is True.
  bool holds(PyObject* object) {
    PyTypeObject* const type = Py_TYPE(object);
    if (type_ == nullptr && type->tp_getattro == PyObject_GenericGetAttr) find(type);
    if (type == type_ && method_ != nullptr)
      return ask([&] { return method_(object, nullptr); }).is(Py_True);
    if (type == type_ && getter_ != nullptr)
      return ask([&] { return getter_->get(object, getter_->closure); }).is(Py_True);
    const Held value = attribute(object, name_);
    return PyCallable_Check(value.ptr()) ? invoke(value).is(Py_True) : value.is(Py_True);
  }

 private:
  void find(PyTypeObject* type) {
    const nb::object owner = attribute(type, name_);  // the type keeps it
    PyObject* const descriptor = owner.ptr();
    if (Py_TYPE(descriptor) == &PyGetSetDescr_Type)
      getter_ = reinterpret_cast<PyGetSetDescrObject*>(descriptor)->d_getset;
    if (Py_TYPE(descriptor) == &PyMethodDescr_Type) {
      const PyMethodDef* found = reinterpret_cast<PyMethodDescrObject*>(descriptor)->d_method;
      if (found->ml_flags == METH_NOARGS) method_ = found->ml_meth;
    }
    Py_INCREF(type);  // so that no other type takes its address
    type_ = type;
  }

  PyObject* name_;
  PyTypeObject* type_ = nullptr;
  const PyGetSetDef* getter_ = nullptr;
  PyCFunction method_ = nullptr;
};

bool is_negated(PyObject* object) {
  static NativeAttribute is_neg("is_neg"_name);
  return is_neg.holds(object);
}

// Whether memory holds the negated or conjugated values.
bool is_lazy(PyObject* object) {
  static NativeAttribute is_conj("is_conj"_name);
  return is_conj.holds(object) || is_negated(object);
}

// Only floating and complex types can.
bool is_lazy(PyObject* object, const Tensor& t) {
  if (is_complex(t.dtype)) return is_lazy(object);
  return is_floating(t.dtype) && is_negated(object);
}

Status check_output(const char* name, PyObject* object, bool lazy) {
  static NativeAttribute requires_grad("requires_grad"_name);
  if (lazy)
    return fail(kParamInvalid, name,
                " is a lazily negated or conjugated tensor; an output must "
                "hold its values");
  if (requires_grad.holds(object))
    return fail(kParamInvalid, name, " requires grad; an output must not, pass out.detach()");
  return {};
}

std::string text_of(PyObject* object, nb::handle name) {
  const Held value = find_attribute(object, name);
  return value.is_valid() ? readable(value) : "None";
}

// What a lazily conjugated or negated tensor stands for; any other tensor itself.
nb::object resolve(nb::handle tensor) {
  return invoke_method(invoke_method(tensor, "resolve_conj"_name), "resolve_neg"_name);
}

}  // namespace

bool is_torch_type(PyTypeObject* type) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* torch = PyDict_GetItemString(modules, "torch");
  if (torch == nullptr) return false;
  const nb::object tensor = find_attribute(torch, "Tensor"_name);
  return tensor.is_valid() && PyType_Check(tensor.ptr()) &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(tensor.ptr()));
}

Status settle_tensor(const char* name, Access access, Array& out, PyObject*& object) {
  const bool lazy = is_lazy(object, out.tensor);
  if (access == Access::write) return check_output(name, object, lazy);
  if (!lazy) return {};
  out.source = std::make_unique<Tensor>(out.tensor);
  out.keeper = resolve(object);
  object = out.keeper.ptr();
  return {};
}

Status settle_old_tensor(const char* name, Access access, Held& object) {
  if (access == Access::write) return check_output(name, object.ptr(), is_lazy(object.ptr()));
  object = resolve(invoke_method(object, "detach"_name));
  return {};
}

namespace {

// torch's object of that name, kept.
nb::handle from_torch(const char* name) {
  PyObject* const torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  if (torch == nullptr) return {};
  const Held text = nb::str(name);
  return find_attribute(torch, text).release();
}

nb::handle dtype_of(DType dtype) {
  static constexpr std::pair<DType, const char*> names[] = {
      {DType::f32, "float32"},  {DType::f16, "float16"},   {DType::bf16, "bfloat16"},
      {DType::f64, "float64"},  {DType::i8, "int8"},       {DType::i16, "int16"},
      {DType::i32, "int32"},    {DType::i64, "int64"},     {DType::u8, "uint8"},
      {DType::boolean, "bool"}, {DType::c64, "complex64"}, {DType::c128, "complex128"},
  };
  static PyObject* kept[std::size(names)] = {};
  for (size_t i = 0; i < std::size(names); ++i) {
    if (names[i].first != dtype) continue;
    if (kept[i] == nullptr) kept[i] = from_torch(names[i].second).ptr();
    return kept[i];
  }
  return {};
}

nb::object tuple_of(const Dims& dims) {
  nb::object tuple = ask([&] { return PyTuple_New(static_cast<Py_ssize_t>(dims.size())); });
  for (size_t i = 0; i < dims.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i),
                     ask([&] { return PyLong_FromLongLong(dims[i]); }).release().ptr());
  return tuple;
}

}  // namespace

nb::object make_tensor(const Tensor& tensor) {
  static PyObject* const empty = from_torch("empty_strided").ptr();
  static PyObject* const keywords = nb::make_tuple("dtype"_name, "device"_name).release().ptr();
  static PyObject* const cpu = nb::str("cpu").release().ptr();
  const nb::handle dtype = dtype_of(tensor.dtype);
  if (empty == nullptr || !dtype.is_valid()) return {};
  const nb::object sizes = tuple_of(tensor.sizes), strides = tuple_of(tensor.strides);
  PyObject* const arguments[] = {sizes.ptr(), strides.ptr(), dtype.ptr(), cpu};
  PyObject* const made =
      call_or_stay([&] { return PyObject_Vectorcall(empty, arguments, 2, keywords); });
  if (made == nullptr) forget_error();
  // A mode, as torch.func.grad has one, may make something else of it.
  const bool plain = made != nullptr && std::string_view(Py_TYPE(made)->tp_name) == "Tensor";
  if (plain) return nb::steal(made);
  Py_XDECREF(made);
  return {};
}

Status failed_tensor(const char* name, PyObject* object) {
  Status failure = failure_from_python(name, " cannot be read: ");
  const std::string layout = text_of(object, "layout"_name);
  if (layout != "torch.strided")
    return fail(kParamInvalid, name, " has layout ", layout, "; expected torch.strided");
  const std::string device = text_of(object, "device"_name);
  if (device != "cpu")
    return fail(kParamInvalid, name, " lies on device ", device, "; expected it on the CPU");
  return failure;
}

}  // namespace softnpu::python
