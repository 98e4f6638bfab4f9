// SPDX-License-Identifier: Apache-2.0
// Operators that are no fallback: those that make tensors or views, copy between devices, or exist
// for devices alone.
#include <ATen/EmptyTensor.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_fused_sdp_choice_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/_to_copy_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_cpu_dispatch.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "aliases.h"
#include "copies.h"
#include "fallback.h"

namespace softnpu::npu {
namespace {

using at::IntArrayRef;
using at::Tensor;
using c10::Device;
using c10::DispatchKey;
using c10::DispatchKeySet;
using std::optional;

DeviceIndex index_of(const optional<Device>& device) {
  return device && device->has_index() ? checked_device(device->index()) : current_device();
}

void refuse_pinned(const optional<bool>& pinned) {
  TORCH_CHECK(!pinned.value_or(false), "Only dense CPU tensors can be pinned");
}

Tensor empty(IntArrayRef sizes, optional<at::ScalarType> type, optional<at::Layout>,
             optional<Device> device, optional<bool> pinned, optional<at::MemoryFormat> format) {
  refuse_pinned(pinned);
  const OnDevice on(index_of(device));
  return at::detail::empty_generic(sizes, &allocator(), DispatchKeySet(DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(type), format);
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, optional<at::ScalarType> type,
                     optional<at::Layout>, optional<Device> device, optional<bool> pinned) {
  refuse_pinned(pinned);
  const OnDevice on(index_of(device));
  return at::detail::empty_strided_generic(sizes, strides, &allocator(),
                                           DispatchKeySet(DispatchKey::PrivateUse1),
                                           c10::dtype_or_default(type));
}

// Zeros without memory: what autograd's forward mode takes for tangents that are not there.
class NoMemory final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t) override {
    return {nullptr, nullptr, raw_deleter(), Device(kNpu, current_device())};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return [](void*) {};
  }
  void copy_data(void*, const void*, size_t) const override {}
};

Tensor efficient_zeros(IntArrayRef sizes, optional<at::ScalarType> type, optional<at::Layout>,
                       optional<Device> device, optional<bool>) {
  static NoMemory none;
  const OnDevice on(index_of(device));
  Tensor zeros = at::detail::empty_generic(
      sizes, &none, DispatchKeySet({DispatchKey::PrivateUse1, DispatchKey::ZeroTensor}),
      c10::dtype_or_default(type), std::nullopt);
  return zeros;
}

// NPUs have no float64: conversions give float32.
Tensor to_copy(const Tensor& self, optional<at::ScalarType> type, optional<at::Layout> layout,
               optional<Device> device, optional<bool> pinned, bool non_blocking,
               optional<at::MemoryFormat> format) {
  if (type == at::kDouble && (!device || device->type() == kNpu)) {
    TORCH_WARN_ONCE("Device do not support double dtype now, dtype cast replace with float.");
    type = at::kFloat;
  }
  return at::native::_to_copy(self, type, layout, device, pinned, non_blocking, format);
}

void record_stream(Tensor& self, c10::Stream stream) {
  allocator().recordStream(self.storage().data_ptr(), stream);
}

// Whether a parameter can stay the same object when its data move to another device: so optimizers
// that were made before a model moved keep its parameters.
bool can_take_data(const Tensor& self, const Tensor& from) {
  const auto dense = [](const Tensor& tensor) {
    return tensor.layout() == at::kStrided && !tensor.is_quantized() &&
           (tensor.is_cpu() || tensor.device().type() == kNpu);
  };
  return self.key_set() == from.key_set() || (dense(self) && dense(from));
}

Tensor& set_storage(Tensor& tensor, at::Storage storage, int64_t offset, IntArrayRef sizes,
                    IntArrayRef strides) {
  return at::cpu::set_(tensor, std::move(storage), offset, sizes, strides);
}

// The names that PyTorch gives convolutions on devices outside of its tree.
void convolution(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution", "");
  run_on_cpu(op, stack);
}

void convolution_backward(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution_backward", "");
  constexpr int64_t kArguments = 10;
  constexpr int64_t kBiasSizes = 3;
  const auto first = stack->end() - kArguments;
  const int64_t channels = first->toTensor().size(1);
  stack->insert(first + kBiasSizes, c10::IValue(std::vector<int64_t>{channels}));
  run_on_cpu(op, stack);
}

}  // namespace

}  // namespace softnpu::npu

namespace at::native {
// Attention takes the way that it takes on the CPU. The choice reads no memory, and is no operator:
// so fake tensors can make it.
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &_fused_sdp_choice_cpp)
}  // namespace at::native

namespace softnpu::npu {

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("view", &at::native::view);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
  m.impl("unfold", &at::native::unfold);
  m.impl("view_as_real", &at::native::view_as_real);
  m.impl("view_as_complex", &at::native::view_as_complex);
  m.impl("_efficientzerotensor", &efficient_zeros);
  m.impl("_to_copy", &to_copy);
  m.impl("record_stream", &record_stream);
  m.impl("copy_", &copy_);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("_has_compatible_shallow_copy_type", &can_take_data);
  m.impl("set_.source_Storage_storage_offset", &set_storage);
  m.impl("set_.source_Storage", [](Tensor& tensor, at::Storage source) -> Tensor& {
    return at::native::set_(tensor, std::move(source));
  });
  m.impl("set_.source_Tensor", [](Tensor& tensor, const Tensor& source) -> Tensor& {
    return at::native::set_tensor_(tensor, source);
  });
  m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  m.impl("convolution_backward_overrideable",
         torch::CppFunction::makeFromBoxedFunction<&convolution_backward>());
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("_has_compatible_shallow_copy_type", &can_take_data);
}

// A copy reads lazy conjugates and negatives as they are.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

}  // namespace softnpu::npu
