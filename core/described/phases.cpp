// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "base/guard.h"
#include "described/arrays.h"
#include "executor/checks.h"
#include "executor/executor.h"
#include "runtime/memory.h"

namespace softnpu::described {
namespace {

// What failed inside `body`, which may throw Failure.
template <class Body>
Status caught(Body&& body) {
  try {
    return body();
  } catch (const Failure& failure) {
    return failure.status;
  }
}

class Planned final : public Launchable {
 public:
  Planned(Given given, Run run) : given_(std::move(given)), run_(std::move(run)) {}
  uint64_t workspace_size() const override { return 0; }
  Status run(std::byte* const* origins, std::byte* /*workspace*/) const override {
    return described::run(run_, given_, origins);
  }

 private:
  Given given_;
  Run run_;
};

// The call of phase one, with the arguments by the names of the parameters.
class PhaseOneCall : public Call {
 public:
  PhaseOneCall(const char* function, const Operator& op, std::span<const Value> values,
               const void* workspace_size, const void* executor)
      : Call(__builtin_return_address(0), function, "", &PhaseOneCall::list),
        op_(op),
        values_(values),
        results_{workspace_size, executor} {}

 private:
  static void list(const Call& call, std::vector<Argument>& out) {
    const auto& self = static_cast<const PhaseOneCall&>(call);
    auto value = self.values_.begin();
    for (const Parameter& parameter : self.op_.parameters) add(parameter, *value++, out);
    add({"workspaceSize"}, self.results_[0], out);
    add({"executor"}, self.results_[1], out);
  }

  static void add(const Parameter& parameter, const Value& value, std::vector<Argument>& out) {
    Argument& added = out.emplace_back(parameter.name);
    if (parameter.kind == Kind::text)
      append_argument(added.value, static_cast<const char*>(value.handle));
    else if (is_pointer(parameter.kind))
      append_argument(added.value, added.pointer = value.handle);
    else if (parameter.kind == Kind::number)
      append_argument(added.value, value.number);
    else
      append_argument(added.value, value.integer);
  }

  const Operator& op_;
  std::span<const Value> values_;
  const void* results_[2];
};

Status check_types(const Given& given) {
  for (const Operand& operand : given.operands()) {
    const DType type = operand.arg->dtype;
    REQUIRE(is_real(type), kParamInvalid, "dtype-unsupported"_rule, operand.name, " has data type ",
            type, ", which is not supported");
    RETURN_IF_FAILED(check_format(operand.name, *operand.arg));
  }
  return {};
}

// Whether no output has elements, and none can get some from the inputs. Kernels then need not
// guard each loop over an outer size, which may be huge although a row is empty.
bool has_nothing_to_do(const Given& given) {
  bool reads = false, reads_nothing = false;
  for (const Operand& operand : given.operands()) {
    const bool is_empty = operand.arg->numel() == 0;
    if (writes(operand.use)) {
      if (!is_empty) return false;
    } else if (operand.use == Use::read) {
      reads = true;
      reads_nothing |= is_empty;
    }
  }
  return !reads || reads_nothing;
}

// A kernel from outside of softnpu must write its output, unless that has no elements.
void require_no_output(const Given& given) {
  for (const Operand& operand : given.operands())
    require_of_source(!writes(operand.use) || operand.arg->numel() == 0, "the kernel of ",
                      given.op().traits.name, " wrote no values to ", operand.name);
}

}  // namespace

Status try_plan(const Given& given, Run& out) {
  return caught([&]() -> Status {
    RETURN_IF_FAILED(check_types(given));
    if (given.op().check != nullptr) RETURN_IF_FAILED(given.op().check(given));
    out = given.op().plan(given);
    return {};
  });
}

Status run(const Run& run, const Given& given, std::byte* const* origins) {
  if (has_nothing_to_do(given)) return {};
  return caught([&]() -> Status {
    try {
      const Arrays arrays(given, origins);
      run(arrays);
      if (!given.op().traits.everyday && !arrays.has_written()) require_no_output(given);
      return {};
    } catch (const std::bad_alloc&) {
      return fail("out-of-host-memory"_rule, kInnerNullptr, "out of host memory");
    } catch (const std::length_error&) {  // what a vector throws for a size beyond all memory
      return fail("out-of-host-memory"_rule, kInnerNullptr, "out of host memory");
    }
  });
}

int32_t phase_one(const char* function, const Operator& op, std::span<const Value> values,
                  uint64_t* workspace_size, void* executor) {
  const PhaseOneCall call(function, op, values, workspace_size, executor);
  return guard(call, {kInnerNullptr, kCreateExecutor}, [&]() -> Status {
    Given given(op, values);
    RETURN_IF_FAILED(given.null_status());
    REQUIRE(workspace_size, kParamNullptr, "workspace-size-null"_rule, "workspaceSize is null");
    REQUIRE(executor, kParamNullptr, "executor-null"_rule, "executor is null");
    RETURN_IF_FAILED(given.status());
    Run run;
    RETURN_IF_FAILED(try_plan(given, run));
    const uint64_t time = runtime::memory_time();
    RETURN_IF_FAILED(check_common(op.traits, given.operands(), Memory::device_later));

    const std::vector<Operand> operands(given.operands().begin(), given.operands().end());
    auto planned = std::make_unique<Planned>(std::move(given), std::move(run));
    return keep_executor(op.traits, operands, std::move(planned), time, *workspace_size,
                         *static_cast<void**>(executor));
  });
}

int32_t phase_two(const char* function, const Operator& op, void* workspace,
                  uint64_t workspace_size, void* executor, void* stream) {
  const NamedCall call(__builtin_return_address(0), function,
                       "workspace, workspaceSize, executor, stream", workspace, workspace_size,
                       executor, stream);
  return launch_executor(call, op.traits, workspace, workspace_size, executor, stream);
}

}  // namespace softnpu::described
