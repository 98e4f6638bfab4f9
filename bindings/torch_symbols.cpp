// SPDX-License-Identifier: Apache-2.0
#include "torch_symbols.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "python_code.h"
#include "torch_tensors.h"

namespace softnpu::python {
namespace {

// Null if the library is not loaded or does not export the name.
void* find_symbol(const char* library, const char* name) {
  void* const loaded =
      dlopen(library, RTLD_LAZY | RTLD_NOLOAD);  // stays open, so that it is not unloaded
  return loaded == nullptr ? nullptr : dlsym(loaded, name);
}

template <class T>
T read_at(nb::handle object, size_t offset) {
  T value;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(object.ptr()) + offset, sizeof value);
  return value;
}

// The offset at which a tensor's object holds the address of its TensorImpl, found by comparison
// with the attribute _cdata; 0 if it is not found.
size_t find_offset(nb::handle tensor) {
  const nb::object expected = find_attribute(tensor, "_cdata"_name);
  if (!expected.is_valid() || !PyLong_Check(expected.ptr())) return 0;
  const void* const address = PyLong_AsVoidPtr(expected.ptr());
  const auto size = static_cast<size_t>(Py_TYPE(tensor.ptr())->tp_basicsize);
  for (size_t at = sizeof(PyObject); at + sizeof(void*) <= size; at += sizeof(void*))
    if (read_at<void*>(tensor, at) == address) return at;
  return 0;
}

// Null if it cannot be found, and for subclasses, which may define other attributes.
void* implementation(nb::handle tensor) {
  if (!is_plain_tensor(tensor.ptr())) return nullptr;
  static constexpr size_t kUnknown = ~size_t{0};
  static std::atomic<size_t> kept{kUnknown};
  size_t offset = kept.load(std::memory_order_relaxed);
  if (offset == kUnknown) [[unlikely]]
    kept.store(offset = find_offset(tensor), std::memory_order_relaxed);
  return offset == 0 ? nullptr : read_at<void*>(tensor, offset);
}

// c10::TensorImpl::requires_grad() const
using RequiresGrad = bool (*)(const void* self);
RequiresGrad find_requires_grad() {
  return reinterpret_cast<RequiresGrad>(
      find_symbol("libc10.so", "_ZNK3c1010TensorImpl13requires_gradEv"));
}

// torch::autograd::impl::bump_version(const at::Tensor&). A Tensor is a pointer to its TensorImpl.
using BumpVersion = void (*)(void* const* tensor);
BumpVersion find_bump_version() {
  return reinterpret_cast<BumpVersion>(
      find_symbol("libtorch_cpu.so", "_ZN5torch8autograd4impl12bump_versionERKN2at6TensorE"));
}

}  // namespace

const DispatchKeys* dispatch_keys() {
  thread_local const auto* const keys = static_cast<const DispatchKeys*>(
      find_symbol("libc10.so", "_ZN3c104impl26raw_local_dispatch_key_setE"));
  return keys;
}

bool requires_grad(nb::handle tensor) {
  const RequiresGrad ask_self = made_once<find_requires_grad>();
  const void* const self = ask_self != nullptr ? implementation(tensor) : nullptr;
  if (self != nullptr) return ask_self(self);
  return attribute(tensor, "requires_grad"_name).is(Py_True);
}

Write count_write(nb::handle tensor) {
  const BumpVersion bump_version = made_once<find_bump_version>();
  void* const self = bump_version != nullptr ? implementation(tensor) : nullptr;
  if (self == nullptr) return Write::unknown;
  try {
    bump_version(&self);
    return Write::counted;
  } catch (...) {
    return Write::refused;
  }
}

}  // namespace softnpu::python
