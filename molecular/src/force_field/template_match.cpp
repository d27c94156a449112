// SPDX-License-Identifier: Apache-2.0
//
// Graphs of residues are small and tell atoms apart well: a search along bonds with backtracking
// finds the isomorphism at once.
#include "force_field/template_match.h"

#include "tessera/autodiff/error.h"
#include "tessera/molecular/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tessera::molecular {
namespace {

class Search {
 public:
  Search(const ResidueGraph& a, const ResidueGraph& b)
      : a_(a), b_(b), image_(a.size(), -1), taken_(b.size(), false) {
    // Atoms along bonds, so that all but the first of a piece have a neighbour whose image is
    // known.
    std::vector<bool> seen(a.size(), false);
    for (std::size_t root = 0; root < a.size(); ++root) {
      if (seen[root]) continue;
      seen[root] = true;
      order_.push_back({static_cast<std::int32_t>(root), -1});
      for (std::size_t at = order_.size() - 1; at < order_.size(); ++at)
        for (const std::int32_t n : a.near[static_cast<std::size_t>(order_[at].atom)])
          if (!seen[static_cast<std::size_t>(n)]) {
            seen[static_cast<std::size_t>(n)] = true;
            order_.push_back({n, order_[at].atom});
          }
    }
  }
  bool run() { return place(0); }
  const std::vector<std::int32_t>& image() const { return image_; }

 private:
  struct Step {
    std::int32_t atom, from;
  };
  bool fits(std::size_t i, std::size_t j) const {
    if (taken_[j] || a_.element[i] != b_.element[j] || a_.external[i] != b_.external[j] ||
        a_.near[i].size() != b_.near[j].size())
      return false;
    if (a_.element[i] == 0 && a_.name[i] != b_.name[j]) return false;
    return std::ranges::all_of(a_.near[i], [&](std::int32_t n) {
      const std::int32_t to = image_[static_cast<std::size_t>(n)];
      return to < 0 || std::ranges::binary_search(b_.near[j], to);
    });
  }
  [[noreturn]] static void give_up() {
    throw Error(
        "[isomorphism] a residue and a template are too much alike within themselves to be "
        "compared");
  }
  bool try_pair(std::size_t k, std::size_t i, std::size_t j) {
    if (++tries_ > 1000000) give_up();
    if (!fits(i, j)) return false;
    image_[i] = static_cast<std::int32_t>(j);
    taken_[j] = true;
    if (place(k + 1)) return true;
    image_[i] = -1;
    taken_[j] = false;
    return false;
  }
  bool place(std::size_t k) {
    if (k == order_.size()) return true;
    const auto i = static_cast<std::size_t>(order_[k].atom);
    std::vector<std::int32_t> candidates;
    if (order_[k].from >= 0)
      candidates =
          b_.near[static_cast<std::size_t>(image_[static_cast<std::size_t>(order_[k].from)])];
    else {
      candidates.resize(b_.size());
      std::iota(candidates.begin(), candidates.end(), 0);
    }
    if ((looked_at_ += candidates.size()) > 50'000'000) give_up();
    for (const bool same_name : {true, false})
      for (const std::int32_t j : candidates)
        if ((b_.name[static_cast<std::size_t>(j)] == a_.name[i]) == same_name &&
            try_pair(k, i, static_cast<std::size_t>(j)))
          return true;
    return false;
  }
  const ResidueGraph &a_, &b_;
  std::vector<Step> order_;
  std::vector<std::int32_t> image_;
  std::vector<bool> taken_;
  std::size_t tries_ = 0, looked_at_ = 0;
};

std::string formula(const std::map<std::uint8_t, int>& count) {
  std::string out;
  for (const auto& [z, n] : count)
    out += (out.empty() ? "" : ", ") + std::to_string(n) + " " +
           (z ? std::string(symbol_of(z)) : "site");
  return out;
}

}  // namespace

std::vector<std::vector<std::int32_t>> neighbours(const Structure& s) {
  std::vector<std::vector<std::int32_t>> out(s.n_atoms());
  for (const auto& [i, j] : s.bonds) {
    out[static_cast<std::size_t>(i)].push_back(j);
    out[static_cast<std::size_t>(j)].push_back(i);
  }
  for (auto& n : out) {
    std::ranges::sort(n);
    n.erase(std::unique(n.begin(), n.end()), n.end());
  }
  return out;
}

