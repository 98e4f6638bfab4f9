// SPDX-License-Identifier: Apache-2.0
#include "base/call.h"

#include <charconv>
#include <cstdint>

namespace softnpu {

void append_argument(std::string& out, const void* pointer) {
  if (pointer == nullptr) {
    out += "null";
    return;
  }
  char digits[16];
  const auto number = reinterpret_cast<uintptr_t>(pointer);
  out.append("0x").append(digits, std::to_chars(digits, digits + sizeof digits, number, 16).ptr);
}

void append_argument(std::string& out, const char* string) {
  if (string == nullptr)
    out += "null";
  else
    out.append("\"").append(string).append("\"");
}

}  // namespace softnpu
