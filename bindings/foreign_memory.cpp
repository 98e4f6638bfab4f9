// SPDX-License-Identifier: Apache-2.0
#include "foreign_memory.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include "dlpack_arrays.h"
#include "memory/buffer_pool.h"
#include "sections.h"

namespace softnpu::python {
namespace {

using namespace dlpack_abi;

struct Memory {
  Memory(const Dims& shape, const Dims& steps, DType type, size_t bytes)
      : sizes(shape), strides(steps), dtype(type), pooled(memory::is_pooled(bytes)) {
    data = pooled ? memory::take_buffer(bytes) : ::operator new(bytes, kAlignment, std::nothrow);
    if (data != nullptr) return;
    const std::string message = text("unable to allocate ", bytes, " bytes for a result of shape ",
                                     shape, " and data type ", type);
    PyErr_SetString(PyExc_MemoryError, message.c_str());
    nb::raise_python_error();
  }
  ~Memory() {
    if (pooled)
      memory::give_back_buffer(data);
    else
      ::operator delete(data, kAlignment);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  Dims sizes, strides;
  DType dtype;
  bool pooled;
  void* data;
};

// What an importer gets: a description, and a share of the memory until its deleter is called.
template <class Struct>
struct Export {
  Struct managed{};
  std::shared_ptr<Memory> memory;
};

template <class Struct>
Struct* export_memory(const std::shared_ptr<Memory>& memory) {
  auto* made = new Export<Struct>;
  made->memory = memory;
  made->managed.context = made;
  made->managed.deleter = [](Struct* self) { delete static_cast<Export<Struct>*>(self->context); };
  if constexpr (std::is_same_v<Struct, ManagedVersioned>)
    made->managed.version = {kMajorVersion, 0};
  made->managed.description = {.data = memory->data,
                               .device = {kCpu, 0},
                               .ndim = static_cast<int32_t>(memory->sizes.size()),
                               .dtype = to_dlpack(memory->dtype),
                               .shape = memory->sizes.data(),
                               .strides = memory->strides.data(),
                               .byte_offset = 0};
  return &made->managed;
}

template <class Struct>
constexpr const char* kCapsuleName =
    std::is_same_v<Struct, ManagedVersioned> ? kVersionedCapsule : kManagedCapsule;

template <class Struct>
nb::object export_capsule(const std::shared_ptr<Memory>& memory) {
  Struct* const made = export_memory<Struct>(memory);
  // Importers rename the capsule, and then own what is in it.
  PyObject* capsule = PyCapsule_New(made, kCapsuleName<Struct>, [](PyObject* self) {
    if (!PyCapsule_IsValid(self, kCapsuleName<Struct>)) return;
    auto* managed = static_cast<Struct*>(PyCapsule_GetPointer(self, kCapsuleName<Struct>));
    managed->deleter(managed);
  });
  if (capsule == nullptr) {
    made->deleter(made);
    nb::raise_python_error();
  }
  return nb::steal(capsule);
}

Py_ssize_t major_of(PyObject* version) {
  const Held first = ask([=] { return PySequence_GetItem(version, 0); });
  return PyNumber_AsSsize_t(ask([&] { return PyNumber_Index(first.ptr()); }).ptr(), nullptr);
}

nb::object dlpack(const std::shared_ptr<Memory>& self, nb::kwargs options) {
  PyObject* const version = PyDict_GetItemString(options.ptr(), "max_version");
  const bool versioned =
      version != nullptr && version != Py_None && major_of(version) >= kMajorVersion;
  return versioned ? export_capsule<ManagedVersioned>(self) : export_capsule<Managed>(self);
}

std::shared_ptr<Memory> make_memory(Tensor& tensor) {
  const auto bytes = static_cast<size_t>(tensor.numel() * item_size(tensor.dtype));
  auto memory = std::make_shared<Memory>(tensor.sizes, tensor.strides, tensor.dtype, bytes);
  tensor.data = static_cast<std::byte*>(memory->data);
  return memory;
}

}  // namespace

nb::object make_foreign_memory(Tensor& tensor) { return nb::cast(make_memory(tensor)); }

ManagedVersioned* make_managed_memory(Tensor& tensor) {
  return export_memory<ManagedVersioned>(make_memory(tensor));
}

void bind_foreign_memory(nb::module_& m) {
  nb::class_<Memory>(m, "_Memory", "A result on its way to another array library.")
      .def("__dlpack__", &dlpack)
      .def("__dlpack_device__", [](const Memory&) { return std::pair(int{kCpu}, 0); });
}

}  // namespace softnpu::python
