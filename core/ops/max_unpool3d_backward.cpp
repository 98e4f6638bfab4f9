// SPDX-License-Identifier: Apache-2.0
// aclnnMaxUnpool3dBackward: out[n, c, i] = gradOutput[n, c, indices[n, c, i]] with D, H, W seen as
// one axis. self, stride and padding take part in the checks only.
#include "ops/max_unpool3d_backward.h"

#include <mutex>
#include <utility>

#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "base/checked.h"
#include "loops/threads.h"
#include "loops/tuning.h"

namespace softnpu::ops {

using enum runtime::Soc;

const OperatorTraits MaxUnpool3dBackward::kTraits = {
    .name = "aclnnMaxUnpool3dBackward",
    .products = {ascend950, ascend910_93, ascend910b, ascend910},
    .in_place = false,
};

namespace {

__extension__ using Wide = __int128;

constexpr std::initializer_list<DType> kTypes = {DType::f32, DType::f16, DType::i16, DType::i32,
                                                 DType::i64, DType::i8,  DType::u8,  DType::f64};

std::span<const int64_t> spatial(const Dims& sizes) {  // D, H, W
  return std::span<const int64_t>(sizes).last(std::min<size_t>(3, sizes.size()));
}

// The product of D, H and W, which need not fit 64 bits where N is 0: its upper and lower part.
std::pair<Wide, uint64_t> volume(std::span<const int64_t> sizes) {
  const Wide two = Wide(sizes[0]) * sizes[1];
  const Wide lower = Wide(static_cast<uint64_t>(two)) * sizes[2];
  return {(two >> 64) * sizes[2] + (lower >> 64), static_cast<uint64_t>(lower)};
}

bool all_positive(std::span<const int64_t> sizes) {
  return std::ranges::all_of(sizes, [](int64_t size) { return size > 0; });
}

}  // namespace

Status MaxUnpool3dBackward::check_pointers(const Args& a) {
  REQUIRE(a.grad_output, kParamNullptr, "grad-output-null"_rule, "gradOutput is null");
  REQUIRE(a.self, kParamNullptr, "self-null"_rule, "self is null");
  REQUIRE(a.indices, kParamNullptr, "indices-null"_rule, "indices is null");
  REQUIRE(a.output_size, kParamNullptr, "output-size-null"_rule, "outputSize is null");
  REQUIRE(a.stride, kParamNullptr, "stride-null"_rule, "stride is null");
  REQUIRE(a.padding, kParamNullptr, "padding-null"_rule, "padding is null");
  REQUIRE(a.out, kParamNullptr, "out-null"_rule, "out is null");
  return {};
}

namespace {

Status check_layout_and_types(const MaxUnpool3dBackward::Args& a) {
  REQUIRE(is_contiguous(*a.out), kParamInvalid, "out-not-contiguous"_rule, "out has shape ",
          a.out->sizes, " and strides ", a.out->strides, "; it must be contiguous");
  const auto tensors = MaxUnpool3dBackward::operands(a);
  for (const auto& [name, arg, use] : tensors) {
    const bool is_indices = std::string_view(name) == "indices";  // a caller may pass one twice
    REQUIRE(is_indices ? arg->dtype == DType::i64 : is_one_of(arg->dtype, kTypes), kParamInvalid,
            "dtype-unsupported"_rule, name, " has data type ", arg->dtype,
            is_indices ? supported_types({DType::i64}) : supported_types(kTypes));
  }
  for (const Operand& o : tensors) RETURN_IF_FAILED(check_format(o.name, *o.arg));
  for (const auto& [name, tensor] : {std::pair{"self", a.self.tensor}, {"out", a.out.tensor}})
    REQUIRE(tensor->dtype == a.grad_output->dtype, kParamInvalid, "dtype-differs"_rule, name,
            " has data type ", tensor->dtype, ", but gradOutput has ", a.grad_output->dtype,
            "; they must be equal");
  return {};
}

Status check_shapes(const Tensor& self, const Tensor& indices, const Tensor& out) {
  const std::pair<const char*, const Tensor*> like_self[] = {{"indices", &indices}, {"out", &out}};
  REQUIRE(self.rank() == 4 || self.rank() == 5, kParamInvalid, "self-rank"_rule, "self has rank ",
          self.rank(), " (shape ", self.sizes, "); expected 4 or 5");
  for (const auto& [name, tensor] : like_self)
    REQUIRE(tensor->rank() == self.rank(), kParamInvalid, "rank-differs"_rule, name, " has rank ",
            tensor->rank(), ", but self has rank ", self.rank(), "; they must be equal");
  for (const auto& [name, tensor] : like_self)
    REQUIRE(tensor->sizes == self.sizes, kParamInvalid, "shape-differs"_rule, name, " has shape ",
            tensor->sizes, ", but self has shape ", self.sizes, "; they must be equal");
  REQUIRE(all_positive(std::span<const int64_t>(self.sizes).subspan(1)), kParamInvalid,
          "self-empty"_rule, "self has shape ", self.sizes,
          "; every dimension but the first must be above 0");
  return {};
}

Status check_sizes(const MaxUnpool3dBackward::Args& a) {
  const std::pair<const char*, const Dims&> sizes[] = {
      {"outputSize", *a.output_size}, {"stride", *a.stride}, {"padding", *a.padding}};
  for (const auto& [name, values] : sizes)
    REQUIRE(values.size() == 3, kParamInvalid, "size-length"_rule, name, " has ", values.size(),
            " elements; expected 3");
  for (const auto& [name, values] : std::span(sizes).first(2))  // padding may be any number
    REQUIRE(all_positive(values), kParamInvalid, "size-positive"_rule, name, " is ", values,
            "; every element must be above 0");
  REQUIRE(volume(*a.output_size) >= volume(spatial(a.self->sizes)), kParamInvalid,
          "output-size-small"_rule, "outputSize is ", *a.output_size,
          ", whose product is below D * H * W of self, which has shape ", a.self->sizes);
  return {};
}

Status check_grad_output(const Tensor& grad_output, const Tensor& self, const Dims& output_size) {
  REQUIRE(std::ranges::equal(spatial(grad_output.sizes), output_size), kParamInvalid,
          "grad-output-spatial"_rule, "gradOutput has shape ", grad_output.sizes,
          ", whose D, H, W differ from outputSize ", output_size);
  REQUIRE(grad_output.rank() == self.rank(), kParamInvalid, "grad-output-rank"_rule,
          "gradOutput has rank ", grad_output.rank(), ", but self has rank ", self.rank(),
          "; they must be equal");
  for (size_t i = 0; i + 3 < self.rank(); ++i)
    REQUIRE(grad_output.sizes[i] == self.sizes[i], kParamInvalid, "grad-output-batch"_rule,
            "gradOutput has shape ", grad_output.sizes, ", but self has shape ", self.sizes,
            "; all dimensions before D, H, W must be equal");
  return {};
}

}  // namespace

Status MaxUnpool3dBackward::check(const Args& a) {
  RETURN_IF_FAILED(check_layout_and_types(a));
  RETURN_IF_FAILED(check_shapes(*a.self, *a.indices, *a.out));
  RETURN_IF_FAILED(check_sizes(a));
  return check_grad_output(*a.grad_output, *a.self, *a.output_size);
}

namespace {

// The strides of n, c, d, h, w; a tensor of rank 4 has no c.
void read_strides(const Tensor& tensor, int64_t (&strides)[5]) {
  const size_t rank = tensor.rank();
  strides[0] = tensor.strides[0];
  strides[1] = rank == 5 ? tensor.strides[1] : 0;
  for (size_t i = 0; i < 3; ++i) strides[2 + i] = tensor.strides[rank - 3 + i];
}

// Whether D, H, W can be walked with one step; `step` is it.
bool is_flat(const Tensor& tensor, int64_t& step) {
  int64_t inner = 0;  // elements that the axes so far step over, times their step
  for (size_t i = tensor.rank(); i-- > tensor.rank() - 3;) {
    if (tensor.sizes[i] == 1) continue;
    if (inner != 0 && tensor.strides[i] != inner) return false;
    if (inner == 0) step = tensor.strides[i];
    const auto product = checked_mul(tensor.strides[i], tensor.sizes[i]);
    if (!product) return false;
    inner = *product;
    // A stride of 0: one step fits only if this axis has all elements.
    if (inner == 0) return tensor.numel() <= tensor.sizes[i];
  }
  return true;
}

}  // namespace

MaxUnpool3dBackward::Plan MaxUnpool3dBackward::plan(const Args& a) {
  const Tensor &grad_output = *a.grad_output, &indices = *a.indices;
  const size_t rank = indices.rank();
  kernels::MaxUnpool3dBackwardTask task;
  if (indices.numel() == 0) {  // its other sizes may be beyond all numbers
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
  task.prefetches = bytes >= loops::kGatherFarBytes;
  task.stream = bytes >= loops::kFarBytes;
  if (bytes >= loops::kNearBytes && bytes < loops::kForwardBytes)
    task.order = task.prefetches ? loops::Order::turning : loops::Order::turning_often;
  return Plan(task, indices.sizes);
}

Status MaxUnpool3dBackwardPlan::run(std::byte* const* origins, std::byte* /*workspace*/) const {
  const kernels::KernelTable& table = kernels::active_table();
  std::mutex mutex;
  kernels::BadIndex first;
  const auto work = [&](int64_t begin, int64_t end, int) {
    const kernels::BadIndex bad = table.max_unpool3d_backward(
        task_, origins[0], reinterpret_cast<const int64_t*>(origins[2]), origins[3], begin, end);
    if (bad.position < 0) return;
    std::lock_guard lock(mutex);
    if (first.position < 0 || bad.position < first.position) first = bad;
  };
  loops::parallel_for(task_.positions(), loops::kGrain, loops::thread_count(), work, task_.order);
  if (first.position < 0) return {};
  Dims where(shape_.size());
  int64_t rest = first.position;
  for (size_t i = shape_.size(); i-- > 0; rest /= shape_[i]) where[i] = rest % shape_[i];
  return Status(kRuntimeError,
                text("indices", where, " is ", first.value, "; expected 0 or more and less than ",
                     task_.limit, ", the product of outputSize"),
                Cause::index);
}

}  // namespace softnpu::ops

using softnpu::ops::MaxUnpool3dBackward;

extern "C" aclnnStatus aclnnMaxUnpool3dBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclTensor* indices,
    const aclIntArray* outputSize, const aclIntArray* stride, const aclIntArray* padding,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return softnpu::phase_one<MaxUnpool3dBackward>(
      __func__, workspaceSize, executor, [&](softnpu::Handles& h) -> MaxUnpool3dBackward::Args {
        return {.grad_output = h.tensor("gradOutput", gradOutput),
                .self = h.tensor("self", self),
                .indices = h.tensor("indices", indices),
                .output_size = h.int_array("outputSize", outputSize),
                .stride = h.int_array("stride", stride),
                .padding = h.int_array("padding", padding),
                .out = h.tensor("out", out)};
      });
}

extern "C" aclnnStatus aclnnMaxUnpool3dBackward(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_executor(__func__, MaxUnpool3dBackward::kTraits, workspace, workspaceSize,
                                  executor, stream);
}
