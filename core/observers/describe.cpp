// SPDX-License-Identifier: Apache-2.0
#include "observers/describe.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/text.h"

namespace softnpu::observers {
namespace {

// In elements. Dimensions of one element are left out.
struct Dimension {
  int64_t size;
  int64_t stride;
};

std::vector<Dimension> dimensions(const Access& access) {
  std::vector<Dimension> out;
  for (size_t i = 0; i < access.sizes.size(); ++i)
    if (access.sizes[i] != 1) out.push_back({access.sizes[i], access.strides[i]});
  return out;
}

// Whether the last dimension is contiguous, and each other one steps over exactly the inner
// dimensions.
bool is_dense(const std::vector<Dimension>& dimensions) {
  int64_t inside = 1;
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    if (d->stride != inside) return false;
    inside *= d->size;
  }
  return true;
}

}  // namespace

std::string_view layout_of(const Access& access) {
  auto all = dimensions(access);
  if (all.empty()) return "scalar";
  if (std::ranges::any_of(all, [](const Dimension& d) { return d.size == 0; })) return "contiguous";
  if (std::ranges::any_of(all, [](const Dimension& d) { return d.stride == 0; }))
    return "broadcast";
  if (is_dense(all)) return "contiguous";
  std::ranges::sort(all, std::ranges::greater(), &Dimension::stride);
  return is_dense(all) ? "permuted" : "strided";
}

std::string sizes_of(const Access& access, std::string_view separator) {
  std::string out;
  for (const int64_t size : access.sizes) out += text(out.empty() ? "" : separator, size);
  return out;
}

bool is_operand(const Access& access) { return std::string_view(access.name) != "workspace"; }

std::string described(const Piece& piece) {
  switch (piece.kind) {
    case Piece::Kind::copy:
    case Piece::Kind::fill:
      return text(bytes_of(piece.accesses.front()), " bytes");
    case Piece::Kind::host_function:
      return "a function of the program";
    case Piece::Kind::kernel:
      break;
  }
  std::string out;
  for (const Access& access : piece.accesses)
    if (is_operand(access))
      out += text(out.empty() ? "" : ", ", access.name, " ", access.dtype, " [", sizes_of(access),
                  "]");
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
    if (is_operand(access)) bytes += bytes_of(access);
  return bytes;
}

}  // namespace softnpu::observers
