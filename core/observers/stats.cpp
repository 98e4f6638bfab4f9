// SPDX-License-Identifier: Apache-2.0
#include "observers/stats.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "observers/describe.h"

namespace softnpu::observers {
namespace {

constexpr const char* kKinds[] = {"operator", "copy", "fill", "host function"};

}  // namespace

Stats::Stats(Lines* file) : file_(file), process_(getpid()) {}

int64_t Stats::Row::total() const {
  return std::accumulate(durations.begin(), durations.end(), int64_t{0});
}

int64_t Stats::Row::median() const {
  std::vector<int64_t> sorted = durations;
  std::ranges::sort(sorted);
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Stats::Rows& Stats::rows_of_this_process() {
  if (process_ != getpid()) {
    process_ = getpid();
    rows_.clear();
  }
  return rows_;
}

void Stats::ran(const Piece& piece, const Status& status, const Span& span) {
  const int64_t bytes = bytes_of(piece);
  const std::lock_guard lock(mutex_);
  Row& row = rows_of_this_process().try_emplace(piece.what, Row{piece.kind}).first->second;
  row.durations.push_back(span.length());
  row.bytes += bytes;
  if (!status.ok()) ++row.failed;
}

std::string Stats::as_json(const Rows& rows) {
  std::string out;
  for (const auto& [what, row] : rows)
    out += text(out.empty() ? "" : ", ", "{\"what\": ", quoted(what),
                ", \"kind\": ", quoted(kKinds[static_cast<size_t>(row.kind)]),
                ", \"count\": ", row.durations.size(), ", \"failed\": ", row.failed,
                ", \"total_ns\": ", row.total(), ", \"median_ns\": ", row.median(),
                ", \"bytes\": ", row.bytes, "}");
  return text("{\"pid\": ", getpid(), ", \"program\": ", quoted(program_invocation_short_name),
              ", \"rows\": [", out, "]}\n");
}

std::string Stats::as_table(const Rows& rows) {
  char line[160];
  std::snprintf(line, sizeof line, "softnpu: %-34s %9s %12s %12s %12s %9s\n", "operator", "count",
                "total ms", "median ms", "MB", "GB/s");
  std::string out = line;
  for (const auto& [what, row] : rows) {
    const auto total = static_cast<double>(row.total()), bytes = static_cast<double>(row.bytes);
    std::snprintf(line, sizeof line, "softnpu: %-34.*s %9zu %12.3f %12.6f %12.3f %9.3f\n",
                  static_cast<int>(what.size()), what.data(), row.durations.size(), total / 1e6,
                  static_cast<double>(row.median()) / 1e6, bytes / 1e6, bytes / total);
    out += line;
  }
  return out;
}

void Stats::ending() {
  quietly([this] {
    Rows rows;
    {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (lock) rows = std::exchange(rows_of_this_process(), {});
    }
    if (rows.empty()) return;
    if (file_ != nullptr)
      file_->write(as_json(rows));
    else
      print_to_stderr(as_table(rows));
  });
}

}  // namespace softnpu::observers
