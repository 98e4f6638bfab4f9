// SPDX-License-Identifier: Apache-2.0
// A device, and the streams and events on it. Failures are exceptions.
#pragma once

#include <stdexcept>
#include <string>

#include "acl/acl.h"

namespace rt {

struct Error : std::runtime_error {
  Error(const char* call, int status);
  int status;
};

inline void check(int status, const char* call) {
  if (status != ACL_SUCCESS) throw Error(call, status);
}
#define RT_CHECK(call) ::rt::check((call), #call)

class Device {
 public:
  explicit Device(int32_t id);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

 private:
  int32_t id_;
};

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  aclrtStream get() const { return stream_; }
  void wait_for(const class Event& event);
  void synchronize();
  bool is_capturing() const;

 private:
  aclrtStream stream_ = nullptr;
};

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  aclrtEvent get() const { return event_; }
  void record(const Stream& stream);
  void synchronize();
  float milliseconds_since(const Event& start) const;

 private:
  aclrtEvent event_ = nullptr;
};

}  // namespace rt
