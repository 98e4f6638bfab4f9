// SPDX-License-Identifier: Apache-2.0
#include "streams.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <array>
#include <deque>
#include <mutex>
#include <vector>

#include "late.h"

namespace softnpu::npu {
namespace {

using c10::Device;
using c10::Stream;
using c10::StreamId;

// As on NPUs, new streams of a device are handed out in turn from so many.
constexpr size_t kPool = 32;

// Streams besides the default ones, which have the number 0 on each device. A number n is the
// place n - 1 of the table.
class Streams {
 public:
  Stream next(DeviceIndex index, bool urgent) {
    std::lock_guard lock(mutex_);
    auto& pool = pools_[index][urgent ? 1 : 0];
    if (pool.ids.size() < kPool) {
      enter(index);
      aclrtStream handle = nullptr;
      check(aclrtCreateStreamWithConfig(&handle, urgent ? 0 : 1, ACL_STREAM_FAST_LAUNCH),
            "aclrtCreateStreamWithConfig");
      runtime::note_kept(handle);
      table_.push_back(handle);
      pool.ids.push_back(static_cast<StreamId>(table_.size()));
    }
    const StreamId id = pool.ids[pool.turn++ % kPool % pool.ids.size()];
    return Stream(Stream::UNSAFE, Device(kNpu, index), id);
  }

  void destroy_all() {
    std::lock_guard lock(mutex_);
    for (DeviceIndex i = 0; i < device_count(); ++i)
      for (const Pool& pool : pools_[i])
        for (const StreamId id : pool.ids) destroy(i, table_[id - 1]);
  }

  std::vector<Stream> all_of(DeviceIndex index) {
    std::lock_guard lock(mutex_);
    std::vector<Stream> all{Stream(Stream::DEFAULT, Device(kNpu, index))};
    for (const Pool& pool : pools_[index])
      for (const StreamId id : pool.ids) all.emplace_back(Stream::UNSAFE, Device(kNpu, index), id);
    return all;
  }

  aclrtStream handle(StreamId id) {
    std::lock_guard lock(mutex_);
    TORCH_CHECK(id > 0 && id <= static_cast<StreamId>(table_.size()), "There is no stream ", id);
    return table_[id - 1];
  }

 private:
  struct Pool {
    std::vector<StreamId> ids;
    size_t turn = 0;
  };
  static void destroy(DeviceIndex index, aclrtStream stream) {
    enter(index);  // a stream belongs to its context
    (void)aclrtDestroyStream(stream);
  }

  std::mutex mutex_;
  std::deque<aclrtStream> table_;
  std::array<std::array<Pool, 2>, kMostDevices> pools_;
};

Streams& streams() {
  static Streams& only = *new Streams;
  return only;
}

thread_local std::array<StreamId, kMostDevices> current_ids{};

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  static constexpr c10::DeviceType static_type = kNpu;

  c10::DeviceType type() const override { return kNpu; }
  Device exchangeDevice(Device device) const override {
    const Device before = getDevice();
    set_device(device.index());
    return before;
  }
  Device getDevice() const override { return {kNpu, current_device()}; }
  void setDevice(Device device) const override { set_device(device.index()); }
  void uncheckedSetDevice(Device device) const noexcept override {
    if (device.index() >= 0 && device.index() < deviceCount()) set_device(device.index());
  }
  DeviceIndex deviceCount() const noexcept override { return device_count(); }

  Stream getStream(Device device) const override { return current_stream(device.index()); }
  Stream getDefaultStream(Device device) const override { return Stream(Stream::DEFAULT, device); }
  Stream getStreamFromGlobalPool(Device device, bool urgent) const override {
    return streams().next(device.index(), urgent);
  }
  Stream getNewStream(Device device, int priority) const override {
    return streams().next(device.index(), priority < 0);
  }
  Stream exchangeStream(Stream stream) const override {
    const Stream before = getStream(stream.device());
    current_ids[stream.device_index()] = stream.id();
    return before;
  }
  void* getStreamNativeHandle(const Stream stream) const override { return handle_of(stream); }
  bool queryStream(const Stream& stream) const override {
    aclrtStreamStatus status{};
    check(aclrtStreamQuery(handle_of(stream), &status), "aclrtStreamQuery");
    return status == ACL_STREAM_STATUS_COMPLETE;
  }
  void synchronizeStream(const Stream& stream) const override { synchronize(stream); }
  void synchronizeDevice(const DeviceIndex index) const override {
    enter(index);
    check(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
    release_kept(streams().all_of(index));
  }

  void record(void** event, const Stream& stream, const DeviceIndex,
              const c10::EventFlag) const override {
    const aclrtStream handle = handle_of(stream);
    if (*event == nullptr)
      check(aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE),
            "aclrtCreateEventExWithFlag");
    check(aclrtRecordEvent(*event, handle), "aclrtRecordEvent");
  }
  void block(void* event, const Stream& stream) const override {
    if (event != nullptr)
      check(aclrtStreamWaitEvent(handle_of(stream), event), "aclrtStreamWaitEvent");
  }
  bool queryEvent(void* event) const override {
    if (event == nullptr) return true;
    aclrtEventRecordedStatus status{};
    check(aclrtQueryEventStatus(event, &status), "aclrtQueryEventStatus");
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }
  void synchronizeEvent(void* event) const override {
    if (event != nullptr) check(aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent");
  }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override {
    if (event != nullptr) (void)aclrtDestroyEvent(event);
  }
  double elapsedTime(void* start, void* end, const DeviceIndex) const override {
    float ms = 0;
    check(aclrtEventElapsedTime(&ms, start, end), "aclrtEventElapsedTime");
    return ms;
  }
  c10::DeviceCapability getDeviceCapability(Device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.capability_bits = ~uint64_t{0} >> 1;
    return capability;
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

}  // namespace

Stream current_stream(DeviceIndex index) {
  const DeviceIndex on = index < 0 ? current_device() : index;
  return Stream(Stream::UNSAFE, Device(kNpu, on), current_ids[on]);
}

void wait_for_device(DeviceIndex index) {
  enter(index);
  (void)aclrtSynchronizeDevice();
}

void wait_for_all_devices() {
  for (DeviceIndex i = 0; i < device_count(); ++i)
    if (is_set_up(i)) wait_for_device(i);
}

void end_streams() {
  wait_for_all_devices();
  streams().destroy_all();
}

void synchronize(const Stream& stream) {
  check(aclrtSynchronizeStream(handle_of(stream)), "aclrtSynchronizeStream");
  release_kept(stream);
}

aclrtStream handle_of(const Stream& stream) {
  enter(stream.device_index());
  if (stream.id() != 0) return streams().handle(stream.id());
  aclrtStream handle = nullptr;
  check(aclrtCtxGetCurrentDefaultStream(&handle), "aclrtCtxGetCurrentDefaultStream");
  return handle;
}

}  // namespace softnpu::npu
