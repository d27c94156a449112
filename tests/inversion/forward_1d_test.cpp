// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/forward_1d.h"

#include "csv_columns.h"
#include "forward_checks.h"
#include "layered_oracle.h"
#include "oracle_forward.h"
#include "synthetic_sounding.h"
#include "tessera/autodiff/error.h"
#include "tessera/inversion/response.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace tessera::inversion {
namespace {

std::vector<double> numbers(const std::string& text, char separator) {
  std::vector<double> out;
  std::istringstream in(text);
  for (std::string field; std::getline(in, field, separator);) out.push_back(std::stod(field));
  return out;
}

TEST(Forward1d, Layered1dReferenceTable) {
  const std::filesystem::path file = testing::test_data() / "mt/reference/layered1d.csv";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no test data: " << file;
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  int rows = 0;
  double worst_z = 0, worst_derivative = 0;
  while (std::getline(in, line)) {
    const std::vector<std::string> f = testing::csv_split(line);
    ASSERT_EQ(f.size(), 10u) << line;
    const char separator = f[1].find(';') != std::string::npos ? ';' : ' ';
    const auto rho = numbers(f[1], separator), h = numbers(f[2], separator);
    ASSERT_EQ(h.size() + 1, rho.size()) << line;
    const double frequency = std::stod(f[3]);
    const ForwardMap forward = layered_forward({frequency}, h);
    const auto m = logs(rho);
    const auto d = forward.predict(m);
    const std::complex<double> z(d[0], d[1]), expected(std::stod(f[4]), std::stod(f[5]));
    worst_z = std::max(worst_z, std::abs(z - expected) / std::abs(expected));
    // d ln rho_a = 2 Re(dZ / Z), d phase = Im(dZ / Z)
    const Matrix jacobian = forward.jacobian(m);
    const auto by_rho = numbers(f[8], separator), by_phase = numbers(f[9], separator);
    for (std::size_t j = 0; j < rho.size(); ++j) {
      const auto ratio = std::complex<double>(jacobian(0, j), jacobian(1, j)) / z;
      worst_derivative = std::max({worst_derivative, std::abs(2 * ratio.real() - by_rho[j]),
                                   std::abs(ratio.imag() * 180 / std::numbers::pi - by_phase[j])});
    }
    ++rows;
  }
  EXPECT_EQ(rows, 45);
  EXPECT_LE(worst_z, 1e-10);
  EXPECT_LE(worst_derivative, 1e-7);
}

TEST(Forward1d, AgreesWithTheScalarOracleUpToSecondDerivatives) {
  const auto f = oracle::log_frequencies(1e-4, 1e4, 21);
  const std::vector<double> h{3, 40, 500, 6000};
  const std::vector<double> m = logs({100, 3, 5000, 20, 0.5});
  const ForwardMap a = layered_forward(f, h), b = oracle::layered_forward(f, h);
  const auto x = a.predict(m), y = b.predict(m);
  const Matrix ja = a.jacobian(m), jb = b.jacobian(m);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(x[i], y[i], 1e-13 * std::abs(y[i]));
    for (std::size_t j = 0; j < m.size(); ++j)
      EXPECT_NEAR(ja(i, j), jb(i, j),
                  1e-13 * std::abs(std::complex<double>(y[i / 2 * 2], y[i / 2 * 2 + 1])));
  }
  std::vector<double> weight(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    weight[i] = std::cos(static_cast<double>(i)) / std::abs(x[i]);
  const Matrix ha = a.hessian(m, weight), hb = b.hessian(m, weight);
  for (std::size_t k = 0; k < ha.values.size(); ++k) EXPECT_NEAR(ha.values[k], hb.values[k], 1e-7);
}

TEST(Forward1d, FreeThicknessesToo) {
  const auto f = oracle::log_frequencies(1e-3, 1e3, 9);
  const auto m = logs({100, 3, 5000, 70, 900});
  const ForwardMap a = layered_forward_free(f, 3), b = oracle::layered_forward(f, {1, 1}, true);
  const auto x = a.predict(m), y = b.predict(m);
  const Matrix ja = a.jacobian(m), jb = b.jacobian(m);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-13 * std::abs(y[i]));
  double scale = 0;
  for (double v : jb.values) scale = std::max(scale, std::abs(v));
  for (std::size_t k = 0; k < ja.values.size(); ++k)
    EXPECT_NEAR(ja.values[k], jb.values[k], 1e-13 * scale);
}

