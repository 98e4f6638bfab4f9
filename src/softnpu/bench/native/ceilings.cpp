// SPDX-License-Identifier: Apache-2.0
//
// What the memory of this machine gives to several threads: reading three arrays, copy (b = a) and
// triad (c = a + s * b), these two with regular stores and with stores that pass the caches by.
// Compiled when the benchmark starts, for the machine that it runs on, and called in the
// benchmark's own process.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace {

// The arrays start in different sets of the caches, as three allocations of odd sizes would.
constexpr size_t kStagger = 17 * 64;
constexpr size_t kPage = size_t{2} << 20;

struct Arrays {
  char* block = nullptr;
  size_t size = 0;
  size_t each = 0;
  int huge = 0;

  float* at(int which) const { return reinterpret_cast<float*>(block + which * (each + kStagger)); }
};
Arrays arrays;

#if defined(__AVX512F__)
typedef float Vector __attribute__((vector_size(64)));
void stream(float* to, Vector v) { _mm512_stream_ps(to, v); }
#elif defined(__AVX__)
typedef float Vector __attribute__((vector_size(32)));
void stream(float* to, Vector v) { _mm256_stream_ps(to, v); }
#elif defined(__SSE2__)
typedef float Vector __attribute__((vector_size(16)));
void stream(float* to, Vector v) { _mm_stream_ps(to, v); }
#endif

#if defined(__SSE2__)
constexpr size_t kLanes = sizeof(Vector) / sizeof(float);
Vector load(const float* from) { return *reinterpret_cast<const Vector*>(from); }
void stream_triad(float* c, const float* a, const float* b, size_t n) {
  for (size_t i = 0; i < n; i += kLanes) stream(c + i, load(a + i) + 3.0f * load(b + i));
  _mm_sfence();
}
void stream_copy(float* b, const float* a, size_t n) {
  for (size_t i = 0; i < n; i += kLanes) stream(b + i, load(a + i));
  _mm_sfence();
}
#else
constexpr size_t kLanes = 0;  // no such stores that a compiler would take from C++
void stream_triad(float*, const float*, const float*, size_t) {}
void stream_copy(float*, const float*, size_t) {}
#endif

// Not inlined, and with vectors as wide as a cache line, so that all compilers make the same loop.
typedef float Line __attribute__((vector_size(64)));

__attribute__((noinline)) void triad(float* c, const float* a, const float* b, size_t n) {
  Line* to = reinterpret_cast<Line*>(c);
  const Line* first = reinterpret_cast<const Line*>(a);
  const Line* second = reinterpret_cast<const Line*>(b);
  for (size_t i = 0; i < n / 16; i++) to[i] = first[i] + 3.0f * second[i];
}

__attribute__((noinline)) void copy(float* b, const float* a, size_t n) {
  Line* to = reinterpret_cast<Line*>(b);
  const Line* from = reinterpret_cast<const Line*>(a);
  for (size_t i = 0; i < n / 16; i++) to[i] = from[i];
}

// The sum goes to memory, or there would be nothing to read for.
__attribute__((noinline)) void read(const float* a, const float* b, const float* c, size_t n) {
  const Line* first = reinterpret_cast<const Line*>(a);
  const Line* second = reinterpret_cast<const Line*>(b);
  const Line* third = reinterpret_cast<const Line*>(c);
  Line sums[3] = {};
  for (size_t i = 0; i < n / 16; i++) {
    sums[0] += first[i];
    sums[1] += second[i];
    sums[2] += third[i];
  }
  const Line sum = sums[0] + sums[1] + sums[2];
  asm volatile("" : : "m"(sum) : "memory");
}

// Lets threads go on when all of them have arrived.
class Barrier {
 public:
  explicit Barrier(int count) : count_(count) {}
  void wait() {
    const int round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    // More threads than processors must not starve the one that is waited for.
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; spins++) {
      if (spins > 1000) std::this_thread::yield();
    }
  }

 private:
  const int count_;
  std::atomic<int> arrived_{0};
  std::atomic<int> round_{0};
};

using Clock = std::chrono::steady_clock;

}  // namespace

extern "C" {

// Whether there are stores that pass the caches by.
int bench_has_streaming() { return kLanes > 0; }

void bench_release() {
  if (arrays.block != nullptr) munmap(arrays.block, arrays.size);
  arrays = Arrays();
}

// Makes room for three arrays that hold `bytes` in all, and touches them; 0 when there is no
// memory. `huge` asks for huge pages; PyTorch's tensors lie in ordinary ones, NumPy's large arrays
// in huge.
int bench_reserve(int64_t bytes, int huge) {
  const size_t each = (static_cast<size_t>(bytes) / 3 / 64 + 1) * 64;
  if (each <= arrays.each && huge == arrays.huge) return 1;
  bench_release();
  const size_t size = ((3 * (each + kStagger)) / kPage + 2) * kPage;
  void* block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return 0;
#if defined(MADV_HUGEPAGE)
  madvise(block, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
  arrays = {static_cast<char*>(block), size, each, huge};
  std::memset(block, 0, size);
  return 1;
}

enum Kind : int { kRead = 1, kCopy = 2, kTriad = 3 };

// Seconds for `repeats` passes that move `bytes` each.
double bench_pass(int kind, int streaming, int huge, int64_t bytes, int threads, int64_t repeats) {
  if (!bench_reserve(kind == kCopy ? bytes / 2 * 3 : bytes, huge)) return -1;
  const size_t lines = static_cast<size_t>(bytes) / (kind == kCopy ? 2 : 3) / 64;
  Barrier barrier(threads);
  Clock::time_point start;
  Clock::time_point end;
  const auto work = [&](int index) {
    const size_t first = lines * index / threads * 16;
    const size_t n = lines * (index + 1) / threads * 16 - first;
    float* c = arrays.at(2) + first;
    const float* a = arrays.at(0) + first;
    const float* b = arrays.at(1) + first;
    barrier.wait();
    if (index == 0) start = Clock::now();
    for (int64_t pass = 0; pass < repeats; pass++) {
      if (kind == kRead) read(a, b, c, n);
      if (kind == kTriad) streaming ? stream_triad(c, a, b, n) : triad(c, a, b, n);
      if (kind == kCopy) streaming ? stream_copy(c, a, n) : copy(c, a, n);
    }
    barrier.wait();
    if (index == 0) end = Clock::now();
  };
  std::vector<std::thread> others;
  for (int index = 1; index < threads; index++) others.emplace_back(work, index);
  work(0);
  for (std::thread& other : others) other.join();
  return std::chrono::duration<double>(end - start).count();
}

}  // extern "C"
