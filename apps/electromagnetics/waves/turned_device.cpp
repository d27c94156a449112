// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/turned_device.h"

#include "electromagnetics/waves/case.h"
#include "electromagnetics/waves/wires.h"
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/pixels.h"
#include "tessera/electromagnetics/time_domain.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Shares of a cell, and of what is on top of it, that are the same.
constexpr double kSameShare = 0.02;
/// Points along each piece of a wire.
constexpr int kPointsOfWire = 32;

/// To six digits.
double rounded(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(x))) - 6);
  return std::round(x / unit) * unit;
}

/// What a component sees of a medium.
std::vector<double> values_of(const em::Medium& m, int component) {
  const auto a = static_cast<std::size_t>(em::axis_of(component));
  if (!em::is_electric(component)) return {1, rounded(m.mu[a]), rounded(m.sigma_m[a])};
  std::vector<double> out{0, rounded(m.eps[a]), rounded(m.sigma[a]), m.chi2, m.chi3};
  for (const em::PoleResidue& p : m.poles)
    for (const double x : {p.a.real(), p.a.imag(), p.c.real(), p.c.imag(), p.second})
      out.push_back(rounded(x));
  return out;
}
std::vector<double> values_of(const em::Circuit& x) {
  return {2, rounded(x.resistance_ohm.value_or(0)), rounded(x.inductance_h.value_or(0)),
          rounded(x.capacitance_f.value_or(0)), x.parallel ? 1.0 : 0.0};
}

}  // namespace

TurnedDevice::TurnedDevice(const Case& c) : c_(c) {
  if (c.grid.cell_count() <= most_cells) find_media();
  find_parts();
}

int TurnedDevice::number_of(const std::vector<double>& values) {
  return numbers_.try_emplace(values, static_cast<int>(numbers_.size()) + 1).first->second;
}

bool TurnedDevice::joined(int axis) const {
  return c_.grid.resolved(axis) &&
         c_.faces[static_cast<std::size_t>(axis)].low == em::Boundary::periodic;
}
int TurnedDevice::places(int component, int axis) const {
  const bool last = c_.grid.resolved(axis) && !em::at_middle(component, axis) && !joined(axis);
  return c_.grid.cells(axis) + last;
}
std::size_t TurnedDevice::offset(const std::array<int, 3>& at, int component) const {
  return (static_cast<std::size_t>(at[2]) * static_cast<std::size_t>(places(component, 1)) +
          static_cast<std::size_t>(at[1])) *
             static_cast<std::size_t>(places(component, 0)) +
         static_cast<std::size_t>(at[0]);
}

/// The averages of shares by volume, of media whose permittivity is their number: an edge is of
/// metal where that is 0, of one medium where it is whole.
void TurnedDevice::find_media() {
  const em::Medium vacuum;
  const int vacuum_mu = number_of(values_of(vacuum, em::Hx));
  std::vector<em::Medium> numbered;
  bool magnetic = false;
  for (const em::Medium& m : c_.named_media()) {
    em::Medium& out = numbered.emplace_back();
    out.pec = m.pec;
    for (std::size_t a = 0; a < 3; ++a) {
      out.eps[a] = number_of(values_of(m, static_cast<int>(a)));
      // Vacuum has a permeability of 1.
      out.mu[a] = number_of(values_of(m, static_cast<int>(a) + 3)) - vacuum_mu + 1;
      magnetic = magnetic || out.mu[a] != 1;
    }
  }
  const em::Medium outside = numbered.front();
  const em::YeeModel model = em::yee_model(c_.grid, c_.faces, {}, c_.dt_s, Dtype::f64, c_.scene,
                                           em::with_blends(std::move(numbered), c_.scene),
                                           em::Averaging::volume, *c_.open);
  const std::array<bool, 6> active = computed(c_);
  for (int component = 0; component < (magnetic ? 6 : 3); ++component) {
    const auto u = static_cast<std::size_t>(component);
    if (!active[u]) continue;
    const auto a = static_cast<std::size_t>(em::axis_of(component));
    background_[u] =
        static_cast<float>(em::is_electric(component) ? outside.eps[a] : outside.mu[a]);
    if (outside.pec && em::is_electric(component)) background_[u] = 0;
    const int n0 = places(component, 0), n1 = places(component, 1), n2 = places(component, 2);
    std::vector<float>& media = media_[u];
    media.resize(static_cast<std::size_t>(n0) * static_cast<std::size_t>(n1) *
                 static_cast<std::size_t>(n2));
    parallel_chunks(n2, [&](std::int64_t chunk) {
      const int k = static_cast<int>(chunk);
      const auto n = static_cast<std::size_t>(c_.grid.cells(0)) + 1;
      for (int j = 0; j < n1; ++j) {
        em::MaterialRow row{std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}, {}};
        model.material(component, j, k, row);
        float* to = &media[offset({0, j, k}, component)];
        for (int i = 0; i < n0; ++i) {
          const double inverse = row.inverse[static_cast<std::size_t>(i)];
          to[i] = static_cast<float>(inverse == 0 ? 0 : 1 / inverse);
        }
        if (em::is_electric(component))
          for (const em::CutCellFraction& f : c_.open->row(component, j, k))
            if (f.edge.i < n0) to[f.edge.i] *= static_cast<float>(f.fraction);
      }
    });
  }
}

