// SPDX-License-Identifier: Apache-2.0
// Work that is captured once and replayed for each request.
#pragma once

#include "device.h"

namespace rt {

class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  template <class Body>
  void capture(const Stream& stream, Body&& body) {
    begin(stream);
    try {
      body();
    } catch (...) {
      abandon(stream);
      throw;
    }
    end(stream);
  }
  void replay(const Stream& stream) const;

 private:
  void begin(const Stream& stream);
  void end(const Stream& stream);
  void abandon(const Stream& stream);
  void reset();

  aclmdlRI graph_ = nullptr;
};

}  // namespace rt
