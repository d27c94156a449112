// SPDX-License-Identifier: Apache-2.0
//
// On dual numbers the formula of a position gives the derivatives by which a force on the site is
// spread.
#include "tessera/molecular/virtual_sites.h"

#include "base/dual.h"
#include "base/whole_sums.h"
#include "system/virtual_forces.h"
#include "system/virtual_site_formula.h"

namespace tessera::molecular {
namespace {

std::array<Vec3, 4> displacements(const VirtualSite& v, const std::vector<Vec3>& x,
                                  const Box& box) {
  std::array<Vec3, 4> r{};
  const Vec3& from = x[static_cast<std::size_t>(v.parents[0])];
  for (std::size_t k = 1; k < parents_of(v.kind); ++k)
    r[k] = wrapped(box, difference(x[static_cast<std::size_t>(v.parents[k])], from));
  return r;
}

}  // namespace

bool order_virtual_sites(std::vector<VirtualSite>& sites, std::size_t n_atoms) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> number(n_atoms, none);
  for (std::size_t k = 0; k < sites.size(); ++k)
    number[static_cast<std::size_t>(sites[k].site)] = k;
  enum class Seen : std::uint8_t { no, waits, placed };
  std::vector<Seen> seen(sites.size(), Seen::no);
  std::vector<VirtualSite> out;
  for (std::size_t first = 0; first < sites.size(); ++first)
    for (std::vector<std::size_t> path = {first}; !path.empty();) {
      const std::size_t k = path.back();
      bool ready = true;
      for (std::size_t a = 0; a < parents_of(sites[k].kind) && seen[k] != Seen::placed; ++a) {
        const std::size_t before = number[static_cast<std::size_t>(sites[k].parents[a])];
        if (before == none || seen[before] == Seen::placed) continue;
        if (before == k || seen[before] == Seen::waits) return false;
        path.push_back(before);
        ready = false;
      }
      if (!ready) {
        seen[k] = Seen::waits;
        continue;
      }
      if (seen[k] != Seen::placed) out.push_back(sites[k]);
      seen[k] = Seen::placed;
      path.pop_back();
    }
  sites = std::move(out);
  return true;
}

void place_virtual_sites(const System& system, std::vector<Vec3>& x, const Box& box) {
  for (const VirtualSite& v : system.virtual_sites)
    x[static_cast<std::size_t>(v.site)] =
        sum(x[static_cast<std::size_t>(v.parents[0])],
            site_offset(v.kind, v.weights, displacements(v, x, box)));
}

void spread_virtual_forces(const System& system, const std::vector<Vec3>& x, const Box& box,
                           std::vector<Vec3>& f, std::array<Vec3, 3>& virial) {
  spread_virtual_forces(system, x, box, Others(), f, virial);
}

void spread_virtual_forces(const System& system, const std::vector<Vec3>& x, const Box& box,
                           const Others& others, std::vector<Vec3>& f,
                           std::array<Vec3, 3>& virial) {
  using D = Dual<double, 9>;
  std::vector<std::array<double, 9>> of_sites;  // to the virial
  for (auto v = system.virtual_sites.rbegin(); v != system.virtual_sites.rend();
       ++v) {  // sites may be parents of later ones
    std::array<double, 9>& w = of_sites.emplace_back();
    const std::array<Vec3, 4> r = displacements(*v, x, box);
    std::array<Vec<D>, 4> moving;
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t c = 0; c < 3; ++c)
        moving[k][c] = k == 0 ? D(0.0) : D::variable(r[k][c], static_cast<int>(3 * (k - 1) + c));
    const Vec<D> position = site_offset(v->kind, v->weights, moving);
    Vec3& site = f[static_cast<std::size_t>(v->site)];
    Vec3 rest = site;
    for (std::size_t k = 1; k < parents_of(v->kind); ++k) {
      Vec3 given{};
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t a = 0; a < 3; ++a) given[c] += site[a] * position[a].d[3 * (k - 1) + c];
        rest[c] -= given[c];
        f[static_cast<std::size_t>(v->parents[k])][c] += given[c];
      }
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) w[3 * a + b] += r[k][a] * given[b];
    }
    for (std::size_t a = 0; a < 3; ++a) {
      f[static_cast<std::size_t>(v->parents[0])][a] += rest[a];
      for (std::size_t b = 0; b < 3; ++b) w[3 * a + b] -= position[a].v * site[b];
    }
    site = {};
  }
  const auto sum =
      whole_sums<9>(of_sites.size(), others, [&](std::size_t k) { return of_sites[k]; });
  for (std::size_t k = 0; k < 9; ++k) virial[k / 3][k % 3] += sum[k];
}

}  // namespace tessera::molecular
