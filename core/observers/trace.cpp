// SPDX-License-Identifier: Apache-2.0
#include "observers/trace.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.h"
#include "observers/describe.h"

namespace softnpu::observers {
namespace {

constexpr const char* kCategories[] = {"operator", "copy", "fill", "host function"};

// The streams are tracks of a separate process, with a number above all process ids.
constexpr int64_t kStreamsOf = 10'000'000;

// The unit of the trace format.
std::string microseconds(int64_t ns) {
  char out[40];
  std::snprintf(out, sizeof out, "%lld.%03lld", static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  return out;
}

// Adds the failure to the members of a JSON object.
std::string with_failure(std::string members, const Status& status) {
  if (status.ok()) return members;
  return text(members, members.empty() ? "" : ", ", "\"status\": ", status.code(),
              ", \"rule\": ", quoted(status.rule()), ", \"failure\": ", quoted(status.message()));
}

// The members of all events on a track.
std::string place(int64_t process, int64_t thread) {
  return text("\"pid\": ", process, ", \"tid\": ", thread);
}

std::string slice(std::string_view name, const char* category, const Span& span,
                  const std::string& where, const std::string& arguments) {
  return text("{\"name\": ", quoted(name), ", \"cat\": \"", category,
              "\", \"ph\": \"X\", \"ts\": ", microseconds(span.start),
              ", \"dur\": ", microseconds(span.length()), ", ", where, ", \"args\": {", arguments,
              "}}");
}

std::string metadata(const char* what, const std::string& where, const std::string& name) {
  return text("{\"name\": \"", what, "\", \"ph\": \"M\", ", where,
              ", \"args\": {\"name\": ", quoted(name), "}}");
}

std::string operands_of(const Piece& piece, const Span& span) {
  std::string out;
  if (piece.kind == Piece::Kind::host_function) return out;
  if (piece.kind == Piece::Kind::kernel)
    for (const Access& access : piece.accesses)
      if (is_operand(access))
        out +=
            text(quoted(access.name), ": ",
                 quoted(text(access.dtype, " [", sizes_of(access), "] ", layout_of(access))), ", ");
  if (piece.everyday) out += "\"tier\": \"everyday\", ";
  const int64_t bytes = bytes_of(piece);
  char speed[32];
  std::snprintf(speed, sizeof speed, "%.3f",
                static_cast<double>(bytes) / static_cast<double>(span.length()));
  return text(out, "\"bytes\": ", bytes, ", \"GB/s\": ", speed);
}

}  // namespace

Trace::Track Trace::this_thread() { return {getpid(), syscall(SYS_gettid)}; }
Trace::Track Trace::track_of(int32_t stream) { return {getpid() + kStreamsOf, stream}; }

std::string Trace::introduced(const Track& track, const std::string& name) {
  std::string out;
  const std::string where = place(track.process, track.thread);
  // -1 stands for the process itself.
  if (named_.insert({track.process, -1}).second) {
    const bool host = track.process < kStreamsOf;
    out += metadata("process_name", where,
                    text(program_invocation_short_name, host ? "" : ": streams")) +
           ",\n";
  }
  if (named_.insert(track).second) out += metadata("thread_name", where, name) + ",\n";
  return out;
}

std::string Trace::arrow(const char* name, Track from, int64_t from_ns, Track to, int64_t to_ns) {
  // An id that no other process uses.
  const int64_t id = (int64_t{getpid()} << 30) + ++arrows_;
  const auto end = [&](const char* phase, const Track& track, int64_t ns) {
    return text(",\n{\"name\": \"", name, "\", \"cat\": \"", name, "\", \"ph\": ", phase,
                ", \"id\": ", id, ", \"ts\": ", microseconds(ns), ", ",
                place(track.process, track.thread), "}");
  };
  return end("\"s\"", from, from_ns) + end(R"("f", "bp": "e")", to, to_ns);
}

std::string Trace::arrows_to(const Launch& launch, const Span& span) {
  const Track to = track_of(launch.work->stream);
  std::string out = arrow("launch", launch.caller, launch.time, to, span.start);
  for (const auto& work : launch.after)
    // An arrow must begin within its slice.
    if (work->span.end != 0)
      out += arrow("event", track_of(work->stream), work->span.start + work->span.length() - 1, to,
                   span.start);
  return out;
}

void Trace::enter(const Call&) { begin(); }

void Trace::leave(const Call& call, const Status& status) {
  const Span span = end();
  quietly([&] {
    const Track track = this_thread();
    const std::string arguments =
        with_failure(text("\"arguments\": ", quoted(to_text(call.arguments()))), status);
    std::string events;
    {
      const std::lock_guard lock(mutex_);
      events = introduced(track, text("thread ", track.thread));
    }
    file_.append(events + slice(call.function(), "call", span, place(track.process, track.thread),
                                arguments));
  });
}

void Trace::launched(const Piece& piece) {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    Stream& stream = streams_[piece.stream];
    stream.last = std::make_shared<Work>(Work{piece.stream});
    launches_.insert_or_assign(
        &piece, Launch{this_thread(), piece.began != 0 ? piece.began : now_ns(), stream.last,
                       std::exchange(stream.awaited, {})});
  });
}

void Trace::ran(const Piece& piece, const Status& status, const Span& span) {
  const bool host = piece.stream == Piece::kHostThread;
  const Track track = host ? this_thread() : track_of(piece.stream);
  const std::string name = text(host ? "thread " : "stream ", track.thread);
  std::string before, after;
  {
    const std::lock_guard lock(mutex_);
    before = introduced(track, name);
    if (const auto found = launches_.find(&piece); found != launches_.end()) {
      found->second.work->span = span;
      after = arrows_to(found->second, span);
      launches_.erase(found);
    }
  }
  file_.append(before +
               slice(piece.what, kCategories[static_cast<size_t>(piece.kind)], span,
                     place(track.process, track.thread),
                     with_failure(operands_of(piece, span), status)) +
               after);
}

void Trace::recorded(const void* mark, int32_t stream) {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    marks_.insert_or_assign(mark, streams_[stream].last);
  });
}

void Trace::held_back(int32_t stream, const void* mark) {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    const auto found = marks_.find(mark);
    if (found != marks_.end() && found->second) streams_[stream].awaited.push_back(found->second);
  });
}

}  // namespace softnpu::observers
