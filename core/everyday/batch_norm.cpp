// SPDX-License-Identifier: Apache-2.0
// Normalisation of channels: each is a row.
#include <algorithm>

#include "everyday/norm_rows.h"

namespace softnpu::everyday {
namespace {

// [N, C, …] as [C, N, …].
Tensor by_channel(const Tensor& tensor) {
  Tensor changed = tensor;
  std::swap(changed.sizes[0], changed.sizes[1]);
  std::swap(changed.strides[0], changed.strides[1]);
  return changed;
}

Values read_channels(const Arrays& arrays, std::string_view name) {
  const View view = arrays.view(name);
  const Tensor tensor = by_channel(*view.tensor);
  return described::read<double>({&tensor, view.first}, tensor.sizes);
}

void write_channels(const Arrays& arrays, std::string_view name, const Values& values) {
  const View view = arrays.view(name);
  const Tensor tensor = by_channel(*view.tensor);
  described::write({&tensor, view.first}, values.data());
}

NormRows channel_rows(const Given& given) {
  require_rank(given, "input", 2, 64);
  const Tensor& input = given.tensor("input");
  const int64_t channels = input.sizes[1];
  const int64_t length = channels == 0 ? 0 : input.numel() / channels;
  for (const char* name : {"weight", "runningMean", "runningVar"})
    require_shape_if_given(given, name, {channels});
  const bool training = given.integer("training") != 0;
  if (!training) {
    require_given(given, "runningMean");
    require_given(given, "runningVar");
  }
  return {.count = channels,
          .length = length,
          .parameters = channels,
          .groups = channels,
          .inner = std::max<int64_t>(1, length),
          .has_fixed_statistics = !training};
}

Statistics running_statistics(const Arrays& arrays, double eps) {
  const Values variance = arrays.read("runningVar");
  return {arrays.read("runningMean"), variance, scales(variance, eps)};
}

}  // namespace

Run batch_norm(const Given& given) {
  const NormRows rows = channel_rows(given);
  require_like(given, "out", "input");
  require_shape_if_given(given, "bias", {rows.count});
  const bool training = !rows.has_fixed_statistics;
  if (training)
    for (const char* name : {"saveMean", "saveInvstd"})
      require_shape_if_given(given, name, {rows.count});
  const double eps = given.number("eps"), momentum = given.number("momentum");
  return [=, updates_mean = given.has("runningMean"),
          updates_variance = given.has("runningVar")](const Arrays& arrays) {
    Values x = read_channels(arrays, "input");
    const Statistics s = training ? measure(rows, x, eps) : running_statistics(arrays, eps);
    normalise(rows, s, arrays.read("weight"), arrays.read("bias"), x);
    if (training) {
      // The variance that is kept is that of a sample: divided by n - 1.
      const auto n = static_cast<double>(rows.length);
      const auto update = [&](const char* name, const Values& latest, double factor) {
        Values kept = arrays.read(name);
        for (size_t i = 0; i < kept.size(); ++i)
          kept[i] = (1 - momentum) * kept[i] + momentum * factor * latest[i];
        arrays.write(name, kept);
      };
      if (updates_mean) update("runningMean", s.mean, 1);
      if (updates_variance) update("runningVar", s.variance, n / (n - 1));
      arrays.write("saveMean", s.mean);
      arrays.write("saveInvstd", s.scale);
    }
    write_channels(arrays, "out", x);
  };
}

Run batch_norm_backward(const Given& given) {
  const NormRows rows = channel_rows(given);
  require_like(given, "gradOutput", "input");
  const bool training = !rows.has_fixed_statistics;
  if (training)
    for (const char* name : {"saveMean", "saveInvstd"}) {
      require_given(given, name);
      given.require_shape(name, Dims{rows.count});
    }
  const auto wanted = check_gradients(given, {"gradInput", "gradWeight", "gradBias"},
                                      given.tensor("input").sizes, Dims{rows.count});
  return [=, eps = given.number("eps")](const Arrays& arrays) {
    const Statistics s = training
                             ? Statistics{arrays.read("saveMean"), {}, arrays.read("saveInvstd")}
                             : running_statistics(arrays, eps);
    const Gradients found = differentiate(rows, s, read_channels(arrays, "gradOutput"),
                                          read_channels(arrays, "input"), arrays.read("weight"));
    if (wanted[0]) write_channels(arrays, "gradInput", found.input);
    if (wanted[1]) arrays.write("gradWeight", found.weight);
    if (wanted[2]) arrays.write("gradBias", found.bias);
  };
}

}  // namespace softnpu::everyday
