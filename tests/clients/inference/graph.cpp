// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

namespace rt {

Graph::~Graph() { reset(); }

void Graph::begin(const Stream& stream) {
  reset();
  RT_CHECK(aclmdlRICaptureBegin(stream.get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
}

void Graph::end(const Stream& stream) { RT_CHECK(aclmdlRICaptureEnd(stream.get(), &graph_)); }

void Graph::abandon(const Stream& stream) {
  aclmdlRICaptureEnd(stream.get(), &graph_);
  reset();
}

void Graph::replay(const Stream& stream) const {
  RT_CHECK(aclmdlRIExecuteAsync(graph_, stream.get()));
}

void Graph::reset() {
  if (graph_ != nullptr) aclmdlRIDestroy(graph_);
  graph_ = nullptr;
}

}  // namespace rt
