// SPDX-License-Identifier: Apache-2.0
#include "observers/trace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "observers/lines.h"

namespace softnpu::observers {
namespace {

constexpr std::string_view kBegin = "[\n", kEnd = "\n]\n";

// Open and locked; opened for each write, as programs may close and reuse any descriptor.
class Locked {
 public:
  explicit Locked(const char* path) : file_(::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ >= 0)
      while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
      }
  }
  ~Locked() {
    if (file_ < 0) return;
    flock(file_, LOCK_UN);  // a child that another thread has forked meanwhile has the file, too
    close(file_);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  // Where the next event goes; nothing where the file does not end as ours do.
  std::optional<off_t> end_of_events() const {
    if (file_ < 0) return std::nullopt;
    const off_t size = lseek(file_, 0, SEEK_END);
    if (size == 0) return 0;
    const auto tail = static_cast<off_t>(kEnd.size());
    char last[kEnd.size()];
    if (size < tail || pread(file_, last, sizeof last, size - tail) != tail) return std::nullopt;
    if (std::memcmp(last, kEnd.data(), sizeof last) != 0) return std::nullopt;
    return size - tail;
  }

  void write_at(off_t place, const std::string& content) const {
    if (lseek(file_, place, SEEK_SET) == place) write_all(file_, content);
  }

 private:
  int file_;
};

}  // namespace

std::optional<TraceFile> TraceFile::open(const char* path) {
  std::string absolute = absolute_path(path);
  if (!Locked(absolute.c_str()).end_of_events()) return std::nullopt;
  return TraceFile(std::move(absolute));
}

void TraceFile::append(const std::string& events) const noexcept {
  quietly([&] {
    const Uncancelled until_the_end;
    const int saved = errno;
    {
      const Locked file(path_.c_str());
      if (const auto place = file.end_of_events())
        file.write_at(*place, text(*place == 0 ? kBegin : ",\n", events, kEnd));
    }
    errno = saved;
  });
}

}  // namespace softnpu::observers
