// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "calls.h"

namespace fuzz {
namespace {

constexpr size_t kMost = size_t{16} << 20;

// Small ones, ones with huge pages, and ones that no machine has. What a machine may have stays
// out: its shadow would take seconds.
size_t size_of(State& s) {
  if (s.in.once_in(64)) return (size_t{4} << 20) + s.in.below(256);
  if (!s.in.once_in(8)) return 1 + s.in.bits<uint16_t>() % 4096;
  const auto size = static_cast<size_t>(s.in.number());
  return size > kMost && size < (size_t{1} << 48) ? SIZE_MAX - size : size;
}

#define ALLOCATE(kind, ...)                                                                \
  [](State& s) {                                                                           \
    void* memory = nullptr;                                                                \
    const size_t size = size_of(s);                                                        \
    const auto policy = static_cast<aclrtMemMallocPolicy>(s.in.enumerator(6));             \
    void** const address = s.out(memory);                                                  \
    (void)policy;                                                                          \
    const int status = CALL(__VA_ARGS__);                                                  \
    expect((status == 0) == (memory != nullptr), "memory exactly on success", "", status); \
    if (status == 0) s.add(kind, {memory, true, size});                                    \
  }

// Sometimes an address within an allocation.
void* freed(State& s, Kind kind) {
  const auto address = reinterpret_cast<uintptr_t>(s.pick(kind));
  auto* some = reinterpret_cast<void*>(s.in.once_in(16) ? address + 1 + s.in.byte() : address);
  return s.is_needed(some) || !s.is_quiet() ? nullptr : some;
}
void free_device(State& s) { destroy_thing(s, kDeviceMemory, freed(s, kDeviceMemory)); }
void free_with_sync(State& s) {
  s.let_waits_end();
  void* address = freed(s, kDeviceMemory);
  const int status = CALL(aclrtFreeWithDevSync, address);
  // Without a device to wait for it frees all the same; waits can fail.
  if (status == 0 || s.find(kDeviceMemory, address) == nullptr)
    s.destroyed(kDeviceMemory, address, status);
}
void free_host(State& s) { destroy_thing(s, kHostMemory, freed(s, kHostMemory)); }

void memory_info(State& s) {
  size_t free = 0, total = 0;
  CALL(aclrtGetMemInfo, static_cast<aclrtMemAttr>(s.in.enumerator(6)), s.out(free), s.out(total));
}

struct Copy {
  void *to, *from, *stream;
  size_t most, count;
  aclrtMemcpyKind kind;
};

// The program's own memory is never passed with more bytes than it has.
size_t bounded(size_t count, const Place& place) {
  return place.is_programs ? std::min(count, place.room) : count;
}

void* stream_of(State& s) { return s.in.once_in(4) ? nullptr : s.pick(kStream); }

Copy copy_of(State& s) {
  const Place to = s.place(), from = s.place();
  const size_t count = bounded(bounded(s.in.bytes_of(std::min(to.room, from.room)), to), from);
  const size_t most = s.in.once_in(16) ? s.in.bytes_of(count) : std::max(count, to.room);
  const auto kind = static_cast<aclrtMemcpyKind>(s.in.enumerator(5));
  return {to.address, from.address, stream_of(s), most, count, kind};
}

void copy(State& s) {
  const Copy c = copy_of(s);
  CALL(aclrtMemcpy, c.to, c.most, c.from, c.count, c.kind);
}
void copy_async(State& s) {
  const Copy c = copy_of(s);
  CALL(aclrtMemcpyAsync, c.to, c.most, c.from, c.count, c.kind, c.stream);
}

void fill(State& s) {
  const Place to = s.place();
  const size_t count = bounded(s.in.bytes_of(to.room), to);
  const size_t most = s.in.once_in(16) ? s.in.bytes_of(count) : std::max(count, to.room);
  CALL(aclrtMemset, to.address, most, static_cast<int32_t>(s.in.number()), count);
}
void fill_async(State& s) {
  const Place to = s.place();
  const size_t count = bounded(s.in.bytes_of(to.room), to);
  void* stream = stream_of(s);
  CALL(aclrtMemsetAsync, to.address, std::max(count, to.room), 0, count, stream);
}

struct Copy2d {
  void *to, *from, *stream;
  size_t to_pitch, from_pitch, width, height;
};

Copy2d copy2d_of(State& s) {
  const Place to = s.place(), from = s.place();
  const size_t width = s.in.below(40), height = s.in.below(8);
  Copy2d c{to.address, from.address, stream_of(s), width + s.in.below(9), width + s.in.below(9),
           width,      height};
  if (!to.is_programs && !from.is_programs && s.in.once_in(4)) {
    size_t* const wrong[] = {&c.to_pitch, &c.from_pitch, &c.width, &c.height};
    *s.in.one_of(wrong) = static_cast<size_t>(s.in.number());
  }
  if (to.is_programs && c.to_pitch * height > to.room) c.height = 0;
  if (from.is_programs && c.from_pitch * height > from.room) c.height = 0;
  return c;
}

void copy2d(State& s) {
  const Copy2d c = copy2d_of(s);
  CALL(aclrtMemcpy2d, c.to, c.to_pitch, c.from, c.from_pitch, c.width, c.height,
       ACL_MEMCPY_DEFAULT);
}
void copy2d_async(State& s) {
  const Copy2d c = copy2d_of(s);
  CALL(aclrtMemcpy2dAsync, c.to, c.to_pitch, c.from, c.from_pitch, c.width, c.height,
       ACL_MEMCPY_DEFAULT, c.stream);
}

// Some copies in one call, mostly described by one element of attributes.
template <class Run>
void copy_batch(State& s, Run run) {
  constexpr size_t kMost = 4;
  void *to[kMost], *from[kMost];
  size_t most[kMost], counts[kMost], indexes[kMost] = {};
  aclrtMemcpyBatchAttr attrs[kMost] = {};
  const size_t count = s.in.below(kMost + 1);
  const bool to_device = s.in.once_in(2), from_device = s.in.once_in(2);
  for (size_t i = 0; i < count; ++i) {
    const Copy c = copy_of(s);
    to[i] = to_device && !s.in.once_in(8) ? s.room(64) : c.to;
    from[i] = from_device && !s.in.once_in(8) ? s.room(64) : c.from;
    counts[i] = std::min<size_t>(c.count, 64);
    most[i] = s.in.once_in(16) ? c.most : 64;
    indexes[i] = s.in.once_in(16) ? static_cast<size_t>(s.in.number()) : i;
    attrs[i].dstLoc = {s.in.byte() % 2u, static_cast<aclrtMemLocationType>(to_device)};
    attrs[i].srcLoc = {0, static_cast<aclrtMemLocationType>(from_device)};
    if (s.in.once_in(32)) attrs[i].srcLoc = {7, static_cast<aclrtMemLocationType>(s.in.byte())};
  }
  const size_t described = s.in.once_in(4) ? s.in.below(count + 2) : 1;
  size_t failing = 77;
  const int status = run(to, most, from, counts, count, attrs, indexes, std::min(described, kMost),
                         s.out(failing));
  if (status == 0) expect(failing == SIZE_MAX, "no index", "a batch");
}

void copy_batch_now(State& s) {
  copy_batch(s, [](auto... arguments) { return CALL(aclrtMemcpyBatch, arguments...); });
}
void copy_batch_async(State& s) {
  void* const stream = stream_of(s);
  copy_batch(s,
             [&](auto... arguments) { return CALL(aclrtMemcpyBatchAsync, arguments..., stream); });
}

constexpr Call kCalls[] = {
    {"aclrtMalloc", ALLOCATE(kDeviceMemory, aclrtMalloc, address, size, policy)},
    {"aclrtMallocAlign32", ALLOCATE(kDeviceMemory, aclrtMallocAlign32, address, size, policy)},
    {"aclrtMallocCached", ALLOCATE(kDeviceMemory, aclrtMallocCached, address, size, policy)},
    {"aclrtFree", free_device},
    {"aclrtFreeWithDevSync", free_with_sync},
    {"aclrtMallocHost", ALLOCATE(kHostMemory, aclrtMallocHost, address, size)},
    {"aclrtFreeHost", free_host},
    {"aclrtGetMemInfo", memory_info, 32},
    {"aclrtMemcpy", copy},
    {"aclrtMemcpyAsync", copy_async},
    {"aclrtMemset", fill},
    {"aclrtMemsetAsync", fill_async},
    {"aclrtMemcpy2d", copy2d},
    {"aclrtMemcpy2dAsync", copy2d_async},
    {"aclrtMemcpyBatch", copy_batch_now},
    {"aclrtMemcpyBatchAsync", copy_batch_async},
};

}  // namespace

Room memory_calls() { return {kCalls, std::size(kCalls)}; }

void make_device_memory(State& s) {
  const size_t size = 64 + 64 * s.in.below(16);
  void* address = nullptr;
  if (CALL(aclrtMalloc, &address, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0)
    s.add(kDeviceMemory, {address, true, size});
}
void make_host_memory(State& s) {
  const size_t size = 64 + 64 * s.in.below(16);
  void* address = nullptr;
  if (CALL(aclrtMallocHost, &address, size) == 0) s.add(kHostMemory, {address, true, size});
}

}  // namespace fuzz
