// SPDX-License-Identifier: Apache-2.0
#include "runtime/copy.h"

#include <cstring>
#include <optional>

namespace softnpu::runtime {
namespace {

// From the first byte of the first row to the end of the last row.
std::optional<size_t> extent(size_t pitch, size_t width, size_t height) {
  size_t bytes;
  if (__builtin_mul_overflow(pitch, height - 1, &bytes)) return std::nullopt;
  if (__builtin_add_overflow(bytes, width, &bytes)) return std::nullopt;
  return bytes;
}

Status check_pitch(std::string_view name, size_t pitch, size_t width) {
  if (pitch >= width) return {};
  return fail("pitch-below-width"_rule, kRtParamInvalid, name, " is ", pitch,
              ", below width, which is ", width);
}

Status check_rows(std::string_view name, const void* address, size_t pitch, size_t width,
                  size_t height, uint64_t time) {
  const auto bytes = extent(pitch, width, height);
  if (!bytes)
    return fail("rows-past-memory"_rule, kRtParamInvalid, height, " rows that are ", pitch,
                " bytes apart do not fit memory");
  return check_range(name, address, *bytes, time);
}

Access rows(const char* name, bool writes, const void* first, size_t pitch, size_t width,
            size_t height) {
  auto* const start = static_cast<std::byte*>(const_cast<void*>(first));
  return {.name = name,
          .writes = writes,
          .first = start,
          .dtype = DType::u8,
          .sizes = {static_cast<int64_t>(height), static_cast<int64_t>(width)},
          .strides = {static_cast<int64_t>(pitch), 1}};
}

}  // namespace

std::vector<Access> Copy::accesses() const {
  return {rows("dst", true, dst, count, count, 1), rows("src", false, src, count, count, 1)};
}

std::vector<Access> Copy2d::accesses() const {
  return {rows("dst", true, dst, dpitch, width, height),
          rows("src", false, src, spitch, width, height)};
}

std::vector<Access> Fill::accesses() const { return {rows("devPtr", true, ptr, count, count, 1)}; }

Status Copy::check(uint64_t time) const {
  if (count > dest_max)
    return fail("count-above-maximum"_rule, kRtParamInvalid, "count is ", count,
                ", above destMax, which is ", dest_max);
  RETURN_IF_FAILED(check_range("dst", dst, count, time));
  RETURN_IF_FAILED(check_range("src", src, count, time));
  RETURN_IF_FAILED(check_access("dst", dst, count, Touch::write));
  return check_access("src", src, count, Touch::read);
}

void Copy::run() const {
  if (count != 0) std::memmove(kernel_address(dst), kernel_address(src), count);
}

Status Copy2d::check(uint64_t time) const {
  RETURN_IF_FAILED(check_pitch("dpitch", dpitch, width));
  RETURN_IF_FAILED(check_pitch("spitch", spitch, width));
  if (width == 0 || height == 0) return {};
  RETURN_IF_FAILED(check_rows("dst", dst, dpitch, width, height, time));
  RETURN_IF_FAILED(check_rows("src", src, spitch, width, height, time));
  RETURN_IF_FAILED(check_access("dst", dst, *extent(dpitch, width, height), Touch::write));
  return check_access("src", src, *extent(spitch, width, height), Touch::read);
}

void Copy2d::run() const {
  if (width == 0) return;
  std::byte* const to = kernel_address(dst);
  const std::byte* const from = kernel_address(src);
  for (size_t row = 0; row < height; ++row)
    std::memmove(to + row * dpitch, from + row * spitch, width);
}

Status Fill::check(uint64_t time) const {
  if (count > max_count)
    return fail("count-above-maximum"_rule, kRtParamInvalid, "count is ", count,
                ", above maxCount, which is ", max_count);
  RETURN_IF_FAILED(check_range("devPtr", ptr, count, time));
  return check_access("devPtr", ptr, count, Touch::write);
}

void Fill::run() const {
  if (count != 0) std::memset(kernel_address(ptr), value, count);
}

}  // namespace softnpu::runtime
