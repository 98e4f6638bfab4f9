// SPDX-License-Identifier: Apache-2.0
#include "checkers/in_flight.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>

#include "base/page_size.h"
#include "checkers/findings.h"
#include "checkers/host_access.h"
#include "checkers/ledger.h"

namespace softnpu::checkers {
namespace {

// Whether this thread runs a task of a stream.
thread_local bool runs_task = false;

uintptr_t as_number(const std::byte* address) { return reinterpret_cast<uintptr_t>(address); }

}  // namespace

bool InFlight::Buffer::is_written() const {
  return std::ranges::any_of(uses, [](const auto& use) { return use.first.second; });
}

int InFlight::Buffer::wanted() const {
  if (uses.empty() || is_open) return PROT_READ | PROT_WRITE;
  if (!is_written()) return PROT_READ;
  return running > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
}

// The host memory that a copy accesses; of page-locked memory the pages in which it has all bytes
// that belong to anybody. Null if nothing can be watched.
std::shared_ptr<InFlight::Buffer> InFlight::buffer_of(const Access& access) {
  const auto& sizes = access.sizes;
  if (sizes.size() != 2 || (sizes[0] != 1 && access.strides[0] != sizes[1])) return nullptr;
  const size_t size = static_cast<size_t>(sizes[0] * sizes[1]);
  const auto allocation = ledger().find(access.first);
  if (!allocation && runtime::find_reservation(access.first)) return nullptr;
  if (!allocation || allocation->freed)
    return std::make_shared<Buffer>(Buffer{access.first, size, false});
  if (allocation->family != runtime::Family::host) return nullptr;
  const uintptr_t first = as_number(access.first), last = first + size;
  const uintptr_t begin = page_above(first);  // allocations start at a page
  const bool to_end = last == allocation->base + allocation->size;
  const uintptr_t end = to_end ? page_above(last) : page_below(last);
  if (begin >= end) return nullptr;
  return std::make_shared<Buffer>(Buffer{reinterpret_cast<std::byte*>(begin), end - begin, true});
}

std::shared_ptr<InFlight::Buffer> InFlight::find(const Buffer& like) const {
  std::shared_ptr<Buffer> found;
  for (const auto& one : meeting(like.begin, like.size))
    if (one->begin == like.begin && one->size == like.size) found = one;
  return found;
}

InFlight::Buffers InFlight::meeting(const std::byte* begin, size_t size) const {
  Buffers found;
  buffers_.for_each_that_meets(as_number(begin), as_number(begin) + size,
                               [&](const auto& one) { found.push_back(one); });
  return found;
}

void InFlight::add(const Piece& piece, const Point& point, const SharedSite& site) {
  if (!is_started_ || piece.kind != Piece::Kind::copy) return;
  for (const Access& access : piece.accesses) {
    std::shared_ptr<Buffer> buffer = buffer_of(access);
    if (!buffer || (!buffer->is_locked && !watches_frees_)) continue;
    if (buffer->is_locked) watch_faults();
    std::lock_guard lock(mutex_);
    if (const auto known = find(*buffer)) {
      buffer = known;
    } else {
      if (buffers_.size() >= kMost) continue;
      buffers_.add(as_number(buffer->begin), as_number(buffer->begin) + buffer->size, buffer);
      pageable_ += !buffer->is_locked;
    }
    buffer->uses.insert_or_assign({point.stream, access.writes},
                                  Use{point, piece.what, access.name, site});
    if (buffer->is_locked) protect(buffer->begin, buffer->size);
  }
}

void InFlight::begin(const Piece& piece) {
  runs_task = piece.kind != Piece::Kind::host_function;
  run(piece, 1);
}

void InFlight::end(const Piece& piece) {
  runs_task = false;
  run(piece, -1);
}

void InFlight::run(const Piece& piece, int change) {
  if (!is_started_ || piece.kind != Piece::Kind::copy) return;
  for (const Access& access : piece.accesses) {
    const auto like = buffer_of(access);
    if (!like || !like->is_locked) continue;
    std::lock_guard lock(mutex_);
    const auto buffer = find(*like);
    if (!buffer) continue;
    buffer->running = std::max(0, buffer->running + change);
    protect(buffer->begin, buffer->size);
  }
}

void InFlight::forget(const std::function<bool(const Point&)>& is_known) {
  Buffers removed;  // destroyed without the lock
  std::lock_guard lock(mutex_);
  buffers_.for_each([&](const std::shared_ptr<Buffer>& one) {
    if (std::erase_if(one->uses, [&](const auto& use) { return is_known(use.second.point); }) == 0)
      return;
    if (one->uses.empty())
      removed.push_back(one);
    else if (one->is_locked)
      protect(one->begin, one->size);
  });
  remove(removed);
}

void InFlight::forget(const std::byte* base, size_t size) {
  Buffers removed;
  std::lock_guard lock(mutex_);
  removed = meeting(base, size);
  for (const auto& one : removed) one->uses.clear();
  remove(removed);
}

bool InFlight::fault(std::byte* address, bool writes, const char* does) {
  Buffers hit;
  {
    std::lock_guard lock(mutex_);
    hit = meeting(address, 1);
    std::erase_if(hit, [](const auto& one) { return !one->is_locked; });
    if (hit.empty()) return false;
    for (const auto& one : hit) one->is_open = true;
    if (runs_task) {  // of another copy: the launch of the two was checked
      for (const auto& one : hit) protect(one->begin, one->size);
      return true;
    }
    remove(hit);
  }
  report_first(hit, address, writes, does);
  return true;
}

void InFlight::freed(const std::byte* address, size_t size) {
  Buffers hit;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    hit = meeting(address, size);
    std::erase_if(hit, [](const auto& one) { return one->is_locked; });
    remove(hit);
  }
  if (!hit.empty()) report_first(hit, hit.front()->begin, true, "frees");
}

