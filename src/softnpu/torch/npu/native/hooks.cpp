// SPDX-License-Identifier: Apache-2.0
// What PyTorch asks a device for, besides its guard and its allocator.
#include <ATen/detail/PrivateUse1HooksInterface.h>

namespace softnpu::npu {
namespace {

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(DeviceIndex index) const override { return is_set_up(index); }
  void init() const override { enter(current_device()); }

  DeviceIndex deviceCount() const override { return device_count(); }
  DeviceIndex getCurrentDevice() const override { return current_device(); }
  void setCurrentDevice(DeviceIndex index) const override { set_device(index); }
  DeviceIndex exchangeDevice(DeviceIndex index) const override {
    const DeviceIndex before = current_device();
    if (index >= 0) set_device(index);
    return before;
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex index) const override {
    return exchangeDevice(index);
  }

  const at::Generator& getDefaultGenerator(DeviceIndex index) const override {
    return default_generator(index);
  }
  at::Generator getNewGenerator(DeviceIndex index) const override { return new_generator(index); }

  at::Device getDeviceFromPtr(void* address) const override {
    const DeviceIndex index = device_of(address);
    TORCH_CHECK(index >= 0, "The address ", address, " is in no memory of an NPU");
    return {kNpu, index};
  }
  bool isPinnedPtr(const void* address) const override { return PinnedAllocator::holds(address); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    const OnDevice on(storage.device().index());
    auto larger = allocator().allocate(bytes);
    allocator().copy_data(larger.get(), storage.data(), std::min(bytes, storage.nbytes()));
    storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(larger));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
};

[[maybe_unused]] const bool hooked = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

}  // namespace
}  // namespace softnpu::npu
