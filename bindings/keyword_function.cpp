// SPDX-License-Identifier: Apache-2.0
// A Python function whose calls go straight to the extension. The interpreter's frame for the
// function itself takes 50 to 70 ns, up to a sixth of a small call.
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "raise.h"
#include "sections.h"

namespace softnpu::python {
namespace {

namespace nb = nanobind;

// Takes the place of `python`, which passes its parameters on to `native` in their order. `python`
// documents it, and does the calls with wrong arguments, whose errors are the interpreter's own.
struct KeywordFunction {
  static constexpr Py_ssize_t kMost = 8;

  PyObject_HEAD;
  vectorcallfunc call;
  PyObject* attributes;
  PyObject* python;
  PyObject* native;
  Py_ssize_t count;                              // of all parameters
  Py_ssize_t positional;                         // of those that may come without their names
  std::array<PyObject*, kMost> names, defaults;  // a default that is null: none
};

KeywordFunction& self_of(PyObject* object) { return *reinterpret_cast<KeywordFunction*>(object); }

// Puts the native function's arguments in place. False where there are too many or too few, or
// where a name is not known.
bool arrange(const KeywordFunction& f, PyObject* const* given, Py_ssize_t count, PyObject* keywords,
             PyObject** out) {
  if (count > f.positional) return false;
  std::copy(given, given + count, out);
  std::copy(f.defaults.begin() + count, f.defaults.begin() + f.count, out + count);
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t k = 0; k < named; ++k) {
    // Names in programs are interned, so that the same one is the same object.
    const auto* const names = f.names.begin();
    const auto* const at = std::find(names + count, names + f.count, PyTuple_GET_ITEM(keywords, k));
    if (at == names + f.count) return false;
    out[at - names] = given[count + k];
  }
  return std::find(out, out + f.count, nullptr) == out + f.count;
}

PyObject* call(PyObject* self, PyObject* const* given, size_t flags, PyObject* keywords) {
  const KeywordFunction& f = self_of(self);
  PyObject* arguments[KeywordFunction::kMost];
  if (!arrange(f, given, PyVectorcall_NARGS(flags), keywords, arguments)) [[unlikely]]
    return PyObject_Vectorcall(f.python, given, flags, keywords);
  const auto native = reinterpret_cast<_PyCFunctionFast>(
      reinterpret_cast<void (*)()>(PyCFunction_GET_FUNCTION(f.native)));
  return native(PyCFunction_GET_SELF(f.native), arguments, f.count);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(self_of(self).attributes);
  Py_VISIT(self_of(self).python);
  Py_VISIT(self_of(self).native);
  for (PyObject* value : self_of(self).defaults) Py_VISIT(value);
  return 0;
}

// What is called stays until the end: a call may come while garbage is collected.
int clear(PyObject* self) {
  Py_CLEAR(self_of(self).attributes);
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear(self);
  Py_CLEAR(self_of(self).python);
  Py_CLEAR(self_of(self).native);
  for (PyObject*& name : self_of(self).names) Py_CLEAR(name);
  for (PyObject*& value : self_of(self).defaults) Py_CLEAR(value);
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// As an attribute of a class it becomes a method, as any function does.
PyObject* bind(PyObject* self, PyObject* object, PyObject* /*type*/) {
  if (object == nullptr || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

PyObject* represent(PyObject* self) { return PyObject_Repr(self_of(self).python); }

// Pickled and copied by its name, as any function is.
PyObject* reduce(PyObject* self, PyObject* /*none*/) {
  return PyObject_GetAttrString(self_of(self).python, "__qualname__");
}

PyTypeObject* make_type() {
  static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};
  static PyMemberDef members[] = {
      {"__dictoffset__", T_PYSSIZET, offsetof(KeywordFunction, attributes), READONLY, nullptr},
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(KeywordFunction, call), READONLY, nullptr},
      {}};
  static PyGetSetDef properties[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};
  const auto slot = [](int id, auto* value) {
    return PyType_Slot{id, reinterpret_cast<void*>(value)};
  };
  PyType_Slot slots[] = {slot(Py_tp_call, PyVectorcall_Call),
                         slot(Py_tp_traverse, traverse),
                         slot(Py_tp_clear, clear),
                         slot(Py_tp_dealloc, destroy),
                         slot(Py_tp_descr_get, bind),
                         slot(Py_tp_repr, represent),
                         slot(Py_tp_methods, methods),
                         slot(Py_tp_members, members),
                         slot(Py_tp_getset, properties),
                         {0, nullptr}};
  PyType_Spec spec{"softnpu._core.KeywordFunction", sizeof(KeywordFunction), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                       Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) nb::raise_python_error();
  return reinterpret_cast<PyTypeObject*>(type);
}

void read_parameters(KeywordFunction& f, nb::handle python) {
  const nb::object code = python.attr("__code__");
  f.positional = nb::cast<Py_ssize_t>(code.attr("co_argcount"));
  f.count = f.positional + nb::cast<Py_ssize_t>(code.attr("co_kwonlyargcount"));
  if (f.count > KeywordFunction::kMost) throw nb::type_error("too many parameters");
  const nb::object names = code.attr("co_varnames"), defaults = python.attr("__defaults__"),
                   keyword_defaults = python.attr("__kwdefaults__");
  const Py_ssize_t with_default = defaults.is_none() ? 0 : PyTuple_GET_SIZE(defaults.ptr());
  for (Py_ssize_t i = 0; i < f.count; ++i) {
    f.names[i] = Py_NewRef(PyTuple_GET_ITEM(names.ptr(), i));
    const Py_ssize_t at = i - (f.positional - with_default);
    if (i >= f.positional && !keyword_defaults.is_none())
      f.defaults[i] = PyDict_GetItem(keyword_defaults.ptr(), f.names[i]);
    else if (i < f.positional && at >= 0)
      f.defaults[i] = PyTuple_GET_ITEM(defaults.ptr(), at);
    Py_XINCREF(f.defaults[i]);
  }
}

nb::object keyword_function(nb::handle native, nb::handle python) {
  static PyTypeObject* const type = make_type();
  if (!PyCFunction_CheckExact(native.ptr()) || PyCFunction_GET_FLAGS(native.ptr()) != METH_FASTCALL)
    throw nb::type_error("expected a function that takes positional arguments alone");
  auto* const f = reinterpret_cast<KeywordFunction*>(type->tp_alloc(type, 0));
  if (f == nullptr) nb::raise_python_error();
  nb::object result = nb::steal(reinterpret_cast<PyObject*>(f));
  f->call = call;
  f->python = python.inc_ref().ptr();
  f->native = native.inc_ref().ptr();
  read_parameters(*f, python);
  nb::module_::import_("functools").attr("update_wrapper")(result, python);
  load_errors();  // of the calls to come
  return result;
}

}  // namespace

void bind_keyword_function(nb::module_& m) {
  m.def("keyword_function", &keyword_function, nb::arg("native"), nb::arg("python"),
        nb::sig("def keyword_function(native: Callable[..., Any], python: _F) -> _F"));
}

}  // namespace softnpu::python
