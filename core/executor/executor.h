// SPDX-License-Identifier: Apache-2.0
// The executor: the result of phase one, which phase two launches.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/export.h"
#include "base/handle_table.h"
#include "executor/operand.h"

namespace softnpu {

// A planned operator, which needs only addresses: `origins` are the first elements of its operands,
// in order.
class Launchable {
 public:
  virtual ~Launchable() = default;
  virtual uint64_t workspace_size() const = 0;
  virtual Status run(std::byte* const* origins, std::byte* workspace) const = 0;
};

// The memory of one launch, all of it allocated at `time` (runtime::memory_time).
struct Placement {
  uint64_t time;
  std::byte* workspace = nullptr;
  std::vector<std::byte*> origins = {};
};

enum class Counted : uint8_t { inputs, outputs, all };

class SOFTNPU_EXPORT Executor {
 public:
  // The operands' memory was known to be allocated at `time`.
  Executor(const OperatorTraits& traits, std::span<const Operand> operands,
           std::unique_ptr<Launchable> plan, uint64_t time);

  std::string_view operator_name() const { return traits_.name; }
  uint64_t workspace_size() const { return workspace_size_; }
  void set_repeatable() { repeatable_ = true; }
  bool is_repeatable() const { return repeatable_; }

  // An executor that is not repeatable can be claimed by one launch only.
  bool claim() { return repeatable_ || !claimed_.exchange(true); }
  void unclaim() { claimed_ = false; }

  // Changes the address of a tensor of phase one. A failure changes nothing.
  Status set_address(Counted counted, size_t index, const void* handle, void* address);

  // Stores the current addresses in `out`. Fails if an operand's memory was freed since it got its
  // address, or overlaps the workspace in `out`.
  Status place(Placement& out) const;
  // The accesses of a launch with these addresses, for observers.
  std::vector<Access> accesses(const Placement& placement) const;
  // The current addresses of the operands, by name.
  std::vector<std::pair<const char*, const std::byte*>> origins() const;
  // Rechecks the memory, which may have been freed while the launch waited in the stream.
  Status run(const Placement& placement) const;

 private:
  struct Bound {  // an operand with a copy of its descriptor
    const char* name;
    Use use;
    const void* handle;
    size_t bytes;   // that a launch touches, from the first element on
    Tensor tensor;  // the address in it is guarded by mutex_
    uint64_t time;  // when the address was set
  };

  Status check_still_allocated(const Placement& placement) const;
  Status check_apart(const std::byte* workspace) const;  // with the lock held

  const OperatorTraits& traits_;
  std::unique_ptr<Launchable> plan_;
  uint64_t workspace_size_;
  mutable std::mutex mutex_;  // guards the addresses; queued launches have copies
  std::vector<Bound> operands_;
  std::atomic<bool> repeatable_{false};
  std::atomic<bool> claimed_{false};
};

using ExecutorTable = HandleTable<Executor, HandleKind::executor>;
SOFTNPU_EXPORT ExecutorTable& executors();

// The end of phase one: keeps an executor, and returns its handle and the size of its workspace.
SOFTNPU_EXPORT Status keep_executor(const OperatorTraits& traits, std::span<const Operand> operands,
                                    std::unique_ptr<Launchable> plan, uint64_t time,
                                    uint64_t& workspace_size, void*& handle);

// Phase two, the same for every operator.
SOFTNPU_EXPORT int32_t launch_executor(const Call& call, const OperatorTraits& traits,
                                       void* workspace, uint64_t workspace_size, void* executor,
                                       void* stream);

}  // namespace softnpu
