// SPDX-License-Identifier: Apache-2.0
// Runs the fuzzer's inputs without libFuzzer: files, or random ones until there were enough calls.
//   capi_fuzz FILE_OR_FOLDER...
//   capi_fuzz --random CALLS [--seed SEED]
//   capi_fuzz --everyday ...                  the same, half of all calls are of everyday operators
//   capi_fuzz --list                          the functions that it calls
//   capi_fuzz --sites                         each function, each of whose allocations fails
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "capi_fuzz.h"
#include "shortage.h"
#include "sites.h"
#include "tally.h"

extern "C" void __attribute__((weak)) __sanitizer_set_death_callback(void (*callback)());

namespace {

uint64_t inputs = 0;

void run(const std::vector<uint8_t>& input) {
  ++inputs;
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

void run_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s cannot be read\n", path.c_str());
    std::exit(2);
  }
  run({std::istreambuf_iterator<char>(file), {}});
}

void run_files(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return run_file(path);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) run_file(entry.path());
}

std::atomic<uint64_t> seed_now{0};

// An input that ends the process can be run again alone.
void tell_seed() {
  std::fprintf(stderr, "again with: --random 1 --seed %llu\n",
               static_cast<unsigned long long>(seed_now.load()));
}
void tell_seed_and_end(int signal) {
  tell_seed();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run_random(uint64_t calls, uint64_t seed) {
  std::signal(SIGABRT, tell_seed_and_end);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(tell_seed);
  for (; fuzz::total_calls() < calls; ++seed) {
    seed_now = seed;
    std::mt19937_64 random(seed);
    std::vector<uint8_t> input(64 + random() % 4096);
    for (uint8_t& each : input) each = static_cast<uint8_t>(random());
    run(input);
  }
}

// One line for each function: how often it was called, and with success.
void report(double seconds) {
  std::map<std::string, std::pair<uint64_t, uint64_t>> by_name;
  for (const fuzz::Tally* each = fuzz::tallies(); each != nullptr; each = each->next) {
    auto& [calls, successes] = by_name[each->function];
    calls += each->calls;
    successes += each->successes;
  }
  for (const auto& [name, counts] : by_name)
    std::printf("%s %llu %llu\n", name.c_str(), static_cast<unsigned long long>(counts.first),
                static_cast<unsigned long long>(counts.second));
  std::printf("%llu calls of %zu functions in %llu inputs, %lu without memory, %.1f s\n",
              static_cast<unsigned long long>(fuzz::total_calls()), by_name.size(),
              static_cast<unsigned long long>(inputs), fuzz::shortages(), seconds);
}

}  // namespace

int main(int argc, char** argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  const auto begin = std::chrono::steady_clock::now();
  uint64_t random_calls = 0, seed = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--list") {
      for (const fuzz::Call& call : fuzz::all_calls()) std::puts(call.function);
      return 0;
    }
    if (argument == "--sites") {
      fuzz::fail_at_every_site();
      return 0;
    }
    if (argument == "--everyday")
      fuzz::prefer_everyday();
    else if (argument == "--random" && i + 1 < argc)
      random_calls = std::stoull(argv[++i]);
    else if (argument == "--seed" && i + 1 < argc)
      seed = std::stoull(argv[++i]);
    else
      run_files(argument);
  }
  if (random_calls > 0) run_random(fuzz::total_calls() + random_calls, seed);
  report(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return 0;
}
