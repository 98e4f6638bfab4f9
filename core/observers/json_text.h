// SPDX-License-Identifier: Apache-2.0
// JSON that traces and statistics are made of.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace softnpu::observers {

// The string with its quotes. Bytes that are not ASCII may be of any encoding, so they are written
// as the characters of their numbers.
inline std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (byte < 0x20 || byte >= 0x7F) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", byte);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace softnpu::observers
