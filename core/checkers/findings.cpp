// SPDX-License-Identifier: Apache-2.0
#include "checkers/findings.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/environment.h"
#include "base/fork.h"
#include "base/lasting.h"
#include "base/lines.h"
#include "base/text.h"

namespace softnpu::checkers {
namespace {

struct Findings {
  Findings() { keep_free_over_fork(*this, LockRank::innermost); }
  void lock_for_fork() { mutex.lock(); }
  void unlock_after_fork() { mutex.unlock(); }
  void renew_in_forked_child() {
    std::construct_at(&mutex);
    count = 0;  // the parent reports its own
  }

  std::mutex mutex;
  std::set<std::string> seen;
  Lines* file = nullptr;
  bool kept = false;
  int last_words = -1;
  std::vector<std::string> lines;
  size_t count = 0;
};

Findings& findings() { return lasting<Findings>; }

template <class Items, class Write>
std::string list_of(const Items& items, Write&& write) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ", ";
    out += write(item);
  }
  return out + "]";
}

std::string json(const Frame& f) {
  return text("{\"function\": ", quoted(f.function), ", \"file\": ", quoted(f.file),
              ", \"line\": ", f.line, ", \"offset\": ", f.offset, "}");
}

std::string json(const Part& p) {
  return text(
      "{\"role\": ", quoted(p.role), ", \"call\": ", quoted(p.site ? p.site->text() : ""),
      ", \"frames\": ",
      p.site ? list_of(p.site->stack.frames(), [](const Frame& f) { return json(f); }) : "[]", "}");
}

// Of a process that communicates with others: what launchers set.
std::string_view rank() {
  const char* const found = std::getenv("RANK");
  return found == nullptr ? "" : found;
}

std::string json(const Finding& f) {
  return text("{\"tool\": ", quoted(kToolNames[static_cast<size_t>(f.tool)]),
              ", \"kind\": ", quoted(f.kind), ", \"headline\": ", quoted(f.headline),
              ", \"parts\": ", list_of(f.parts, [](const Part& p) { return json(p); }),
              ", \"suggestion\": ", quoted(f.suggestion), ", \"rule\": ", quoted(f.rule),
              ", \"pid\": ", int64_t{getpid()}, ", \"rank\": ", quoted(rank()), "}");
}

std::string readable(const Frame& f) {
  const std::string_view function = f.function.empty() ? "?" : std::string_view(f.function);
  if (f.line > 0) return text("      at ", function, " (", f.file, ":", f.line, ")\n");
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%zx", f.offset);
  return text("      at ", function, " (", f.file, offset, ")\n");
}

std::string readable(const Finding& f) {
  std::string out = "softnpu: ";
  if (!rank().empty()) out += text("rank ", rank(), ": ");
  out += text(kToolNames[static_cast<size_t>(f.tool)], " (", f.kind, "): ", f.headline, "\n");
  for (const Part& part : f.parts) {
    const std::string call = part.site ? part.site->text() : "";
    out += text("    ", part.role, call.empty() ? "" : ": ", call, "\n");
    if (!part.site) continue;
    for (const Frame& frame : part.site->stack.frames()) {
      if (frame.file.find("/_pytest/") != frame.file.npos) break;  // what calls a test
      out += readable(frame);
    }
  }
  return out + text("    ", f.suggestion, "\n");
}

// Findings of the same kind with the same stacks are one finding.
std::string identity(const Finding& f) {
  std::string out(f.kind);
  for (const Part& part : f.parts)
    if (part.site) out.append("|").append(part.site->stack.key());
  return out;
}

}  // namespace

void choose_report() {
  if (setting("SOFTNPU_CHECK_REPORT") != nullptr)
    findings().file = Lines::to_file_of("SOFTNPU_CHECK_REPORT");
}

void report(const Finding& finding) {
  Findings& all = findings();
  bool kept;
  {
    std::lock_guard lock(all.mutex);
    if (!all.seen.insert(identity(finding)).second) return;
    ++all.count;
    kept = all.kept;
  }
  // Without the lock: looking up function names takes the dynamic linker's lock.
  const std::string line = kept || all.file != nullptr ? json(finding) : "";
  if (kept) {
    std::lock_guard lock(all.mutex);
    all.lines.push_back(line);
  } else if (all.file == nullptr || all.file->try_to_write(line + "\n") != 0) {
    print_to_stderr(readable(finding));
  }
}

void report_last(const Finding& finding) {
  report(finding);
  int last_words;
  {
    std::lock_guard lock(findings().mutex);
    last_words = findings().last_words;
  }
  if (last_words < 0) return;
  const std::string words = readable(finding);
  (void)!write(last_words, words.data(), words.size());  // an error is ignored: the process ends
}

size_t finding_count() {
  std::lock_guard lock(findings().mutex);
  return findings().count;
}

void keep_findings(int last_words) {
  std::lock_guard lock(findings().mutex);
  findings().last_words = last_words;
  findings().kept = true;
}

std::vector<std::string> take_findings() {
  std::lock_guard lock(findings().mutex);
  findings().seen.clear();
  return std::exchange(findings().lines, {});
}

}  // namespace softnpu::checkers
