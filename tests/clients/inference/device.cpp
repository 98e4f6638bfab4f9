// SPDX-License-Identifier: Apache-2.0
#include "device.h"

namespace rt {
namespace {

std::string described(const char* call, int status) {
  const char* const message = aclGetRecentErrMsg();
  return std::string(call) + ": " + std::to_string(status) + ": " + (message ? message : "");
}

}  // namespace

Error::Error(const char* call, int code)
    : std::runtime_error(described(call, code)), status(code) {}

Device::Device(int32_t id) : id_(id) {
  RT_CHECK(aclInit(nullptr));
  RT_CHECK(aclrtSetDevice(id));
}

Device::~Device() {
  aclrtResetDevice(id_);
  aclFinalize();
}

Stream::Stream() { RT_CHECK(aclrtCreateStreamWithConfig(&stream_, 0, ACL_STREAM_FAST_LAUNCH)); }

Stream::~Stream() { aclrtDestroyStream(stream_); }

void Stream::wait_for(const Event& event) { RT_CHECK(aclrtStreamWaitEvent(stream_, event.get())); }

void Stream::synchronize() { RT_CHECK(aclrtSynchronizeStream(stream_)); }

bool Stream::is_capturing() const {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI graph = nullptr;
  RT_CHECK(aclmdlRICaptureGetInfo(stream_, &status, &graph));
  return status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
}

Event::Event() {
  RT_CHECK(aclrtCreateEventWithFlag(&event_, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
}

Event::~Event() { aclrtDestroyEvent(event_); }

void Event::record(const Stream& stream) { RT_CHECK(aclrtRecordEvent(event_, stream.get())); }

void Event::synchronize() { RT_CHECK(aclrtSynchronizeEvent(event_)); }

float Event::milliseconds_since(const Event& start) const {
  float elapsed = 0;
  RT_CHECK(aclrtEventElapsedTime(&elapsed, start.get(), event_));
  return elapsed;
}

}  // namespace rt
