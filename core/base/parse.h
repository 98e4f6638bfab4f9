// SPDX-License-Identifier: Apache-2.0
// Numbers in text, such as the values of environment variables.
#pragma once

#include <charconv>
#include <cstring>
#include <optional>

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

}  // namespace softnpu
