// SPDX-License-Identifier: Apache-2.0
// Both phases of an operator at once, on arrays.
#pragma once

#include <cstddef>
#include <new>
#include <span>

#include "arguments.h"
#include "base/few.h"
#include "base/tuning.h"
#include "dlpack_arrays.h"
#include "gil.h"
#include "observed.h"
#include "own_memory.h"
#include "raise.h"

namespace softnpu::python {

template <class Op>
const OperatorTraits& traits_of(const typename Op::Args& args) {
  if constexpr (requires { Op::kTraits; })
    return Op::kTraits;
  else
    return Op::traits(args);
}

// `describe` sets the sizes and the data type of a new output, after the null checks. The output is
// allocated only after the operator's own checks have passed.
template <class Op, class Describe>
nb::object call(Arguments& arguments, const typename Op::Args& args, Describe&& describe) {
  const OperatorTraits& traits = traits_of<Op>(args);
  const auto operands = Op::operands(args);
  const char* const output_name = operands.back().name;
  const auto inputs = std::span<const Operand>(operands).first(operands.size() - 1);
  const bool only_checks = OneDevice::is_alive();
  const Status checked = [&]() -> Status {
    RETURN_IF_FAILED(Op::check_pointers(args));
    RETURN_IF_FAILED(arguments.status());
    if (arguments.ran_code()) [[unlikely]]
      RETURN_IF_FAILED(arguments.read_again(operands));
    const bool makes = arguments.makes_output();
    if (makes) describe(arguments.output_tensor());
    RETURN_IF_FAILED(Op::check(args));
    if (makes && only_checks) return check_common(traits, inputs, Memory::host);
    if (makes) RETURN_IF_FAILED(arguments.make_output(output_name));
    if (arguments.output_ran_code()) [[unlikely]] {
      RETURN_IF_FAILED(arguments.read_again(operands));
      RETURN_IF_FAILED(Op::check(args));
    }
    RETURN_IF_FAILED(check_common(traits, operands, Memory::host));
    return arguments.has_copies() ? arguments.check_copies(operands) : Status();
  }();
  if (!checked.ok()) [[unlikely]]
    raise(checked.in(text(traits.name, "GetWorkspaceSize")));
  if (only_checks) return nb::none();
  arguments.announce_write();

  auto plan = Op::plan(args);
  if constexpr (requires { plan.expect_fresh_output(); })
    if (arguments.output_is_fresh()) plan.expect_fresh_output();
  Few<std::byte*> origins(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) origins[i] = operands[i].arg->origin();
  const size_t bytes = plan.workspace_size();
  const OwnMemory workspace = bytes == 0 ? OwnMemory() : own_memory(bytes);
  if (bytes != 0 && !workspace) throw std::bad_alloc();
  Observed observed(traits.name, operands);
  const Status ran = [&] {
    if (arguments.most_elements() < kReleaseGilFrom)
      return plan.run(origins.data(), workspace.get());
    const GilRelease others_may_run;
    return plan.run(origins.data(), workspace.get());
  }();
  observed.ended(ran);
  if (!ran.ok()) [[unlikely]]
    raise(ran.in(traits.name));
  return arguments.result();
}

}  // namespace softnpu::python
