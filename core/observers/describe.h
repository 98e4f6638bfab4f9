// SPDX-License-Identifier: Apache-2.0
// Pieces of work in words.
#pragma once

#include <string>

#include "base/observer.h"

namespace softnpu::observers {

// "gradOutput FLOAT [2, 3], gradInput FLOAT [2, 3]"; "64 bytes" of a copy.
std::string described(const Piece& piece);

// The bytes that an operand has elements in: broadcast ones once.
int64_t bytes_of(const Access& access);
// The bytes of all operands; those that a copy moves.
int64_t bytes_of(const Piece& piece);

}  // namespace softnpu::observers
