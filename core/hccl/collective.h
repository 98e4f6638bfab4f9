// SPDX-License-Identifier: Apache-2.0
// Collectives as work of streams, and the checks of their arguments.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/guard.h"
#include "hccl/communicator.h"

namespace softnpu::hccl {

// The live communicators, by handle.
Status find(const void* handle, std::shared_ptr<Communicator>& out);
void* add(std::shared_ptr<Communicator> communicator);
Status remove(const void* handle);

// Device memory that a call reads or writes.
struct Buffer {
  const char* name;
  const void* data;
  uint64_t count;  // elements
  int32_t type;    // an HcclDataType
  bool is_written;

  size_t bytes() const;
  // The same memory as the library itself sees it, from a byte on.
  std::byte* at(size_t offset = 0) const;
};

Status check_rank(std::string_view name, uint32_t rank, const Communicator& group);
Status check_op(int32_t op);

// Checks the buffers, and puts `task` into the stream, to run on a thread of the library: it waits
// for other ranks.
Status launch(const Call& call, void* stream, const std::vector<Buffer>& buffers,
              std::function<Status()> task);

// An entry point: its Status has a code of HcclResult, or one of the runtime.
template <class Body>
HcclResult entry(const Call& call, Body&& body) {
  constexpr int32_t kMostCodes = 100;
  const int32_t code = guard(call, {kMemory, kInternal}, std::forward<Body>(body));
  return static_cast<HcclResult>(code < kMostCodes ? code : kRuntime);
}
// The same with the communicator of a handle.
template <class Body>
HcclResult entry(const Call& call, const void* handle, Body&& body) {
  return entry(call, [&]() -> Status {
    std::shared_ptr<Communicator> group;
    RETURN_IF_FAILED(find(handle, group));
    return body(group);
  });
}

}  // namespace softnpu::hccl
