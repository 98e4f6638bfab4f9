// SPDX-License-Identifier: Apache-2.0
#include "hccl/channels.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "base/environment.h"
#include "base/lasting.h"

namespace softnpu::hccl {
namespace {

constexpr size_t kMostBytes = size_t{16} << 20;  // of all channels of a group
constexpr size_t kMostChannelBytes = size_t{64} << 10;
constexpr size_t kHeaderBytes = 4096;

using Clock = std::chrono::steady_clock;

// The files of groups that this process made and that not all ranks have joined.
struct Files {
  std::mutex mutex;
  std::set<std::string> paths;
  pid_t process = getpid();
};

[[gnu::destructor]] void remove_files() {
  Files& files = lasting<Files>;
  if (files.process != getpid()) return;  // a forked child
  for (const std::string& path : files.paths) unlink(path.c_str());
}

Status system_failure(std::string_view what, const std::string& path) {
  return fail("hccl-group"_rule, kOpenFile, "cannot ", what, " ", path, ": ",
              std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
}

std::chrono::seconds seconds_of(const char* variable, int64_t otherwise) {
  const char* const given = setting(variable);
  const int64_t seconds = given == nullptr ? 0 : std::atoll(given);
  return std::chrono::seconds(seconds > 0 ? seconds : otherwise);
}

// Waits longer the longer nothing happens.
class Patience {
 public:
  explicit Patience(std::chrono::seconds limit) : end_(Clock::now() + limit) {}

  void reset() { idle_ = 0; }
  void wait() {
    if (++idle_ < 200)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(idle_ < 2000 ? 50 : 1000));
  }
  // Now and then, as it takes time.
  bool should_check() const { return idle_ % 100 == 99; }
  bool is_over() const { return Clock::now() > end_; }

 private:
  size_t idle_ = 0;
  const Clock::time_point end_;
};

// A process that its parent has not waited for still has a number.
bool is_zombie(int32_t process) {
  std::ifstream file(text("/proc/", process, "/stat"));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line.compare(name_end, 4, ") Z ") == 0;
}

bool has_ended(int32_t process) {
  return process > 0 && ((kill(process, 0) != 0 && errno == ESRCH) || is_zombie(process));
}

}  // namespace

struct Channels::Header {
  std::atomic<uint32_t> ranks;  // 0 until the first one joins
  std::atomic<uint32_t> joined;
  std::atomic<int32_t> processes[kMostRanks];  // 0: not joined; negative: left
};

struct Channels::Channel {
  alignas(64) std::atomic<uint64_t> written;
  alignas(64) std::atomic<uint64_t> read;

  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

Channels::Channels(std::string path, uint32_t ranks, uint32_t rank)
    : path_(std::move(path)),
      ranks_(ranks),
      rank_(rank),
      channel_bytes_(
          std::clamp(kMostBytes / ranks / ranks / 4096 * 4096, size_t{4096}, kMostChannelBytes)) {}

Status Channels::create(std::string& path) {
  static std::atomic<uint32_t> count{0};
  const bool has_memory = access("/dev/shm", W_OK) == 0;
  path = text(has_memory ? "/dev/shm" : "/tmp", "/softnpu-hccl-", getpid(), "-", ++count);
  unlink(path.c_str());  // of an ended process with the same number
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return system_failure("make", path);
  close(file);
  std::lock_guard lock(lasting<Files>.mutex);
  lasting<Files>.paths.insert(path);
  return {};
}

Status Channels::join(const std::string& path, uint32_t ranks, uint32_t rank,
                      std::shared_ptr<Channels>& out) {
  std::shared_ptr<Channels> made(new Channels(path, ranks, rank));
  RETURN_IF_FAILED(made->map());
  RETURN_IF_FAILED(made->take_place());
  out = std::move(made);
  return {};
}

Status Channels::map() {
  const size_t size = kHeaderBytes + size_t{ranks_} * ranks_ * (sizeof(Channel) + channel_bytes_);
  const int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return system_failure("open the group's file, which all ranks must reach,", path_);
  const int failure = posix_fallocate(file, 0, static_cast<off_t>(size));
  void* const memory =
      failure == 0 ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (failure != 0) errno = failure;
  close(file);
  if (memory == MAP_FAILED) return system_failure("map", path_);
  memory_ = static_cast<std::byte*>(memory);
  return {};
}

Status Channels::take_place() {
  auto& header = *reinterpret_cast<Header*>(memory_);
  uint32_t known = 0;
  if (!header.ranks.compare_exchange_strong(known, ranks_) && known != ranks_)
    return fail("hccl-group"_rule, kPara, "nRanks is ", ranks_, ", but another rank of the group ",
                "passed ", known);
  int32_t nobody = 0;
  if (!header.processes[rank_].compare_exchange_strong(nobody, getpid()))
    return fail("hccl-group"_rule, kPara, "rank is ", rank_, ", which process ", nobody,
                " has already in this group");
  ++header.joined;
  return {};
}

Status Channels::wait_for_all() {
  auto& header = *reinterpret_cast<Header*>(memory_);
  Patience patience(seconds_of("HCCL_CONNECT_TIMEOUT", 120));
  while (header.joined < ranks_) {
    patience.wait();
    if (patience.is_over())
      return fail("hccl-timeout"_rule, kTimeout, "only ", header.joined.load(), " of ", ranks_,
                  " ranks have joined the group within HCCL_CONNECT_TIMEOUT");
  }
  unlink(path_.c_str());  // the first one does it
  std::lock_guard lock(lasting<Files>.mutex);
  lasting<Files>.paths.erase(path_);
  return {};
}

Channels::~Channels() {
  if (memory_ == nullptr) return;
  auto& header = *reinterpret_cast<Header*>(memory_);
  int32_t mine = getpid();
  header.processes[rank_].compare_exchange_strong(mine, -1);
  munmap(memory_, kHeaderBytes + size_t{ranks_} * ranks_ * (sizeof(Channel) + channel_bytes_));
}

Channels::Channel& Channels::channel(uint32_t from, uint32_t to) const {
  const size_t place = size_t{from} * ranks_ + to;
  return *reinterpret_cast<Channel*>(memory_ + kHeaderBytes +
                                     place * (sizeof(Channel) + channel_bytes_));
}

size_t Channels::send_some(Message& message) const {
  Channel& to = channel(rank_, message.peer);
  const uint64_t written = to.written.load(std::memory_order_relaxed);
  const size_t free = channel_bytes_ - (written - to.read.load(std::memory_order_acquire));
  const size_t at = written % channel_bytes_;
  const size_t count = std::min({free, message.size - message.done, channel_bytes_ - at});
  std::memcpy(to.data() + at, message.data + message.done, count);
  to.written.store(written + count, std::memory_order_release);
  message.done += count;
  return count;
}

size_t Channels::receive_some(Message& message) const {
  Channel& from = channel(message.peer, rank_);
  const uint64_t read = from.read.load(std::memory_order_relaxed);
  const size_t there = from.written.load(std::memory_order_acquire) - read;
  const size_t at = read % channel_bytes_;
  const size_t count = std::min({there, message.size - message.done, channel_bytes_ - at});
  std::memcpy(message.data + message.done, from.data() + at, count);
  from.read.store(read + count, std::memory_order_release);
  message.done += count;
  return count;
}

namespace {

// Transfers what can be; earlier messages of a rank go first. Returns the ranks that are awaited.
template <class Transfer>
std::vector<uint32_t> advance(std::span<Message> messages, bool& moved, Transfer transfer) {
  std::vector<uint32_t> awaited;
  for (Message& message : messages) {
    if (message.done == message.size) continue;
    if (std::find(awaited.begin(), awaited.end(), message.peer) != awaited.end()) continue;
    moved |= transfer(message) > 0;
    if (message.done < message.size) awaited.push_back(message.peer);
  }
  return awaited;
}

}  // namespace

Status Channels::exchange(std::span<Message> sent, std::span<Message> received) {
  Patience patience(seconds_of("HCCL_EXEC_TIMEOUT", 1836));
  for (;;) {
    bool moved = false;
    const auto receivers = advance(sent, moved, [this](Message& m) { return send_some(m); });
    const auto senders = advance(received, moved, [this](Message& m) { return receive_some(m); });
    if (receivers.empty() && senders.empty()) return {};
    if (moved) {
      patience.reset();
      continue;
    }
    patience.wait();
    if (!patience.should_check()) continue;
    RETURN_IF_FAILED(check_peers(receivers));
    RETURN_IF_FAILED(check_peers(senders));
    if (patience.is_over())
      return fail("hccl-timeout"_rule, kTimeout, "rank ", rank_, " has waited for rank ",
                  senders.empty() ? receivers.front() : senders.front(),
                  " longer than HCCL_EXEC_TIMEOUT");
  }
}

Status Channels::check_peers(const std::vector<uint32_t>& peers) const {
  const auto& header = *reinterpret_cast<const Header*>(memory_);
  for (const uint32_t peer : peers) {
    const int32_t process = header.processes[peer];
    if (process < 0 || has_ended(process))
      return fail(
          "hccl-peer-ended"_rule, kRemote, "rank ", rank_, " waits for rank ", peer,
          process < 0 ? ", which has destroyed its communicator" : ", whose process has ended");
  }
  return {};
}

}  // namespace softnpu::hccl
