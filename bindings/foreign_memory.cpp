// SPDX-License-Identifier: Apache-2.0
// Memory for results in other libraries' arrays, passed on through DLPack.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "dlpack_arrays.h"
#include "foreign_arrays.h"
#include "own_memory.h"
#include "raise.h"
#include "sections.h"

namespace softnpu::python {
namespace {

using namespace dlpack_abi;

struct OwnResult {
  Dims sizes, strides;
  DType dtype;
  OwnMemory data;
};

// The object for an importer: a description, and a reference to the memory until its deleter is
// called, on any thread.
template <class Struct>
struct Export {
  Struct managed{};
  std::shared_ptr<OwnResult> memory;
};

template <class Struct>
nb::object export_capsule(const std::shared_ptr<OwnResult>& memory) {
  static constexpr bool versioned = std::is_same_v<Struct, ManagedVersioned>;
  static constexpr const char* name = versioned ? kVersionedCapsule : kManagedCapsule;
  auto made = std::make_unique<Export<Struct>>();
  Struct& managed = made->managed;
  made->memory = memory;
  managed.context = made.get();
  managed.deleter = [](Struct* self) { delete static_cast<Export<Struct>*>(self->context); };
  if constexpr (versioned) managed.version = {kMajorVersion, 0};
  managed.description = {.data = memory->data.get(),
                         .device = {kCpu, 0},
                         .ndim = static_cast<int32_t>(memory->sizes.size()),
                         .dtype = to_dlpack(memory->dtype),
                         .shape = memory->sizes.data(),
                         .strides = memory->strides.data(),
                         .byte_offset = 0};
  // Importers rename the capsule and then own its contents.
  PyObject* capsule = PyCapsule_New(&managed, name, [](PyObject* self) {
    if (!PyCapsule_IsValid(self, name)) return;
    auto* managed = static_cast<Struct*>(PyCapsule_GetPointer(self, name));
    managed->deleter(managed);
  });
  if (capsule == nullptr) nb::raise_python_error();
  made.release();
  return nb::steal(capsule);
}

Py_ssize_t major_of(PyObject* version) {
  const Held first = ask([=] { return PySequence_GetItem(version, 0); });
  return PyNumber_AsSsize_t(ask([&] { return PyNumber_Index(first.ptr()); }).ptr(), nullptr);
}

nb::object dlpack(const std::shared_ptr<OwnResult>& self, nb::kwargs options) {
  PyObject* const version = PyDict_GetItemString(options.ptr(), "max_version");
  const bool versioned =
      version != nullptr && version != Py_None && major_of(version) >= kMajorVersion;
  return versioned ? export_capsule<ManagedVersioned>(self) : export_capsule<Managed>(self);
}

}  // namespace

nb::object make_foreign_memory(Tensor& tensor) {
  const auto bytes = static_cast<size_t>(tensor.numel() * item_size(tensor.dtype));
  auto memory = std::make_shared<OwnResult>(tensor.sizes, tensor.strides, tensor.dtype);
  memory->data = own_memory(bytes);
  tensor.data = memory->data.get();
  if (tensor.data != nullptr) return nb::cast(memory);
  raise(PyExc_MemoryError, "out-of-host-memory"_rule,
        text("unable to allocate ", bytes, " bytes for a result of shape ", tensor.sizes,
             " and data type ", tensor.dtype));
}

void bind_foreign_memory(nb::module_& m) {
  nb::class_<OwnResult>(m, "_Memory", "A result on its way to another array library.")
      .def("__dlpack__", &dlpack)
      .def("__dlpack_device__", [](const OwnResult&) { return std::pair(int{kCpu}, 0); });
}

}  // namespace softnpu::python
