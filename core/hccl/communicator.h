// SPDX-License-Identifier: Apache-2.0
// A rank of a group, and the collectives that it takes part in. All of them are transfers between
// ranks, in pieces, with reductions in between.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hccl/channels.h"
#include "hccl/hccl_types.h"

namespace softnpu::hccl {

class Communicator {
 public:
  Communicator(std::shared_ptr<Channels> channels, std::string name)
      : channels_(std::move(channels)), name_(std::move(name)) {}

  uint32_t ranks() const { return channels_->ranks(); }
  uint32_t rank() const { return channels_->rank(); }
  const std::string& name() const { return name_; }
  int32_t failure() const { return failure_; }

  // Transfers messages; one at a time for all streams.
  Status exchange(std::vector<Message> sent, std::vector<Message> received);

  // Each rank that wants results gets, for element i of its `count`, the reduction of
  // contribution(its rank)[i] over the ranks. `to` is null where this rank wants none.
  using Contribution = std::function<std::byte*(uint32_t receiver)>;
  Status reduce(const Contribution& contribution, std::byte* to, size_t count, HcclDataType type,
                HcclReduceOp op, const std::function<bool(uint32_t)>& wants);

 private:
  Status kept(Status status);

  const std::shared_ptr<Channels> channels_;
  const std::string name_;
  std::mutex mutex_;
  std::atomic<int32_t> failure_{0};
};

}  // namespace softnpu::hccl
