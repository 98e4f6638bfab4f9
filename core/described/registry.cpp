// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "base/lasting.h"
#include "described/operator.h"

namespace softnpu::described {
namespace {

struct Added {
  std::mutex mutex;
  std::vector<const Operator*> operators;
};

}  // namespace

void add(const Operator& op) {
  Added& added = lasting<Added>;
  std::lock_guard lock(added.mutex);
  added.operators.push_back(&op);
}

std::vector<const Operator*> all() {
  Added& added = lasting<Added>;
  std::lock_guard lock(added.mutex);
  std::vector<const Operator*> found = added.operators;
  for (const Operator& op : everyday()) found.push_back(&op);
  return found;
}

const Operator* find(std::string_view name) {
  {
    Added& added = lasting<Added>;
    std::lock_guard lock(added.mutex);
    for (const Operator* each : added.operators)
      if (each->traits.name == name) return each;
  }
  for (const Operator& each : everyday())
    if (each.traits.name == name) return &each;
  return nullptr;
}

}  // namespace softnpu::described
