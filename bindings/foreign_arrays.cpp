// SPDX-License-Identifier: Apache-2.0
#include "foreign_arrays.h"

#include <algorithm>
#include <span>

#include "dlpack_arrays.h"
#include "torch_tensors.h"

namespace softnpu::python {
namespace {

using namespace dlpack_abi;

// Asks for the current protocol first. Producers from before 2024 do not know the argument.
nb::object export_capsule(nb::handle object) {
  const nb::object keyword = nb::make_tuple("max_version"_name);
  const nb::object version = nb::make_tuple(kMajorVersion, 0);
  const Held method = attribute(object, "__dlpack__"_name);
  PyObject* const value = version.ptr();
  nb::object capsule = ask_unless(
      PyExc_TypeError, [&] { return PyObject_Vectorcall(method.ptr(), &value, 0, keyword.ptr()); });
  return capsule.is_valid() ? capsule : invoke(method);
}

bool fits_int32(nb::handle object, int32_t& out) {
  if (!PyIndex_Check(object.ptr())) return false;
  const Py_ssize_t value =
      call_or_stay([&] { return PyNumber_AsSsize_t(object.ptr(), nullptr); });  // clamped
  if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
  out = static_cast<int32_t>(value);
  return out == value;
}

Status read_device(const char* name, nb::handle given, Device& out) {
  const Held pair = ask([&] { return PySequence_Tuple(given.ptr()); });
  const auto fits = [&](Py_ssize_t i, int32_t& number) {
    return fits_int32(PyTuple_GET_ITEM(pair.ptr(), i), number);
  };
  if (PyTuple_GET_SIZE(pair.ptr()) == 2 && fits(0, out.type) && fits(1, out.id)) return {};
  return fail("dlpack-device"_rule, kParamInvalid, name,
              " cannot be read: its __dlpack_device__ returns ", readable(given),
              "; expected the type and the number of a device");
}

// Checks for invalid descriptions, which would be read out of bounds.
Status check_shape(const char* name, const Description& d) {
  constexpr int32_t most = 64;  // as in NumPy and PyTorch
  if (d.ndim < 0 || d.ndim > most)
    return fail("dlpack-shape"_rule, kParamInvalid, name,
                " cannot be read: its __dlpack__ describes ", d.ndim, " dimensions; expected 0 to ",
                most);
  if (d.ndim > 0 && d.shape == nullptr)
    return fail("dlpack-shape"_rule, kParamInvalid, name,
                " cannot be read: its __dlpack__ describes ", d.ndim,
                " dimensions without a shape");
  const std::span<const int64_t> sizes(d.shape, static_cast<size_t>(d.ndim));
  if (std::ranges::any_of(sizes, [](int64_t size) { return size < 0; }))
    return fail("dlpack-shape"_rule, kParamInvalid, name,
                " cannot be read: its __dlpack__ describes the shape ", Dims(sizes),
                ", which has a negative size");
  return {};
}

// `writable` is the default for exports without this flag.
Status read_capsule(const char* name, nb::handle capsule, Access access, bool writable,
                    Array& out) {
  if (PyCapsule_IsValid(capsule.ptr(), kManagedCapsule)) {
    // Treated as read-only, as in NumPy. JAX exports its immutable arrays like this.
    if (access == Access::write && !writable)
      return fail("dlpack-unversioned"_rule, kParamInvalid, name,
                  " cannot be written: its __dlpack__ returns a capsule without a "
                  "version, which has no flag for read-only data; pass a NumPy array or a tensor");
    auto* held = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), kManagedCapsule));
    RETURN_IF_FAILED(check_shape(name, held->description));
    return read_description(name, held->description, access, out);
  }
  if (!PyCapsule_IsValid(capsule.ptr(), kVersionedCapsule))
    return fail("dlpack-capsule"_rule, kParamInvalid, name,
                " cannot be read: its __dlpack__ does not return a tensor");
  auto* held =
      static_cast<ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), kVersionedCapsule));
  if (held->version.major != kMajorVersion)
    return fail("dlpack-version"_rule, kParamInvalid, name,
                " cannot be read: its __dlpack__ speaks version ", held->version.major,
                " of DLPack; expected ", kMajorVersion);
  if (access == Access::write && (held->flags & kReadOnly))
    return fail("output-read-only"_rule, kParamInvalid, name,
                " is read-only; an output must be writeable");
  RETURN_IF_FAILED(check_shape(name, held->description));
  return read_description(name, held->description, access, out);
}

Status export_array(const char* name, Held object, Access access, bool torch, Held& capsule) {
  if (torch) RETURN_IF_FAILED(settle_old_tensor(name, access, object));
  if (has_attribute(object, "__dlpack_device__"_name)) {
    Device place;
    const Held device = invoke_method(object, "__dlpack_device__"_name);
    RETURN_IF_FAILED(read_device(name, device, place));
    RETURN_IF_FAILED(check_device(name, place));
  }
  capsule = export_capsule(object);
  return {};
}

// The from_dlpack of the library of an array; null if there is none.
nb::object find_from_dlpack(nb::handle like) {
  if (has_attribute(like, "__array_namespace__"_name)) {
    const Held space = invoke_method(like, "__array_namespace__"_name);
    if (has_attribute(space, "from_dlpack"_name)) return attribute(space, "from_dlpack"_name);
  }
  const bool torch = is_tensor(like.ptr());
  const Held name = find_attribute(like.type(), "__module__"_name);
  const std::string whole = torch ? "torch" : name.is_valid() ? readable(name) : "";
  const nb::dict modules = nb::borrow<nb::dict>(PyImport_GetModuleDict());
  for (const std::string& module : {whole.substr(0, whole.find('.')), whole}) {
    if (!modules.contains(module.c_str())) continue;
    const nb::object found = modules[module.c_str()];
    if (has_attribute(found, "from_dlpack"_name)) return attribute(found, "from_dlpack"_name);
  }
  return {};
}

}  // namespace

bool is_foreign_array(PyObject* object) {
  return has_attribute(nb::handle(object).type(), "__dlpack__"_name);
}

Status read_foreign_array(const char* name, PyObject* object, Access access, Array& out) {
  const bool torch = is_tensor(object);
  try {
    RETURN_IF_FAILED(export_array(name, nb::borrow(object), access, torch, out.keeper));
  } catch (nb::python_error& error) {
    error.restore();
  }
  if (!out.keeper.is_valid())
    return torch ? failed_tensor(name, object) : failure_from_python(name, " cannot be read: ");
  return read_capsule(name, out.keeper, access, torch, out);
}

Status make_foreign_array(const char* name, PyObject* like, Tensor& tensor, NewArray& out) {
  out.take_over = find_from_dlpack(like);
  if (!out.take_over.is_valid())
    return fail("no-from-dlpack"_rule, kParamInvalid, name, " cannot be made: the library of ",
                class_name(like), " has no from_dlpack; pass an array as out");
  out.object = make_foreign_memory(tensor);
  return {};
}

}  // namespace softnpu::python
