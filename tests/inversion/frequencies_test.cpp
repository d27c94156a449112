// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/frequencies.h"

#include "layered_oracle.h"
#include "synthetic_sounding.h"
#include "tessera/autodiff/error.h"
#include "three_layers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::inversion {
namespace {

DataTable at_frequencies(const std::vector<double>& f, std::vector<DatumKind> kinds) {
  DataTable t;
  for (const double x : f)
    for (const DatumKind kind : kinds) t.add(0, x, kind, 1, 1);
  return t;
}

double exact(double f, DatumKind kind) {
  const auto z = oracle::layered_impedance(f, three_layers::rho, three_layers::h).z;
  switch (kind.part) {
    case Part::real:
      return z.real();
    case Part::imag:
      return z.imag();
    case Part::log10_rho:
      return std::log10(apparent_resistivity(f, z));
    default:
      return phase_degrees(z);
  }
}

TEST(Frequencies, ThoseOfTheDataAreTakenWhereTheyAreFew) {
  const DataTable t = at_frequencies({10, 1, 1.0002, 0.1}, {{Element::xy, Part::real}});
  EXPECT_EQ(model_frequencies(t), (std::vector<double>{10, 1.0002, 0.1}));
  const ModelData m = model_data(t, model_frequencies(t));
  EXPECT_EQ(m.wanted.size(), 3u);
  EXPECT_EQ(m.rows.rows, 4u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(m.rows.offsets[i + 1] - m.rows.offsets[i], 1) << "one frequency alone";
}

// Two that differ by a thousandth: one to the model or two, but never one that lies outside.
TEST(Frequencies, ThoseAThousandthApartAreServed) {
  const std::vector<DatumKind> one{{Element::xy, Part::real}};
  for (const auto& pair : {std::pair{10.0, 9.99}, {1.0, 0.999}, {0.01, 0.00999}, {3e-4, 2.997e-4}})
    for (const int ulps : {-1, 0, 1}) {
      double low = pair.second;
      if (ulps) low = std::nextafter(low, ulps * HUGE_VAL);
      const DataTable t = at_frequencies({100, pair.first, low}, one);
      ModelData m;
      EXPECT_NO_THROW(m = model_data(t, model_frequencies(t))) << low;
      for (std::size_t i = 0; i < 3 && m.rows.rows == 3; ++i)
        EXPECT_EQ(m.rows.offsets[i + 1] - m.rows.offsets[i], 1);
    }
}

// Stations with frequencies of their own: what is interpolated is within the bar of the header.
TEST(Frequencies, PredictionsBetweenFrequenciesAreThoseOfTheEarth) {
  std::vector<DatumKind> kinds{{Element::xy, Part::real},
                               {Element::xy, Part::imag},
                               {Element::xy, Part::log10_rho},
                               {Element::xy, Part::phase}};
  const auto f = oracle::log_frequencies(1e-3, 100, 57);
  const DataTable t = at_frequencies(f, kinds);
  const auto model = model_frequencies(t, 6);
  EXPECT_EQ(model.size(), 31u);
  EXPECT_EQ(model.front(), f.front());
  EXPECT_EQ(model.back(), f.back());
  const ModelData m = model_data(t, model);
  std::vector<double> predicted;
  for (const auto& w : m.wanted) predicted.push_back(exact(m.frequency_hz[w.frequency], w.kind));
  for (std::size_t k = 1; k < m.wanted.size(); ++k)
    EXPECT_GE(m.wanted[k].frequency, m.wanted[k - 1].frequency);
  const auto found = m.rows.times(predicted);
  double worst = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double truth = exact(t.frequency_hz[i], t.kind[i]);
    const double z = std::abs(
        oracle::layered_impedance(t.frequency_hz[i], three_layers::rho, three_layers::h).z);
    const double off = std::abs(found[i] - truth);
    const Part part = t.kind[i].part;
    worst = std::max(worst, part == Part::log10_rho ? off * std::log(10.0) / 2
                            : part == Part::phase   ? off * M_PI / 180
                                                    : off / z);
  }
  EXPECT_LT(worst, 1e-3);
  EXPECT_GT(worst, 1e-6);
}

TEST(Frequencies, AHalfSpaceIsInterpolatedExactly) {
  const DataTable t = at_frequencies({100, 31, 7, 0.9, 0.4, 0.02},
                                     {{Element::xy, Part::real}, {Element::xy, Part::phase}});
  const ModelData m = model_data(t, {100, 10, 1, 0.02});
  std::vector<double> predicted;
  for (const auto& w : m.wanted)
    predicted.push_back(w.kind.part == Part::phase ? 45.0 : std::sqrt(m.frequency_hz[w.frequency]));
  const auto found = m.rows.times(predicted);
  for (std::size_t i = 0; i < t.size(); ++i)
    EXPECT_NEAR(found[i], t.kind[i].part == Part::phase ? 45.0 : std::sqrt(t.frequency_hz[i]),
                1e-12 * std::abs(found[i]));
}

TEST(Frequencies, EdgesAndWhatIsOutside) {
  const std::vector<DatumKind> one{{Element::xy, Part::real}};
  EXPECT_THROW(model_frequencies({}), Error);
  EXPECT_EQ(model_frequencies(at_frequencies({3}, one)), std::vector<double>{3});
  EXPECT_EQ(model_data(at_frequencies({3}, one), {3}).rows(0, 0), 1);
  EXPECT_EQ(model_data(at_frequencies({3}, one), {4, 2}).wanted.size(), 2u);
  EXPECT_THROW(model_data(at_frequencies({3}, one), {2, 1}), Error);
  EXPECT_THROW(model_data(at_frequencies({3}, one), {1, 2}), Error);
  EXPECT_EQ(model_data({}, {2, 1}).rows.rows, 0u);
}

TEST(SparseMatrix, ByNaiveLoops) {
  const SparseMatrix a = sparse(3, 4, {{2, 1, 5}, {0, 3, 2}, {2, 0, -1}, {0, 3, 0.5}});
  EXPECT_EQ(a(0, 3), 2.5);
  EXPECT_EQ(a(1, 1), 0);
  EXPECT_EQ(a.times({1, 2, 3, 4}), (std::vector<double>{10, 0, 9}));
  EXPECT_EQ(a.transposed_times({1, 7, 2}), (std::vector<double>{-2, 10, 0, 2.5}));
  EXPECT_THROW(a.times({1}), Error);
  EXPECT_THROW(sparse(1, 1, {{0, 1, 1}}), Error);
  EXPECT_EQ(sparse(0, 0, {}).times({}).size(), 0u);
}

}  // namespace
}  // namespace tessera::inversion