// A layer many skin depths thick hides everything below it: impedance and derivatives are those of
// the half-space, and nothing overflows.
TEST(Forward1d, StableForLayersOfThousandsOfSkinDepths) {
  for (const double kh : {1.0, 30.0, 400.0, 5000.0, 2e5}) {
    const double f = 10, rho = 25;
    const double h = kh * skin_depth(f, rho) / std::sqrt(2.0);  // |k h| = kh
    const ForwardMap forward = layered_forward({f}, {h});
    const auto m = logs({rho, 1e4});
    const auto d = forward.predict(m);
    const Matrix j = forward.jacobian(m), c = forward.hessian(m, {1, 1});
    const auto exact = oracle::layered_impedance(f, {rho, 1e4}, {h});
    EXPECT_NEAR(std::abs(std::complex<double>(d[0], d[1]) - exact.z) / std::abs(exact.z), 0, 1e-13)
        << kh;
    for (double v : j.values) EXPECT_TRUE(std::isfinite(v)) << kh;
    for (double v : c.values) EXPECT_TRUE(std::isfinite(v)) << kh;
    if (kh < 100) continue;
    const double half_space = std::sqrt(std::numbers::pi * f * mu0 * rho);
    EXPECT_NEAR(d[0], half_space, 1e-13 * half_space);
    EXPECT_NEAR(d[1], half_space, 1e-13 * half_space);
    EXPECT_NEAR(j(0, 0), 0.5 * half_space, 1e-13 * half_space);
    EXPECT_NEAR(j(0, 1), 0, 1e-30);
  }
}

TEST(Forward1d, TaylorRemainders) {
  expect_taylor_slopes(
      layered_forward(oracle::log_frequencies(1e-3, 1e3, 20), {30, 200, 1500, 9000}),
      logs({100, 10, 1000, 5, 300}), {1.0, 0.7, 1.3, 0.8, 1.2});
}

TEST(LayeredBatch, EqualsOneByOneOnAnyNumberOfThreads) {
  const auto f = oracle::log_frequencies(1e-3, 1e3, 11);
  const std::size_t layers = 4, count = 75, nf = f.size();  // two full chunks and a short one
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> ln_rho(layers * count), ln_h((layers - 1) * count), re(nf * count),
      im(nf * count), sigma(nf * count);
  for (double& v : ln_rho) v = 4 + normal(random);
  for (double& v : ln_h) v = 6 + normal(random);
  for (std::size_t i = 0; i < re.size(); ++i) {
    re[i] = 0.01 * normal(random);
    im[i] = 0.01 * normal(random);
    sigma[i] = 0.003;
  }
  const auto run = [&](int threads) {
    LayeredBatch batch(f, static_cast<int>(layers), threads);
    std::vector<double> misfit(count), g(ln_rho.size()), gh(ln_h.size());
    batch.misfit_and_gradient(count, ln_rho, ln_h, re, im, sigma, misfit, g, gh);
    g.insert(g.end(), gh.begin(), gh.end());
    g.insert(g.end(), misfit.begin(), misfit.end());
    return g;
  };
  const auto one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(3));
  std::vector<double> jre((2 * layers - 1) * nf * count), jim = jre, zre(nf * count), zim = zre;
  LayeredBatch batch(f, static_cast<int>(layers), 2);
  batch.jacobian(count, ln_rho, ln_h, jre, jim);
  batch.predict(count, ln_rho, ln_h, zre, zim);
  for (std::size_t s : {0u, 31u, 32u, 74u}) {
    std::vector<double> rho, h;
    for (std::size_t j = 0; j < layers; ++j) rho.push_back(std::exp(ln_rho[j * count + s]));
    for (std::size_t j = 0; j + 1 < layers; ++j) h.push_back(std::exp(ln_h[j * count + s]));
    double misfit = 0;
    std::vector<double> g(2 * layers - 1, 0.0);
    for (std::size_t k = 0; k < nf; ++k) {
      const auto z = oracle::layered_impedance(f[k], rho, h);
      const std::size_t at = s * nf + k;
      EXPECT_NEAR(zre[at], z.z.real(), 1e-12 * std::abs(z.z));
      EXPECT_NEAR(zim[at], z.z.imag(), 1e-12 * std::abs(z.z));
      const std::complex<double> r = (z.z - std::complex<double>(re[at], im[at])) / sigma[at];
      misfit += std::norm(r);
      for (std::size_t j = 0; j < g.size(); ++j) {
        const auto dz = j < layers ? z.d_ln_rho[j] : z.d_ln_h[j - layers];
        g[j] += 2 * (std::conj(r) * dz).real() / sigma[at];
        EXPECT_NEAR(jre[(j * count + s) * nf + k], dz.real(), 1e-12 * std::abs(z.z));
        EXPECT_NEAR(jim[(j * count + s) * nf + k], dz.imag(), 1e-12 * std::abs(z.z));
      }
    }
    EXPECT_NEAR(one[g.size() * count + s], misfit, 1e-11 * misfit);
    for (std::size_t j = 0; j < g.size(); ++j)
      EXPECT_NEAR(one[j * count + s], g[j], 1e-9 * (misfit + std::abs(g[j])));
  }
  std::vector<double> small(3);
  EXPECT_THROW(batch.predict(count, small, ln_h, zre, zim), Error);
}

TEST(Forward1d, RefusesUnusableInput) {
  EXPECT_THROW(layered_forward({}, {1.0}), Error);
  EXPECT_THROW(layered_forward({-1.0}, {1.0}), Error);
  EXPECT_THROW(layered_forward({1.0}, {0.0}), Error);
  EXPECT_THROW(layered_forward({1.0}, {10.0}).predict({1.0}), Error);
}

}  // namespace
}  // namespace tessera::inversion
