// SPDX-License-Identifier: Apache-2.0
// Describes work for logs and traces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/observer.h"

namespace softnpu::observers {

// "gradOutput FLOAT [2, 3], gradInput FLOAT [2, 3]"; "64 bytes" of a copy.
std::string described(const Piece& piece);

// "contiguous", "permuted" (dense in another order), "strided" (with gaps), "broadcast" (elements
// that share memory) or "scalar" (one element).
std::string_view layout_of(const Access& access);
// "2, 3", or with another separator.
std::string sizes_of(const Access& access, std::string_view separator = ", ");

// Whether it is an operand, not the workspace.
bool is_operand(const Access& access);

// The bytes of an operand's elements; broadcast elements count once.
int64_t bytes_of(const Access& access);
// The bytes of all operands, read and written.
int64_t bytes_of(const Piece& piece);

}  // namespace softnpu::observers
