// SPDX-License-Identifier: Apache-2.0
// Settings in environment variables.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "base/parse.h"
#include "base/text.h"

namespace softnpu {

// The variable's value; null where it is not set or empty.
inline const char* setting(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Reports on stderr that a setting is ignored. For settings that make no call fail: otherwise users
// would misinterpret what they measure or test.
[[gnu::cold]] void report_invalid_setting(const char* variable, const std::string& expected);

// A whole number from `least` to `most`; any other value is reported and ignored.
template <class T>
std::optional<T> number_setting(const char* variable, T least, T most) {
  const char* const value = setting(variable);
  const auto number = parse_number(value, least, most);
  if (value != nullptr && !number)
    report_invalid_setting(variable, text("a number from ", least, " to ", most));
  return number;
}

}  // namespace softnpu