ResidueGraph graph_of(const Structure& s, std::size_t first, std::size_t last,
                      const std::vector<std::vector<std::int32_t>>& bonded) {
  ResidueGraph g;
  for (std::size_t i = first; i < last; ++i) {
    g.name.push_back(s.name[i]);
    g.element.push_back(s.element[i]);
    g.near.emplace_back();
    g.external.push_back(0);
    for (const std::int32_t n : bonded[i]) {
      const auto j = static_cast<std::size_t>(n);
      if (j >= first && j < last)
        g.near.back().push_back(static_cast<std::int32_t>(j - first));
      else
        ++g.external.back();
    }
  }
  return g;
}

ResidueGraph graph_of(const ForceField& ff, const ForceField::Template& t, bool sites,
                      std::vector<std::int32_t>* rows) {
  ResidueGraph g;
  std::vector<std::int32_t> row(t.atoms.size(), -1);
  for (std::size_t k = 0; k < t.atoms.size(); ++k) {
    const std::uint8_t z = ff.types[static_cast<std::size_t>(t.atoms[k].type)].element;
    if (z == 0 && !sites) continue;
    row[k] = static_cast<std::int32_t>(g.size());
    g.name.push_back(t.atoms[k].name);
    g.element.push_back(z);
    if (rows) rows->push_back(static_cast<std::int32_t>(k));
  }
  g.near.resize(g.size());
  g.external.assign(g.size(), 0);
  for (const auto& [i, j] : t.bonds) {
    const std::int32_t a = row[static_cast<std::size_t>(i)], b = row[static_cast<std::size_t>(j)];
    if (a < 0 || b < 0) continue;
    g.near[static_cast<std::size_t>(a)].push_back(b);
    g.near[static_cast<std::size_t>(b)].push_back(a);
  }
  for (auto& n : g.near) std::ranges::sort(n);
  for (const std::int32_t i : t.external)
    if (const std::int32_t a = row[static_cast<std::size_t>(i)]; a >= 0)
      ++g.external[static_cast<std::size_t>(a)];
  return g;
}

ResidueGraph heavy_graph(const ResidueGraph& g, std::vector<std::int32_t>& rows) {
  std::vector<std::int32_t> row(g.size(), -1);
  ResidueGraph out;
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (g.element[i] <= 1) continue;
    row[i] = static_cast<std::int32_t>(out.size());
    rows.push_back(static_cast<std::int32_t>(i));
    out.name.push_back(g.name[i]);
    out.element.push_back(g.element[i]);
    out.external.push_back(g.external[i]);
    out.near.emplace_back();
  }
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (const std::int32_t n : g.near[static_cast<std::size_t>(rows[k])])
      if (row[static_cast<std::size_t>(n)] >= 0)
        out.near[k].push_back(row[static_cast<std::size_t>(n)]);
  return out;
}

std::string composition(const ResidueGraph& g) {
  std::string out(g.element.begin(), g.element.end());
  std::ranges::sort(out);
  return out;
}

std::vector<std::int32_t> isomorphism(const ResidueGraph& a, const ResidueGraph& b) {
  if (a.size() != b.size()) return {};
  Search search(a, b);
  return search.run() ? search.image() : std::vector<std::int32_t>{};
}

const ForceField::Template* ForceField::find_template(const std::string& name) const {
  const auto at = std::ranges::find(templates, name, &Template::name);
  return at == templates.end() ? nullptr : &*at;
}

TemplateMatcher::TemplateMatcher(const ForceField& ff, const Structure& s)
    : ff_(ff), s_(s), bonded_(neighbours(s)) {
  for (std::size_t k = 0; k < ff.templates.size(); ++k)
    for (const bool sites : {true, false}) {
      Known known;
      known.graph = graph_of(ff, ff.templates[k], sites, &known.rows);
      (sites ? by_composition_ : by_bare_composition_)[composition(known.graph)].push_back(
          static_cast<std::int32_t>(k));
      (sites ? whole_ : bare_).push_back(std::move(known));
    }
}

bool TemplateMatcher::alike(const ForceField::Template& a, const std::vector<std::int32_t>& atoms_a,
                            const ForceField::Template& b,
                            const std::vector<std::int32_t>& atoms_b) const {
  for (std::size_t i = 0; i < atoms_a.size(); ++i) {
    const auto &x = a.atoms[static_cast<std::size_t>(atoms_a[i])],
               &y = b.atoms[static_cast<std::size_t>(atoms_b[i])];
    if (x.type != y.type || x.charge_e != y.charge_e) return false;
  }
  return true;
}

