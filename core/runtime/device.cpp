// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fault_injection.h"
#include "base/fork.h"
#include "base/lasting.h"
#include "base/lines.h"
#include "base/text.h"
#include "runtime/capture.h"
#include "runtime/context.h"
#include "runtime/product.h"
#include "runtime/settings.h"

namespace softnpu::runtime {
namespace {

struct Device {
  int64_t times_set = 0;
  std::shared_ptr<Context> context;  // the default context; null while the device is not set
};

struct Devices {
  ProcessMutex<LockRank::outer> mutex;
  std::map<int32_t, Device> by_id;  // all devices that were ever set
};

Devices& devices() { return lasting<Devices>; }

Status not_set(int32_t device) {
  return fail("device-not-set"_rule, kRtContextNull, "device ", device,
              " is not set; aclrtSetDevice sets it");
}

// Requires the lock. Releasing a device waits for its streams' work, so that work must not be the
// caller.
Status check_caller(const Device& device) {
  if (!device.context || !runs_on_this_thread(*device.context)) return {};
  return fail("called-from-own-work"_rule, kRtParamInvalid,
              "called from work of one of the device's streams");
}

}  // namespace

Status check_device(int32_t device) {
  RETURN_IF_FAILED(product_status());
  RETURN_IF_FAILED(device_count_status());
  if (device >= 0 && device < device_count()) return {};
  return fail("device-id"_rule, kRtInvalidDeviceId, "deviceId is ", device,
              "; it must be at least 0 and below ", device_count(), ", the number of devices");
}

Status set_device(int32_t device) {
  RETURN_IF_FAILED(check_device(device));
  std::lock_guard lock(devices().mutex);
  Device& d = devices().by_id[device];
  if (!d.context) d.context = make_context(device, true);
  if (!d.context)
    return fail("handle-limit"_rule, kRtResourceAllocFail,
                "too many contexts or streams are alive");
  ++d.times_set;
  make_current(*d.context->owner());
  return {};
}

namespace {

Status release(int32_t device, Reset how, Remains& remains) {
  std::shared_ptr<Context> last;
  std::vector<std::shared_ptr<Stream>> streams;
  {
    std::lock_guard lock(devices().mutex);
    Device& d = devices().by_id[device];
    if (d.times_set == 0) return not_set(device);
    const bool releases = how != Reset::once || d.times_set == 1;
    if (releases) RETURN_IF_FAILED(check_caller(d));
    if (releases && d.context) streams = streams_of(*d.context->owner());
    d.times_set = releases ? 0 : d.times_set - 1;
    if (releases) last = std::exchange(d.context, nullptr);
  }
  // Without the lock, because the streams' work may call any function.
  if (last) retire(*last, streams, how == Reset::by_force ? Held::dropped : Held::awaited, remains);
  return {};
}

}  // namespace

Status reset_device(int32_t device, Reset how) {
  RETURN_IF_FAILED(check_device(device));
  Remains remains;
  RETURN_IF_FAILED(release(device, how, remains));
  return remains.report(how == Reset::by_force ? "aclrtResetDeviceForce" : "aclrtResetDevice");
}

Status check_reset_of_all_devices() {
  std::lock_guard lock(devices().mutex);
  for (const auto& [id, device] : devices().by_id) RETURN_IF_FAILED(check_caller(device));
  return {};
}

void reset_all_devices() {
  Remains remains;
  for (int32_t device = 0; device < device_count(); ++device)
    (void)release(device, Reset::all, remains);  // fails for devices that are not set
  // Contexts that the program created survive, but nobody will fetch their earlier failures.
  for (int32_t device = 0; device < device_count(); ++device)
    for (const auto& stream : streams_of_device(device))
      remains.add(*stream, stream->require_runner().ok() ? 0 : stream->drop_pending());
  const Status failure = remains.report("aclFinalize");
  if (failure.ok()) return;
  print_to_stderr(text("softnpu: aclFinalize: no call has reported this failure: ",
                       failure.message(), " [", failure.rule(), "]\n"));
}

namespace {

Status wait_idle(const std::vector<std::shared_ptr<Stream>>& streams, Deadline deadline) {
  for (const auto& stream : streams) RETURN_IF_FAILED(require_not_captured(*stream));
  for (const auto& stream : streams) RETURN_IF_FAILED(stream->wait_idle(deadline));
  return {};
}

Status wait_for_streams(Deadline deadline, std::vector<std::shared_ptr<Stream>>& streams) {
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(current_context(context));
  streams = streams_of_device(context->device());
  return wait_idle(streams, deadline);
}

}  // namespace

Status wait_for_device(Deadline deadline) {
  std::vector<std::shared_ptr<Stream>> streams;
  return wait_for_streams(deadline, streams);
}

Status wait_for_all_devices() {
  RETURN_IF_FAILED(require_device());
  for (int32_t device = 0; device < device_count(); ++device)
    RETURN_IF_FAILED(wait_idle(streams_of_device(device), {}));
  return {};
}

Status synchronize_device(Deadline deadline) {
  RETURN_IF_FAILED(injected_failure(FaultKind::sync));
  std::vector<std::shared_ptr<Stream>> streams;
  RETURN_IF_FAILED(wait_for_streams(deadline, streams));
  Remains failures;
  for (const auto& stream : streams) failures.add(*stream, 0);
  return failures.report("aclrtSynchronizeDevice");
}

}  // namespace softnpu::runtime
