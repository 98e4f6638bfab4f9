// SPDX-License-Identifier: Apache-2.0
// Both phases of every operator. Phase one's parameters say what to make for them, a call that the
// contract accepts says of which shape and type.
#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calls.h"
#include "operator_list.h"
#include "operators.h"

namespace fuzz {
namespace {

const Dims& some_dims(Arguments& a) {
  static const Dims kShapes[] = {{2, 3},
                                 {16},
                                 {1, 1, 2, 2, 2},
                                 {4, 1, 3},
                                 {1},
                                 {},
                                 {0, 3},
                                 {5, 7, 1},
                                 {33},
                                 {2, 2, 2, 2, 2, 2},
                                 {3, 2, 2, 2},
                                 {40, 1000},
                                 {1, 1, 1, 1, 1, 1, 1, 2}};
  return kShapes[a.s.in.below(std::size(kShapes))];
}

}  // namespace

class Maker {
 public:
  Maker(Arguments& arguments, const Recipe& recipe) : a_(arguments), recipe_(recipe) {
    const auto is_tensor = [](const Value& v) { return v.type != ACL_DT_UNDEFINED; };
    const auto first = std::find_if(recipe_.begin(), recipe_.end(), is_tensor);
    const Dims dims = first->dims, others = some_dims(a_);
    const aclDataType type = first->type, other_type = a_.floating();
    const bool are_alike = std::all_of(recipe_.begin(), recipe_.end(), [&](const Value& v) {
      return !is_tensor(v) || v.dims == dims;
    });
    // Operators of tensors of one shape take any; of one type, mostly another, too.
    for (Value& each : recipe_) {
      if (!is_tensor(each)) continue;
      if (are_alike && dims.size() < 5) each.dims = others;
      if (each.type == type) each.type = other_type;
    }
  }

  template <class T>
  T next() {
    if constexpr (std::is_same_v<T, uint64_t*>) {
      return a_.size();
    } else if constexpr (std::is_same_v<T, aclOpExecutor**>) {
      return a_.executor();
    } else {
      Value& value = recipe_[at_++];
      if constexpr (std::is_same_v<T, const aclTensor*> || std::is_same_v<T, aclTensor*>) {
        return a_.tensor(a_.s.in.once_in(24) ? some_dims(a_) : value.dims, value.type);
      } else if constexpr (std::is_same_v<T, const aclScalar*>) {
        return a_.scalar();
      } else if constexpr (std::is_same_v<T, const aclIntArray*>) {
        if (a_.s.in.once_in(16) && !value.dims.empty())
          value.dims[a_.s.in.below(value.dims.size())] = a_.s.in.number();
        return a_.ints(value.dims);
      } else if constexpr (std::is_same_v<T, bool>) {
        return a_.s.in.once_in(2);
      } else if constexpr (std::is_integral_v<T>) {
        return a_.s.in.once_in(16) ? static_cast<T>(a_.s.in.number())
                                   : static_cast<T>(value.number);
      } else {
        return a_.s.in.once_in(8) ? a_.s.in.bits<T>() : static_cast<T>(value.number);
      }
    }
  }

 private:
  Arguments& a_;
  Recipe recipe_;
  size_t at_ = 0;
};

namespace {

// In the order of the parameters.
template <class... A>
std::tuple<A...> arguments_for(aclnnStatus (*)(A...), Maker& maker) {
  return std::tuple<A...>{maker.next<A>()...};
}

// Makes the arguments of one of the recipes, and calls phase one with them.
template <class CallOne>
void plan_from(State& s, const Operator& op, const std::vector<Recipe>& recipes, CallOne&& call) {
  Arguments arguments(s);
  Maker maker(arguments, recipes[s.in.below(recipes.size())]);
  arguments.planned(op, static_cast<int>(call(maker)));
}

#define OPERATOR(function, ...)                                                              \
  Operator{#function, #function "GetWorkspaceSize",                                          \
           [](State& s, const Operator& op) {                                                \
             static const std::vector<Recipe> recipes{__VA_ARGS__};                          \
             const auto call = [](auto... each) {                                            \
               return CALL(function##GetWorkspaceSize, each...);                             \
             };                                                                              \
             plan_from(s, op, recipes, [&](Maker& maker) {                                   \
               return std::apply(call, arguments_for(function##GetWorkspaceSize, maker));    \
             });                                                                             \
           },                                                                                \
           [](void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream) { \
             return CALL(function, workspace, size, executor, stream);                       \
           }},

const Operator kOperators[] = {OPERATORS};

// Mostly one that was planned for the operator.
aclOpExecutor* executor_for(State& s, const Operator& op) {
  if (s.in.once_in(8)) return s.pick_as<aclOpExecutor>(kExecutor);
  const auto& all = s.things[kExecutor];
  const auto fits = [&op](const Thing& each) { return each.is_live && each.planned == &op; };
  auto found = std::find_if(all.rbegin(), all.rend(), fits);
  if (found == all.rend()) {
    op.plan(s, op);
    found = std::find_if(all.rbegin(), all.rend(), fits);
  }
  return found == all.rend() ? nullptr : static_cast<aclOpExecutor*>(found->value);
}

}  // namespace

void launch(State& s, const Operator& op) {
  aclOpExecutor* executor = executor_for(s, op);
  const Thing* planned = s.find(kExecutor, executor);
  uint64_t size = planned == nullptr ? 0 : planned->bytes;
  void* workspace = size == 0 ? nullptr : s.workspace(size);
  if (s.in.once_in(24)) size = static_cast<uint64_t>(s.in.number());
  if (s.in.once_in(24)) workspace = reinterpret_cast<void*>(uintptr_t{s.in.byte()});
  void* stream = s.in.once_in(3) ? s.pick(kStream) : nullptr;
  const int status = op.launch(workspace, size, executor, stream);
  s.used(kExecutor, executor, status, op.name);
  Thing* launched = s.find(kExecutor, executor);
  if (status != 0) return;
  expect(launched->planned == &op, "an executor of the operator", op.name);
  launched->is_live = launched->is_repeatable;
}

namespace {

template <size_t kOperator>
void plan_one(State& s) {
  kOperators[kOperator].plan(s, kOperators[kOperator]);
}
template <size_t kOperator>
void launch_one(State& s) {
  launch(s, kOperators[kOperator]);
}

template <size_t... kIndices>
auto calls_of(std::index_sequence<kIndices...>) {
  return std::array<Call, 2 * sizeof...(kIndices)>{
      Call{kOperators[kIndices].phase_one, plan_one<kIndices>}...,
      Call{kOperators[kIndices].name, launch_one<kIndices>}...};
}
const auto all_calls = calls_of(std::make_index_sequence<std::size(kOperators)>());

}  // namespace

Room operator_calls() { return {all_calls.data(), all_calls.size()}; }

void make_executor(State& s) {
  const Operator& op = kOperators[s.in.below(std::size(kOperators))];
  op.plan(s, op);
}

}  // namespace fuzz
