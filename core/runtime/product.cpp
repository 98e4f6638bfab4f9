// SPDX-License-Identifier: Apache-2.0
#include "runtime/product.h"

#include <strings.h>

#include <cctype>
#include <string>

#include "base/environment.h"
#include "base/lasting.h"

namespace softnpu::runtime {
namespace {

// The first name of each family stands for all products with the same operators.
constexpr Product kProducts[] = {
    {Soc::ascend950, "Ascend950", true, 128},
    {Soc::ascend950, "Ascend950PR", true, 128},
    {Soc::ascend950, "Ascend950DT", true, 144},
    {Soc::ascend910_93, "Ascend910_93", true, 64},
    {Soc::ascend910_93, "Ascend910_9362", true, 64},
    {Soc::ascend910_93, "Ascend910_9372", true, 64},
    {Soc::ascend910_93, "Ascend910_9381", true, 64},
    {Soc::ascend910_93, "Ascend910_9382", true, 64},
    {Soc::ascend910_93, "Ascend910_9391", true, 64},
    {Soc::ascend910_93, "Ascend910_9392", true, 64},
    {Soc::ascend910b, "Ascend910B", true, 64},
    {Soc::ascend910b, "Ascend910B1", true, 64},
    {Soc::ascend910b, "Ascend910B2", true, 64},
    {Soc::ascend910b, "Ascend910B2C", true, 64},
    {Soc::ascend910b, "Ascend910B3", true, 64},
    {Soc::ascend910b, "Ascend910B4", true, 32},
    {Soc::ascend910b, "Ascend910B4-1", true, 64},
    {Soc::ascend310b, "Ascend310B", false, 8},
    {Soc::ascend310b, "Ascend310B1", false, 8},
    {Soc::ascend310b, "Ascend310B2", false, 8},
    {Soc::ascend310b, "Ascend310B3", false, 8},
    {Soc::ascend310b, "Ascend310B4", false, 8},
    {Soc::ascend310p, "Ascend310P", false, 24},
    {Soc::ascend310p, "Ascend310P1", false, 24},
    {Soc::ascend310p, "Ascend310P2", false, 24},
    {Soc::ascend310p, "Ascend310P3", false, 24},
    {Soc::ascend310p, "Ascend310P4", false, 24},
    {Soc::ascend310p, "Ascend310P5", false, 24},
    {Soc::ascend310p, "Ascend310P7", false, 24},
    {Soc::ascend910, "Ascend910", false, 32},
    {Soc::ascend910, "Ascend910A", false, 32},
    {Soc::ascend910, "Ascend910ProA", false, 32},
    {Soc::ascend910, "Ascend910ProB", false, 32},
    {Soc::ascend910, "Ascend910PremiumA", false, 32},
};
constexpr std::string_view kDefault = "Ascend910B";

bool is_same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

const Product* find(std::string_view name) {
  for (const Product& p : kProducts)
    if (is_same_name(p.name, name)) return &p;
  return nullptr;
}

// Accepts names such as "Ascend950PR_9589". There are many, and they differ only in the last part.
const Product* find_numbered(std::string_view name) {
  constexpr size_t kPart = 4;
  const size_t end = name.rfind('_');
  if (end == std::string_view::npos || name.size() - end - 1 != kPart) return nullptr;
  for (const char c : name.substr(end + 1))
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) return nullptr;
  const Product* const kind = find(name.substr(0, end));
  const bool is_numbered =
      kind != nullptr && (kind->name.ends_with("PR") || kind->name.ends_with("DT"));
  if (!is_numbered) return nullptr;
  const auto* const full = new std::string(text(kind->name, name.substr(end)));
  return new Product{kind->soc, *full, kind->bf16, kind->memory_gib};
}

struct Selection {
  const Product* product;
  std::string unknown_name = {};
};

Selection select() {
  const char* const wanted = setting("SOFTNPU_SOC");
  const Product* product = find(wanted == nullptr ? kDefault : wanted);
  if (product == nullptr) product = find_numbered(wanted);
  if (product != nullptr) return {product};
  return {find(kDefault), wanted};
}

const Selection& selection() { return made_once<select>(); }

}  // namespace

const Product& product() { return *selection().product; }

Status product_status() {
  const std::string& wrong = selection().unknown_name;
  if (wrong.empty()) [[likely]]
    return {};
  std::string names;
  for (const Product& p : kProducts) names += text(names.empty() ? "" : ", ", p.name);
  return fail("product-unknown"_rule, kAclInvalidParam, "SOFTNPU_SOC is \"", wrong,
              "\"; it must be one of ", names, ", or a full name such as Ascend950PR_9589");
}

}  // namespace softnpu::runtime
