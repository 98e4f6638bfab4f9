// SPDX-License-Identifier: Apache-2.0
#include "executor/operand.h"

#include <cstdint>

#include "base/checked.h"
#include "base/few.h"
#include "base/lasting.h"
#include "runtime/memory.h"
#include "tensor/overlap.h"

namespace softnpu {
namespace {

Status check_storage(const Operand& operand) {
  const Tensor& t = *operand.arg;
  if (!t.has_storage && is_contiguous(t)) return {};  // the usual array
  Extent extent;
  Status reach = view_extent(t, extent);
  if (!reach.ok()) return reword(reach, operand.name, ": ", reach.message());
  if (!t.has_storage || t.numel() == 0) return {};
  const int64_t elements = *checked_numel(t.storage);
  REQUIRE(extent.high < elements, kParamInvalid, "view-past-storage"_rule, operand.name,
          " has shape ", t.sizes, ", strides ", t.strides, " and offset ", t.offset,
          ", which reach element ", extent.high, ", but its storage ", t.storage, " has ", elements,
          " elements");
  return {};
}

Status check_present(const Operand& operand) {
  const Tensor& t = *operand.arg;
  REQUIRE(t.data != nullptr, kParamNullptr, "data-null"_rule, operand.name,
          " has no data (its address is null), but it has ", t.numel(), " elements");
  return {};
}

// How many bytes the device allocation has from the operand's data on.
Status find_room(const Operand& operand, int64_t& room) {
  const std::byte* const data = operand.arg->data;
  const auto block = runtime::find_block(data);
  REQUIRE(block.has_value() || !runtime::find_reservation(data), kParamInvalid,
          "memory-unmapped"_rule, operand.name, " has its data at a reserved address, but ",
          runtime::describe_unmapped(data));
  REQUIRE(block.has_value() || !runtime::was_freed(data), kParamInvalid, "memory-freed"_rule,
          operand.name, " has its data in device memory that was freed");
  REQUIRE(block.has_value(), kParamInvalid, "not-device-memory"_rule, operand.name,
          " has its data at an address that is not device memory; allocate it with aclrtMalloc");
  room = block->base + block->size - data;
  return {};
}

Status check_aligned(const Operand& operand) {
  const Tensor& t = *operand.arg;
  const auto bytes = static_cast<uintptr_t>(item_size(t.dtype));
  REQUIRE(reinterpret_cast<uintptr_t>(t.data) % bytes == 0, kParamInvalid, "data-misaligned"_rule,
          operand.name, " has its data at an address that is not a multiple of ", bytes,
          ", the bytes of an element of its data type ", t.dtype);
  return {};
}

// What counts is the view: some programs pass its shape as the storage's even where strides are 0.
Status check_room(const Operand& operand, int64_t room) {
  const Tensor& t = *operand.arg;
  Extent extent;
  RETURN_IF_FAILED(view_extent(t, extent));
  const int64_t bytes = (extent.high + 1) * item_size(t.dtype);
  REQUIRE(bytes <= room, kParamInvalid, "view-past-allocation"_rule, operand.name, " has shape ",
          t.sizes, ", strides ", t.strides, " and offset ", t.offset, ", which reach byte ", bytes,
          " of its storage, but its device allocation ends after ", room, " bytes",
          runtime::describe_unmapped(t.data + room, "; "));
  return {};
}

Status check_overlap(const OperatorTraits& traits, std::span<const Operand> operands) {
  for (const Operand& out : operands) {
    if (!writes(out.use) || out.arg->data == nullptr) continue;
    const Bounds bounds(*out.arg);
    for (const Operand& in : operands) {
      if (writes(in.use) || in.arg->data == nullptr || !bounds.meet(Bounds(*in.arg))) continue;
      if (traits.in_place && is_same_view(*out.arg, *in.arg)) continue;
      REQUIRE(!overlaps(*out.arg, *in.arg), kParamInvalid, "output-overlaps-input"_rule, out.name,
              " overlaps ", in.name, " in memory",
              traits.in_place ? "; only exactly the same view may be written in place" : "");
    }
  }
  return {};
}

Status check_data(std::span<const Operand> operands, Memory memory) {
  // Each check runs on all operands before the next check, which is the order of the contract.
  const auto every = [&](auto&& check) -> Status {
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_later = memory == Memory::device_later && operands[i].arg->data == nullptr;
      if (needs_data(operands[i]) && !is_later) RETURN_IF_FAILED(check(operands[i], i));
    }
    return {};
  };
  RETURN_IF_FAILED(every([](const Operand& o, size_t) { return check_present(o); }));
  if (memory == Memory::host) return {};
  Few<int64_t> rooms(operands.size());
  RETURN_IF_FAILED(every([&](const Operand& o, size_t i) { return find_room(o, rooms[i]); }));
  RETURN_IF_FAILED(every([](const Operand& o, size_t) { return check_aligned(o); }));
  return every([&](const Operand& o, size_t i) { return check_room(o, rooms[i]); });
}

}  // namespace

