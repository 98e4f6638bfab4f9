// SPDX-License-Identifier: Apache-2.0
#include "base/lines.h"

#include <limits.h>
#include <sys/select.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/environment.h"
#include "base/own_file.h"
#include "base/text.h"
#include "base/tuning.h"
#include "base/undisturbed.h"

namespace softnpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAppending = O_WRONLY | O_APPEND | O_CREAT;

// If a program has closed stderr, its number may be reused for the read end of a pipe.
bool takes_output(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

// If a program was started without stdout or stderr, their numbers are reused for its own files.
const bool never_open[] = {false, !takes_output(STDOUT_FILENO), !takes_output(STDERR_FILENO)};

mode_t kind_of(int descriptor) {
  struct stat about;
  return fstat(descriptor, &about) == 0 ? about.st_mode : 0;
}

// Whether stdout or stderr becomes writable before the deadline. poll() fails at the limit of open
// files.
bool is_writable(int standard, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::microseconds>(deadline - Clock::now()).count();
  const auto wait =
      std::clamp<suseconds_t>(left, 0, std::chrono::microseconds(kReaderTime).count());
  timeval limit{wait / 1'000'000, wait % 1'000'000};
  fd_set asked;
  FD_ZERO(&asked);
  FD_SET(standard, &asked);
  return select(standard + 1, nullptr, &asked, nullptr, &limit) != 0;
}

// A file that we opened, or else a descriptor of the process, which may be blocking.
struct Target {
  const OwnFile& own;
  int other;

  int descriptor() const { return own.was_opened() ? own.descriptor() : other; }
  mode_t kind() const { return own.was_opened() ? own.kind() : kind_of(other); }
};

ssize_t write_some(const Target& target, std::string_view text, Clock::time_point deadline) {
  const int file = target.descriptor();
  const mode_t kind = target.kind();
  if (S_ISREG(kind)) return write(file, text.data(), text.size());
  if (S_ISSOCK(kind)) return send(file, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (!target.own.was_opened() && !is_writable(file, deadline)) {
    errno = EAGAIN;
    return -1;
  }
  return write(file, text.data(), std::min<size_t>(text.size(), PIPE_BUF));  // never blocks a pipe
}

// Writes all of `text`. Returns 0 or the errno that stopped it; `text` is what is left.
int write_until(Clock::time_point deadline, const Target& target, std::string_view& text) {
  while (!text.empty()) {
    const ssize_t written = write_some(target, text, deadline);
    if (written >= 0)
      text.remove_prefix(static_cast<size_t>(written));
    else if (errno == EAGAIN && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

// Removes an incomplete line, unless another process has appended since.
void drop_the_last(off_t size, int file) {
  const off_t end = lseek(file, 0, SEEK_CUR);
  if (end == lseek(file, 0, SEEK_END)) (void)!ftruncate(file, end - size);
}

std::string reason(int error) {
  if (error == EAGAIN) return "their reader does not read";
  if (error == ENXIO || error == EPIPE) return "nobody reads them";
  return std::generic_category().message(error);
}

}  // namespace

Lines& Lines::to_stdout() {
  static constinit Lines lines("stdout", "/proc/self/fd/1", STDOUT_FILENO);
  return lines;
}

Lines& Lines::to_stderr() {
  static constinit Lines lines("stderr", "/proc/self/fd/2", STDERR_FILENO);
  return lines;
}

Lines* Lines::to_file_of(const char* variable) {
  const std::string path = absolute_path(setting(variable));
  const OwnFile file(open_own(path.c_str(), kAppending));
  if (!file.was_opened()) {
    report_invalid_setting(variable, "a file that can be written");
    return nullptr;
  }
  // The pipe stays open, so that its reader does not see the end of the file between two lines.
  if (S_ISFIFO(file.kind())) fcntl(file.descriptor(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return new Lines(variable, strdup(path.c_str()), -1);
}

int Lines::try_to_write(std::string_view lines) noexcept {
  const Undisturbed meanwhile;
  const bool is_file = descriptor_ < 0;
  if (!is_file && (never_open[descriptor_] || !takes_output(descriptor_))) return EBADF;
  // Pipes and terminals are reopened, because O_NONBLOCK applies to everyone who shares the
  // descriptor.
  const bool is_opened = is_file || !S_ISREG(kind_of(descriptor_));
  const int opened = is_opened ? open_own(path_, is_file ? kAppending : O_WRONLY) : -1;
  if (is_file && opened < 0) return errno;
  const OwnFile own(opened);
  std::string_view left = lines;
  const auto wait = stalled_.load() ? std::chrono::milliseconds(0) : kReaderTime;
  const int error = write_until(Clock::now() + wait, {own, descriptor_}, left);
  if (is_file && error != 0 && left.size() < lines.size())
    drop_the_last(static_cast<off_t>(lines.size() - left.size()), own.descriptor());
  stalled_ = error == EAGAIN;
  return error;
}

int write_all(const OwnFile& file, std::string_view text) noexcept {
  return write_until(Clock::now() + kReaderTime, {file, -1}, text);
}

void Lines::write(std::string_view lines) noexcept {
  quietly([&] {
    const bool is_stderr = descriptor_ == STDERR_FILENO;
    if (is_stderr && lost_.load() && try_to_write("softnpu: lines were lost here\n") == 0)
      lost_ = false;
    const int error = try_to_write(lines);
    if (error != 0 && !lost_.exchange(true) && !is_stderr)
      print_to_stderr(text("softnpu: ", name_, ": lines are lost: ", reason(error), "\n"));
  });
}

std::string absolute_path(const char* path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? std::string(path) : absolute.string();
}

}  // namespace softnpu
