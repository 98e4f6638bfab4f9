// SPDX-License-Identifier: Apache-2.0
#include "torch_tensors.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "base/lasting.h"
#include "dlpack_arrays.h"
#include "foreign_arrays.h"
#include "torch_symbols.h"

namespace softnpu::python {
namespace {

using namespace dlpack_abi;

bool holds(const nb::object& answer) { return answer.is(Py_True); }

bool is_negated(PyObject* tensor) { return holds(invoke_method(tensor, "is_neg"_name)); }

// Whether memory holds the negated or conjugated values.
bool is_lazy(PyObject* tensor) {
  return holds(invoke_method(tensor, "is_conj"_name)) || is_negated(tensor);
}

// Zeros without memory, as forward mode creates them.
bool is_lazy_zero(PyObject* tensor) { return holds(invoke_method(tensor, "_is_zerotensor"_name)); }

// Null if a tensor's method fails.
nb::object ask_method(nb::handle object, nb::handle name) {
  return ask_unless(PyExc_Exception,
                    [&] { return PyObject_CallMethodNoArgs(object.ptr(), name.ptr()); });
}

// Whether an address may be an offset from null: PyTorch adds a view's offset even without memory,
// as for a view of lazy zeros. Only low addresses need a check.
bool is_offset_from_null(PyObject* tensor, const std::byte* address) {
  if (address == nullptr || reinterpret_cast<uintptr_t>(address) >> 40 != 0) return false;
  const nb::object storage = ask_method(tensor, "untyped_storage"_name);
  if (!storage.is_valid()) return true;
  const nb::object start = ask_method(storage, "data_ptr"_name);
  return !start.is_valid() || PyLong_AsVoidPtr(start.ptr()) == nullptr;
}

// Only floating-point and complex types can require grad.
bool is_lazy(PyObject* object, const Tensor& t) {
  if (is_complex(t.dtype)) return is_lazy(object);
  return is_floating(t.dtype) && is_negated(object);
}

Status check_output(const char* name, PyObject* object, bool lazy) {
  if (lazy)
    return fail("output-lazy"_rule, kParamInvalid, name,
                " is a lazily negated or conjugated tensor; an output must "
                "hold its values");
  if (requires_grad(object))
    return fail("output-requires-grad"_rule, kParamInvalid, name,
                " requires grad; an output must not, pass out.detach()");
  return {};
}

std::string text_of(PyObject* object, nb::handle name) {
  const Held value = find_attribute(object, name);
  return value.is_valid() ? readable(value) : "None";
}

// The resolved form of a lazily conjugated or negated tensor; any other tensor itself.
nb::object resolve(nb::handle tensor) {
  return invoke_method(invoke_method(tensor, "resolve_conj"_name), "resolve_neg"_name);
}

// torch.Tensor; null while PyTorch is not imported.
nb::handle tensor_type() {
  static nb::handle kept;
  if (!kept.is_valid()) kept = from_torch({"Tensor"_name});
  return kept;
}

const ExchangeTable* find_table() {
  const Held capsule = find_attribute(tensor_type(), "__dlpack_c_exchange_api__"_name);
  if (!capsule.is_valid()) return nullptr;
  // The table lives as long as the process.
  auto* header =
      static_cast<ExchangeHeader*>(PyCapsule_GetPointer(capsule.ptr(), kExchangeCapsule));
  if (header == nullptr) PyErr_Clear();
  while (header != nullptr && header->version.major != kMajorVersion) header = header->previous;
  const auto* const table = reinterpret_cast<const ExchangeTable*>(header);
  return table != nullptr && table->describe != nullptr ? table : nullptr;
}

Status describe(const char* name, const ExchangeTable& table, PyObject* object, Access access,
                Array& out) {
  Description description;
  if (call_or_stay([&] { return table.describe(object, &description); }) != 0)
    return failed_tensor(name, object);
  return read_description(name, description, access, out);
}

}  // namespace

nb::handle from_torch(std::initializer_list<nb::handle> path) {
  Held found = nb::borrow(PyDict_GetItemString(PyImport_GetModuleDict(), "torch"));
  for (const nb::handle name : path)
    if (found.is_valid()) found = find_attribute(found, name);
  return found.release();
}

bool is_tensor(PyObject* object) {
  PyObject* const type = tensor_type().ptr();
  return type != nullptr && PyType_Check(type) &&
         PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(type));
}

