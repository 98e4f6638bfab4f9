// SPDX-License-Identifier: Apache-2.0
// Settings in environment variables, and numbers in text.
#pragma once

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "base/text.h"

namespace softnpu {

// Parses `text`, which may be null, as a whole number from `least` to `most`.
template <class T>
std::optional<T> parse_number(const char* text, T least, T most) {
  if (text == nullptr) return std::nullopt;
  T number{};
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc() || stop != end || number < least || number > most) return std::nullopt;
  return number;
}

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