bool needs_data(const Operand& operand) {
  return operand.use != Use::shape_only && operand.arg->numel() > 0;
}

Access access_of(const Operand& operand, std::byte* first) {
  const Tensor& tensor = *operand.arg;
  return {.name = operand.name,
          .writes = writes(operand.use),
          .first = first,
          .dtype = tensor.dtype,
          .sizes = {tensor.sizes.begin(), tensor.sizes.end()},
          .strides = {tensor.strides.begin(), tensor.strides.end()},
          .tensor = operand.arg.handle};
}

Status check_new_address(const OperatorTraits& traits, const Operand& changed,
                         std::span<const Operand> operands) {
  RETURN_IF_FAILED(check_data({&changed, 1}, Memory::device));
  return check_overlap(traits, operands);
}

Status check_common(const OperatorTraits& traits, std::span<const Operand> operands,
                    Memory memory) {
  for (const Operand& operand : operands) RETURN_IF_FAILED(check_storage(operand));
  for (const Operand& operand : operands)
    if (writes(operand.use))
      REQUIRE(!overlaps_itself(*operand.arg), kParamInvalid, "output-overlaps-itself"_rule,
              operand.name, " has shape ", operand.arg->sizes, " with strides ",
              operand.arg->strides, ", so that elements share memory; an output must not");
  RETURN_IF_FAILED(check_data(operands, memory));
  RETURN_IF_FAILED(check_overlap(traits, operands));
  RETURN_IF_FAILED(runtime::product_status());
  const runtime::Product& product = runtime::product();
  REQUIRE(traits.products.have(product.soc), kFindKernelError, "product"_rule, product.name,
          " does not have ", traits.name, "; select another product with SOFTNPU_SOC");
  return {};
}

Status check_format(const char* name, const Tensor& tensor) {
  REQUIRE(is_public(tensor.format), kParamInvalid, "format-private"_rule, name, " has format ",
          tensor.format, "; expected one of ND, NCHW, NHWC, HWCN, NCDHW, NDHWC, NCL, NC");
  return {};
}

template <class Table, class T>
const T* Handles::look_up(const char* name, Table& table, const void* handle, const T& stand_in) {
  if (handle == nullptr) return nullptr;
  auto object = table.find(handle);
  if (object == nullptr) {
    if (status_.ok()) status_ = not_found(name, handle, Table::kKind);
    return &stand_in;  // not null: null checks of other arguments come first
  }
  const T* live = object.get();
  kept_[count_++] = std::move(object);
  return live;
}

TensorArg Handles::tensor(const char* name, const void* handle) {
  return {look_up(name, tensors(), handle, lasting<Tensor>), handle};
}

const Scalar* Handles::scalar(const char* name, const void* handle) {
  return look_up(name, scalars(), handle, lasting<Scalar>);
}

const IntArray* Handles::int_array(const char* name, const void* handle) {
  return look_up(name, int_arrays(), handle, lasting<IntArray>);
}

}  // namespace softnpu
