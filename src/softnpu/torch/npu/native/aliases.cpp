// SPDX-License-Identifier: Apache-2.0
#include "aliases.h"

#include <c10/core/StorageImpl.h>

#include <algorithm>

namespace softnpu::npu {
namespace {

c10::Storage new_storage(size_t bytes, c10::DataPtr memory, c10::Allocator* allocator) {
  return c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                               std::move(memory), allocator, true);
}

at::Tensor tensor_like(const at::Tensor& like, c10::Storage storage, c10::DispatchKey key) {
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(key), like.dtype());
  auto* const impl = made.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.is_conj()) made._set_conj(true);
  if (like.is_neg()) made._set_neg(true);
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  return made;
}

c10::DataPtr memory_on_cpu(const c10::Storage& storage) {
  void* const address = storage.mutable_data();
  if (address == nullptr) return {nullptr, c10::Device(c10::kCPU)};
  return {runtime::kernel_address(address), c10::Device(c10::kCPU)};
}

bool same_layout(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.storage_offset() == b.storage_offset();
}

}  // namespace

c10::Storage Aliases::cpu_storage(const c10::Storage& storage) {
  for (const auto& pair : storages_)
    if (pair.device.is_alias_of(storage)) return pair.cpu;
  auto memory = memory_on_cpu(storage);
  const void* const data = memory.get();
  auto cpu = new_storage(storage.nbytes(), std::move(memory), &result_allocator());
  storages_.push_back({storage, cpu, data});
  return cpu;
}

at::Tensor Aliases::cpu(const at::Tensor& tensor, const char* name, Role role) {
  size_t place = 0;
  while (place < tensors_.size() && !tensors_[place].device.is_same(tensor)) ++place;
  arguments_.push_back({name, place, role});
  if (place == tensors_.size()) {
    at::Tensor made = tensor_like(tensor, cpu_storage(tensor.storage()), c10::DispatchKey::CPU);
    tensors_.push_back({tensor, made, false, false});
  }
  tensors_[place].written = tensors_[place].written || role.written;
  return tensors_[place].cpu;
}

c10::Storage Aliases::device_storage(const c10::Storage& storage) {
  for (const auto& pair : storages_)
    if (pair.cpu.is_alias_of(storage)) return pair.device;
  const c10::Device on(kNpu, index_);
  const size_t bytes = storage.nbytes();
  c10::DataPtr memory(nullptr, on);
  if (storage.data() == nullptr) {
    // nothing to move
  } else if (is_block(storage.data_ptr())) {
    memory = to_device(storage.set_data_ptr(memory_on_cpu(storage)), index_);
  } else {
    void* const block = allocate_block(bytes, index_);
    std::memcpy(runtime::kernel_address(block), storage.data(), bytes);
    memory = {block, block, &release_block, on};
  }
  auto made = new_storage(bytes, std::move(memory), &allocator());
  storages_.push_back({made, storage, storage.data()});
  return made;
}

at::Tensor Aliases::device(const at::Tensor& result) {
  if (!result.defined()) return result;
  for (const auto& pair : tensors_)
    if (pair.cpu.is_same(result)) return pair.device;
  for (const auto& argument : kept_)
    if (argument.is_same(result)) return result;
  if (result.device().type() != c10::kCPU) return result;
  TORCH_CHECK_NOT_IMPLEMENTED(result.layout() == at::kStrided,
                              "The device npu has no tensors of layout ", result.layout());
  TORCH_CHECK_NOT_IMPLEMENTED(!result.is_quantized(), "The device npu has no quantized tensors");
  at::Tensor made =
      tensor_like(result, device_storage(result.storage()), c10::DispatchKey::PrivateUse1);
  tensors_.push_back({made, result, true, false});
  return made;
}

void Aliases::take_memory(Storages& pair) const {
  if (pair.cpu.data() == pair.data && pair.cpu.nbytes() == pair.device.nbytes()) return;
  auto* const device = pair.device.unsafeGetStorageImpl();
  const size_t bytes = pair.cpu.nbytes();
  if (pair.cpu.data() != pair.data)
    device->set_data_ptr_noswap(to_device(pair.cpu.set_data_ptr(memory_on_cpu(pair.cpu)), index_));
  device->set_nbytes(bytes);
  pair.data = pair.cpu.data();
}

void Aliases::write_back() {
  for (size_t i = 0; i < storages_.size(); ++i) take_memory(storages_[i]);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto [device, cpu, is_result, written, before] = tensors_[i];
    if (!written) continue;
    auto* const impl = device.unsafeGetTensorImpl();
    if (!cpu_storage(device.storage()).is_alias_of(cpu.storage()))
      impl->set_storage_keep_dtype(device_storage(cpu.storage()));
    if (!same_layout(device, cpu))
      impl->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
  }
}

c10::SmallVector<Use, 8> Aliases::uses() const {
  c10::SmallVector<Use, 8> all;
  for (const auto& [name, place, role] : arguments_) {
    if (role.read) all.push_back({name, tensors_[place].device, false});
    if (role.written) all.push_back({name, tensors_[place].device, true});
  }
  for (const Tensors& pair : tensors_)
    if (pair.is_result) all.push_back({"result", pair.device, true});
  return all;
}

void Aliases::remember() {
  storages_before_ = storages_.size();
  for (Tensors& pair : tensors_)
    if (pair.written) pair.before = pair.cpu.clone();
}

bool Aliases::is_new(const c10::Storage& device) const {
  return std::none_of(storages_.begin(), storages_.begin() + storages_before_,
                      [&](const Storages& pair) { return pair.device.is_alias_of(device); });
}

std::vector<Computed> Aliases::computed() const {
  std::vector<Computed> all;
  for (const Tensors& pair : tensors_) {
    const auto& [device, cpu, is_result, written, before] = pair;
    const bool is_new_result = is_result && is_new(device.storage());
    if (cpu.numel() == 0 || !(is_new_result || written)) continue;
    const bool was_resized = before.defined() && before.sizes() != cpu.sizes();
    all.push_back({cpu, device.storage(), was_resized ? at::Tensor() : before});
  }
  return all;
}

at::Tensor cpu_alias(const at::Tensor& tensor) {
  if (tensor.device().type() != kNpu) return tensor;
  auto* const kept = new c10::Storage(tensor.storage());
  void* const address = kept->mutable_data();
  c10::DataPtr memory(
      address == nullptr ? nullptr : runtime::kernel_address(address), kept,
      [](void* storage) { delete static_cast<c10::Storage*>(storage); }, c10::Device(c10::kCPU));
  return tensor_like(tensor, new_storage(kept->nbytes(), std::move(memory), &result_allocator()),
                     c10::DispatchKey::CPU);
}

}  // namespace softnpu::npu
