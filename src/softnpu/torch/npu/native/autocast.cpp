// SPDX-License-Identifier: Apache-2.0
// torch.autocast for the device: PyTorch's lists of operators by precision.
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace softnpu::npu {
namespace {

using c10::IValue;
using Stack = torch::jit::Stack;

// Changes the tensors among the arguments of the operator that is about to be called.
template <class Change>
void change_tensors(const c10::OperatorHandle& op, Stack* stack, Change change) {
  const size_t count = op.schema().arguments().size();
  for (auto value = stack->end() - static_cast<int64_t>(count); value != stack->end(); ++value) {
    if (value->isTensor()) {
      *value = change(value->toTensor());
    } else if (value->isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value->toTensorVector()) list.push_back(change(tensor));
      *value = std::move(list);
    }
  }
}

void cast_all(const c10::OperatorHandle& op, Stack* stack, at::ScalarType to) {
  change_tensors(op, stack, [to](const at::Tensor& tensor) {
    return tensor.defined() ? at::autocast::cached_cast(to, tensor, c10::DeviceType::PrivateUse1)
                            : tensor;
  });
}

void lower_precision(const c10::OperatorHandle& op, Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(c10::DispatchKey::AutocastPrivateUse1);
  cast_all(op, stack, at::autocast::get_autocast_dtype(c10::DeviceType::PrivateUse1));
  op.callBoxed(stack);
}

void float32(const c10::OperatorHandle& op, Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(c10::DispatchKey::AutocastPrivateUse1);
  cast_all(op, stack, at::kFloat);
  op.callBoxed(stack);
}

// Results in float32, of arguments of less precision: by their `dtype`, unless the program set it.
void float32_result(const c10::OperatorHandle& op, Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(c10::DispatchKey::AutocastPrivateUse1);
  const auto& arguments = op.schema().arguments();
  const size_t first = stack->size() - arguments.size();
  const at::Tensor& tensor = (*stack)[first].toTensor();
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name() == "dtype" && (*stack)[first + i].isNone() &&
        at::autocast::is_eligible(tensor, c10::DeviceType::PrivateUse1))
      (*stack)[first + i] = at::kFloat;
  op.callBoxed(stack);
}

void widest(const c10::OperatorHandle& op, Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(c10::DispatchKey::AutocastPrivateUse1);
  auto to = at::autocast::get_autocast_dtype(c10::DeviceType::PrivateUse1);
  change_tensors(op, stack, [&to](const at::Tensor& tensor) {
    if (tensor.defined()) to = at::autocast::prioritize(to, tensor, c10::DeviceType::PrivateUse1);
    return tensor;
  });
  cast_all(op, stack, to);
  op.callBoxed(stack);
}

template <c10::KernelFunction::BoxedKernelFunction* kernel>
void add(torch::Library& m, std::string name, const char* overload = nullptr) {
  if (overload != nullptr) name += std::string(".") + overload;
  m.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<kernel>());
}

void refuse(const c10::OperatorHandle&, Stack*) {
  TORCH_CHECK(
      false,
      "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to "
      "autocast.\nMany models use a sigmoid layer right before the binary cross entropy "
      "layer.\nIn this case, combine the two layers using "
      "torch.nn.functional.binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss. "
      " binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to autocast.");
}

}  // namespace

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

#define STRING1(name) #name
#define STRING2(name, overload) #name, #overload
#define PICK(one, two, which, ...) which
#define STRINGS(...) PICK(__VA_ARGS__, STRING2, STRING1, )(__VA_ARGS__)

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
#define ADD(...) add<&lower_precision>(m, STRINGS(__VA_ARGS__));
  AT_FORALL_LOWER_PRECISION_FP(ADD)
#undef ADD
#define ADD(...) add<&float32>(m, STRINGS(__VA_ARGS__));
  AT_FORALL_FP32(ADD)
#undef ADD
#define ADD(...) add<&float32_result>(m, STRINGS(__VA_ARGS__));
  AT_FORALL_FP32_SET_OPT_DTYPE(ADD)
#undef ADD
#define ADD(...) add<&widest>(m, STRINGS(__VA_ARGS__));
  AT_FORALL_PROMOTE(ADD)
#undef ADD
  add<&widest>(m, "stack");
  add<&widest>(m, "cat");
  for (const char* norm : {"norm.Scalar", "norm.ScalarOpt_dim", "norm.names_ScalarOpt_dim"})
    add<&float32>(m, norm);
  add<&refuse>(m, "binary_cross_entropy");
}

}  // namespace softnpu::npu
