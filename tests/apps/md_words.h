// SPDX-License-Identifier: Apache-2.0
// What molecular.dynamics says of a case, and at which key.
#pragma once
#include "md_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>

namespace tessera::testing {

class MdWords : public Md {
 protected:
  static std::string changed(const std::string& old, const std::string& now,
                             const std::string& text = kArgon) {
    std::string out = text;
    out.replace(out.find(old), old.size(), now);
    return out;
  }
  /// `case.toml:LINE:` of the first line that holds a text.
  static std::string at(const std::string& text, const std::string& what) {
    return "case.toml:" +
           std::to_string(
               1 + std::count(text.begin(),
                              text.begin() + static_cast<std::ptrdiff_t>(text.find(what)), '\n')) +
           ":";
  }
  void refused(const std::string& text, const std::string& key, const char* number,
               const std::string& says, const std::string& hint = "") {
    write("case.toml", text);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 5) << text;
    EXPECT_TRUE(holds(o.err, at(text, key)) && holds(o.err, std::string("error ") + number) &&
                holds(o.err, says) && holds(o.err, hint))
        << at(text, key) << " " << says << "\n"
        << o.err;
    for (const char* name :
         {"potential_shift", "coulomb = cutoff", "parrinello_rahman", "monte_carlo", "c_rescale",
          "slow_every", "[nonbonded]", "[dynamics]", "[pme]"})
      EXPECT_FALSE(holds(o.err, name)) << name << "\n" << o.err;
  }
  void warned(const std::string& text, const std::string& key, const std::string& says) {
    write("case.toml", text);
    const Outcome o = tessera({"check", "case.toml"});
    EXPECT_EQ(o.code, 0) << text << o.err;
    const std::string all = o.out + o.err;
    EXPECT_TRUE(holds(all, at(text, key)) && holds(all, "warning E0757") && holds(all, says))
        << at(text, key) << " " << says << "\n"
        << all;
  }
};

}  // namespace tessera::testing
