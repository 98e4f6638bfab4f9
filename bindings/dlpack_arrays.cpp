// SPDX-License-Identifier: Apache-2.0
#include "dlpack_arrays.h"

#include <optional>

#include "base/checked.h"

namespace softnpu::python {
namespace {

using namespace dlpack_abi;

bool operator==(DataType a, DataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

DType from_dlpack(DataType type) {
  for (DType each : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i8, DType::i16,
                     DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64,
                     DType::boolean, DType::c64, DType::c128})
    if (to_dlpack(each) == type) return each;
  return DType::undefined;
}

constexpr Device kHost{kCpu, 0};

struct CheckedCall {
  bool alive = false;
  std::optional<Device> device;  // of the first array
};
thread_local CheckedCall checked_call;

// Memory that the CPU can read counts as the host's, whoever allocated it.
Device owner(Device device) {
  return device.type == kCudaHost || device.type == kRocmHost ? kHost : device;
}

std::string name_of(Device device) {
  if (device.type == kCpu) return "the CPU";
  if (device.type == kCuda) return text("CUDA device ", device.id);
  return text("a device of DLPack's type ", device.type);
}

}  // namespace

OneDevice::OneDevice() { checked_call = {.alive = true, .device = std::nullopt}; }
OneDevice::~OneDevice() { checked_call = {}; }
bool OneDevice::is_alive() { return checked_call.alive; }

Status check_device(const char* name, Device device) {
  const Device given = owner(device);
  if (checked_call.alive && !checked_call.device) checked_call.device = given;
  const Device expected = checked_call.device.value_or(kHost);
  if (given.type == expected.type && (given.type == kCpu || given.id == expected.id)) return {};
  const RuleId rule = checked_call.alive ? "devices-differ"_rule : "not-on-cpu"_rule;
  return fail(rule, kParamInvalid, name, " lies in the memory of ", name_of(given),
              "; expected it on ", name_of(expected),
              checked_call.alive ? ", where the first array is" : "");
}

namespace {

// Checks that no element is too far from the first for an address, in bytes. Strides may be
// negative; those of dimensions of size 1 do not count.
Status check_reach(const char* name, const Tensor& t, int64_t item) {
  std::optional<int64_t> reach = item;
  for (size_t i = 0; i < t.rank(); ++i) {
    if (t.sizes[i] <= 1) continue;
    const int64_t stride = t.strides[i];
    const auto size =
        stride == INT64_MIN ? std::nullopt : checked_mul(stride < 0 ? -stride : stride, item);
    const auto extent = size ? checked_mul(t.sizes[i] - 1, *size) : std::nullopt;
    reach = reach && extent ? checked_add(*reach, *extent) : std::nullopt;
  }
  if (reach && *reach <= int64_t{1} << 56) return {};
  return fail("view-past-memory"_rule, kParamInvalid, name, " has shape ", t.sizes, " and strides ",
              t.strides, ", which reach further than memory does");
}

}  // namespace

Status read_description(const char* name, const Description& d, Access access, Array& out) {
  Tensor& t = out.tensor;
  RETURN_IF_FAILED(check_device(name, d.device));
  t.dtype = from_dlpack(d.dtype);
  if (t.dtype == DType::undefined)
    return fail("dtype-unknown"_rule, kParamInvalid, name, " has a data type of ",
                int{d.dtype.bits} * d.dtype.lanes, " bits with DLPack's code ", int{d.dtype.code},
                ", which the device does not have");
  const auto rank = static_cast<size_t>(d.ndim);
  t.sizes = Dims(std::span<const int64_t>(d.shape, rank));
  const auto elements = checked_numel(t.sizes);
  if (!elements)
    return fail("too-many-elements"_rule, kParamInvalid, name, " has shape ", t.sizes,
                ", whose product needs over 64 bits");
  if (d.strides != nullptr)
    t.strides = Dims(std::span<const int64_t>(d.strides, rank));
  else
    t.strides = contiguous_strides(t.sizes);
  if (*elements == 0) return {};
  t.data = static_cast<std::byte*>(d.data) + (d.data != nullptr ? d.byte_offset : 0);
  const int64_t item = item_size(t.dtype);
  RETURN_IF_FAILED(check_reach(name, t, item));
  // A power of 2, so a bit mask replaces the division, which takes 5 ns.
  const int64_t alignment = is_complex(t.dtype) ? item / 2 : item;
  if ((reinterpret_cast<uintptr_t>(t.data) & static_cast<uintptr_t>(alignment - 1)) == 0) return {};
  if (access == Access::write || OneDevice::is_alive())
    return fail("array-misaligned"_rule, kParamInvalid, name,
                " has data that is not aligned to its data type ", t.dtype,
                "; an output, and what a GPU reads, must be aligned");
  Dims byte_strides = t.strides;
  for (int64_t& stride : byte_strides) stride *= item;
  copy_to_aligned(t.data, byte_strides, out);
  return {};
}

DataType to_dlpack(DType type) {
  const auto bits = static_cast<uint8_t>(8 * item_size(type));
  if (type == DType::bf16) return {kBfloatCode, bits, 1};
  if (type == DType::boolean) return {kBoolCode, bits, 1};
  if (is_floating(type)) return {kFloatCode, bits, 1};
  if (is_complex(type)) return {kComplexCode, bits, 1};
  const bool is_unsigned =
      type == DType::u8 || type == DType::u16 || type == DType::u32 || type == DType::u64;
  return {is_unsigned ? kUIntCode : kIntCode, bits, 1};
}

}  // namespace softnpu::python
