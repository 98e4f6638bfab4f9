// SPDX-License-Identifier: Apache-2.0
// Calls that fail on purpose, so that programs can test what they do then. SOFTNPU_FAIL says which.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/export.h"
#include "base/status.h"

namespace softnpu {

enum class FaultKind : uint8_t {
  malloc,       // of device memory
  malloc_host,  // of page-locked host memory
  memcpy,
  memset,
  plan,    // phase one of an operator
  launch,  // phase two
  sync,    // of a stream, an event or a device
  stream,  // this one and the next two: creation
  event,
  context,
  create,  // of descriptors, scalars, arrays and lists
};

// A failure when SOFTNPU_FAIL is an invalid value. aclInit reports it.
SOFTNPU_EXPORT Status faults_status();

// The same for a text that SOFTNPU_FAIL may be set to.
SOFTNPU_EXPORT Status check_faults(std::string_view text);

// False once it is known that the process asks for none.
SOFTNPU_EXPORT extern constinit std::atomic<bool> faults_are_possible;
SOFTNPU_EXPORT Status draw_failure(FaultKind kind);

// Counts the call, which must do nothing when it is to fail.
inline Status injected_failure(FaultKind kind) {
  if (!faults_are_possible.load(std::memory_order_relaxed)) [[likely]]
    return {};
  return draw_failure(kind);
}

}  // namespace softnpu
