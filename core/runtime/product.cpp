// SPDX-License-Identifier: Apache-2.0
#include "runtime/product.h"

#include <string>

#include "base/environment.h"
#include "base/lasting.h"

namespace softnpu::runtime {
namespace {

constexpr Product kProducts[] = {
    {Soc::ascend950, "Ascend950", true},    {Soc::ascend910_93, "Ascend910_93", true},
    {Soc::ascend910b, "Ascend910B", true},  {Soc::ascend310b, "Ascend310B", false},
    {Soc::ascend310p, "Ascend310P", false}, {Soc::ascend910, "Ascend910", false},
};
constexpr const Product& kDefault = kProducts[2];

struct Selection {
  const Product* product = &kDefault;
  std::string unknown_name;
  bool unknown = false;
};

Selection select() {
  const char* wanted = setting("SOFTNPU_SOC");
  if (wanted == nullptr) return {};
  for (const Product& p : kProducts)
    if (p.name == wanted) return {&p, {}, false};
  return {&kDefault, wanted, true};
}

const Selection& selection() { return made_once<select>(); }

}  // namespace

const Product& product() { return *selection().product; }

Status product_status() {
  const Selection& chosen = selection();
  if (!chosen.unknown) [[likely]]
    return {};
  std::string names;
  for (const Product& p : kProducts) names += text(names.empty() ? "" : ", ", p.name);
  return fail(kAclInvalidParam, "SOFTNPU_SOC is \"", chosen.unknown_name, "\"; it must be one of ",
              names);
}

}  // namespace softnpu::runtime
