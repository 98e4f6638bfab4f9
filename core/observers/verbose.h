// SPDX-License-Identifier: Apache-2.0
// SOFTNPU_VERBOSE=1: a line for each operator call, for people and scripts. The format is
// documented in docs/tracing.md and must not change.
#pragma once

#include "base/lines.h"
#include "observers/timed.h"

namespace softnpu::observers {

class Verbose final : public Timed<Verbose> {
 public:
  void ran(const Piece& piece, const Status& status, const Span& span) const;

 private:
  Lines& lines_ = Lines::to_stderr();
};

}  // namespace softnpu::observers
