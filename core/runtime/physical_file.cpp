// SPDX-License-Identifier: Apache-2.0
#include "runtime/physical_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace softnpu::runtime {
namespace {

// Past the limit of a process the system would end it with SIGXFSZ.
bool may_be_as_long(uint64_t size) {
  rlimit limit;
  return size <= INT64_MAX && getrlimit(RLIMIT_FSIZE, &limit) == 0 && size <= limit.rlim_cur;
}

bool map_private(std::byte* address, size_t size, int protection) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return mmap(address, size, protection, kFlags, -1, 0) != MAP_FAILED;
}

}  // namespace

std::optional<uint64_t> PhysicalFile::take(size_t size) {
  if (!may_be_as_long(end_ + size)) return std::nullopt;
  if (file_ < 0) file_ = memfd_create("softnpu", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(end_ + size)) != 0) return std::nullopt;
  return std::exchange(end_, end_ + size);
}

void PhysicalFile::give_back(uint64_t offset, size_t size) noexcept {
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(size));
}

bool PhysicalFile::map(std::byte* address, uint64_t offset, size_t size) noexcept {
  void* const got = mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
                         static_cast<off_t>(offset));
  if (got == MAP_FAILED) return false;
  madvise(got, size, MADV_HUGEPAGE);  // nothing depends on its success
  return true;
}

void PhysicalFile::renew() noexcept {
  if (file_ >= 0) close(std::exchange(file_, -1));
  end_ = 0;
  ++generation_;
}

void map_nothing(std::byte* address, size_t size) noexcept {
  if (!map_private(address, size, PROT_READ | PROT_WRITE)) map_inaccessible(address, size);
}

void map_inaccessible(std::byte* address, size_t size) noexcept {
  map_private(address, size, PROT_NONE);
}

}  // namespace softnpu::runtime
