// SPDX-License-Identifier: Apache-2.0
#include "runtime/json.h"

#include <algorithm>

namespace softnpu::runtime {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text), all_(text) {}

  bool document() { return value(kMaxDepth) && (space(), rest_.empty()); }
  size_t position() const { return all_.size() - rest_.size(); }

 private:
  static constexpr int kMaxDepth = 200;  // limits the recursion

  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  bool value(int depth) {
    space();
    switch (peek()) {
      case '{':
        return depth > 0 && object(depth - 1);
      case '[':
        return depth > 0 && array(depth - 1);
      case '"':
        return string();
      case 't':
        return take("true");
      case 'f':
        return take("false");
      case 'n':
        return take("null");
      default:
        return number();
    }
  }

  bool object(int depth) {
    take('{');
    space();
    if (take('}')) return true;
    do {
      space();
      if (!string()) return false;
      space();
      if (!take(':') || !value(depth)) return false;
      space();
    } while (take(','));
    return take('}');
  }

  bool array(int depth) {
    take('[');
    space();
    if (take(']')) return true;
    do {
      if (!value(depth)) return false;
      space();
    } while (take(','));
    return take(']');
  }

  bool string() {
    if (!take('"')) return false;
    while (!rest_.empty() && static_cast<unsigned char>(rest_.front()) >= 0x20) {
      if (take('"')) return true;
      if (take('\\')) {
        if (!escape()) return false;
      } else {
        rest_.remove_prefix(1);
      }
    }
    return false;
  }

  bool escape() {
    if (take('u')) {
      for (int i = 0; i < 4; ++i)
        if (!is_one_of("0123456789abcdefABCDEF")) return false;
      return true;
    }
    return is_one_of("\"\\/bfnrt");
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (is_one_of("eE")) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  bool digits() {
    const size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    rest_.remove_prefix(count);
    return count > 0;
  }

  bool is_one_of(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == characters.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  std::string_view all_;
};

}  // namespace

Status check_json(std::string_view text) {
  Reader reader(text);
  if (reader.document()) return {};
  const std::string_view before = text.substr(0, reader.position());
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return fail("config-not-json"_rule, kAclParseFile, "invalid JSON at line ", line, ", column ",
              column);
}

}  // namespace softnpu::runtime
