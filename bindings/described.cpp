// SPDX-License-Identifier: Apache-2.0
// Operators that are found by their names: both phases of the C API, and calls on arrays.
#include "described/operator.h"

#include <optional>

#include "c_function.h"
#include "call.h"
#include "sections.h"

namespace softnpu::python {
namespace {

using described::Given;
using described::Kind;
using described::Operator;
using described::Parameter;
using described::Value;

const Operator& found(const char* name) {
  const Operator* const op = described::find(name);
  if (op == nullptr)
    raise(PyExc_AttributeError, "unknown-operator"_rule, text("there is no operator ", name));
  return *op;
}

// The parameters of an operator: name, kind, whether None is allowed, whether it is written.
nb::list parameters(const char* name) {
  nb::list listed;
  for (const Parameter& p : found(name).parameters)
    listed.append(nb::make_tuple(p.name, static_cast<int>(p.kind), p.optional,
                                 p.kind == Kind::tensor && writes(p.use)));
  return listed;
}

nb::list names() {
  nb::list listed;
  for (const Operator* op : described::all()) listed.append(op->traits.name.data());
  return listed;
}

// --- the C API -----------------------------------------------------------------------------------

Value c_value(const char* function, const Parameter& parameter, nb::handle object) {
  const Place place{function, parameter.name};
  if (parameter.kind == Kind::text) {
    if (object.is_none()) return {static_cast<const void*>(nullptr)};
    if (!nb::isinstance<nb::str>(object)) refuse(place, object, "a str, or None");
    return {static_cast<const void*>(nb::borrow<nb::str>(object).c_str())};
  }
  if (is_pointer(parameter.kind)) return {Reader<const void*>::read(place, object)};
  if (parameter.kind == Kind::number) return {Reader<double>::read(place, object)};
  if (parameter.kind == Kind::flag) return {Reader<bool>::read(place, object)};
  return {Reader<int64_t>::read(place, object)};
}

std::pair<uint64_t, uintptr_t> phase_one(const char* function, const char* name, nb::tuple given) {
  const Operator& op = found(name);
  std::vector<Value> values;
  for (size_t i = 0; i < op.parameters.size(); ++i)
    values.push_back(c_value(function, op.parameters[i], given[i]));
  uint64_t workspace_size = 0;
  void* executor = nullptr;
  const int32_t code = [&] {
    const GilRelease others_may_run;
    return described::phase_one(function, op, values, &workspace_size, &executor);
  }();
  check(code);
  return {workspace_size, reinterpret_cast<uintptr_t>(executor)};
}

void phase_two(const char* name, std::optional<uintptr_t> workspace, uint64_t workspace_size,
               std::optional<uintptr_t> executor, std::optional<uintptr_t> stream) {
  const Operator& op = found(name);
  const auto pointer = [](std::optional<uintptr_t> address) {
    return reinterpret_cast<void*>(address.value_or(0));
  };
  const int32_t code = [&] {
    const GilRelease others_may_run;
    return described::phase_two(op.traits.name.data(), op, pointer(workspace), workspace_size,
                                pointer(executor), pointer(stream));
  }();
  check(code);
}

// --- arrays --------------------------------------------------------------------------------------

// What call() needs of an operator.
struct Described {
  struct Args {
    const Operator& op;
    Given given;
    mutable described::Run run = {};
  };
  struct Plan {
    const Args& args;
    size_t workspace_size() const { return 0; }
    Status run(std::byte* const* origins, std::byte*) const {
      return described::run(args.run, args.given, origins);
    }
  };

  static const OperatorTraits& traits(const Args& a) { return a.op.traits; }
  static Status check_pointers(const Args& a) { return a.given.null_status(); }
  static Status check(const Args& a) { return described::try_plan(a.given, a.run); }
  static std::span<const Operand> operands(const Args& a) { return a.given.operands(); }
  static Plan plan(const Args& a) { return {a}; }
};

Value array_value(Arguments& in, const Parameter& p, nb::handle object) {
  switch (p.kind) {
    case Kind::tensor: {
      const TensorArg arg = p.use == Use::write    ? in.output(p.name, object)
                            : p.use == Use::update ? in.in_out(p.name, object)
                                                   : in.input(p.name, object);
      return {static_cast<const void*>(arg.tensor)};
    }
    case Kind::scalar:
      return {static_cast<const void*>(in.scalar(p.name, object))};
    case Kind::int_array:
      return {static_cast<const void*>(in.int_array(p.name, object))};
    case Kind::number:
      return {in.number(p.name, object)};
    case Kind::flag:
      return {in.flag(p.name, object)};
    default:
      return {in.integer(p.name, object)};
  }
}

// The arguments in the documented order, the output among them.
nb::object call_described(const char* name, nb::args given) {
  const Operator& op = found(name);
  Arguments in;
  std::vector<Value> values;
  std::vector<const void*> named;
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    values.push_back(array_value(in, op.parameters[i], given[i]));
    named.push_back(static_cast<const void*>(nb::handle(given[i]).ptr()));
  }
  if (op.result_like == nullptr && op.parameters.back().use == Use::write && in.makes_output())
    raise(fail("argument-null"_rule, kParamNullptr, op.parameters.back().name, " is null")
              .in(text(op.traits.name, "GetWorkspaceSize")));
  const Described::Args args{op, Given(op, values, named)};
  return call<Described>(in, args, [&](Tensor& made) {
    const Tensor& like = args.given.tensor(op.result_like);
    made.sizes = like.sizes;
    made.dtype = like.dtype;
  });
}

}  // namespace

void bind_described(nb::module_& m) {
  m.def("described_names", &names, nb::sig("def described_names() -> list[str]"),
        "The documented names of the operators that are data.");
  m.def("described_parameters", &parameters,
        nb::sig("def described_parameters(name: str, /) -> list[tuple[str, int, bool, bool]]"),
        "Their parameters.");
  m.def("described_phase_one", &phase_one,
        nb::sig("def described_phase_one(function: str, name: str, values: tuple[Any, ...], /)"
                " -> tuple[int, int]"),
        "Check and plan: (workspace size, executor).");
  m.def("described_phase_two", &phase_two, nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(),
        nb::arg().none(),
        nb::sig("def described_phase_two(name: str, workspace: int | None, workspaceSize: int, "
                "executor: int | None, stream: int | None, /) -> None"),
        "Launch what phase one planned.");
  m.def("call_described", &call_described,
        nb::sig("def call_described(name: str, /, *args: Any) -> Any"),
        "Both phases at once, on arrays.");
}

}  // namespace softnpu::python
