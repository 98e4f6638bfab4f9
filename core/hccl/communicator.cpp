// SPDX-License-Identifier: Apache-2.0
#include "hccl/communicator.h"

#include <algorithm>

#include "hccl/reduce.h"

namespace softnpu::hccl {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;  // of each rank, at a time

}  // namespace

Status Communicator::exchange(std::vector<Message> sent, std::vector<Message> received) {
  std::lock_guard lock(mutex_);
  return kept(channels_->exchange(sent, received));
}

Status Communicator::reduce(const Contribution& contribution, std::byte* to, size_t count,
                            HcclDataType type, HcclReduceOp op,
                            const std::function<bool(uint32_t)>& wants) {
  const size_t item = item_size(type);
  const size_t most = kPieceBytes / item;
  const bool is_receiver = wants(rank());
  std::vector<std::vector<std::byte>> pieces(is_receiver ? ranks() : 0);
  std::lock_guard lock(mutex_);
  for (size_t first = 0; first < count; first += most) {
    const size_t bytes = std::min(most, count - first) * item;
    std::vector<Message> sent, received;
    for (uint32_t peer = 0; peer < ranks(); ++peer)
      if (wants(peer)) sent.push_back({peer, contribution(peer) + first * item, bytes});
    std::vector<const std::byte*> all;
    for (uint32_t peer = 0; peer < pieces.size(); ++peer) {
      pieces[peer].resize(bytes);
      received.push_back({peer, pieces[peer].data(), bytes});
      all.push_back(pieces[peer].data());
    }
    RETURN_IF_FAILED(kept(channels_->exchange(sent, received)));
    if (is_receiver) hccl::reduce(all, bytes / item, type, op, to + first * item);
  }
  return {};
}

Status Communicator::kept(Status status) {
  int32_t none = 0;
  if (!status.ok()) failure_.compare_exchange_strong(none, status.code());
  return status;
}

}  // namespace softnpu::hccl
