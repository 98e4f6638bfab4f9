// SPDX-License-Identifier: Apache-2.0
#include "hccl/collective.h"

#include <map>
#include <mutex>

#include "base/lasting.h"
#include "hccl/reduce.h"
#include "runtime/capture.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

namespace softnpu::hccl {
namespace {

struct Live {
  std::mutex mutex;
  std::map<const void*, std::shared_ptr<Communicator>> communicators;
};

Status unknown(const void* handle) {
  if (handle == nullptr) return fail("hccl-pointer-null"_rule, kPtr, "comm is null");
  return fail("hccl-argument"_rule, kPara, "comm is no communicator, or was destroyed");
}

Status check(const Buffer& buffer) {
  if (item_size(buffer.type) == 0)
    return fail("hccl-argument"_rule, kPara, "the data type of ", buffer.name, " is ", buffer.type,
                ", which does not exist");
  size_t bytes = 0;
  if (__builtin_mul_overflow(buffer.count, item_size(buffer.type), &bytes))
    return fail("hccl-argument"_rule, kPara, "the count of ", buffer.name, " is ", buffer.count,
                ", more than memory has");
  if (bytes == 0) return {};
  if (buffer.data == nullptr) return fail("hccl-pointer-null"_rule, kPtr, buffer.name, " is null");
  const auto block = runtime::find_block(buffer.data);
  if (!block) return fail("hccl-argument"_rule, kPara, buffer.name, " is not in device memory");
  const auto before = static_cast<size_t>(static_cast<const std::byte*>(buffer.data) -
                                          static_cast<const std::byte*>(block->base));
  if (bytes > block->size - before)
    return fail("hccl-argument"_rule, kPara, buffer.name, " has ", bytes,
                " bytes from an address on that is ", before, " bytes into an allocation of ",
                block->size);
  return {};
}

std::shared_ptr<Piece> piece_of(const Call& call, const std::vector<Buffer>& buffers) {
  auto piece = std::make_shared<Piece>(Piece{.kind = Piece::Kind::kernel, .what = call.function()});
  for (const Buffer& buffer : buffers) {
    const auto bytes = static_cast<int64_t>(buffer.bytes());
    if (bytes == 0) continue;
    piece->accesses.push_back({.name = buffer.name,
                               .writes = buffer.is_written,
                               .first = static_cast<std::byte*>(const_cast<void*>(buffer.data)),
                               .dtype = DType::u8,
                               .sizes = {1, bytes},
                               .strides = {bytes, 1}});
  }
  return piece;
}

}  // namespace

Status find(const void* handle, std::shared_ptr<Communicator>& out) {
  std::lock_guard lock(lasting<Live>.mutex);
  const auto found = lasting<Live>.communicators.find(handle);
  if (found == lasting<Live>.communicators.end()) return unknown(handle);
  out = found->second;
  return {};
}

void* add(std::shared_ptr<Communicator> communicator) {
  void* const handle = communicator.get();
  std::lock_guard lock(lasting<Live>.mutex);
  lasting<Live>.communicators[handle] = std::move(communicator);
  return handle;
}

Status remove(const void* handle) {
  std::shared_ptr<Communicator> removed;  // destroyed without the lock
  std::lock_guard lock(lasting<Live>.mutex);
  const auto found = lasting<Live>.communicators.find(handle);
  if (found == lasting<Live>.communicators.end()) return unknown(handle);
  removed = std::move(found->second);
  lasting<Live>.communicators.erase(found);
  return {};
}

size_t Buffer::bytes() const { return count * item_size(type); }

std::byte* Buffer::at(size_t offset) const { return runtime::kernel_address(data) + offset; }

Status check_rank(std::string_view name, uint32_t rank, const Communicator& group) {
  if (rank < group.ranks()) return {};
  return fail("hccl-argument"_rule, kPara, name, " is ", rank, "; the group has ranks 0 to ",
              group.ranks() - 1);
}

Status check_op(int32_t op) {
  if (op >= 0 && op < HCCL_REDUCE_RESERVED) return {};
  return fail("hccl-argument"_rule, kPara, "op is ", op, ", which does not exist");
}

Status launch(const Call& call, void* stream, const std::vector<Buffer>& buffers,
              std::function<Status()> task) {
  for (const Buffer& buffer : buffers) RETURN_IF_FAILED(check(buffer));
  auto work = [task = std::move(task)]() -> Status {
    const Status status = task();
    if (status.ok()) return {};
    return fail("hccl-work-failed"_rule, kRtInternalError, status.message());
  };
  return runtime::launch_on_own_thread(stream, call.function(), std::move(work),
                                       runtime::wants_pieces() ? piece_of(call, buffers) : nullptr);
}

}  // namespace softnpu::hccl
