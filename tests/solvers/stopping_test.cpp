// SPDX-License-Identifier: Apache-2.0
//
// The decisions of PyTorch's ReduceLROnPlateau and of Keras's EarlyStopping on random curves
// (references/make_decisions.py; TESSERA_DECISIONS names another table that it wrote).
#include "tessera/solvers/stopping.h"

#include "csv_cells.h"
#include "tessera/autodiff/error.h"
#include "test_paths.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace tessera;
using namespace tessera::solvers;

namespace {

Better better_of(const std::string& word) {
  return word == "lower" ? Better::lower : Better::higher;
}

}  // namespace

TEST(Stopping, DecidesAsPyTorchAndKerasDo) {
  const char* const other = std::getenv("TESSERA_DECISIONS");
  int plateaus = 0, reductions = 0, stops = 0, early = 0;
  for (const auto& c : csv_cells(other ? other
                                       : std::string(TESSERA_SOURCE_DIR) +
                                             "/tests/solvers/references/decisions.csv")) {
    const auto number = [&](std::size_t k) { return std::stod(c[k]); };
    const auto whole = [&](std::size_t k) { return static_cast<std::int64_t>(std::stol(c[k])); };
    if (c[0] == "plateau") {
      const PlateauOptions o{better_of(c[1]), number(2), whole(3), number(4),
                             c[5] == "rel",   whole(6),  number(7)};
      Plateau p;
      for (std::size_t k = 8; k + 1 < c.size(); k += 2) {
        const double before = p.factor;
        const bool reduced = p.see(number(k), o);
        EXPECT_EQ(reduced, p.factor < before);
        ASSERT_EQ(p.factor, number(k + 1)) << "epoch " << (k - 8) / 2 << " of row " << plateaus;
        reductions += reduced;
      }
      ++plateaus;
    } else {
      const EarlyStoppingOptions o{better_of(c[1]), whole(2), number(3), whole(4)};
      EarlyStopping s;
      std::int64_t last = -1;
      bool over = false;
      for (std::size_t k = 7; k < c.size() && !over; ++k) {
        ++last;
        over = s.see(number(k), o);
      }
      stops += over;
      ASSERT_EQ(last, whole(6)) << "row " << early;
      ASSERT_EQ(s.best_epoch, whole(5)) << "row " << early;
      ++early;
    }
  }
  RecordProperty("curves", plateaus + early);
  EXPECT_GE(plateaus, 30);
  EXPECT_GE(early, 30);
  EXPECT_GT(reductions, 10);
  EXPECT_GT(stops, 10);
}

TEST(Stopping, RefusesAFactorThatReducesNothing) {
  Plateau p;
  EXPECT_THROW(p.see(1, {.factor = 1}), Error);
  EXPECT_THROW(p.see(1, {.factor = 0}), Error);
}
