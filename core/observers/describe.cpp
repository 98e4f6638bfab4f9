// SPDX-License-Identifier: Apache-2.0
#include "observers/describe.h"

#include <string_view>

#include "base/text.h"

namespace softnpu::observers {
namespace {

// A launch has it beside its operands.
bool is_operand(const Access& access) { return std::string_view(access.name) != "workspace"; }

std::string shape_of(const Access& access) {
  std::string out;
  for (const int64_t size : access.sizes) out += text(out.empty() ? "" : ", ", size);
  return text("[", out, "]");
}

}  // namespace

std::string described(const Piece& piece) {
  switch (piece.kind) {
    case Piece::Kind::copy:
    case Piece::Kind::fill:
      return text(bytes_of(piece), " bytes");
    case Piece::Kind::host_function:
      return "a function of the program";
    case Piece::Kind::kernel:
      break;
  }
  std::string out;
  for (const Access& access : piece.accesses)
    out += text(out.empty() ? "" : ", ", access.name, " ", access.dtype, " ", shape_of(access));
  return out.empty() ? "no elements" : out;
}

int64_t bytes_of(const Access& access) {
  int64_t elements = 1;
  for (size_t i = 0; i < access.sizes.size(); ++i)
    if (access.strides[i] != 0 || access.sizes[i] == 0) elements *= access.sizes[i];
  return elements * item_size(access.dtype);
}

int64_t bytes_of(const Piece& piece) {
  int64_t bytes = 0;
  for (const Access& access : piece.accesses)
    if (is_operand(access) && (piece.kind != Piece::Kind::copy || access.writes))
      bytes += bytes_of(access);
  return bytes;
}

}  // namespace softnpu::observers
