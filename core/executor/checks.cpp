// SPDX-License-Identifier: Apache-2.0
#include "executor/checks.h"

namespace softnpu {
namespace {

bool is_on_product(DType type) { return type != DType::bf16 || runtime::product().bf16; }

std::string supported(std::initializer_list<DType> types) {
  std::string list;
  for (DType type : types)
    if (is_on_product(type)) list += (list.empty() ? "" : ", ") + to_text(type);
  return text("; ", runtime::product().name, " supports ", list);
}

std::string ranks(size_t least, size_t most) {
  if (least == 0) return text("at most ", most, " is supported");
  if (least == most) return text("expected ", least);
  return text("expected ", least, most == least + 1 ? " or " : " to ", most);
}

}  // namespace

Status check_type(RuleId rule, const Operand& operand, std::initializer_list<DType> types) {
  const DType type = operand.arg->dtype;
  if (is_one_of(type, types) && is_on_product(type)) return {};
  return fail(rule, kParamInvalid, operand.name, " has data type ", type, supported(types));
}

Status check_formats(std::span<const Operand> operands) {
  for (const Operand& operand : operands)
    RETURN_IF_FAILED(check_format(operand.name, *operand.arg));
  return {};
}

Status check_same_type(RuleId rule, const Operand& operand, const Operand& other) {
  if (operand.arg->dtype == other.arg->dtype) return {};
  return fail(rule, kParamInvalid, operand.name, " has data type ", operand.arg->dtype, ", but ",
              other.name, " has ", other.arg->dtype, "; they must be equal");
}

Status check_same_shape(RuleId rule, const Operand& operand, const Operand& other) {
  if (operand.arg->sizes == other.arg->sizes) return {};
  return fail(rule, kParamInvalid, operand.name, " has shape ", operand.arg->sizes, ", but ",
              other.name, " has shape ", other.arg->sizes, "; they must be equal");
}

Status check_real(RuleId rule, const char* name, const Scalar& scalar) {
  if (scalar.converts_to_float()) return {};
  return fail(rule, kParamInvalid, name, " has data type ", scalar.dtype,
              ", which does not convert to FLOAT");
}

Status check_cast(RuleId rule, const Operand& from, const Operand& to) {
  if (can_cast(from.arg->dtype, to.arg->dtype)) return {};
  return fail(rule, kParamInvalid, to.name, " has data type ", to.arg->dtype, ", which ", from.name,
              "'s ", from.arg->dtype, " cannot be cast to");
}

Status check_rank(RuleId rule, const Operand& operand, size_t least, size_t most) {
  const size_t rank = operand.arg->rank();
  if (rank >= least && rank <= most) return {};
  return fail(rule, kParamInvalid, operand.name, " has rank ", rank, " (shape ", operand.arg->sizes,
              "); ", ranks(least, most));
}

Status check_contiguous(RuleId rule, const Operand& operand) {
  const Tensor& tensor = *operand.arg;
  if (is_contiguous(tensor)) return {};
  return fail(rule, kParamInvalid, operand.name, " has shape ", tensor.sizes, " and strides ",
              tensor.strides, "; it must be contiguous");
}

}  // namespace softnpu