void InFlight::protect(std::byte* begin, size_t size) const {
  Buffers all = meeting(begin, size);
  std::erase_if(all, [](const auto& one) { return !one->is_locked; });
  if (all.size() == 1 && all.front()->begin == begin && all.front()->size == size) {
    Buffer& only = *all.front();
    if (const int wanted = only.wanted(); std::exchange(only.protection, wanted) != wanted)
      mprotect(only.begin, only.size, wanted);
    return;
  }
  mprotect(begin, size, PROT_READ | PROT_WRITE);
  for (const int protection : {PROT_READ, PROT_NONE})
    for (const auto& one : all) {
      one->protection = kUnknown;
      std::byte* const first = std::max(begin, one->begin);
      std::byte* const end = std::min(begin + size, one->begin + one->size);
      if (one->wanted() == protection)
        mprotect(first, static_cast<size_t>(end - first), protection);
    }
}

void InFlight::remove(const Buffers& removed) {
  for (const auto& one : removed) {
    buffers_.erase_that_meet(as_number(one->begin), as_number(one->begin) + one->size,
                             [&](const auto& other) { return other == one; });
    if (one->is_locked)
      protect(one->begin, one->size);
    else
      --pageable_;
  }
}

// The first use that the program's access contradicts.
void InFlight::report_first(const Buffers& buffers, const std::byte* address, bool changes,
                            const char* does) const {
  for (const auto& buffer : buffers)
    for (const auto& [key, use] : buffer->uses)
      if ((key.second || changes) && !is_held_(use.point))
        return report(use, key.second, address, does);
}

void InFlight::report(const Use& use, bool writes, const std::byte* address, const char* does) {
  std::string pointer;
  append_argument(pointer, static_cast<const void*>(address));
  Finding finding{
      Tool::memcheck,
      "host-buffer-in-use",
      text("the program itself ", does, " host memory, at ", pointer, ", that ", use.what,
           " on stream ", use.point.stream, " may still ", writes ? "write" : "read", " as ",
           use.name, ": nothing has waited for that work since it was launched"),
      {},
      "Synchronise the stream, or an event after the copy, before the program uses or frees its "
      "buffer."};
  finding.parts.push_back({"here", std::make_shared<const Site>(Site{{}, {}, Stack::here()})});
  finding.parts.push_back({"the work was launched here", use.site});
  add_history("the memory", address, finding);
  checkers::report(finding);
}

}  // namespace softnpu::checkers
