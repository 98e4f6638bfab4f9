// SPDX-License-Identifier: Apache-2.0
// SOFTNPU_STATS: how often each operator, copy and fill ran, and for how long.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fork.h"
#include "base/lines.h"
#include "observers/timed.h"

namespace softnpu::observers {

class Stats final : public Timed<Stats> {
 public:
  // Writes to a file, as a line of JSON for each process, or to stderr as a table.
  explicit Stats(Lines* file);

  void ran(const Piece& piece, const Status& status, const Span& span);
  // Writes the rows since the last call.
  void ending() override;

 private:
  struct Row {
    Piece::Kind kind;
    std::vector<int64_t> durations = {};
    int64_t bytes = 0;
    int64_t failed = 0;

    int64_t total() const;
    int64_t median() const;
  };
  using Rows = std::map<std::string_view, Row>;

  // Requires the lock. A forked child starts without rows.
  Rows& rows_of_this_process();
  static std::string as_json(const Rows& rows);
  static std::string as_table(const Rows& rows);

  Lines* const file_;
  ProcessMutex<LockRank::innermost> mutex_;
  Rows rows_;
  pid_t process_ = 0;
};

}  // namespace softnpu::observers
