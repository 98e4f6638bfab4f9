// SPDX-License-Identifier: Apache-2.0
// The fields of a process or thread in a file of /proc named stat.
#pragma once

#include <array>
#include <optional>

namespace softnpu {

class StatFields {
 public:
  explicit StatFields(const char* path);

  // 'R' where it runs, or waits for a processor; '\0' where there is no such file.
  char state() const { return after_name_ == nullptr ? '\0' : after_name_[2]; }
  // Field 4 or a later one, as the system counts them.
  std::optional<int> number(int field) const;

 private:
  std::array<char, 1024> text_;
  const char* after_name_ = nullptr;  // the second field's end: a name may have anything in it
};

}  // namespace softnpu
