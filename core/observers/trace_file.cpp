// SPDX-License-Identifier: Apache-2.0
#include "observers/trace_file.h"

#include <sys/file.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/lines.h"
#include "base/own_file.h"
#include "base/text.h"
#include "base/tuning.h"
#include "base/undisturbed.h"

namespace softnpu::observers {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kBegin = "[\n", kEnd = "\n]\n";

// The reason why events are lost; empty if they are not.
using Loss = std::string;

Loss loss(int error) { return std::generic_category().message(error); }

// The file, open and locked. It is reopened for each write, because programs may close and reuse
// any descriptor.
class Locked {
 public:
  explicit Locked(const char* path) : file_(open_own(path, O_RDWR | O_CREAT)) {
    if (file_.descriptor() < 0)
      loss_ = loss(errno);
    else if (!lock())
      loss_ = "another process holds its lock";
  }
  ~Locked() {
    flock(file_.descriptor(), LOCK_UN);  // a child forked meanwhile shares the lock
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  // Appends events, or leaves the file unchanged.
  Loss add(const std::string& events) const {
    const auto place = end_of_events();
    if (!place) return loss_.empty() ? "something else was written to it" : loss_;
    const int error = write_at(*place, text(*place == 0 ? kBegin : ",\n", events, kEnd));
    if (error == 0) return {};
    const off_t before = *place == 0 ? 0 : *place + static_cast<off_t>(kEnd.size());
    if (ftruncate(file_.descriptor(), before) == 0 && before > 0) write_at(*place, kEnd);
    return loss(error);
  }

  // The position of the next event; nothing if the file does not end as a trace does.
  std::optional<off_t> end_of_events() const {
    if (!loss_.empty()) return std::nullopt;
    const int file = file_.descriptor();
    const off_t size = lseek(file, 0, SEEK_END);
    if (size == 0) return 0;
    const auto tail = static_cast<off_t>(kEnd.size());
    char last[kEnd.size()];
    if (size < tail || pread(file, last, sizeof last, size - tail) != tail) return std::nullopt;
    if (std::memcmp(last, kEnd.data(), sizeof last) != 0) return std::nullopt;
    return size - tail;
  }

 private:
  // Waits for the lock, but not for long. Succeeds on file systems without locks.
  bool lock() const {
    static constinit std::atomic<bool> stalled{false};
    const auto wait = stalled.load() ? std::chrono::milliseconds(0) : kReaderTime;
    const auto deadline = Clock::now() + wait;
    while (flock(file_.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      stalled = Clock::now() >= deadline;
      if (stalled) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    stalled = false;
    return true;
  }

  // Returns 0 or the errno.
  int write_at(off_t place, std::string_view content) const {
    return lseek(file_.descriptor(), place, SEEK_SET) == place ? write_all(file_, content) : errno;
  }

  const OwnFile file_;
  Loss loss_;
};

}  // namespace

std::optional<TraceFile> TraceFile::open(const char* path) {
  std::string absolute = absolute_path(path);
  const Undisturbed meanwhile;
  if (!Locked(absolute.c_str()).end_of_events()) return std::nullopt;
  return TraceFile(std::move(absolute));
}

void TraceFile::append(const std::string& events) const noexcept {
  quietly([&] {
    static constinit std::atomic<bool> said{false};
    const Undisturbed meanwhile;
    const Loss loss = Locked(path_.c_str()).add(events);
    if (loss.empty() || said.exchange(true)) return;
    print_to_stderr(text("softnpu: SOFTNPU_TRACE: the trace is incomplete: ", loss, "\n"));
  });
}

}  // namespace softnpu::observers
