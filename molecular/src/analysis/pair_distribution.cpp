// SPDX-License-Identifier: Apache-2.0
#include "analysis/near_grid.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/molecular/analysis.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>

#include <numbers>
#include <tuple>

namespace tessera::molecular {
namespace {

constexpr std::size_t pairs_a_task = 1 << 17;  // less is not worth a thread
constexpr int most_bins = 100000;

/// Ordered pairs with different atoms, and of different molecules where these are given.
double count_pairs(const Group& a, const Group& b, const std::vector<std::int32_t>& molecule) {
  std::vector<std::int32_t> left_out = molecule;  // of an atom: those of B with the same mark
  const std::int32_t last = std::max(a.empty() ? 0 : *std::max_element(a.begin(), a.end()),
                                     b.empty() ? 0 : *std::max_element(b.begin(), b.end()));
  if (molecule.empty()) {
    left_out.resize(static_cast<std::size_t>(last) + 1);
    for (std::size_t i = 0; i < left_out.size(); ++i) left_out[i] = static_cast<std::int32_t>(i);
  }
  if (static_cast<std::size_t>(last) >= left_out.size())
    throw Error(fmt::format("[rdf] expected atoms below {}, got {}", left_out.size(), last));
  std::vector<double> same(left_out.size() + 1, 0);
  for (std::int32_t j : b) ++same[static_cast<std::size_t>(left_out[static_cast<std::size_t>(j)])];
  double n = static_cast<double>(a.size()) * static_cast<double>(b.size());
  for (std::int32_t i : a)
    n -= same[static_cast<std::size_t>(left_out[static_cast<std::size_t>(i)])];
  return n;
}

/// Images further off than half of the smallest width are not looked at.
void within_images(const Frame& frame, double r_nm, const char* what, const char* option) {
  const Vec3 w = widths_nm(frame.box);
  const double half = 0.5 * std::min({w[0], w[1], w[2]});
  if (r_nm > half * (1 + 1e-9))
    throw Error(
        fmt::format("[{}] step {}: expected distances up to half of the smallest width, {:.4g} nm, "
                    "got {:.4g} nm; lower {}",
                    what, frame.step, half, r_nm, option));
}

double shell(double r, double dr) {
  return 4.0 / 3 * std::numbers::pi * ((r + dr) * (r + dr) * (r + dr) - r * r * r);
}

}  // namespace

PairDistribution::PairDistribution(Group a, Group b, const Options& options)
    : a_(std::move(a)), b_(std::move(b)), options_(options) {
  if (!(options_.bin_nm > 0))
    throw Error(fmt::format("[rdf] expected bins of a positive width, got {} nm", options_.bin_nm));
  pairs_ = count_pairs(a_, b_, options_.molecule);
  if (!(pairs_ > 0))
    throw Error(fmt::format("[rdf] expected pairs, got groups of {} and {} atoms without any",
                            a_.size(), b_.size()));
}

void PairDistribution::add(const Frame& frame) {
  if (!is_periodic(frame.box))
    throw Error("[rdf] expected a periodic box: without one there is no density to compare with");
  if (g_.empty()) {
    const Vec3 w = widths_nm(frame.box);
    if (options_.r_max_nm <= 0) options_.r_max_nm = 0.95 * 0.5 * std::min({w[0], w[1], w[2]});
    const double bins = std::floor(options_.r_max_nm / options_.bin_nm + 1e-9);
    if (bins > most_bins)
      throw Error(fmt::format(
          "[rdf] expected at most {} bins below r_max = {:.4g} nm, got {:.3g} of {:.4g} nm",
          most_bins, options_.r_max_nm, bins, options_.bin_nm));
    if (bins < 1)
      throw Error(fmt::format("[rdf] expected bins below r_max = {} nm, got {} nm",
                              options_.r_max_nm, options_.bin_nm));
    g_.resize(static_cast<std::size_t>(bins));
    counts_.assign(g_.size(), 0);
  }
  const double r_max = static_cast<double>(g_.size()) * options_.bin_nm, r2_max = r_max * r_max,
               per_bin = 1 / options_.bin_nm;
  within_images(frame, r_max, "rdf", "r_max");

  const NearGrid grid(frame.x_nm, b_, frame.box, r_max);
  const auto& h = frame.box.edge;
  const std::size_t chunk = std::max<std::size_t>(8, pairs_a_task / b_.size()),
                    n_chunks = (a_.size() + chunk - 1) / chunk;
  std::vector<std::vector<std::uint32_t>> found(n_chunks);
  parallel_chunks(static_cast<std::int64_t>(n_chunks), [&](std::int64_t c) {
    std::vector<std::uint32_t>& mine = found[static_cast<std::size_t>(c)];
    mine.assign(g_.size(), 0);
    std::vector<double> r2;
    const std::size_t first = static_cast<std::size_t>(c) * chunk,
                      last = std::min(a_.size(), first + chunk);
    for (std::size_t k = first; k < last; ++k) {
      const std::int32_t i = a_[k];
      Vec3 s = fractions(frame.box, frame.x_nm[static_cast<std::size_t>(i)]);
      for (double& f : s) f = inside(f);
      grid.around(s, [&](std::size_t begin, std::size_t end) {
        r2.resize(end - begin);
        for (std::size_t m = begin; m < end; ++m) {
          double a = s[0] - grid.s[0][m], b = s[1] - grid.s[1][m], e = s[2] - grid.s[2][m];
          a -= std::floor(a + 0.5), b -= std::floor(b + 0.5), e -= std::floor(e + 0.5);
          const double x = a * h[0][0] + b * h[1][0] + e * h[2][0], y = b * h[1][1] + e * h[2][1],
                       z = e * h[2][2];
          r2[m - begin] = x * x + y * y + z * z;
        }
        for (std::size_t m = begin; m < end; ++m) {
          if (r2[m - begin] >= r2_max) continue;
          const std::int32_t j = grid.atom[m];
          if (i == j ||
              (!options_.molecule.empty() && options_.molecule[static_cast<std::size_t>(i)] ==
                                                 options_.molecule[static_cast<std::size_t>(j)]))
            continue;
          const auto bin = static_cast<std::size_t>(std::sqrt(r2[m - begin]) * per_bin);
          if (bin < mine.size()) ++mine[bin];
        }
      });
    }
  });
  const double volume = volume_nm3(frame.box);
  for (std::size_t bin = 0; bin < g_.size(); ++bin) {
    std::uint64_t n = 0;
    for (const auto& mine : found) n += mine[bin];
    g_[bin].add(static_cast<double>(n) * volume /
                (pairs_ * shell(static_cast<double>(bin) * options_.bin_nm, options_.bin_nm)));
    counts_[bin] += static_cast<double>(n);
  }
  ++frames_;
}

Curve PairDistribution::g() const {
  Curve out;
  for (std::size_t bin = 0; bin < g_.size(); ++bin) {
    const data::BlockedMean mean = g_[bin].result();
    out.x.push_back(static_cast<double>(2 * bin + 1) * options_.bin_nm / 2);
    out.y.push_back(mean.mean);
    out.error.push_back(mean.error);
  }
  return out;
}

Curve PairDistribution::coordination() const {
  Curve out;
  double sum = 0;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    sum += counts_[bin] / (static_cast<double>(frames_) * static_cast<double>(a_.size()));
    out.x.push_back(static_cast<double>(bin + 1) * options_.bin_nm);
    out.y.push_back(sum);
  }
  return out;
}

