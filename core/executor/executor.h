// SPDX-License-Identifier: Apache-2.0
// What phase one leaves and phase two launches.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/export.h"
#include "base/handle_table.h"
#include "executor/operand.h"

namespace softnpu {

// An operator that is planned: it needs only addresses. `origins` are the first elements of its
// operands, in order.
class Launchable {
 public:
  virtual ~Launchable() = default;
  virtual uint64_t workspace_size() const = 0;
  virtual Status run(std::byte* const* origins, std::byte* workspace) const = 0;
};

// The memory that one launch uses, all of it allocated at that time (runtime::memory_time).
struct Placement {
  uint64_t time;
  std::byte* workspace = nullptr;
  std::vector<std::byte*> origins = {};
};

// Which of an executor's tensors a caller counts when it names one by index.
enum class Counted : uint8_t { inputs, outputs, all };

class SOFTNPU_EXPORT Executor {
 public:
  // `time` is when the operands' memory was known to be allocated, or earlier.
  Executor(const OperatorTraits& traits, std::span<const Operand> operands,
           std::unique_ptr<Launchable> plan, uint64_t time);

  std::string_view operator_name() const { return traits_.name; }
  uint64_t workspace_size() const { return workspace_size_; }
  void set_repeatable() { repeatable_ = true; }
  bool is_repeatable() const { return repeatable_; }

  // A launch of an executor that is not repeatable claims it; only one launch can.
  bool claim() { return repeatable_ || !claimed_.exchange(true); }
  void unclaim() { claimed_ = false; }

  // Gives a tensor of phase one another address, or changes nothing.
  Status set_address(Counted counted, size_t index, const void* handle, void* address);

  // Where the operands lie now, unless they lie in memory that was freed since they got their
  // addresses, or overlap the workspace, which `out` has already.
  Status place(Placement& out) const;
  // What a launch at that place touches, for observers.
  std::vector<Access> accesses(const Placement& placement) const;
  // The memory may have been freed since the launch, which waited for its turn in the stream.
  Status run(const Placement& placement) const;

 private:
  struct Bound {  // an operand with its own copy of the descriptor
    const char* name;
    Use use;
    const void* handle;
    size_t bytes;   // that a launch touches, from the first on
    Tensor tensor;  // its address changes, with the lock held
    uint64_t time;  // when it got its address
  };

  Status check_still_allocated(const Placement& placement) const;
  Status check_apart(const std::byte* workspace) const;  // with the lock held

  const OperatorTraits& traits_;
  std::unique_ptr<Launchable> plan_;
  uint64_t workspace_size_;
  mutable std::mutex mutex_;  // guards the addresses; launches that wait have their own
  std::vector<Bound> operands_;
  std::atomic<bool> repeatable_{false};
  std::atomic<bool> claimed_{false};
};

using ExecutorTable = HandleTable<Executor, HandleKind::executor>;
SOFTNPU_EXPORT ExecutorTable& executors();

// Phase two, the same for every operator.
SOFTNPU_EXPORT int32_t launch_executor(const Call& call, const OperatorTraits& traits,
                                       void* workspace, uint64_t workspace_size, void* executor,
                                       void* stream);

}  // namespace softnpu
