// SPDX-License-Identifier: Apache-2.0
// Pieces of work in words.
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

// Whether it is one of the operator's, and not the workspace.
bool is_operand(const Access& access);

// The bytes that an operand has elements in: broadcast ones once.
int64_t bytes_of(const Access& access);
// The bytes of all operands: what is read and what is written.
int64_t bytes_of(const Piece& piece);

}  // namespace softnpu::observers
