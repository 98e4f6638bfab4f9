// SPDX-License-Identifier: Apache-2.0
#include "foreign_arrays.h"

#include <algorithm>
#include <span>

#include "dlpack_arrays.h"
#include "foreign_memory.h"
#include "names.h"
#include "readable.h"
#include "torch_tensors.h"

namespace softnpu::python {
namespace {

using namespace dlpack_abi;

// Asks for the current protocol first; producers from before 2024 do not know the argument.
nb::object export_capsule(nb::handle object) {
  try {
    return object.attr("__dlpack__"_name)(nb::arg("max_version") =
                                              nb::make_tuple(kMajorVersion, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return object.attr("__dlpack__"_name)();
  }
}

bool fits_int32(nb::handle object, int32_t& out) {
  if (!PyIndex_Check(object.ptr())) return false;
  const Py_ssize_t value = PyNumber_AsSsize_t(object.ptr(), nullptr);  // the nearest that fits
  if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
  out = static_cast<int32_t>(value);
  return out == value;
}

Status read_device(const char* name, nb::handle given, Device& out) {
  const nb::tuple pair(given);
  if (pair.size() == 2 && fits_int32(pair[0], out.type) && fits_int32(pair[1], out.id)) return {};
  return fail(kParamInvalid, name, " cannot be read: its __dlpack_device__ returns ",
              readable(given), "; expected the type and the number of a device");
}

// What would be read past, or not end, where a producer describes nonsense.
Status check_shape(const char* name, const Description& d) {
  constexpr int32_t most = 64;  // as in NumPy and PyTorch
  if (d.ndim < 0 || d.ndim > most)
    return fail(kParamInvalid, name, " cannot be read: its __dlpack__ describes ", d.ndim,
                " dimensions; expected 0 to ", most);
  if (d.ndim > 0 && d.shape == nullptr)
    return fail(kParamInvalid, name, " cannot be read: its __dlpack__ describes ", d.ndim,
                " dimensions without a shape");
  const std::span<const int64_t> sizes(d.shape, static_cast<size_t>(d.ndim));
  if (std::ranges::any_of(sizes, [](int64_t size) { return size < 0; }))
    return fail(kParamInvalid, name, " cannot be read: its __dlpack__ describes the shape ",
                Dims(sizes), ", which has a negative size");
  return {};
}

// `writable`: whether an export that does not say so is.
Status read_capsule(const char* name, nb::handle capsule, Access access, bool writable,
                    Array& out) {
  if (PyCapsule_IsValid(capsule.ptr(), kManagedCapsule)) {
    // NumPy takes these for read-only, too. JAX exports its arrays, which never change, like this.
    if (access == Access::write && !writable)
      return fail(kParamInvalid, name,
                  " cannot be written: its __dlpack__ knows no versions of "
                  "DLPack, so it cannot say whether it may be; pass a NumPy array or a tensor");
    auto* held = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), kManagedCapsule));
    RETURN_IF_FAILED(check_shape(name, held->description));
    return read_description(name, held->description, access, out);
  }
  if (!PyCapsule_IsValid(capsule.ptr(), kVersionedCapsule))
    return fail(kParamInvalid, name, " cannot be read: its __dlpack__ does not return a tensor");
  auto* held =
      static_cast<ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), kVersionedCapsule));
  if (held->version.major != kMajorVersion)
    return fail(kParamInvalid, name, " cannot be read: its __dlpack__ speaks version ",
                held->version.major, " of DLPack; expected ", kMajorVersion);
  if (access == Access::write && (held->flags & kReadOnly))
    return fail(kParamInvalid, name, " is read-only; an output must be writeable");
  RETURN_IF_FAILED(check_shape(name, held->description));
  return read_description(name, held->description, access, out);
}

// The from_dlpack of the library that an array belongs to; null when there is none.
nb::object find_from_dlpack(nb::handle like) {
  if (nb::hasattr(like, "__array_namespace__"_name)) {
    const nb::object space = like.attr("__array_namespace__"_name)();
    if (nb::hasattr(space, "from_dlpack"_name)) return space.attr("from_dlpack"_name);
  }
  const bool torch = is_torch_type(reinterpret_cast<PyTypeObject*>(like.type().ptr()));
  const nb::object name = nb::getattr(like.type(), "__module__"_name, nb::str(""));
  const std::string whole = torch ? "torch" : readable(name);
  const nb::dict modules = nb::borrow<nb::dict>(PyImport_GetModuleDict());
  for (const std::string& module : {whole.substr(0, whole.find('.')), whole}) {
    if (!modules.contains(module.c_str())) continue;
    const nb::object found = modules[module.c_str()];
    if (nb::hasattr(found, "from_dlpack"_name)) return found.attr("from_dlpack"_name);
  }
  return {};
}

}  // namespace

bool is_foreign_array(PyObject* object) {
  return nb::hasattr(nb::handle(object).type(), "__dlpack__"_name);
}

Status read_foreign_array(const char* name, PyObject* given, Access access, Array& out) {
  nb::object object = nb::borrow(given);
  const bool torch = is_torch_type(Py_TYPE(given));
  try {
    if (torch) RETURN_IF_FAILED(settle_old_tensor(name, access, object));
    if (nb::hasattr(object, "__dlpack_device__"_name)) {
      Device place;
      RETURN_IF_FAILED(read_device(name, object.attr("__dlpack_device__"_name)(), place));
      RETURN_IF_FAILED(check_device(name, place));
    }
    out.keeper = export_capsule(object);
  } catch (nb::python_error& error) {
    error.restore();
    return torch ? failed_tensor(name, given) : failure_from_python(name, " cannot be read: ");
  }
  return read_capsule(name, out.keeper, access, torch, out);
}

Status make_foreign_array(const char* name, PyObject* like, Tensor& tensor, NewArray& out) {
  out.take_over = find_from_dlpack(like);
  if (!out.take_over.is_valid())
    return fail(kParamInvalid, name, " cannot be made: the library of ", class_name(like),
                " has no from_dlpack; pass an array as out");
  out.object = make_foreign_memory(tensor);
  return {};
}

}  // namespace softnpu::python
