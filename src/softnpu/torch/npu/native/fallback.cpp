// SPDX-License-Identifier: Apache-2.0
#include "fallback.h"

#include <ATen/core/List.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <unordered_set>

#include "aliases.h"

namespace softnpu::npu {
namespace {

using c10::DispatchKey;
using c10::IValue;
using Stack = torch::jit::Stack;

// These take indices, sizes or lengths on the CPU beside tensors of a device.
bool mixes_devices(const std::string& name) {
  static const std::unordered_set<std::string> names = {"aten::index",
                                                        "aten::_unsafe_index",
                                                        "aten::index_put",
                                                        "aten::index_put_",
                                                        "aten::_index_put_impl_",
                                                        "aten::_unsafe_index_put",
                                                        "aten::_pack_padded_sequence",
                                                        "aten::_copy_from",
                                                        "aten::_copy_from_and_resize",
                                                        "aten::_assert_async",
                                                        "aten::repeat_interleave",
                                                        "aten::_unsafe_masked_index"};
  return names.count(name) > 0;
}

// Results that describe others, for the host to read.
bool stays_on_cpu(const std::string& name, size_t result) {
  return name == "aten::_pack_padded_sequence" && result == 1;
}

bool is_generator(const c10::Argument& argument) {
  const auto& type = argument.type();
  return type->kind() == c10::TypeKind::OptionalType &&
         type->castRaw<c10::OptionalType>()->getElementType()->kind() ==
             c10::TypeKind::GeneratorType;
}

// The arguments of one call, as the CPU takes them.
class Call {
 public:
  Call(const c10::OperatorHandle& op, Stack* stack)
      : schema_(op.schema()),
        stack_(*stack),
        count_(schema_.arguments().size()),
        index_(find_device()),
        aliases_(index_) {}

  DeviceIndex device() const { return index_; }

  void run_work_before() {
    const auto& returns = schema_.returns();
    const bool tells_host =
        !returns.empty() && std::none_of(returns.begin(), returns.end(), [](const auto& one) {
          return one.type()->isSubtypeOf(*c10::TensorType::get()) ||
                 one.type()->kind() == c10::TypeKind::ListType;
        });
    npu::run_work_before(index_, tells_host ? Waits::host : Waits::stream);
    began_ = now();
  }

  void note_work() const {
    npu::note_work(index_, schema_.name().c_str(), began_, aliases_.uses());
  }

  void remember() { aliases_.remember(); }

  void delay() const {
    npu::delay(index_, schema_.name().c_str(), aliases_.computed(), aliases_.uses());
  }

  void to_cpu() {
    for (size_t i = 0; i < count_; ++i) convert(schema_.arguments()[i], at(i));
  }

  void to_device() {
    aliases_.write_back();
    const size_t results = schema_.returns().size();
    for (size_t i = 0; i < results; ++i) {
      IValue& value = stack_[stack_.size() - results + i];
      const auto device = [&](const at::Tensor& tensor) { return aliases_.device(tensor); };
      if (value.isTensor()) {
        if (!stays_on_cpu(schema_.name(), i)) value = device(value.toTensor());
      } else if (value.isTensorList()) {
        value = mapped(value.toTensorVector(), device);
      } else if (value.isList()) {
        value = mapped_lists(value, device);
      }
    }
  }

 private:
  IValue& at(size_t i) { return stack_[stack_.size() - count_ + i]; }

  static bool is_npu(const at::Tensor& tensor) {
    return tensor.defined() && tensor.device().type() == kNpu;
  }

  DeviceIndex find_device() {
    for (size_t i = 0; i < count_; ++i) {
      const IValue& value = at(i);
      if (value.isTensor() && is_npu(value.toTensor())) return value.toTensor().device().index();
      if (value.isDevice() && value.toDevice().type() == kNpu)
        return value.toDevice().has_index() ? value.toDevice().index() : current_device();
      if (!value.isList()) continue;
      const DeviceIndex index = first_device(value);
      if (index >= 0) return index;
    }
    return current_device();
  }

  static DeviceIndex first_device(const IValue& list) {
    for (const IValue& each : list.toListRef()) {
      if (each.isTensor() && is_npu(each.toTensor())) return each.toTensor().device().index();
      const DeviceIndex index = each.isList() ? first_device(each) : DeviceIndex{-1};
      if (index >= 0) return index;
    }
    return -1;
  }

  // A list of lists of tensors, as collective communication has them.
  template <class Change>
  static IValue mapped_lists(const IValue& value, Change change) {
    const auto lists = value.toList();
    c10::impl::GenericList changed(lists.elementType());
    for (const IValue& each : lists) {
      if (!each.isTensorList()) return value;
      changed.push_back(mapped(each.toTensorVector(), change));
    }
    return changed;
  }

  template <class Change>
  static c10::List<at::Tensor> mapped(const std::vector<at::Tensor>& tensors, Change change) {
    c10::List<at::Tensor> list;
    list.reserve(tensors.size());
    for (const at::Tensor& tensor : tensors) list.push_back(change(tensor));
    return list;
  }

