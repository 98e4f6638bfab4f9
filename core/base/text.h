// SPDX-License-Identifier: Apache-2.0
// Builds messages from parts: numbers, names, data types, shapes.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace softnpu {

inline void append_text(std::string& out, std::string_view part) { out += part; }
inline void append_text(std::string& out, const char* part) { out += part; }
inline void append_text(std::string& out, const std::string& part) { out += part; }
inline void append_text(std::string& out, bool part) { out += part ? "true" : "false"; }

template <class T>
  requires(std::integral<T> || std::floating_point<T>)
void append_text(std::string& out, T part) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, part).ptr;
  out.append(digits, end);
}

// Types with a `to_text(value)` found by argument-dependent lookup.
template <class T>
  requires requires(const T& value) {
    { to_text(value) } -> std::convertible_to<std::string_view>;
  }
void append_text(std::string& out, const T& part) {
  out += to_text(part);
}

template <class... Parts>
std::string text(const Parts&... parts) {
  std::string out;
  (append_text(out, parts), ...);
  return out;
}

// The string in quotes, escaped as in JSON. Non-ASCII bytes are unchanged.
inline std::string quoted(std::string_view value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20)
      out.append("\\u00").append(1, kDigits[byte / 16]).append(1, kDigits[byte % 16]);
    else
      out.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
  }
  return out + "\"";
}

// Escapes line breaks: messages quote what callers passed, such as paths.
inline std::string in_one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\r')
      line += "\\r";
    else
      line += c;
  }
  return line;
}

}  // namespace softnpu
