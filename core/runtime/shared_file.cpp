// SPDX-License-Identifier: Apache-2.0
#include "runtime/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/page_size.h"
#include "runtime/arena.h"

namespace softnpu::runtime {
namespace {

static_assert(sizeof(SharedSlot) <= 4096);

// Above all addresses of programs; the file takes memory only where something was written.
constexpr off_t kFileBytes = off_t{1} << 56;

std::byte* memory_at(uintptr_t address) {
  return Arena::alias_of(reinterpret_cast<const void*>(address));
}

// Reads or writes the whole range. The direct call of the system: AddressSanitizer would refuse the
// gaps between allocations.
bool transfer(long call, int file, std::byte* memory, size_t size, uintptr_t offset) {
  while (size > 0) {
    const long done = syscall(call, file, memory, size, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    memory += done, size -= static_cast<size_t>(done), offset += static_cast<uintptr_t>(done);
  }
  return true;
}

SharedSlot* map_slot(int file, uint64_t slot) {
  void* const at = mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, file,
                        static_cast<off_t>(slot * page_size()));
  return at == MAP_FAILED ? nullptr : static_cast<SharedSlot*>(at);
}

Status system_failure(std::string_view what) {
  return fail("out-of-memory"_rule, kRtMemoryAllocation, "the memory cannot be shared: ", what,
              " failed: ", std::strerror(errno));
}

}  // namespace

std::string SharedPlace::key() const {
  return text("softnpu-", process, "-", file, "-", inode, "-", slot);
}

bool SharedPlace::parse(const char* key, SharedPlace& out) {
  SharedPlace found = {};
  int end = 0;
  const int count = std::sscanf(key, "softnpu-%" SCNd32 "-%" SCNd32 "-%" SCNu64 "-%" SCNu64 "%n",
                                &found.process, &found.file, &found.inode, &found.slot, &end);
  if (count != 4 || key[end] != '\0' || found.process <= 0 || found.file < 0) return false;
  out = found;
  return true;
}

OpenedSlot::~OpenedSlot() {
  if (slot != nullptr) munmap(slot, page_size());
  if (file >= 0) close(file);
}

Status open_slot(const SharedPlace& place, OpenedSlot& out) {
  const std::string path = text("/proc/", place.process, "/fd/", place.file);
  out.file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat about = {};
  if (out.file < 0 || fstat(out.file, &about) != 0 || about.st_ino != place.inode)
    return fail("ipc-memory-gone"_rule, kRtParamInvalid, "key names memory of the process ",
                place.process, ", which has ended, or which this process may not open");
  out.slot = map_slot(out.file, place.slot);
  return out.slot == nullptr ? system_failure("mmap") : Status();
}

Status SharedFile::open() {
  if (file_ >= 0) return {};
  const int file = memfd_create("softnpu-shared-memory", MFD_CLOEXEC);
  struct stat about = {};
  if (file < 0) return system_failure("memfd_create");
  if (ftruncate(file, kFileBytes) != 0 || fstat(file, &about) != 0) {
    close(file);
    return system_failure("ftruncate");
  }
  file_ = file;
  inode_ = about.st_ino;
  return {};
}

Status SharedFile::share(uintptr_t begin, uintptr_t end) {
  RETURN_IF_FAILED(open());
  auto next = shared_.upper_bound(begin);
  if (next != shared_.begin()) begin = std::max(begin, std::prev(next)->second);
  for (; begin < end; ++next) {
    const uintptr_t until = next == shared_.end() ? end : std::min(end, next->first);
    if (begin < until) RETURN_IF_FAILED(move(begin, until));
    if (next == shared_.end()) break;
    begin = std::max(begin, next->second);
  }
  return {};
}

Status SharedFile::move(uintptr_t begin, uintptr_t end) {
  const size_t size = end - begin;
  std::byte* const memory = memory_at(begin);
  const auto place = shared_.emplace(begin, end).first;
  if (transfer(SYS_pwrite64, file_, memory, size, begin) &&
      mmap(memory, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
           static_cast<off_t>(begin)) != MAP_FAILED)
    return {};
  shared_.erase(place);
  return system_failure("moving its pages to a file");
}

Status SharedFile::add_slot(SharedPlace& place, SharedSlot*& out) {
  RETURN_IF_FAILED(open());
  out = map_slot(file_, slots_);
  if (out == nullptr) return system_failure("mmap");
  place = {getpid(), file_, inode_, slots_++};
  return {};
}

void SharedFile::renew() noexcept {
  for (const auto& [begin, end] : shared_) {
    const size_t size = end - begin;
    void* const own =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED) continue;
    transfer(SYS_pread64, file_, static_cast<std::byte*>(own), size, begin);
    mremap(own, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, memory_at(begin));
  }
  shared_.clear();
  if (file_ >= 0) close(file_);
  file_ = -1;
  slots_ = 0;
}

}  // namespace softnpu::runtime
