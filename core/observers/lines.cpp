// SPDX-License-Identifier: Apache-2.0
#include "observers/lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/environment.h"

namespace softnpu::observers {
namespace {

int open_to_append(const char* path) {
  return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

}  // namespace

std::string absolute_path(const char* path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? std::string(path) : absolute.string();
}

void write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

Lines Lines::to_file_of(const char* variable) {
  std::string path = absolute_path(setting(variable));
  const int file = open_to_append(path.c_str());
  if (file < 0) {
    say_not_followed(variable, "a file that can be written");
    return to_stderr();
  }
  close(file);
  return Lines(-1, std::move(path));
}

void Lines::write(std::string_view line) const noexcept {
  const Uncancelled until_the_end;
  const int saved = errno;
  const int file = path_.empty() ? descriptor_ : open_to_append(path_.c_str());
  write_all(file, line);
  if (!path_.empty() && file >= 0) close(file);
  errno = saved;
}

}  // namespace softnpu::observers
