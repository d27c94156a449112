// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/corner_tensors.h"
#include "tessera/electromagnetics/laminate.h"
#include "tessera/electromagnetics/time_domain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

namespace tessera::electromagnetics {
namespace {

/// A laminate (laminate.h) at this time step.
struct Laminate {
  double inverse_eps, sigma;
  DispersiveRun updates;
};
/// Those found so far, by axis, share across, media and weights.
struct Laminates {
  std::mutex mutex;
  std::map<std::vector<double>, Laminate> known;
};

/// What all rows share.
struct Fillers {
  YeeGrid grid;
  std::array<Faces, 3> faces;
  double dt;
  SceneOrder scene;
  std::vector<Medium> media;
  Averaging averaging;
  Periodic periodic;
  UniformMedia uniform;
  std::vector<DispersiveRun> updates;  ///< by medium, without mixtures; of no edges
  std::shared_ptr<Laminates> laminates = std::make_shared<Laminates>();
  /// {component, i, j, k} of edges at corner tensors.
  std::map<std::array<int, 4>, double> corner_inverse{};
  CutCellFractions open{};
  LaminateShares laminate_shares = LaminateShares::rounded;

  std::array<int, 3> cell_of(int i, int j, int k) const {
    return {std::min(i, grid.cells(0) - 1), std::min(j, grid.cells(1) - 1),
            std::min(k, grid.cells(2) - 1)};
  }
  std::int32_t uniform_at(int i, int j, int k) const {
    const auto cell = cell_of(i, j, k);
    return uniform.at(cell[0], cell[1], cell[2]);
  }
};

/// The poles of a medium, of no edges.
DispersiveRun updates_of(const Medium& m, double dt) {
  DispersiveRun out;
  for (const PoleResidue& p : m.poles) {
    const PoleUpdate u = pole_update(p, dt);
    out.alpha.push_back(u.alpha);
    out.beta.push_back(u.beta);
    out.shear.push_back(u.shear);
  }
  return out;
}

/// To the run that ends before the edge, if that has the same poles.
void add_poles(MaterialRow& row, int i, const DispersiveRun& updates, double weight) {
  if (updates.alpha.empty()) return;
  for (DispersiveRun& run : row.dispersive)
    if (run.first + static_cast<int>(run.weight.size()) == i && run.alpha == updates.alpha &&
        run.beta == updates.beta && run.shear == updates.shear) {
      run.weight.push_back(weight);
      return;
    }
  row.dispersive.push_back(updates);
  row.dispersive.back().first = i;
  row.dispersive.back().weight = {weight};
}

void add_share(MaterialRow& row, const Fillers& f, int i, int medium, double weight) {
  const Medium& m = f.media[static_cast<std::size_t>(medium)];
  if (m.chi2 != 0 || m.chi3 != 0) {
    const auto end = [&] {
      return row.nonlinear.empty()
                 ? -1
                 : row.nonlinear.back().first + static_cast<int>(row.nonlinear.back().chi2.size());
    };
    if (end() != i + 1) {  // else the edge has a share of another nonlinear medium
      if (end() != i) row.nonlinear.push_back({.first = i});
      row.nonlinear.back().chi2.push_back(0);
      row.nonlinear.back().chi3.push_back(0);
    }
    row.nonlinear.back().chi2.back() += weight * m.chi2;
    row.nonlinear.back().chi3.back() += weight * m.chi3;
  }
  add_poles(row, i, f.updates[static_cast<std::size_t>(medium)], weight);
}

/// Mixtures as shares of their media, so that neighbouring edges have the same poles.
void add_shares(MaterialRow& row, const Fillers& f, int i,
                const std::vector<MediumWeight>& weights) {
  std::vector<MediumWeight> unmixed;
  const auto add = [&](int medium, double weight) {
    for (MediumWeight& known : unmixed)
      if (known.medium == medium) {
        known.weight += weight;
        return;
      }
    unmixed.push_back({medium, weight});
  };
  for (const MediumWeight& w : weights)
    if (const Blend* b = f.scene.scene().blend_of(w.medium)) {
      add(b->empty, w.weight * (1 - b->density));
      add(b->full, w.weight * b->density);
    } else {
      add(w.medium, w.weight);
    }
  for (const MediumWeight& w : unmixed) add_share(row, f, i, w.medium, w.weight);
}

/// What an edge that crosses faces of dispersive media sees; each of them is found once.
const Laminate& laminate_of(const Fillers& f, const EdgeMaterial& e, int axis) {
  std::vector<double> key{static_cast<double>(axis), e.across};
  for (const MediumWeight& part : e.parts) key.push_back(part.medium), key.push_back(part.weight);
  const std::lock_guard lock(f.laminates->mutex);
  const auto known = f.laminates->known.find(key);
  if (known != f.laminates->known.end()) return known->second;
  const Medium m = laminate(f.media, e.parts, axis, e.across);
  return f.laminates->known.emplace(key, Laminate{1 / m.eps[0], m.sigma[0], updates_of(m, f.dt)})
      .first->second;
}

void electric_row(const Fillers& f, int c, int j, int k, MaterialRow& row) {
  const int count = static_cast<int>(row.inverse.size()) - (at_middle(c, 0) ? 1 : 0);
  for (int i = 0; i < count; ++i) {
    const std::int32_t medium = f.uniform_at(i, j, k);
    if (medium >= 0) {
      const Medium& m = f.media[static_cast<std::size_t>(medium)];
      row.inverse[static_cast<std::size_t>(i)] = m.pec ? 0 : 1 / m.eps[static_cast<std::size_t>(c)];
      row.loss[static_cast<std::size_t>(i)] =
          m.sigma[static_cast<std::size_t>(c)] * f.dt / (2 * vacuum_permittivity);
      if (!m.pec) add_shares(row, f, i, {{medium, 1}});
      continue;
    }
    const EdgeMaterial e =
        edge_material(f.scene, f.media, f.grid, {static_cast<std::uint8_t>(c), i, j, k},
                      f.averaging, f.periodic, f.open, f.laminate_shares);
    const auto at_corner = f.corner_inverse.find({c, i, j, k});
    row.inverse[static_cast<std::size_t>(i)] = e.pec ? 0
                                               : at_corner != f.corner_inverse.end()
                                                   ? at_corner->second
                                                   : e.inverse_eps;
    row.loss[static_cast<std::size_t>(i)] = e.sigma * f.dt / (2 * vacuum_permittivity);
    if (!e.parts.empty()) {
      const Laminate& l = laminate_of(f, e, c);
      row.inverse[static_cast<std::size_t>(i)] = l.inverse_eps;
      row.loss[static_cast<std::size_t>(i)] = l.sigma * f.dt / (2 * vacuum_permittivity);
      add_poles(row, i, l.updates, 1);
      continue;
    }
    if (!e.pec) add_shares(row, f, i, e.weights);
  }
}

void magnetic_row(const Fillers& f, int c, int j, int k, MaterialRow& row) {
  const int count = static_cast<int>(row.inverse.size()) - (at_middle(c, 0) ? 1 : 0);
  const auto axis = static_cast<std::size_t>(axis_of(c));
  for (int i = 0; i < count; ++i) {
    const std::int32_t medium = f.uniform_at(i, j, k);
    if (medium >= 0) {
      const Medium& m = f.media[static_cast<std::size_t>(medium)];
      row.inverse[static_cast<std::size_t>(i)] = 1 / m.mu[axis];
      row.loss[static_cast<std::size_t>(i)] = m.sigma_m[axis] * f.dt / (2 * vacuum_permeability);
      continue;
    }
    const FaceMaterial e = face_material(
        f.scene, f.media, f.grid, {static_cast<std::uint8_t>(c), i, j, k}, f.averaging, f.periodic);
    row.inverse[static_cast<std::size_t>(i)] = e.inverse_mu;
    row.loss[static_cast<std::size_t>(i)] = e.sigma_m * f.dt / (2 * vacuum_permeability);
  }
}

/// Corner tensors outside of the layers, as large as the time step allows: (c dt)^2 curl_curl_bound
/// largest < 4.
void add_corners(Fillers& f, YeeModel& model) {
  NodeRange range;
  for (int d = 0; d < 3; ++d) {
    const Faces& faces = f.faces[static_cast<std::size_t>(d)];
    const bool resolved = f.grid.resolved(d);
    range.first[d] = resolved && faces.low == Boundary::pml ? model.pml.cells + 2 : 0;
    range.last[d] =
        f.grid.cells(d) - (resolved && faces.high == Boundary::pml ? model.pml.cells + 2 : 0);
  }
  const double largest =
      (1 - 1e-6) * 4 / (std::pow(speed_of_light * f.dt, 2) * curl_curl_bound(f.grid));
  const CornerCoefficients c =
      corner_coefficients(f.scene, f.media, f.grid, f.uniform, range, f.periodic, largest);
  for (const NodeCoupling& node : c.nodes)
    model.tensors.push_back({.i = node.i, .j = node.j, .k = node.k, .pairs = node.pairs});
  for (const EdgeInverse& e : c.edges)
    f.corner_inverse[{e.edge.component, e.edge.i, e.edge.j, e.edge.k}] = e.inverse_eps;
}

/// At a node on a magnetic mirror the other half of its cell is the image, in which what couples
/// the component across the mirror to the others has the opposite sign: together nothing. (On an
/// electric one the components along it are zero.) xy, xz, yz.
std::array<double, 3> even_at_mirrors(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                                      const std::array<int, 3>& node, std::array<double, 3> x) {
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    const bool low = node[u] == 0 && faces[u].low == Boundary::pmc,
               high = node[u] == grid.cells(d) && faces[u].high == Boundary::pmc;
    if (!grid.resolved(d) || !(low || high)) continue;
    for (int pair = 0; pair < 3; ++pair)
      if (pair != 2 - d) x[static_cast<std::size_t>(pair)] = 0;
  }
  return x;
}

}  // namespace

