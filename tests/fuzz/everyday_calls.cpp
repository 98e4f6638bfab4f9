// SPDX-License-Identifier: Apache-2.0
// Both phases of the everyday operators. There are no calls at hand that they accept, so the
// parameters' types say what is made: mostly tensors of one small shape and type.
#include <cstring>
#include <deque>
#include <iterator>
#include <type_traits>
#include <utility>

#include "calls.h"
#include "everyday_list.h"
#include "operators.h"

namespace fuzz {
namespace {

// Makes the arguments of one call.
class Guesser {
 public:
  explicit Guesser(Arguments& arguments) : a_(arguments), dims_(some_dims()), type_(some_type()) {}

  template <class T>
  T next() {
    auto& in = a_.s.in;
    if constexpr (std::is_same_v<T, uint64_t*>) {
      return a_.size();
    } else if constexpr (std::is_same_v<T, aclOpExecutor**>) {
      return a_.executor();
    } else if constexpr (std::is_pointer_v<T>) {
      if (in.once_in(10)) return nullptr;
      return pointer(static_cast<T>(nullptr));
    } else if constexpr (std::is_enum_v<T>) {
      return in.once_in(3) ? static_cast<T>(in.enumerator(34)) : static_cast<T>(type_);
    } else if constexpr (std::is_floating_point_v<T>) {
      return in.once_in(8) ? in.template bits<T>() : static_cast<T>(in.below(9)) / 4;
    } else {
      return in.once_in(16) ? static_cast<T>(in.number()) : static_cast<T>(in.below(4)) - T{1};
    }
  }

 private:
  const Dims& some_dims() {
    static const Dims kShapes[] = {{2, 2}, {2, 2, 2}, {1, 2, 2, 2}, {4}, {2, 2, 2, 2, 2}, {},
                                   {2, 3}, {0, 2},    {3, 1, 4},    {1}, {1, 1},          {2}};
    static const Dims kEmpty[] = {{int64_t{1} << 40, 0}, {2, int64_t{1} << 40, 0, 2}};
    if (a_.s.in.once_in(64)) return kEmpty[a_.s.in.below(std::size(kEmpty))];
    return kShapes[a_.s.in.below(std::size(kShapes))];
  }

  aclDataType some_type() {
    static const aclDataType kTypes[] = {ACL_FLOAT, ACL_INT64, ACL_BOOL,   ACL_FLOAT16,
                                         ACL_INT32, ACL_UINT8, ACL_DOUBLE, ACL_BF16};
    return a_.s.in.once_in(2) ? ACL_FLOAT : a_.s.in.one_of(kTypes);
  }

  const Dims& next_dims() { return a_.s.in.once_in(4) ? some_dims() : dims_; }
  aclDataType next_type() { return a_.s.in.once_in(6) ? some_type() : type_; }

  aclTensor* pointer(const aclTensor*) { return a_.tensor(next_dims(), next_type()); }
  aclTensorList* pointer(const aclTensorList*) {
    return a_.tensors(1 + a_.s.in.below(3), next_dims(), next_type());
  }
  aclScalar* pointer(const aclScalar*) { return a_.scalar(); }
  aclIntArray* pointer(const aclIntArray*) {
    Dims values(a_.s.in.below(5));
    for (int64_t& each : values)
      each = a_.s.in.once_in(16) ? a_.s.in.number() : static_cast<int64_t>(a_.s.in.below(3));
    return a_.ints(a_.s.in.once_in(4) ? dims_ : values);
  }
  aclBoolArray* pointer(const aclBoolArray*) { return a_.s.pick_as<aclBoolArray>(kBoolArray); }
  char* pointer(const char*) {
    static char texts[][6] = {"BNSD", "BSND", "BSH", "SBH", "TND", "none", ""};
    return texts[a_.s.in.below(std::size(texts))];
  }

  Arguments& a_;
  const Dims dims_;
  const aclDataType type_;
};

// An argument of any type: tuples of each list of parameters would take long to compile.
class Slot {
 public:
  template <class T>
  explicit Slot(T value) {
    static_assert(sizeof value <= sizeof bytes_);
    std::memcpy(bytes_, &value, sizeof value);
  }
  template <class T>
  T as() const {
    T value;
    std::memcpy(&value, bytes_, sizeof value);
    return value;
  }

 private:
  unsigned char bytes_[8];
};

template <class... A>
using PhaseOne = aclnnStatus (*)(A...);
using PhaseTwo = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);
using AnyFunction = void (*)();
// Makes arguments and calls phase one with them.
using Plan = aclnnStatus (*)(AnyFunction, const char* name, Guesser&);

template <class... A, size_t... kIndices>
aclnnStatus call_with(PhaseOne<A...> function, const Slot* all, std::index_sequence<kIndices...>) {
  return function(all[kIndices].template as<A>()...);
}

template <class... A>
aclnnStatus plan(AnyFunction function, const char* name, Guesser& guesser) {
  const Slot all[] = {Slot(guesser.next<A>())...};  // in their order
  const Within within(name);
  return call_with(reinterpret_cast<PhaseOne<A...>>(function), all,
                   std::index_sequence_for<A...>{});
}

Operator operator_of(const char* name, const char* phase_one, AnyFunction function, Plan plan,
                     PhaseTwo phase_two) {
  static std::deque<Tally> tallies;
  Tally &planned = tallies.emplace_back(phase_one), &launched = tallies.emplace_back(name);
  return {name, phase_one,
          [&planned, function, plan](State& s, const Operator& op) {
            Arguments arguments(s);
            Guesser guesser(arguments);
            const int status = plan(function, op.phase_one, guesser);
            arguments.planned(op, note(planned, status));
          },
          [&launched, phase_two](void* workspace, uint64_t size, aclOpExecutor* executor,
                                 aclrtStream stream) {
            const int status =
                call(launched.function, phase_two, workspace, size, executor, stream);
            return note(launched, status);
          }};
}

template <class... A>
Operator operator_of(const char* name, const char* phase_one, PhaseOne<A...> function,
                     PhaseTwo phase_two) {
  return operator_of(name, phase_one, reinterpret_cast<AnyFunction>(function), &plan<A...>,
                     phase_two);
}

#define OPERATOR(name) operator_of(#name, #name "GetWorkspaceSize", name##GetWorkspaceSize, name),
const std::vector<Operator>& everyday_operators() {
  static const std::vector<Operator> all{EVERYDAY};
  return all;
}

}  // namespace

void everyday_call(State& s) {
  const auto& all = everyday_operators();
  const Operator& op = all[s.in.bits<uint16_t>() % all.size()];
  if (s.in.once_in(2))
    launch(s, op);
  else
    op.plan(s, op);
}

}  // namespace fuzz
