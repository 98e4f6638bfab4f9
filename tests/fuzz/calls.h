// SPDX-License-Identifier: Apache-2.0
// The functions of the C API, by the rooms that they belong to. A function that reads files or
// waits is called only once in `rarity` times that it is chosen.
#pragma once

#include <cstddef>

#include "state.h"

namespace fuzz {

struct Call {
  const char* function;
  void (*run)(State& state);
  size_t rarity = 1;
};

struct Room {
  const Call* calls;
  size_t count;
};

Room device_calls();
Room stream_calls();
Room event_calls();
Room graph_calls();
Room memory_calls();
Room virtual_calls();
Room shared_calls();
Room tensor_calls();
Room array_calls();
Room executor_calls();
Room operator_calls();

// Plans or launches one of the everyday operators.
void everyday_call(State& state);

// Makes one, the right way.
void make_tensor(State& state);
void make_scalar(State& state);
void make_int_array(State& state);
void make_float_array(State& state);
void make_bool_array(State& state);
void make_tensor_list(State& state);
void make_scalar_list(State& state);
void make_executor(State& state);
void make_context(State& state);
void make_stream(State& state);
void make_event(State& state);
void make_graph(State& state);
void make_physical(State& state);
void make_device_memory(State& state);
void make_host_memory(State& state);
void make_reservation(State& state);

void export_memory(State& state);
// Ends an import, or the export; `share` is null if the key is of none.
void close_share(Share* share, const char* key);

// As many as the calling thread's context has.
void end_captures(State& state);

void destroy_thing(State& state, Kind kind, void* value);
// Destroys one of the kind, mostly a live one.
template <Kind kKind>
void destroy_one(State& state) {
  destroy_thing(state, kKind, state.pick(kKind));
}

}  // namespace fuzz
