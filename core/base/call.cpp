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
    out += quoted(string);
}

std::string to_text(const std::vector<Argument>& arguments) {
  std::string out;
  for (const Argument& each : arguments)
    out += text(out.empty() ? "" : ", ", each.name, "=", each.value);
  return out;
}

}  // namespace softnpu