  void convert(const c10::Argument& argument, IValue& value) {
    const Role role = role_of(argument);
    const auto cpu = [&](const at::Tensor& tensor) { return convert(argument, tensor, role); };
    if (value.isTensor()) {
      value = cpu(value.toTensor());
    } else if (value.isTensorList()) {
      value = mapped(value.toTensorVector(), cpu);
    } else if (value.isOptionalTensorList()) {
      auto list = value.toOptionalTensorList().copy();
      for (size_t i = 0; i < list.size(); ++i)
        if (const std::optional<at::Tensor> one = list.get(i)) list.set(i, cpu(*one));
      value = std::move(list);
    } else if (value.isList()) {
      value = mapped_lists(value, cpu);
    } else if (value.isGenerator()) {
      value = cpu_generator(value.toGenerator());
    } else if (value.isDevice()) {
      if (value.toDevice().type() == kNpu) value = c10::Device(c10::kCPU);
    } else if (value.isNone() && is_generator(argument)) {
      value = cpu_generator(default_generator(index_));
    }
  }

  Role role_of(const c10::Argument& argument) {
    if (is_collective(schema_))
      return role_in_collective(schema_, argument, c10::ArrayRef<IValue>(&at(0), count_));
    const bool written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    return {!written, written};
  }

  at::Tensor convert(const c10::Argument& argument, const at::Tensor& tensor, Role role) {
    if (!tensor.defined()) return tensor;
    if (is_npu(tensor)) {
      if (tensor.device().index() != index_) refuse(argument, tensor);
      return aliases_.cpu(tensor, argument.name().c_str(), role);
    }
    // As everywhere in PyTorch, a number may lie on the CPU.
    const bool number = tensor.dim() == 0 && !role.written && tensor.is_cpu();
    if (!number && !mixes_devices(schema_.name())) refuse(argument, tensor);
    aliases_.keep(tensor);
    return tensor;
  }

  [[noreturn]] void refuse(const c10::Argument& argument, const at::Tensor& tensor) {
    TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two ",
                "devices, ", c10::Device(kNpu, index_), " and ", tensor.device(),
                "! (when checking argument for argument ", argument.name(), " in method ",
                schema_.name(), ")");
  }

  const c10::FunctionSchema& schema_;
  Stack& stack_;
  const size_t count_;
  const DeviceIndex index_;
  Aliases aliases_;
  int64_t began_ = 0;
};

// Sets all indices to 0, so that a call has results of the right shapes. They come after the tensor
// that they refer to.
void clear_indices(Stack& arguments) {
  const auto clear = [](const at::Tensor& tensor) {
    const bool is_index = tensor.defined() && c10::isIntegralType(tensor.scalar_type(), false);
    return is_index ? at::zeros_like(tensor) : tensor;
  };
  for (size_t i = 1; i < arguments.size(); ++i) {
    IValue& value = arguments[i];
    if (value.isTensor()) value = clear(value.toTensor());
    if (!value.isOptionalTensorList()) continue;
    auto list = value.toOptionalTensorList().copy();
    for (size_t k = 0; k < list.size(); ++k)
      if (const std::optional<at::Tensor> one = list.get(k)) list.set(k, clear(*one));
    value = std::move(list);
  }
}

// Calls the CPU's kernel. If the schedule defers work, an index out of range is reported later, and
// the results have undefined elements.
void compute(const c10::OperatorHandle& op, Stack* stack, const Call& call) {
  const ResultsOnDevice results(call.device());
  const c10::DispatchKeySet cpu(DispatchKey::CPU);
  if (!errors_are_late()) return op.redispatchBoxed(cpu, stack);
  const size_t count = op.schema().arguments().size();
  Stack arguments(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
  const size_t below = stack->size() - count;
  try {
    op.redispatchBoxed(cpu, stack);
  } catch (const c10::IndexError& error) {
    stack->resize(below);
    clear_indices(arguments);
    stack->insert(stack->end(), arguments.begin(), arguments.end());
    op.redispatchBoxed(cpu, stack);  // what is wrong besides the indices is an error of the call
    fail_late(call.device(), op.schema().name().c_str(), error.what_without_backtrace());
  }
}

}  // namespace

void run_on_cpu(const c10::OperatorHandle& op, Stack* stack) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      op.hasComputedKernelForDispatchKey(DispatchKey::CPU), "Could not run '", op.operator_name(),
      "' with arguments from the 'npu' backend. The CPU, which computes for ",
      "the device, has no kernel of it either.");
  Call call(op, stack);
  enter(call.device());
  const OnDevice on(call.device());
  const bool tracked = is_tracked();
  if (tracked) call.run_work_before();
  const bool late = tracked && results_are_late(call.device()) && !is_collective(op.schema());
  call.to_cpu();
  if (late) call.remember();
  compute(op, stack, call);
  call.to_device();
  if (late)
    call.delay();
  else if (tracked)
    call.note_work();
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
}

void prefer_cpu_kernels(const std::vector<std::string>& others) {
  static auto& library = *new torch::Library(torch::Library::IMPL, "aten", DispatchKey::PrivateUse1,
                                             __FILE__, __LINE__);
  const std::unordered_set<std::string> excepted(others.begin(), others.end());
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (!op || name.name.rfind("aten::", 0) != 0) continue;
    // It calls the CPU's kernel by its C++ name.
    const bool hidden = name.name == "aten::conj_physical_";
    if (!hidden && !op->hasKernelForDispatchKey(DispatchKey::CPU)) continue;
    if (op->hasKernelForDispatchKey(DispatchKey::PrivateUse1)) continue;
    const std::string full = c10::toString(name);
    if (excepted.count(full) > 0) continue;
    library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
  }
}

}  // namespace softnpu::npu
