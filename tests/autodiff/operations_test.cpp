// SPDX-License-Identifier: Apache-2.0
//
// docs/reference/operations.md lists every primitive with its class, and a reason where the
// derivative is zero.
#include "matches.h"
#include "tessera/autodiff/primitive.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

namespace tessera {
namespace {

const char* class_name(RuleClass r) {
  switch (r) {
    case RuleClass::linear:
      return "linear";
    case RuleClass::bilinear:
      return "bilinear";
    case RuleClass::elementwise:
      return "elementwise";
    case RuleClass::zero:
      return "zero";
    case RuleClass::hand:
      return "hand";
  }
  return "";
}

TEST(Operations, ThePageListsEveryPrimitiveOnceWithItsClass) {
  std::ifstream page(std::string(TESSERA_SOURCE_DIR) + "/docs/reference/operations.md");
  ASSERT_TRUE(page);
  std::map<std::string, std::string> listed;
  for (std::string line; std::getline(page, line);)
    for (const auto& m : matches(line, R"(^\| `(\w+)` \| (\w+) \| (.*) \|$)")) {
      EXPECT_TRUE(listed.emplace(m[1], m[2]).second) << "two rows for " << m[1];
      EXPECT_FALSE(m[3].empty()) << m[1]
                                 << " needs its derivative, or the reason why there is none";
    }
  std::set<std::string> registered;
  for (const Primitive* p : registered_primitives()) {
    registered.insert(p->name);
    if (const auto at = listed.find(p->name); at == listed.end())
      ADD_FAILURE() << "docs/reference/operations.md lacks the row | `" << p->name << "` | "
                    << class_name(p->rule) << " | its derivative |";
    else
      EXPECT_EQ(at->second, class_name(p->rule)) << p->name;
  }
  for (const auto& [name, rule] : listed)
    EXPECT_TRUE(registered.contains(name)) << "a row for " << name << ", which is no primitive";
}

}  // namespace
}  // namespace tessera
