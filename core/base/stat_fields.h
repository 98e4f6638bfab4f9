// SPDX-License-Identifier: Apache-2.0
// The fields of a process or thread in /proc/.../stat.
#pragma once

#include <array>
#include <optional>

namespace softnpu {

class StatFields {
 public:
  explicit StatFields(const char* path);

  // 'R' if the thread runs or waits for a CPU; '\0' if there is no such file.
  char state() const { return after_name_ == nullptr ? '\0' : after_name_[2]; }
  // A field from number 4 on, as proc(5) counts them.
  std::optional<int> number(int field) const;

 private:
  std::array<char, 1024> text_;
  const char* after_name_ = nullptr;  // the end of field 2, a name that may contain any character
};

}  // namespace softnpu
