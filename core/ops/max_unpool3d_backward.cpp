// SPDX-License-Identifier: Apache-2.0
// aclnnMaxUnpool3dBackward: out[n, c, i] = gradOutput[n, c, indices[n, c, i]], where D, H, W are
// one axis. self, stride and padding are only checked.
#include "ops/operators.h"

#include <utility>

#include "loops/threads.h"
#include "ops/unpool.h"

namespace softnpu::ops {

Status MaxUnpool3dBackward::check_sizes(const Args& a) {
  const Tensor& self = *a.self;
  const auto tensors = operands(a);
  RETURN_IF_FAILED(
      check_like_self(std::span(tensors).last(2), self, "rank-differs"_rule, "shape-differs"_rule));
  RETURN_IF_FAILED(check_not_empty(self, "self-empty"_rule));
  RETURN_IF_FAILED(check_unpool_sizes({*a.output_size, *a.stride, *a.padding}, self,
                                      "size-length"_rule, "size-positive"_rule,
                                      "output-size-small"_rule));
  return check_unpooled(tensors.front(), self, *a.output_size, "grad-output-spatial"_rule,
                        "grad-output-rank"_rule, "grad-output-batch"_rule);
}

void MaxUnpool3dBackward::describe(const Args& a, Tensor& out) {
  out.sizes = a.self->sizes;
  out.dtype = a.grad_output->dtype;
  out.strides = contiguous_strides(out.sizes);  // checked before all else
}

__extension__ using Wide = __int128;

MaxUnpool3dBackward::Plan MaxUnpool3dBackward::plan(const Args& a) {
  const Tensor &grad_output = *a.grad_output, &indices = *a.indices;
  const size_t rank = indices.rank();
  kernels::MaxUnpool3dBackwardTask task;
  if (indices.numel() == 0) {  // other sizes may overflow
    task.batch = 0;
    return Plan(task, indices.sizes);
  }
  task.item = item_size(grad_output.dtype);
  task.batch = indices.sizes[0];
  task.channels = rank == 5 ? indices.sizes[1] : 1;
  task.d = indices.sizes[rank - 3];
  task.h = indices.sizes[rank - 2];
  task.w = indices.sizes[rank - 1];
  read_strides(indices, task.index_strides);
  int64_t step = 1;
  if (is_flat(indices, step)) {
    task.w *= task.d * task.h;
    task.d = task.h = 1;
    task.index_strides[4] = step;
  }
  read_strides(grad_output, task.grad_strides);
  task.grad_h = grad_output.sizes[rank - 2];
  task.grad_w = grad_output.sizes[rank - 1];
  task.limit = *checked_numel(spatial(grad_output.sizes));
  step = 1;
  task.grad_flat = is_flat(grad_output, step);
  if (task.grad_flat) task.grad_strides[4] = step;
  const Wide bytes = Wide(grad_output.numel()) * task.item + indices.numel() * (8 + task.item);
  task.is_far = task.stream = bytes >= kFarBytes;
  if (bytes >= kNearBytes && !task.is_far) task.order = loops::Order::turning;
  return Plan(task, indices.sizes);
}

Status MaxUnpool3dBackwardPlan::run(std::byte* const* origins, std::byte* /*workspace*/) const {
  const kernels::KernelTable& table = kernels::active_table();
  FirstBadIndex bad;
  const auto work = [&](int64_t begin, int64_t end, int) {
    bad.add(table.max_unpool3d_backward(
        task_, origins[0], reinterpret_cast<const int64_t*>(origins[2]), origins[3], begin, end));
  };
  loops::parallel_for(task_.positions(), kGrain, loops::thread_count(), work, task_.order);
  return bad.status(shape_, task_.limit);
}

}  // namespace softnpu::ops
