// SPDX-License-Identifier: Apache-2.0
// What one input of the fuzzer has made so far, dead things too, and what it may pass to a call:
// mostly what is right, sometimes what is stale, foreign, null or made up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "input.h"
#include "tally.h"

namespace fuzz {

enum Kind : size_t {
  kTensor,
  kScalar,
  kIntArray,
  kFloatArray,
  kBoolArray,
  kTensorList,
  kScalarList,
  kExecutor,
  kContext,
  kStream,
  kEvent,
  kGraph,
  kPhysical,
  kDeviceMemory,
  kHostMemory,
  kReservation,
  kKinds
};

struct Operator;  // operators.h

struct Thing {
  void* value;
  bool is_live = true;
  size_t bytes = 0;                   // of memory
  std::vector<void*> members = {};    // of a list, or the tensors that an executor was planned with
  const Operator* planned = nullptr;  // of an executor
  bool is_repeatable = false;
};

// Where a copy may go, and how much fits. Past the end of memory that is the program's own no
// library can look.
struct Place {
  void* address;
  size_t room;
  bool is_programs = false;
};

// Physical memory at reserved addresses.
struct Mapping {
  std::byte* address;
  size_t bytes;
  void* physical;
};

// Memory that a key names, and how often this process has imported it.
using ShareKey = std::array<char, 65>;
struct Share {
  ShareKey key = {};
  void* address = nullptr;
  size_t imports = 0;
  bool is_exported = true;
};

struct Subscription {
  uint64_t thread;
  void* stream;
};

class State {
 public:
  State(const uint8_t* data, size_t size) : in(data, size) {}

  void begin();
  // Destroys everything, and expects that nothing is left.
  void end();

  void add(Kind kind, Thing thing);
  // The live thing with this handle or address; else null.
  Thing* find(Kind kind, const void* value);
  // Expects of a call that destroys: success exactly if the thing was alive. It is dead now.
  void destroyed(Kind kind, const void* value, int status);
  // Success is for live things alone.
  void used(Kind kind, const void* value, int status, const char* function);

  // A live thing of the kind, made where there is none; sometimes a wrong one.
  void* pick(Kind kind);
  template <class T>
  T* pick_as(Kind kind) {
    return static_cast<T*>(pick(kind));
  }
  void* pick_live(Kind kind);
  void* pick_wrong(Kind kind);
  Place place();
  void* room(size_t bytes);  // device memory of the harness's own
  // Device memory for one launch alone: operators keep indices there, and what another stream's
  // work would write over them, nobody can see coming.
  void* workspace(size_t bytes);
  // Whether freeing it would take memory of the harness's own away.
  bool is_needed(const void* address) const;
  template <class T>
  T* out(T& value) {  // where a result goes: sometimes nowhere
    return in.once_in(24) ? nullptr : &value;
  }

  // Before a call that waits without a limit: callbacks for threads that do not exist are dropped.
  void let_waits_end();
  // Whether no other thread runs work of a stream. Memory that it uses must not be freed: nobody
  // can see that coming.
  bool is_quiet();

  Input in;
  std::array<std::vector<Thing>, kKinds> things;
  std::vector<Subscription> subscriptions;
  std::vector<Mapping> mappings;
  std::vector<Share> shares;
  std::vector<void*> registered;   // memory of the host
  std::vector<void*> task_groups;  // of graphs
  bool others_run = false;         // other threads may run work of streams from now on
  bool nobody_runs = false;  // a callback may have been launched for a thread that does not exist

 private:
  void make(Kind kind);
  void* nowhere();
  void end_of_runtime();
  void end_of_things();

  std::byte* bench_ = nullptr;
  std::vector<void*> workspaces_;
  size_t next_slot_ = 0;
};

}  // namespace fuzz
