// SPDX-License-Identifier: Apache-2.0
#include "observers/verbose.h"

#include <cstdio>
#include <string>

#include "base/text.h"
#include "observers/describe.h"

namespace softnpu::observers {

void Verbose::ran(const Piece& piece, const Status& status, const Span& span) const {
  if (piece.kind != Piece::Kind::kernel) return;
  std::string operands;
  for (const Access& access : piece.accesses)
    if (is_operand(access))
      operands += text(operands.empty() ? "" : ";", access.name, ":", access.dtype, ":",
                       layout_of(access), ":", sizes_of(access, "x"));
  char milliseconds[32];
  std::snprintf(milliseconds, sizeof milliseconds, "%.6f",
                static_cast<double>(span.length()) / 1e6);
  lines_.write(text("softnpu_verbose,", status.ok() ? "exec" : "error", ",cpu,", piece.what, ",",
                    operands, ",", milliseconds, "\n"));
}

}  // namespace softnpu::observers
