// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/added_media.h"

#include "tessera/electromagnetics/constants.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace tessera::electromagnetics {
namespace {

using PartKey = std::tuple<int, int, int, int, int>;
/// The order of parts: rows, then media, then edges.
PartKey key_of(const AddedMedia::Part& p) {
  return {p.edge.component, p.edge.k, p.edge.j, p.medium, p.edge.i};
}
using PartRow = std::tuple<int, int, int>;
PartRow row_key(const AddedMedia::Part& p) { return {p.edge.component, p.edge.k, p.edge.j}; }

/// The parts of one row on top of it.
void put_on(MaterialRow& row, const AddedMedia& added, const std::vector<DispersiveRun>& updates,
            std::size_t begin, std::size_t end, double dt_s) {
  const std::size_t n = row.inverse.size();
  std::vector<double> kept(n, 1), eps(n, 0), loss(n, 0);
  for (std::size_t p = begin; p < end; ++p) {
    const AddedMedia::Part& part = added.parts[p];
    const auto i = static_cast<std::size_t>(part.edge.i),
               a = static_cast<std::size_t>(axis_of(part.edge.component));
    const Medium& m = added.media[static_cast<std::size_t>(part.medium)];
    kept[i] -= part.replaced;
    const bool electric = is_electric(part.edge.component);
    eps[i] += part.share * (electric ? m.eps : m.mu)[a];
    loss[i] += part.share *
               (electric ? m.sigma[a] / vacuum_permittivity : m.sigma_m[a] / vacuum_permeability) *
               dt_s / 2;
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (row.inverse[i] == 0 || (kept[i] == 1 && eps[i] == 0 && loss[i] == 0)) continue;
    kept[i] = std::max(kept[i], 0.0);
    row.inverse[i] = 1 / (kept[i] / row.inverse[i] + eps[i]);
    row.loss[i] = kept[i] * row.loss[i] + loss[i];
  }
  for (DispersiveRun& run : row.dispersive)
    for (std::size_t q = 0; q < run.weight.size(); ++q)
      run.weight[q] *= kept[static_cast<std::size_t>(run.first) + q];
  std::erase_if(row.dispersive, [](const DispersiveRun& run) {
    return std::all_of(run.weight.begin(), run.weight.end(), [](double w) { return w == 0; });
  });
  for (NonlinearRun& run : row.nonlinear)
    for (std::size_t q = 0; q < run.chi2.size(); ++q) {
      run.chi2[q] *= kept[static_cast<std::size_t>(run.first) + q];
      run.chi3[q] *= kept[static_cast<std::size_t>(run.first) + q];
    }
  int last = -1;  // the medium of the run that is being made
  for (std::size_t p = begin; p < end; ++p) {
    const AddedMedia::Part& part = added.parts[p];
    const DispersiveRun& poles = updates[static_cast<std::size_t>(part.medium)];
    if (poles.alpha.empty() || row.inverse[static_cast<std::size_t>(part.edge.i)] == 0) continue;
    DispersiveRun* run = last == part.medium ? &row.dispersive.back() : nullptr;
    if (!run || run->first + static_cast<int>(run->weight.size()) != part.edge.i) {
      run = &row.dispersive.emplace_back(poles);
      run->first = part.edge.i;
    }
    run->weight.push_back(part.share);
    last = part.medium;
  }
}

}  // namespace

void AddedMedia::sort() {
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return key_of(a) < key_of(b); });
}

MaterialRows with_added_media(MaterialRows rows, AddedMedia added, double dt_s) {
  if (added.parts.empty()) return rows;
  std::vector<DispersiveRun> updates(added.media.size());
  for (std::size_t m = 0; m < updates.size(); ++m)
    for (const PoleResidue& p : added.media[m].poles) {
      const PoleUpdate u = pole_update(p, dt_s);
      updates[m].alpha.push_back(u.alpha), updates[m].beta.push_back(u.beta);
      updates[m].shear.push_back(u.shear);
    }
  return [rows = std::move(rows), updates = std::move(updates), dt_s,
          added = std::make_shared<const AddedMedia>(std::move(added))](int component, int j, int k,
                                                                        MaterialRow& row) {
    if (rows) rows(component, j, k, row);
    const PartRow wanted{component, k, j};
    const auto begin =
        std::partition_point(added->parts.begin(), added->parts.end(),
                             [&](const AddedMedia::Part& p) { return row_key(p) < wanted; });
    const auto end = std::partition_point(
        begin, added->parts.end(), [&](const AddedMedia::Part& p) { return row_key(p) == wanted; });
    if (begin != end)
      put_on(row, *added, updates, static_cast<std::size_t>(begin - added->parts.begin()),
             static_cast<std::size_t>(end - added->parts.begin()), dt_s);
  };
}

void add_media(YeeModel& model, AddedMedia added) {
  for (const AddedMedia::Part& p : added.parts)
    if (is_electric(p.edge.component) &&
        (model.uncoupled.empty() || !(model.uncoupled.back() == p.edge)))
      model.uncoupled.push_back(p.edge);
  model.material = with_added_media(std::move(model.material), std::move(added), model.dt_s);
}

}  // namespace tessera::electromagnetics