void TurnedDevice::find_parts() {
  const auto add = [&](const em::Edge& e, int what, double share) {
    std::array<int, 3> at{e.i, e.j, e.k};
    for (int d = 0; d < 3; ++d)
      if (at[static_cast<std::size_t>(d)] >= places(e.component, d))
        at[static_cast<std::size_t>(d)] = 0;  // of a joined axis
    parts_.push_back({{e.component, at[0], at[1], at[2], what}, share});
  };
  for (const em::AddedMedia* added : {&c_.sheets, &c_.surface_losses})
    for (const em::AddedMedia::Part& p : added->parts)
      add(p.edge,
          number_of(values_of(added->media[static_cast<std::size_t>(p.medium)], p.edge.component)),
          p.share);
  for (const em::PlacedElement& element : c_.elements) {
    const int what = number_of(values_of(element.circuit));
    for (const em::Edge& e : element.edges) add(e, what, 1);
  }
  std::sort(parts_.begin(), parts_.end());
  // What is there twice, by its sum.
  std::size_t n = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k)
    if (n > 0 && parts_[n - 1].at == parts_[k].at)
      parts_[n - 1].share += parts_[k].share;
    else
      parts_[n++] = parts_[k];
  parts_.resize(n);
}

template <class F>
bool TurnedDevice::any_near(const std::array<int, 3>& at, int component, F&& look) const {
  std::array<int, 3> to{};
  const auto along = [&](auto&& self, int axis) -> bool {
    if (axis == 3) return look(to);
    const auto u = static_cast<std::size_t>(axis);
    const int n = places(component, axis);
    for (const int step : {0, -1, 1}) {
      int x = at[u] + step;
      if (joined(axis)) x = (x + n) % n;
      if (x < 0 || x >= n) continue;
      to[u] = x;
      if (self(self, axis + 1)) return true;
    }
    return false;
  };
  return along(along, 0);
}

/// One medium is so a cell further on; of several the average lies between those there.
bool TurnedDevice::is_near(float value, const std::array<int, 3>& at, int component) const {
  const std::vector<float>& media = media_[static_cast<std::size_t>(component)];
  const bool one = std::abs(value - std::round(value)) < 1e-4F;
  bool below = false, above = false;
  return any_near(at, component, [&](const std::array<int, 3>& to) {
    const auto apart = static_cast<double>(media[offset(to, component)] - value);
    if (std::abs(apart) <= kSameShare) return true;
    (apart < 0 ? below : above) = true;
    return !one && below && above;
  });
}

TurnedDevice::Counts TurnedDevice::compare_plane(const GridTurn& l, int component, int k) const {
  const int to = l.component_of(component);
  const std::vector<float>&own = media_[static_cast<std::size_t>(component)],
        &other = media_[static_cast<std::size_t>(to)];
  const bool outside_alike =
      background_[static_cast<std::size_t>(component)] == background_[static_cast<std::size_t>(to)];
  const auto table = [&](int d, int at) {
    return l.place_of(c_.grid, static_cast<std::size_t>(d), em::at_middle(component, d), at);
  };
  std::array<int, 3> place{};
  Counts out;
  place[l.axis[2]] = table(2, k);
  if (place[l.axis[2]] < 0) return out;
  std::vector<int> of_i;
  for (int i = 0; i < places(component, 0); ++i) of_i.push_back(table(0, i));
  for (int j = 0; j < places(component, 1); ++j) {
    place[l.axis[1]] = table(1, j);
    if (place[l.axis[1]] < 0) continue;
    place[l.axis[0]] = 0;
    const std::size_t begin = offset(place, to);
    place[l.axis[0]] = 1;
    const std::size_t stride = offset(place, to) - begin;
    const float* row = &own[offset({0, j, k}, component)];
    for (std::size_t i = 0; i < of_i.size(); ++i) {
      if (of_i[i] < 0) continue;
      const float a = row[i], b = other[begin + stride * static_cast<std::size_t>(of_i[i])];
      if (a == b && outside_alike && a == background_[static_cast<std::size_t>(component)])
        continue;
      ++out.seen;
      if (std::abs(static_cast<double>(a - b)) <= kSameShare) continue;
      ++out.other;
      place[l.axis[0]] = of_i[i];
      out.beyond += !is_near(a, place, to);
    }
  }
  return out;
}

