// SPDX-License-Identifier: Apache-2.0
// Copies and fills as work of a stream.
#pragma once

#include <memory>
#include <utility>

#include "base/call.h"
#include "base/observer.h"
#include "runtime/capture.h"
#include "runtime/copy.h"
#include "runtime/graph.h"
#include "runtime/memory.h"
#include "runtime/scheduler.h"
#include "runtime/stream.h"

namespace softnpu::runtime {

// The description of a copy or fill for observers; null if nobody needs it.
template <class Operation>
std::shared_ptr<Piece> piece_of(const Call& call, const Operation& operation) {
  if (!wants_pieces()) [[likely]]
    return nullptr;
  return std::make_shared<Piece>(
      Piece{.kind = Operation::kKind, .what = call.function(), .accesses = operation.accesses()});
}

// Runs an operation that was checked, while the caller waits.
template <class Operation>
void run_observed(const Call& call, const Operation& operation) {
  const auto piece = piece_of(call, operation);
  if (piece) notify(&Observer::started, *piece);
  operation.run();
  if (piece) notify(&Observer::finished, *piece, Status());
}

// Launches an operation that was checked at `time` or later.
template <class Operation>
Status launch_operation(const Call& call, const Operation& operation, uint64_t time,
                        aclrtStream stream) {
  Task task = [operation, time]() -> Status {
    const auto check = [&] { return operation.check(time); };
    // Late work may find that the program has returned its memory to the system.
    RETURN_IF_FAILED(scheduler().defers() ? check() : recheck_memory(time, check));
    operation.run();
    return {};
  };
  return launch(stream, call.function(), std::move(task), piece_of(call, operation));
}

}  // namespace softnpu::runtime