bool is_plain_tensor(PyObject* object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == tensor_type().ptr();
}

Status read_tensor(const char* name, PyObject* object, Access access, Array& out) {
  const ExchangeTable* const table = made_once<find_table>();
  if (table == nullptr) return read_foreign_array(name, object, access, out);
  RETURN_IF_FAILED(describe(name, *table, object, access, out));
  if (is_offset_from_null(object, out.tensor.data)) [[unlikely]]
    out.tensor.data = nullptr;
  if (out.tensor.data == nullptr && access == Access::read && is_lazy_zero(object)) [[unlikely]] {
    out.keeper = invoke_method(object, "clone"_name);
    return describe(name, *table, out.keeper.ptr(), access, out);
  }
  const bool lazy = is_lazy(object, out.tensor);
  if (access == Access::write) return check_output(name, object, lazy);
  if (!lazy) return {};
  out.source = std::make_unique<Tensor>(out.tensor);
  out.keeper = resolve(object);
  return describe(name, *table, out.keeper.ptr(), access, out);
}

Status settle_old_tensor(const char* name, Access access, Held& object) {
  if (access == Access::write) return check_output(name, object.ptr(), is_lazy(object.ptr()));
  object = resolve(invoke_method(object, "detach"_name));
  return {};
}

namespace {

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
    if (kept[i] == nullptr) kept[i] = from_torch({Held(nb::str(names[i].second))}).ptr();
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

// Whether a new tensor has memory for the elements of `tensor`, whose address it sets. A mode, such
// as that of torch.func.grad, may have returned another kind of object.
bool has_memory(PyObject* made, Tensor& tensor) {
  if (std::string_view(Py_TYPE(made)->tp_name) != "Tensor") return false;
  const Held address = nb::steal(
      call_or_stay([&] { return PyObject_CallMethodNoArgs(made, "data_ptr"_name.ptr()); }));
  if (!address.is_valid()) return false;
  tensor.data = static_cast<std::byte*>(PyLong_AsVoidPtr(address.ptr()));
  return tensor.data != nullptr || tensor.numel() == 0;
}

}  // namespace

nb::object make_tensor(Tensor& tensor) {
  static PyObject* const empty = from_torch({"empty_strided"_name}).ptr();
  static PyObject* const keywords = nb::make_tuple("dtype"_name, "device"_name).release().ptr();
  static PyObject* const cpu = from_torch({"device"_name})("cpu").release().ptr();
  const nb::handle dtype = dtype_of(tensor.dtype);
  if (empty == nullptr || !dtype.is_valid()) return {};
  const nb::object sizes = tuple_of(tensor.sizes), strides = tuple_of(tensor.strides);
  PyObject* const arguments[] = {sizes.ptr(), strides.ptr(), dtype.ptr(), cpu};
  Held made =
      nb::steal(call_or_stay([&] { return PyObject_Vectorcall(empty, arguments, 2, keywords); }));
  if (made.is_valid() && has_memory(made.ptr(), tensor)) return std::move(made);
  if (PyErr_Occurred()) forget_error();
  return {};
}

Status failed_tensor(const char* name, PyObject* object) {
  Status failure = failure_from_python(name, " cannot be read: ");
  const std::string layout = text_of(object, "layout"_name);
  if (layout != "torch.strided")
    return fail("tensor-layout"_rule, kParamInvalid, name, " has layout ", layout,
                "; expected torch.strided");
  const std::string device = text_of(object, "device"_name);
  if (device != "cpu")
    return fail("not-on-cpu"_rule, kParamInvalid, name, " lies on device ", device,
                "; expected it on the CPU");
  if (holds(attribute(object, "is_quantized"_name)))
    return fail("tensor-quantized"_rule, kParamInvalid, name,
                " is quantized; expected a tensor of plain numbers");
  if (failure.message().find("data pointer") != std::string_view::npos)
    return fail(
        "tensor-without-memory"_rule, kParamInvalid, name,
        " cannot be read: it has no memory of its own, as inside torch.vmap, torch.func.grad, "
        "torch.compile or a fake tensor mode");
  return failure;
}

}  // namespace softnpu::python
