// SPDX-License-Identifier: Apache-2.0
// Attention for inference: without gradients, and without what they need.
#include <algorithm>

#include "everyday/attention.h"

namespace softnpu::everyday {
namespace {

const Dims& only_member(const Given& given, std::string_view name) {
  const std::vector<const Tensor*> members = given.list(name);
  require(members.size() == 1 && members[0] != nullptr, "array-length"_rule, name, " has ",
          members.size(), " tensors; expected one");
  return members[0]->sizes;
}

Attention plan_attention(const Given& given) {
  const std::string_view layout = given.text("inputLayout");
  require(layout == "BSH" || has_head_dimension(layout), "layout-name"_rule, "inputLayout is ",
          layout, "; expected BSH, BSND or BNSD");
  const int64_t heads = given.integer("numHeads"), shared = given.integer("numKeyValueHeads");
  const int64_t key_heads = shared == 0 ? heads : shared;
  require(heads > 0 && key_heads > 0 && heads % key_heads == 0, "head-count"_rule, "numHeads is ",
          heads, " and numKeyValueHeads ", shared, "; expected a multiple, or 0 for the same");
  Attention a = plan_heads(given, layout, heads, key_heads, only_member(given, "key"),
                           only_member(given, "value"), "attentionOut");
  a.scale = given.number("scaleValue");
  if (given.has("pseShift")) a.shift = "pseShift";
  if (given.has("attenMask")) a.mask = "attenMask";
  require_broadcast(given, "pseShift", a.scores());
  require_broadcast(given, "attenMask", a.scores());
  return a;
}

}  // namespace

// Without quantisation, pages of memory and shared prefixes. sparseMode 0 masks as attenMask does.
Run fused_infer_attention(const Given& given) {
  require_absent(
      given, {"actualSeqLengths", "actualSeqLengthsKv", "deqScale1", "quantScale1", "deqScale2",
              "quantScale2", "quantOffset2", "antiquantScale", "antiquantOffset", "blockTable",
              "queryPaddingSize", "kvPaddingSize", "keyAntiquantScale", "keyAntiquantOffset",
              "valueAntiquantScale", "valueAntiquantOffset", "keySharedPrefix", "valueSharedPrefix",
              "actualSharedPrefixLen"});
  for (const char* name : {"sparseMode", "softmaxLseFlag"})
    require(given.integer(name) == 0, "mode-range"_rule, name, " is ", given.integer(name),
            ", but softnpu only computes with 0");
  const Attention a = plan_attention(given);
  for (const char* name : {"preTokens", "nextTokens"})
    require(given.integer(name) >= std::max(a.query.length, a.key.length), "mode-range"_rule, name,
            " is ", given.integer(name),
            ", but softnpu only computes with the lengths of the sequences or more");
  return [a](const Arrays& arrays) { arrays.write("attentionOut", attend(Scores(a, arrays))); };
}

}  // namespace softnpu::everyday
