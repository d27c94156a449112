// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/diagnostic.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera::testing {

/// `read`, which takes a good text, refuses it with `to` in the place of `from`, and says `word`.
template <class Read>
void expect_refused(Read&& read, std::string good, const std::string& from, const std::string& to,
                    const std::string& word) {
  good.replace(good.find(from), from.size(), to);
  try {
    read(good);
    ADD_FAILURE() << "accepted: " << to;
  } catch (const data::InputError& e) {
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

}  // namespace tessera::testing