std::vector<HydrogenBond> hydrogen_bonds(const System& system, const Frame& frame,
                                         double distance_nm, double angle_deg) {
  constexpr std::uint8_t hydrogen = 1, nitrogen = 7, oxygen = 8;
  const auto& element = system.atoms.element;
  std::vector<std::vector<std::int32_t>> hydrogens(system.n_atoms());
  Group polar, donors;
  for (const auto& [i, j] : system.connectivity)
    for (const auto& [heavy, light] : {std::pair{i, j}, std::pair{j, i}}) {
      const std::uint8_t e = element[static_cast<std::size_t>(heavy)];
      if ((e == nitrogen || e == oxygen) && element[static_cast<std::size_t>(light)] == hydrogen)
        hydrogens[static_cast<std::size_t>(heavy)].push_back(light);
    }
  for (std::size_t i = 0; i < system.n_atoms(); ++i) {
    if (element[i] != nitrogen && element[i] != oxygen) continue;
    polar.push_back(static_cast<std::int32_t>(i));
    if (!hydrogens[i].empty()) donors.push_back(static_cast<std::int32_t>(i));
  }
  const auto apart = [&](std::int32_t i, std::int32_t j) {
    const Vec3 &a = frame.x_nm[static_cast<std::size_t>(i)],
               &b = frame.x_nm[static_cast<std::size_t>(j)];
    return wrapped(frame.box, {a[0] - b[0], a[1] - b[1], a[2] - b[2]});
  };
  const auto dot = [](const Vec3& a, const Vec3& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  };
  const double least_cosine = std::cos(angle_deg * std::numbers::pi / 180);
  std::vector<HydrogenBond> out;
  const auto look_at = [&](std::int32_t donor, std::int32_t acceptor) {
    if (donor == acceptor) return;
    const Vec3 d = apart(acceptor, donor);
    const double r = std::sqrt(dot(d, d));
    if (r > distance_nm) return;
    for (std::int32_t h : hydrogens[static_cast<std::size_t>(donor)]) {
      const Vec3 bond = apart(h, donor);
      if (dot(bond, d) >= least_cosine * r * std::sqrt(dot(bond, bond)))
        out.push_back({donor, h, acceptor});
    }
  };
  if (is_periodic(frame.box)) {
    within_images(frame, distance_nm, "hydrogen_bonds", "distance");
    const NearGrid grid(frame.x_nm, polar, frame.box, distance_nm);
    for (std::int32_t donor : donors) {
      Vec3 s = fractions(frame.box, frame.x_nm[static_cast<std::size_t>(donor)]);
      for (double& f : s) f = inside(f);
      grid.around(s, [&](std::size_t begin, std::size_t end) {
        for (std::size_t m = begin; m < end; ++m) look_at(donor, grid.atom[m]);
      });
    }
  } else {
    for (std::int32_t donor : donors)
      for (std::int32_t acceptor : polar) look_at(donor, acceptor);
  }
  std::sort(out.begin(), out.end(), [](const HydrogenBond& a, const HydrogenBond& b) {
    return std::tie(a.donor, a.hydrogen, a.acceptor) < std::tie(b.donor, b.hydrogen, b.acceptor);
  });
  return out;
}

}  // namespace tessera::molecular
