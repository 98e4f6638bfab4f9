// SPDX-License-Identifier: Apache-2.0
// The shared memory of a group of ranks: a channel of bytes for each ordered pair of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace softnpu::hccl {

constexpr uint32_t kMostRanks = 256;

// A message to or from a rank, as far as it has been transferred.
struct Message {
  uint32_t peer;
  std::byte* data;
  size_t size;
  size_t done = 0;
};

// The results of HcclResult that softnpu returns.
enum Code : int32_t {
  kPara = 1,
  kPtr = 2,
  kMemory = 3,
  kInternal = 4,
  kNotSupport = 5,
  kTimeout = 9,
  kOpenFile = 10,
  kRuntime = 15,
  kRemote = 21,
};

class Channels {
 public:
  // Makes the file of a new group, whose path the ranks need. It is removed when all ranks have
  // joined, or when this process ends.
  static Status create(std::string& path);
  // Takes a rank's place. wait_for_all() returns when all have.
  static Status join(const std::string& path, uint32_t ranks, uint32_t rank,
                     std::shared_ptr<Channels>& out);
  Status wait_for_all();
  ~Channels();
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;

  uint32_t ranks() const { return ranks_; }
  uint32_t rank() const { return rank_; }

  // Transfers all messages at the same time, so that ranks that send to each other do not wait for
  // ever. Messages between two ranks keep their order.
  Status exchange(std::span<Message> sent, std::span<Message> received);

 private:
  struct Header;
  struct Channel;

  Channels(std::string path, uint32_t ranks, uint32_t rank);
  Status map();
  Status take_place();
  Channel& channel(uint32_t from, uint32_t to) const;
  size_t send_some(Message& message) const;
  size_t receive_some(Message& message) const;
  // Fails if a rank's process has ended or the time is up.
  Status check_peers(const std::vector<uint32_t>& peers) const;

  const std::string path_;
  const uint32_t ranks_;
  const uint32_t rank_;
  const size_t channel_bytes_;
  std::byte* memory_ = nullptr;
};

}  // namespace softnpu::hccl
