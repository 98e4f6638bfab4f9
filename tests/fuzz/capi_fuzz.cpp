// SPDX-License-Identifier: Apache-2.0
// The C API under attack: an input is a sequence of calls on a pool of handles, most of them right,
// some wrong in a way that the library can see. None may crash, none may give a status that is not
// documented, and when everything was destroyed nothing may be left. Sometimes memory runs out.
#include "capi_fuzz.h"

#include <cstdlib>

#include "calls.h"
#include "state.h"

namespace fuzz {

const std::vector<Call>& all_calls() {
  static const std::vector<Call> all = [] {
    std::vector<Call> calls;
    for (const Room& room : {device_calls(), stream_calls(), event_calls(), graph_calls(),
                             memory_calls(), virtual_calls(), shared_calls(), tensor_calls(),
                             array_calls(), executor_calls(), operator_calls()})
      calls.insert(calls.end(), room.calls, room.calls + room.count);
    return calls;
  }();
  return all;
}

}  // namespace fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  setenv("SOFTNPU_DEVICES", "2", 1);
  setenv("SOFTNPU_BANNER", "0", 1);
  return 0;
}

// Bytes from here on choose no call, but that memory runs out.
constexpr uint8_t kShortage = 248;
// Bytes from here on choose a call of an everyday operator.
static uint8_t first_everyday = 232;

void fuzz::prefer_everyday() { first_everyday = 128; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto& calls = fuzz::all_calls();
  fuzz::State state(data, size);
  state.begin();
  while (!state.in.is_empty()) {
    const uint8_t choice = state.in.byte();
    if (choice >= kShortage) {
      fuzz::run_short_after(choice % 8 == 0 ? 0 : static_cast<int>(state.in.below(32)));
      continue;
    }
    if (choice >= first_everyday) {
      fuzz::everyday_call(state);
      continue;
    }
    const fuzz::Call& call = calls[choice % calls.size()];
    if (call.rarity == 1 || state.in.once_in(call.rarity)) call.run(state);
  }
  state.end();
  return 0;
}
