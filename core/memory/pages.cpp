// SPDX-License-Identifier: Apache-2.0
#include "memory/pages.h"

#include <sys/mman.h>

#include <cstdint>

#include "base/page_size.h"

namespace softnpu::memory {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

std::byte* map_pages(size_t bytes) noexcept {
  if (bytes > SIZE_MAX - kHugePage) return nullptr;
  const size_t room = bytes + kHugePage;
  void* const got = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(got);
  const size_t before = -reinterpret_cast<uintptr_t>(got) & (kHugePage - 1);
  if (before > 0) munmap(first, before);
  std::byte* const data = first + before;
  munmap(data + bytes, room - before - bytes);
  prefer_huge_pages(data, bytes);
  return data;
}

void unmap_pages(std::byte* data, size_t bytes) noexcept { munmap(data, bytes); }

void prefer_huge_pages(std::byte* data, size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  const auto first = reinterpret_cast<uintptr_t>(data);
  const size_t before = page_above(first) - first;
  // Advice only: nothing depends on its success.
  if (bytes > before) madvise(data + before, bytes - before, MADV_HUGEPAGE);
#endif
}

void offer_pages(std::byte* data, size_t bytes) noexcept {
#ifdef MADV_FREE
  madvise(data, bytes, MADV_FREE);
#endif
}

}  // namespace softnpu::memory
