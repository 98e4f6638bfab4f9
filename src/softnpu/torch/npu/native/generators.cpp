// SPDX-License-Identifier: Apache-2.0
// Random numbers of a device: those that the CPU's generator gives for the same seed.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>

#include <array>

#include "devices.h"

namespace softnpu::npu {
namespace {

class NpuGenerator final : public c10::GeneratorImpl {
 public:
  explicit NpuGenerator(DeviceIndex index)
      : GeneratorImpl(c10::Device(kNpu, index), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        cpu_(at::make_generator<at::CPUGeneratorImpl>(c10::default_rng_seed_val)) {}

  const at::Generator& cpu() const { return cpu_; }

  void set_current_seed(uint64_t seed) override { cpu_.set_current_seed(seed); }
  uint64_t current_seed() const override { return cpu_.current_seed(); }
  uint64_t seed() override { return cpu_.seed(); }
  // The CPU's generator has no offset: a state holds all of it.
  void set_offset(uint64_t) override {
    TORCH_CHECK(false, "An NPU's generator has no offset here");
  }
  uint64_t get_offset() const override {
    TORCH_CHECK(false, "An NPU's generator has no offset here");
  }
  void set_state(const c10::TensorImpl& state) override {
    cpu_.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return cpu_.unsafeGetGeneratorImpl()->get_state();
  }
  NpuGenerator* clone_impl() const override {
    auto* const copy = new NpuGenerator(device_.index());
    copy->cpu_ = cpu_.clone();
    return copy;
  }

 private:
  at::Generator cpu_;
};

at::Generator new_generator(DeviceIndex index) {
  return at::make_generator<NpuGenerator>(index < 0 ? current_device() : checked_device(index));
}

const at::Generator& default_generator(DeviceIndex index) {
  static auto& all = *[] {
    auto* const made = new std::array<at::Generator, kMostDevices>;
    for (DeviceIndex i = 0; i < device_count(); ++i)
      (*made)[i] = at::make_generator<NpuGenerator>(i);
    return made;
  }();
  return all[index < 0 ? current_device() : checked_device(index)];
}

// The CPU's generator behind that of a device.
at::Generator cpu_generator(const at::Generator& generator) {
  if (!generator.defined() || generator.device().type() != kNpu) return generator;
  return static_cast<NpuGenerator*>(generator.unsafeGetGeneratorImpl())->cpu();
}

}  // namespace
}  // namespace softnpu::npu
