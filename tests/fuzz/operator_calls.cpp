// SPDX-License-Identifier: Apache-2.0
// Both phases of every operator.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "aclnnop/aclnn_elu.h"
#include "aclnnop/aclnn_elu_backward.h"
#include "aclnnop/aclnn_max_unpool3d.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "aclnnop/aclnn_selu.h"
#include "aclnnop/aclnn_selu_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "aclnnop/aclnn_upsample_nearest_3d.h"
#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"
#include "calls.h"
#include "operators.h"

namespace fuzz {
namespace {

// Phase one of an elementwise operator, all of whose tensors have one shape and type.
Dims shape_of(Arguments& a) {
  static const Dims kShapes[] = {{2, 3},
                                 {16},
                                 {1, 1, 2, 2, 2},
                                 {4, 1, 3},
                                 {1},
                                 {},
                                 {0, 3},
                                 {2, 2, 2, 2, 2, 2},
                                 {5, 7, 1},
                                 {3, 2, 2, 2},
                                 {33},
                                 {1, 1, 1, 1, 1, 1, 1, 2}};
  if (a.s.in.once_in(64)) return {40, 1000};
  return kShapes[a.s.in.below(std::size(kShapes))];
}

struct Same {
  Arguments& a;
  Dims dims = shape_of(a);
  aclDataType type = a.floating();
  aclTensor* operator()() { return a.tensor(dims, type); }
};

int plan_elu(Arguments& a) {
  Same same{a};
  aclTensor *self = same(), *out = same();
  aclScalar *alpha = a.scalar(), *scale = a.scalar(), *input_scale = a.scalar();
  return CALL(aclnnEluGetWorkspaceSize, self, alpha, scale, input_scale, out, a.size(),
              a.executor());
}
int plan_inplace_elu(Arguments& a) {
  Same same{a};
  aclTensor* self = same();
  aclScalar *alpha = a.scalar(), *scale = a.scalar(), *input_scale = a.scalar();
  return CALL(aclnnInplaceEluGetWorkspaceSize, self, alpha, scale, input_scale, a.size(),
              a.executor());
}
int plan_elu_backward(Arguments& a) {
  Same same{a};
  aclTensor *grad = same(), *self = same(), *out = same();
  aclScalar *alpha = a.scalar(), *scale = a.scalar(), *input_scale = a.scalar();
  return CALL(aclnnEluBackwardGetWorkspaceSize, grad, alpha, scale, input_scale, a.s.in.once_in(2),
              self, out, a.size(), a.executor());
}
int plan_selu(Arguments& a) {
  Same same{a};
  aclTensor *self = same(), *out = same();
  return CALL(aclnnSeluGetWorkspaceSize, self, out, a.size(), a.executor());
}
int plan_inplace_selu(Arguments& a) {
  Same same{a};
  return CALL(aclnnInplaceSeluGetWorkspaceSize, same(), a.size(), a.executor());
}
int plan_selu_backward(Arguments& a) {
  Same same{a};
  aclTensor *grad = same(), *result = same(), *out = same();
  return CALL(aclnnSeluBackwardGetWorkspaceSize, grad, result, out, a.size(), a.executor());
}

int64_t reduction_of(Arguments& a) {
  return a.s.in.once_in(16) ? a.s.in.number() : static_cast<int64_t>(a.s.in.below(3));
}
float beta_of(Arguments& a) { return a.s.in.once_in(4) ? a.s.in.bits<float>() : 1.0f; }

int plan_smooth_l1(Arguments& a) {
  Same same{a};
  aclTensor *self = same(), *target = same();
  const int64_t reduction = reduction_of(a);
  aclTensor* result = reduction == 0 ? same() : a.tensor({}, same.type);
  return CALL(aclnnSmoothL1LossGetWorkspaceSize, self, target, reduction, beta_of(a), result,
              a.size(), a.executor());
}
int plan_smooth_l1_backward(Arguments& a) {
  Same same{a};
  const int64_t reduction = reduction_of(a);
  aclTensor* grad = reduction == 0 ? same() : a.tensor({}, same.type);
  aclTensor *self = same(), *target = same(), *out = same();
  return CALL(aclnnSmoothL1LossBackwardGetWorkspaceSize, grad, self, target, reduction, beta_of(a),
              out, a.size(), a.executor());
}

// A small volume and another that it is made from, or to.
struct Volumes {
  explicit Volumes(Arguments& a) : batch(a.s.in.once_in(12) ? 0 : 1 + a.s.in.byte() % 2) {
    for (int64_t* each : {&d, &h, &w}) *each = 1 + a.s.in.byte() % 3;
    for (int64_t* each : {&to_d, &to_h, &to_w}) *each = 1 + a.s.in.byte() % 4;
    // Unpooling refuses a smaller volume.
    if (a.s.in.once_in(2)) to_d = d, to_h = h, to_w = w;
  }
  Dims from() const { return {batch, 2, d, h, w}; }
  Dims to() const { return {batch, 2, to_d, to_h, to_w}; }
  Dims sizes() const { return {to_d, to_h, to_w}; }
  int64_t batch, d, h, w, to_d, to_h, to_w;
};

double scale_of(Arguments& a) { return a.s.in.once_in(8) ? a.s.in.bits<double>() : 0.0; }

int plan_upsample(Arguments& a) {
  const Volumes v(a);
  const aclDataType type = a.floating();
  aclTensor *self = a.tensor(v.from(), type), *out = a.tensor(v.to(), type);
  aclIntArray* sizes = a.ints(v.sizes());
  const double d = scale_of(a), h = scale_of(a), w = scale_of(a);
  return CALL(aclnnUpsampleNearest3dGetWorkspaceSize, self, sizes, d, h, w, out, a.size(),
              a.executor());
}
int plan_upsample_backward(Arguments& a) {
  const Volumes v(a);
  const aclDataType type = a.floating();
  aclTensor *grad = a.tensor(v.to(), type), *out = a.tensor(v.from(), type);
  aclIntArray *sizes = a.ints(v.sizes()), *input = a.ints(v.from());
  const double d = scale_of(a), h = scale_of(a), w = scale_of(a);
  return CALL(aclnnUpsampleNearest3dBackwardGetWorkspaceSize, grad, sizes, input, d, h, w, out,
              a.size(), a.executor());
}

aclDataType index_type(Arguments& a) { return a.s.in.once_in(8) ? ACL_INT32 : ACL_INT64; }
Dims steps(Arguments& a) {
  Dims values = {1, 1, 1};
  if (a.s.in.once_in(8)) values[a.s.in.below(3)] = a.s.in.number();
  return values;
}

int plan_unpool(Arguments& a) {
  const Volumes v(a);
  const aclDataType type = a.floating();
  aclTensor *self = a.tensor(v.from(), type), *indices = a.tensor(v.from(), index_type(a));
  aclTensor* out = a.tensor(v.to(), type);
  aclIntArray *sizes = a.ints(v.sizes()), *stride = a.ints(steps(a)), *padding = a.ints(steps(a));
  return CALL(aclnnMaxUnpool3dGetWorkspaceSize, self, indices, sizes, stride, padding, out,
              a.size(), a.executor());
}
int plan_unpool_backward(Arguments& a) {
  const Volumes v(a);
  const aclDataType type = a.floating();
  aclTensor *grad = a.tensor(v.to(), type), *self = a.tensor(v.from(), type);
  aclTensor *indices = a.tensor(v.from(), index_type(a)), *out = a.tensor(v.from(), type);
  aclIntArray *sizes = a.ints(v.sizes()), *stride = a.ints(steps(a)), *padding = a.ints(steps(a));
  return CALL(aclnnMaxUnpool3dBackwardGetWorkspaceSize, grad, self, indices, sizes, stride, padding,
              out, a.size(), a.executor());
}

#define OPERATOR(function, plan)                                                     \
  {#function, #function "GetWorkspaceSize", plan,                                    \
   [](void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream) { \
     return CALL(function, workspace, size, executor, stream);                       \
   }}

const Operator kOperators[] = {
    OPERATOR(aclnnElu, plan_elu),
    OPERATOR(aclnnInplaceElu, plan_inplace_elu),
    OPERATOR(aclnnEluBackward, plan_elu_backward),
    OPERATOR(aclnnSelu, plan_selu),
    OPERATOR(aclnnInplaceSelu, plan_inplace_selu),
    OPERATOR(aclnnSeluBackward, plan_selu_backward),
    OPERATOR(aclnnSmoothL1Loss, plan_smooth_l1),
    OPERATOR(aclnnSmoothL1LossBackward, plan_smooth_l1_backward),
    OPERATOR(aclnnUpsampleNearest3d, plan_upsample),
    OPERATOR(aclnnUpsampleNearest3dBackward, plan_upsample_backward),
    OPERATOR(aclnnMaxUnpool3d, plan_unpool),
    OPERATOR(aclnnMaxUnpool3dBackward, plan_unpool_backward),
};

void plan(State& s, const Operator& op) {
  Arguments arguments(s);
  arguments.planned(op, op.plan(arguments));
}

// Mostly one that was planned for the operator.
aclOpExecutor* executor_for(State& s, const Operator& op) {
  if (s.in.once_in(8)) return s.pick_as<aclOpExecutor>(kExecutor);
  const auto& all = s.things[kExecutor];
  const auto fits = [&op](const Thing& each) { return each.is_live && each.planned == &op; };
  auto found = std::find_if(all.rbegin(), all.rend(), fits);
  if (found == all.rend()) {
    plan(s, op);
    found = std::find_if(all.rbegin(), all.rend(), fits);
  }
  return found == all.rend() ? nullptr : static_cast<aclOpExecutor*>(found->value);
}

void launch(State& s, const Operator& op) {
  aclOpExecutor* executor = executor_for(s, op);
  const Thing* planned = s.find(kExecutor, executor);
  uint64_t size = planned == nullptr ? 0 : planned->bytes;
  void* workspace = size == 0 ? nullptr : s.room(size);
  if (s.in.once_in(24)) size = static_cast<uint64_t>(s.in.number());
  if (s.in.once_in(24)) workspace = s.pick(kDeviceMemory);
  void* stream = s.in.once_in(3) ? s.pick(kStream) : nullptr;
  const int status = op.launch(workspace, size, executor, stream);
  s.used(kExecutor, executor, status, op.name);
  Thing* launched = s.find(kExecutor, executor);
  if (status != 0) return;
  expect(launched->planned == &op, "an executor of the operator", op.name);
  launched->is_live = launched->is_repeatable;
}

template <size_t kOperator>
void plan_one(State& s) {
  plan(s, kOperators[kOperator]);
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

void make_executor(State& s) { plan(s, kOperators[s.in.below(std::size(kOperators))]); }

}  // namespace fuzz
