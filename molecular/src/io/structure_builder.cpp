// SPDX-License-Identifier: Apache-2.0
#include "io/structure_builder.h"

#include "system/reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tessera::molecular {
namespace {

bool same_residue(const AtomRecord& a, const AtomRecord& b) {
  if (a.chain_index != b.chain_index || a.number != b.number || a.chain != b.chain ||
      a.segment != b.segment)
    return false;
  return a.residue_name == b.residue_name ||
         !(a.alternate.empty() || b.alternate.empty());  // two kinds of residue at one place
}

}  // namespace

Box cell_of(const Vec3& edges, const Vec3& angles, std::size_t offset, data::Findings& findings) {
  if (edges == Vec3{1, 1, 1} || edges == Vec3{}) {
    findings.note(
        730, offset,
        fmt::format("a cell of {0:g} x {0:g} x {0:g} Angstrom stands for none", edges[0]));
    return {};
  }
  if (!(edges[0] > 0 && edges[1] > 0 && edges[2] > 0 &&
        within_reach({0.1 * edges[0], 0.1 * edges[1], 0.1 * edges[2]}))) {
    findings.error(
        702, offset,
        fmt::format(
            "the edges of a cell must be positive and at most a millimetre, got {} x {} x {}",
            edges[0], edges[1], edges[2]));
    return {};
  }
  if (!std::ranges::all_of(angles, [](double a) { return a > 0 && a < 180; })) {
    findings.error(
        702, offset,
        fmt::format("the angles of a cell must lie between 0 and 180 degrees, got {}, {}, {}",
                    angles[0], angles[1], angles[2]));
    return {};
  }
  try {
    return box_of_angles({edges[0] * 0.1, edges[1] * 0.1, edges[2] * 0.1}, angles);
  } catch (const Error& e) {
    findings.error(702, offset, e.what());
    return {};
  }
}

void StructureBuilder::add(AtomRecord r) {
  // Programs that have run out of numbers give all waters the same one.
  const auto again = [&] {
    return std::ranges::any_of(residue_, [&](const AtomRecord& o) {
      return o.name == r.name && o.alternate == r.alternate;
    });
  };
  if (!residue_.empty() &&
      (!same_residue(residue_.front(), r) || (is_water(r.residue_name) && again())))
    flush();
  constexpr std::size_t most = 20000;
  if (residue_.size() == most) {
    findings_.error(702, r.offset, fmt::format("more than {} atoms in one residue", most));
    findings_.throw_if_errors();
  }
  if (!within_reach(r.x_nm))
    findings_.error(702, r.offset, fmt::format("atom {} {}", r.name, out_of_reach),
                    "positions are in angstrom");
  residue_.push_back(std::move(r));
}

void StructureBuilder::flush() {
  if (residue_.empty()) return;
  std::map<std::string, double> occupancy;  // of each alternate location
  for (const AtomRecord& r : residue_)
    if (!r.alternate.empty()) occupancy[r.alternate] += r.occupancy;
  std::string best;
  for (const AtomRecord& r : residue_)
    if (!r.alternate.empty() && (best.empty() || occupancy[r.alternate] > occupancy[best]))
      best = r.alternate;
  std::set<std::string> in_best;
  for (const AtomRecord& r : residue_)
    if (r.alternate.empty() || r.alternate == best) in_best.insert(r.name);

  std::map<std::string, std::size_t> seen;
  const AtomRecord* named = nullptr;
  const auto row = static_cast<std::int32_t>(out_.residues.size());
  for (const AtomRecord& r : residue_) {
    const bool other = !r.alternate.empty() && r.alternate != best;
    if (other) {
      if (n_alternate_++ == 0) first_alternate_ = r.offset;
      if (in_best.count(r.name)) {
        left_out_.insert(r.serial);
        continue;
      }
    }
    const auto [at, fresh] = seen.try_emplace(r.name, r.offset);
    if (!fresh) {
      if (!other)
        findings_.error(702, r.offset,
                        fmt::format("atom {} of residue {} {} is given twice, first in line {}",
                                    r.name, r.residue_name, r.number, text_.place(at->second).line),
                        "every atom of a residue needs a name of its own");
      continue;
    }
    if (!named || (!best.empty() && r.alternate == best && named->alternate.empty())) named = &r;
    out_.name.push_back(r.name);
    out_.element.push_back(r.element);
    out_.isotope_amu.push_back(r.isotope_amu);
    out_.residue.push_back(row);
    out_.x_nm.push_back(r.x_nm);
    serials_.push_back(r.serial);
  }
  out_.residues.push_back({named->residue_name, named->number, named->chain, named->segment});
  out_.chain.push_back(named->chain_index);
  out_.line.push_back(text_.place(residue_.front().offset).line);
  residue_.clear();
}

Structure StructureBuilder::finish() {
  flush();
  if (std::ranges::all_of(out_.isotope_amu, [](double m) { return m == 0; }))
    out_.isotope_amu.clear();
  if (n_alternate_ > 0)
    findings_.note(730, first_alternate_,
                   fmt::format("{} atoms are alternate locations and were left out: of each "
                               "residue the one with the greatest occupancy is taken",
                               n_alternate_));
  return std::move(out_);
}

}  // namespace tessera::molecular
