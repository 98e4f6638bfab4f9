// SPDX-License-Identifier: Apache-2.0
#include "observed.h"

#include <memory>
#include <utility>

namespace softnpu::python {

void Observed::begin(std::string_view name, std::span<const Operand> operands) {
  auto piece = std::make_unique<Piece>(Piece{.kind = Piece::Kind::kernel, .what = name});
  for (const Operand& operand : operands)
    if (needs_data(operand)) piece->accesses.push_back(access_of(operand, operand.arg->origin()));
  piece_ = piece.release();
  notify(&Observer::started, *piece_);
}

void Observed::end(const Status& status) noexcept {
  const std::unique_ptr<Piece> piece(std::exchange(piece_, nullptr));
  notify(&Observer::finished, *piece, status);
}

}  // namespace softnpu::python