TemplateMatcher::Match TemplateMatcher::match(std::size_t first, std::size_t last,
                                              bool sites) const {
  const ResidueGraph g = graph_of(s_, first, last, bonded_);
  const auto& table = sites ? by_composition_ : by_bare_composition_;
  const auto candidates = table.find(composition(g));
  Match best;
  if (candidates == table.end()) return best;
  const std::string& name = s_.residues[static_cast<std::size_t>(s_.residue[first])].name;
  // The residue's name, or that of what was patched, decides where several match; else the first of
  // those that are alike.
  int best_rank = 3;
  for (const std::int32_t k : candidates->second) {
    const Known& known = (sites ? whole_ : bare_)[static_cast<std::size_t>(k)];
    const ForceField::Template& t = ff_.templates[static_cast<std::size_t>(k)];
    const int rank = t.name == name ? 0 : t.base == name ? 1 : 2;
    if (rank > best_rank) continue;
    std::vector<std::int32_t> image;
    try {
      image = isomorphism(g, known.graph);
    } catch (const Error& e) {
      const auto row = static_cast<std::size_t>(s_.residue[first]);
      throw data::InputError(data::Diagnostic{
          .number = 731,
          .place = {s_.source.empty() ? "structure" : s_.source,
                    row < s_.line.size() ? s_.line[row] : 0,
                    0,
                    {}},
          .message = fmt::format("residue {} {} and template {}: {}", name, s_.residues[row].number,
                                 t.name, e.what()),
          .hint = "give its bonds by CONECT records, or make several residues of it"});
    }
    if (image.empty()) continue;
    for (std::int32_t& a : image) a = known.rows[static_cast<std::size_t>(a)];
    if (rank == 0) return {k, std::move(image), {}};
    if (rank < best_rank)
      best = {k, std::move(image), {}};
    else if (!alike(ff_.templates[static_cast<std::size_t>(best.of)], best.atom, t, image))
      best.rivals.push_back(k);
    best_rank = rank;
  }
  return best;
}

std::string TemplateMatcher::explain(std::size_t first, std::size_t last) const {
  const ResidueGraph g = graph_of(s_, first, last, bonded_);
  const std::string& name = s_.residues[static_cast<std::size_t>(s_.residue[first])].name;
  std::size_t best = whole_.size(), best_score = 0;
  for (std::size_t k = 0; k < whole_.size(); ++k) {
    std::map<std::uint8_t, int> surplus;
    for (const std::uint8_t z : g.element) ++surplus[z];
    for (const std::uint8_t z : whole_[k].graph.element) --surplus[z];
    std::size_t score = 0;
    for (const auto& [z, n] : surplus)
      score += static_cast<std::size_t>(std::abs(n)) * (z > 1 ? 10 : 1);
    score = 4 * score + (ff_.templates[k].name == name                           ? 0
                         : ff_.templates[k].name.find(name) != std::string::npos ? 1
                                                                                 : 3);
    if (best == whole_.size() || score < best_score) best = k, best_score = score;
  }
  if (best == whole_.size()) return "the force field has no templates";
  const ForceField::Template& t = ff_.templates[best];
  std::map<std::uint8_t, int> lacks, excess;
  for (const std::uint8_t z : g.element) ++excess[z];
  for (const std::uint8_t z : whole_[best].graph.element) {
    if (--excess[z] < 0) ++lacks[z], ++excess[z];
  }
  std::erase_if(excess, [](const auto& e) { return e.second == 0; });
  std::string out = fmt::format("the nearest template, {}, has", t.name);
  if (!lacks.empty()) out += fmt::format(" {} more than the residue", formula(lacks));
  if (!excess.empty())
    out +=
        fmt::format("{} {} fewer than the residue", lacks.empty() ? "" : " and", formula(excess));
  if (lacks.empty() && excess.empty()) {
    const auto total = [](const auto& of) {
      return std::accumulate(of.begin(), of.end(), std::size_t{0},
                             [](std::size_t sum, const auto& n) { return sum + n.size(); }) /
             2;
    };
    const int ours = std::accumulate(g.external.begin(), g.external.end(), 0),
              theirs = static_cast<int>(t.external.size());
    out += fmt::format(
        " the same atoms, but {} bonds within and {} to other residues where the residue has {} "
        "and {}",
        t.bonds.size(), theirs, total(g.near), ours);
  }
  return out;
}

}  // namespace tessera::molecular