TurnedDevice::Counts TurnedDevice::compare_parts(const GridTurn& l) const {
  Counts out;
  for (const Part& p : parts_) {
    const auto [component, i, j, k, what] = p.at;
    const std::optional<em::Edge> e =
        l.of(c_.grid, {static_cast<std::uint8_t>(component), i, j, k});
    if (!e) continue;
    const int to = e->component, kind = what;
    const auto share = [&](const std::array<int, 3>& at) {
      const Part wanted{{to, at[0], at[1], at[2], kind}, 0};
      const auto found = std::lower_bound(parts_.begin(), parts_.end(), wanted);
      return found != parts_.end() && found->at == wanted.at ? found->share : 0;
    };
    ++out.seen;
    const std::array<int, 3> at{e->i, e->j, e->k};
    if (std::abs(share(at) - p.share) <= kSameShare * std::abs(p.share)) continue;
    ++out.other;
    out.beyond +=
        !any_near(at, to, [&](const std::array<int, 3>& near) { return share(near) != 0; });
  }
  return out;
}

/// Layers go on for ever; walls and mirrors stand where they stand.
bool TurnedDevice::same_walls(const GridTurn& l) const {
  const BoundaryOptions& b = c_.options.boundary;
  const auto kind = [&](std::size_t axis, bool high) {
    const int d = static_cast<int>(axis);
    const Face face = high ? b.high(d) : b.low(d);
    return std::pair(face == Face::absorber ? Face::pml : face, b.is_symmetry(d, high));
  };
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t t = l.axis[d];
    if (!c_.grid.resolved(static_cast<int>(d)) || l.period[t] > 0) continue;
    for (const bool high : {false, true}) {
      const bool there = l.sign[d] < 0 ? !high : high;
      if (kind(d, high) != kind(t, there)) return false;
      if (kind(d, high).first == Face::pml) continue;
      const double from = high ? c_.grid.lines[d].back() : c_.grid.lines[d].front(),
                   to = there ? c_.grid.lines[t].back() : c_.grid.lines[t].front();
      if (std::abs(l.sign[d] * from + l.shift[t] - to) > half_smallest_cell(c_.grid)) return false;
    }
  }
  return true;
}

bool TurnedDevice::same_wires(const GridTurn& l) const {
  const double near = half_smallest_cell(c_.grid);
  const auto inside = [&](const Point& r) {
    for (std::size_t d = 0; d < 3; ++d)
      if (r[d] < c_.grid.lines[d].front() - near || r[d] > c_.grid.lines[d].back() + near)
        return false;
    return true;
  };
  for (const WireOptions& w : c_.options.wires) {
    std::vector<em::ThinWire> alike;
    for (const WireOptions& x : c_.options.wires)
      if (std::abs(x.radius - w.radius) <= 1e-3 * w.radius) alike.push_back({x.points, x.radius});
    for (std::size_t p = 0; p + 1 < w.points.size(); ++p)
      for (int k = 0; k <= kPointsOfWire; ++k) {
        Point r{};
        for (std::size_t d = 0; d < 3; ++d)
          r[d] = w.points[p][d] + (w.points[p + 1][d] - w.points[p][d]) * k / kPointsOfWire;
        if (const Point to = l.of(r);
            inside(r) && inside(to) && em::place_on_wires(alike, to).distance_m > near)
          return false;
      }
  }
  if (!c_.wires) return true;
  const auto differ = [](double a, double b) { return std::abs(a - b) > 1e-6 * std::abs(a); };
  const auto& all = c_.wires->elements;
  return std::all_of(all.begin(), all.end(), [&](const em::WireNetwork::Element& e) {
    const Point to = l.of(e.values.position);
    return std::any_of(all.begin(), all.end(), [&](const em::WireNetwork::Element& x) {
      double way = 0;
      for (std::size_t d = 0; d < 3; ++d)
        way = std::max(way, l.apart(d, to[d], x.values.position[d]));
      return way <= near && !differ(e.values.resistance_ohm, x.values.resistance_ohm) &&
             !differ(e.values.inductance_h, x.values.inductance_h) &&
             !differ(e.values.capacitance_f.value_or(0), x.values.capacitance_f.value_or(0));
    });
  });
}

Unlike TurnedDevice::unlike(const GridTurn& l) const {
  Counts all = compare_parts(l);
  for (int component = 0; component < 6; ++component) {
    if (media_[static_cast<std::size_t>(component)].empty()) continue;
    std::vector<Counts> planes(static_cast<std::size_t>(places(component, 2)));
    parallel_chunks(places(component, 2), [&](std::int64_t k) {
      planes[static_cast<std::size_t>(k)] = compare_plane(l, component, static_cast<int>(k));
    });
    for (const Counts& x : planes) all.seen += x.seen, all.other += x.other, all.beyond += x.beyond;
  }
  return {all.seen == 0 ? 0 : static_cast<double>(all.other) / static_cast<double>(all.seen),
          all.beyond > 0 || !same_walls(l) || !same_wires(l), c_.grid.cell_count() <= most_cells};
}

}  // namespace tessera::apps::waves
