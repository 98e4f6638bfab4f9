// SPDX-License-Identifier: Apache-2.0
#include "base/stat_fields.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace softnpu {

StatFields::StatFields(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t size = read(file, text_.data(), text_.size() - 1);
  close(file);
  if (size <= 0) return;
  text_[static_cast<size_t>(size)] = '\0';
  after_name_ = std::strrchr(text_.data(), ')');
  if (after_name_ != nullptr && std::strlen(after_name_) < 3) after_name_ = nullptr;
}

std::optional<int> StatFields::number(int field) const {
  const char* at = after_name_;
  for (int passed = 2; passed < field && at != nullptr; ++passed) at = std::strchr(at + 1, ' ');
  if (at == nullptr) return std::nullopt;
  return static_cast<int>(std::strtol(at, nullptr, 10));
}

}  // namespace softnpu
