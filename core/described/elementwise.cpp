// SPDX-License-Identifier: Apache-2.0
#include "described/elementwise.h"

#include <algorithm>
#include <limits>

#include "base/lasting.h"

namespace softnpu::described {
namespace {

// An input, or an optional one that is absent: no operand then, and one value everywhere.
struct Input {
  const Tensor* tensor = &lasting<Tensor>;
  size_t operand = 0;
  bool is_absent = true;
  double value = 0;
};

struct Plan {
  Elementwise formula{};
  std::vector<Input> inputs;
  const Tensor* out = nullptr;
  size_t output = 0;  // an operand
  std::vector<double> reals;
  std::vector<int64_t> wholes;
  Dims sizes;
  bool is_whole = true;
};

// What an optional argument that is absent counts as, for integers.
int64_t to_whole(double value) {
  using Limits = std::numeric_limits<int64_t>;
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<int64_t>(value);
}

void add_scalar(const Given& given, const Parameter& parameter, Plan& plan) {
  double real = parameter.absent;
  int64_t integer = to_whole(real);
  if (given.has(parameter.name)) {
    const Scalar& scalar = given.scalar(parameter.name);
    real = given.real(parameter.name);
    integer = number_from<int64_t>(scalar);
    plan.is_whole &= !is_floating(scalar.dtype);
  }
  plan.reals.push_back(real);
  plan.wholes.push_back(integer);
}

void add_tensor(const Given& given, size_t i, Plan& plan) {
  const Parameter& parameter = given.op().parameters[i];
  const size_t operand = given.first_operand(i);
  if (!given.has(parameter.name)) {
    plan.inputs.push_back({.value = parameter.absent});
    return;
  }
  const Tensor& tensor = given.tensor(parameter.name);
  if (writes(parameter.use)) {
    plan.output = operand;
    plan.out = &tensor;
  }
  if (parameter.use == Use::write) return;
  plan.inputs.push_back({&tensor, operand, false});
  plan.is_whole &= !is_floating(tensor.dtype);
  const auto sizes = broadcast_sizes(plan.sizes, tensor.sizes);
  require(sizes.has_value(), "broadcast"_rule, parameter.name, " has shape ", tensor.sizes,
          ", which cannot be broadcast with ", plan.sizes);
  plan.sizes = *sizes;
}

const Operand& output_of(const Given& given) {
  return *std::ranges::find_if(given.operands(), [](const Operand& o) { return writes(o.use); });
}

template <class T>
void compute(const Plan& plan, Formula<T> formula, const T* scalars, std::byte* const* origins) {
  const size_t count = plan.inputs.size();
  std::vector<std::vector<T>> blocks(count + 1, std::vector<T>(Walk::kBlock));
  std::vector<const Tensor*> views;
  std::vector<const T*> ins;
  std::vector<LoadRow<T>> loads;
  for (size_t k = 0; k < count; ++k) {
    const Input& input = plan.inputs[k];
    const T value = std::is_same_v<T, int64_t> ? static_cast<T>(to_whole(input.value))
                                               : static_cast<T>(input.value);
    if (input.is_absent) std::ranges::fill(blocks[k], value);
    ins.push_back(blocks[k].data());
    views.push_back(input.tensor);
    loads.push_back(loader<T>(input.tensor->dtype));
  }
  views.push_back(plan.out);
  const auto store = storer<T>(plan.out->dtype);
  T* const results = blocks[count].data();
  const Walk walk(plan.sizes, views);
  walk.for_each_block([&](const std::vector<int64_t>& offsets, int64_t n) {
    const auto first = [&](size_t k, size_t operand) {
      return origins[operand] + offsets[k] * item_size(views[k]->dtype);
    };
    for (size_t k = 0; k < count; ++k)
      if (!plan.inputs[k].is_absent)
        loads[k](first(k, plan.inputs[k].operand), walk.row_stride(k), n, blocks[k].data());
    formula(n, ins.data(), scalars, results);
    store(results, n, walk.row_stride(count), first(count, plan.output));
  });
}

}  // namespace

Run plan_elementwise(const Given& given, const Elementwise& formula, Shape shape) {
  Plan plan;
  plan.formula = formula;
  const auto& parameters = given.op().parameters;
  if (shape == Shape::of_output) plan.sizes = output_of(given).arg->sizes;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind == Kind::scalar) add_scalar(given, parameters[i], plan);
    if (parameters[i].kind == Kind::tensor) add_tensor(given, i, plan);
  }
  given.require_shape(given.operands()[plan.output].name, plan.sizes);
  require(plan.is_whole || formula.real != nullptr, "dtype-unsupported"_rule,
          "a floating data type is given; expected integers or BOOL");
  return [plan = std::move(plan)](const Arrays& arrays) {
    if (plan.is_whole && plan.formula.whole != nullptr)
      compute(plan, plan.formula.whole, plan.wholes.data(), arrays.origins());
    else
      compute(plan, plan.formula.real, plan.reals.data(), arrays.origins());
  };
}

}  // namespace softnpu::described