YeeModel yee_model(const YeeGrid& grid, const std::array<Faces, 3>& faces, const Pml& pml,
                   double dt_s, Dtype dtype, const Scene& scene, const std::vector<Medium>& media,
                   Averaging averaging, CutCellFractions open, const Slab& slab,
                   LaminateShares laminates) {
  auto f = std::make_shared<Fillers>(
      Fillers{grid, faces, dt_s, SceneOrder(scene), media, averaging, {}, {}, {}});
  f->open = std::move(open);
  f->laminate_shares = laminates;
  for (int d = 0; d < 3; ++d)
    f->periodic[static_cast<std::size_t>(d)] =
        grid.resolved(d) && faces[static_cast<std::size_t>(d)].low == Boundary::periodic;
  f->uniform = uniform_media(f->scene, grid, f->periodic, planes_of(grid, slab));
  for (std::size_t m = 0; m < scene.n_unmixed(media.size()); ++m)
    f->updates.push_back(updates_of(media[m], dt_s));
  YeeModel model{
      .grid = grid, .faces = faces, .pml = pml, .dt_s = dt_s, .dtype = dtype, .open = f->open};
  model.material = [f](int c, int j, int k, MaterialRow& row) {
    if (is_electric(c))
      electric_row(*f, c, j, k, row);
    else
      magnetic_row(*f, c, j, k, row);
  };
  if (averaging == Averaging::corners) add_corners(*f, model);
  if (averaging != Averaging::kottke) return model;
  for (int k = 0; k <= grid.cells(2); ++k)
    for (int j = 0; j <= grid.cells(1); ++j)
      for (int i = 0; i <= grid.cells(0); ++i) {
        if (!grid.resolved(0) && i > 0) continue;
        if (!grid.resolved(1) && j > 0) continue;
        if (!grid.resolved(2) && k > 0) continue;
        if ((f->periodic[0] && i == grid.cells(0)) || (f->periodic[1] && j == grid.cells(1)) ||
            (f->periodic[2] && k == grid.cells(2)))
          continue;
        if (!f->uniform.holds(f->cell_of(i, j, k)) || f->uniform_at(i, j, k) >= 0) continue;
        const auto x =
            even_at_mirrors(grid, faces, {i, j, k},
                            node_off_diagonals(f->scene, media, grid, {i, j, k}, f->periodic));
        if (x[0] == 0 && x[1] == 0 && x[2] == 0) continue;
        Point least{1, 1, 1};
        const int at[3] = {i, j, k};
        for (int d = 0; d < 3; ++d) {
          double smaller = INFINITY;
          for (const int shift : {0, 1}) {
            int e[3] = {at[0], at[1], at[2]};
            e[d] -= shift;
            if (e[d] < 0 || e[d] >= grid.cells(d)) {
              if (!f->periodic[static_cast<std::size_t>(d)] && grid.resolved(d)) continue;
              e[d] = (e[d] + grid.cells(d)) % grid.cells(d);
            }
            smaller =
                std::min(smaller, edge_material(f->scene, media, grid,
                                                {static_cast<std::uint8_t>(d), e[0], e[1], e[2]},
                                                averaging, f->periodic)
                                      .inverse_eps);
          }
          least[static_cast<std::size_t>(d)] = smaller;
        }
        const auto clipped = clip_off_diagonals(least, x);
        model.tensors.push_back({i, j, k, clipped[0], clipped[1], clipped[2]});
      }
  return model;
}

}  // namespace tessera::electromagnetics
