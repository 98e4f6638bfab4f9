// SPDX-License-Identifier: Apache-2.0
#include "base/last_error.h"

#include "base/exit_key.h"
#include "base/lasting.h"
#include "base/main_thread.h"
#include "base/text.h"

namespace softnpu {
namespace {

struct ThreadErrors {
  std::string message;
  std::string_view rule;
  bool has_message = false;
  std::string handed_out;  // owns the text that take_message() returned
  std::string_view rule_handed_out;
};

// Pointers and numbers have no destructor. Programs call from their own exit handlers, when
// thread-local objects are already destroyed; such a call allocates new ones.
thread_local constinit ThreadErrors* errors = nullptr;
thread_local constinit int32_t runtime_code = 0;

void delete_errors(void* mine) {
  // When the main thread exits, exit handlers may still read a message that was returned before.
  if (is_main_thread()) return;
  delete static_cast<ThreadErrors*>(mine);
  errors = nullptr;
}

ThreadErrors& mine() {
  if (errors == nullptr) {
    errors = new ThreadErrors;
    lasting<ExitKey<delete_errors>>.keep(errors);
  }
  return *errors;
}

}  // namespace

void remember_message(const Status& status) noexcept {
  if (status.ok()) return;
  if (errors != nullptr) errors->has_message = false;
  try {
    ThreadErrors& own = mine();
    own.message = in_one_line(status.message());
    own.rule = status.rule();
    own.has_message = true;
  } catch (...) {  // out of memory: only the code is reported
  }
}

const char* take_message() noexcept {
  if (errors == nullptr) return nullptr;
  errors->rule_handed_out = errors->has_message ? errors->rule : std::string_view();
  if (!errors->has_message) return nullptr;
  errors->handed_out.swap(errors->message);
  errors->has_message = false;
  return errors->handed_out.c_str();
}

std::string_view rule_of_taken_message() noexcept {
  return errors != nullptr ? errors->rule_handed_out : std::string_view();
}

void remember_runtime_code(int32_t code) noexcept { runtime_code = code; }
int32_t last_runtime_code() noexcept { return runtime_code; }

}  // namespace softnpu
