// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/case.h"

#include "electromagnetics/waves/auto_grid.h"
#include "electromagnetics/waves/beam_plane.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/domain.h"
#include "electromagnetics/waves/exterior.h"
#include "electromagnetics/waves/loads.h"
#include "electromagnetics/waves/sheets.h"
#include "electromagnetics/waves/wires.h"
#include "tessera/electromagnetics/pixels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

void check_scene(Case& c, const data::Config& config) {
  const em::Bounds domain{
      {c.grid.lines[0].front(), c.grid.lines[1].front(), c.grid.lines[2].front()},
      {c.grid.lines[0].back(), c.grid.lines[1].back(), c.grid.lines[2].back()}};
  // Of a cell that is not resolved its middle is seen, which a body that ends there holds with its
  // low face and not with its high one.
  em::Bounds seen = domain;
  for (int d = 0; d < 3; ++d)
    if (const auto u = static_cast<std::size_t>(d); !c.grid.resolved(d))
      seen.low[u] = seen.high[u] = c.grid.middle(d, 0) + 1e-9 * c.grid.length(d, 0);
  const std::vector<std::size_t> key = structures_seen(c.options);
  std::vector<data::Diagnostic> errors;
  for (const std::size_t s : em::structures_outside(c.scene, seen))
    errors.push_back(config.error(644, structure_key(c.options, key[s]),
                                  "the structure lies outside of the domain",
                                  "move it, or enlarge grid.size"));
  if (!errors.empty()) refuse(std::move(errors));
  for (const em::Overlap& o : em::overlaps(c.scene, domain))
    c.warnings.push_back(warning(config, 645, structure_key(c.options, key[o.second]),
                                 em::describe(o, c.scene), "give one of them a priority"));
}

void open_conductors(Case& c, const data::Config& config) {
  try {
    c.open = make_open(c);
  } catch (const em::WireFault& e) {
    refuse_wire(c, config, wires_on_lines(c).numbers[e.wire], e);
  }
  const std::vector<std::size_t> key = structures_seen(c.options);
  for (const em::ThinMetal& t : c.open->thin_metal) {
    const bool body = t.structure != em::ThinMetal::background;
    const std::string name = body ? c.scene.structures[t.structure].name : "";
    std::string text = body ? fmt::format("metal{} that is thinner than a cell",
                                          name.empty() ? "" : " of '" + name + "'")
                            : "metal of the background that is thinner than a cell";
    if (t.moved > 0)
      text +=
          fmt::format(" is put on the nearest line of the grid, up to {:.3g} m away", t.shift_m);
    if (t.closed > 0)
      text += fmt::format("{} {} faces of the grid, which are taken as metal",
                          t.moved > 0 ? ", and fills" : " fills", t.closed);
    if (t.unseen)
      text +=
          fmt::format(" has no effect{}: no edge of the grid runs through it, or near its length",
                      t.by_area ? " but by the area that it takes of H" : "");
    c.warnings.push_back(
        warning(config, 656, body ? structure_key(c.options, key[t.structure]) : "grid.background",
                text, "use smaller cells there, or put a line of the grid on it"));
  }
}

bool is_left_out(const Case& c, const std::string& body) {
  const std::vector<std::string>& without = c.options.reference->without;
  return std::find(without.begin(), without.end(), body) != without.end();
}

/// Where ports, loads and sources of modes and beams are as the case's bodies make them there.
struct OfBodies {
  std::string name;
  Point position{};
  std::optional<Point> size{};
  int axis = -1;  ///< without a size: of its plane
};

std::vector<OfBodies> made_of_bodies(const Case& c) {
  std::vector<OfBodies> out;
  const CaseOptions& o = c.options;
  for (const PortOptions& p : o.ports)
    out.push_back({fmt::format("the port '{}'", p.name), p.position, p.size,
                   p.size ? -1 : static_cast<int>(port_axis(p))});
  for (std::size_t k = 0; k < o.loads.size(); ++k)
    out.push_back({fmt::format("load[{}]", k), o.loads[k].position, o.loads[k].size});
  for (std::size_t k = 0; k < o.sources.size(); ++k) {
    const SourceOptions& s = o.sources[k];
    const std::string name = fmt::format("source[{}]", k);
    if (s.kind == SourceKind::beam) out.push_back({name, start_of_beam(c, s).middle, Point{}});
    if (s.kind != SourceKind::mode) continue;
    const auto along =
        std::find_if(s.direction.begin(), s.direction.end(), [](double x) { return x != 0; });
    out.push_back({name, *s.position, s.size, static_cast<int>(along - s.direction.begin())});
  }
  return out;
}

/// They are the same in the reference, which leaves nothing out where they are, nor two cells
/// beside it.
void check_places_of_reference(const Case& c, const data::Config& config) {
  if (!c.options.reference) return;
  const auto touches = [&](const OfBodies& one, const em::Bounds& body) {
    for (std::size_t d = 0; d < 3; ++d) {
      const int axis = static_cast<int>(d);
      if (!c.grid.resolved(axis)) continue;
      double cell = 0;
      for (int i = 0; i < c.grid.cells(axis); ++i) cell = std::max(cell, c.grid.length(axis, i));
      const double half = one.size ? (*one.size)[d] / 2 : HUGE_VAL, beside = 2.5 * cell,
                   reach = !one.size && axis == one.axis ? beside : half + beside;
      if (body.low[d] > one.position[d] + reach || body.high[d] < one.position[d] - reach)
        return false;
    }
    return true;
  };
  for (const OfBodies& one : made_of_bodies(c)) {
    const auto check = [&](const std::string& body, const em::Bounds& bounds) {
      if (is_left_out(c, body) && touches(one, bounds))
        refuse({config.error(642, "reference.without",
                             fmt::format("'{}' has a part in {}, which the reference has, too, or "
                                         "within two cells of it",
                                         body, one.name),
                             "leave it in; name bodies that lie between ports and sources")});
    };
    for (const em::Structure& s : c.scene.structures) check(s.name, s.shape.bounds());
    for (const SheetOptions& s : c.options.sheets) check(s.name, bounds_of_sheet(c, s));
  }
}

Case checked_case(CaseOptions options, const data::Config& config) {
  Case c;
  c.options = std::move(options);
  read_densities(c.options, config);
  read_drawings(c.options, config);
  c.media = make_media(c.options, config, c);
  c.sheet_media = make_sheet_media(c.options, config, c);
  const std::array<double, 2> band = band_of(c.options);
  c.frequency_min = band[0], c.frequency_max = band[1];
  try {
    c.scene = make_scene(c.options, c.media);
  } catch (const StructureFault& e) {
    refuse({config.error(626, structure_key(c.options, e.structure), e.what(),
                         "see `tessera explain structure`")});
  }
  make_automatic_lines(c, config);
  make_grid(c, config);
  check_cells_fit(c, config);
  check_scene(c, config);
  put_lines_on_sheets(c, config);
  tell_drawings(c, config);
  choose_time_step(c, config);
  c.media = em::with_blends(std::move(c.media), c.scene);
  c.stepped = em::with_blends(std::move(c.stepped), c.scene);
  open_conductors(c, config);
  make_sheets(c, config);
  make_surface_losses(c, config);
  make_loads(c, config);
  make_wire_network(c, config);
  make_sources(c, config);
  make_ports(c, config);
  check_places_of_reference(c, config);
  check_memory(c, config);
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m)
    if (const MonitorOptions& o = c.options.monitors[m];
        o.kind == MonitorKind::resonances && !o.derivatives.empty())
      c.shape_derivatives[o.name] =
          shape_derivatives_of(c, o, fmt::format("monitor[{}].derivatives", m), config);
  c.derivatives = case_derivatives_of(c, config);
  if (c.derivatives) check_moved_likenesses(c, config);
  check_exteriors(c, config);
  find_doubts(c, config);
  return c;
}

}  // namespace

data::Diagnostic warning(const data::Config& config, int number, const std::string& key,
                         std::string message, std::string hint) {
  data::Diagnostic d = config.error(number, key, std::move(message), std::move(hint));
  d.severity = data::Severity::warning;
  return d;
}

void refuse(std::vector<data::Diagnostic> findings) {
  throw data::InputError(data::ExitCode::config_invalid, std::move(findings));
}

std::vector<std::size_t> structures_seen(const CaseOptions& o) {
  std::vector<std::size_t> key;
  for (std::size_t s = 0; s < o.structures.size(); ++s)
    if (o.structures[s].material) key.push_back(s);
  return key;
}

Case make_case(CaseOptions options, const data::Config& config) {
  try {
    return checked_case(std::move(options), config);
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {  // of the libraries that make its parts
    refuse({config.error(642, {}, e.what(), "the message says what is expected")});
  }
}

Case reference_of(const Case& c, const data::Config& config) {
  Case out = c;
  const auto left_out = [&](const auto& body) { return is_left_out(c, body.name); };
  std::erase_if(out.scene.structures, left_out);
  std::erase_if(out.options.structures, left_out);
  for (std::size_t k = out.options.sheets.size(); k-- > 0;)
    if (left_out(out.options.sheets[k])) {
      out.options.sheets.erase(out.options.sheets.begin() + static_cast<std::ptrdiff_t>(k));
      out.sheet_media.erase(out.sheet_media.begin() + static_cast<std::ptrdiff_t>(k));
    }
  out.options.monitors.clear();
  for (const MonitorOptions& m : c.options.monitors) {
    if (!is_in_reference(c.options, m)) continue;
    MonitorOptions& own = out.options.monitors.emplace_back(m);
    own.subtract_reference = false;
    own.relative_to.reset();
  }
  out.options.reference.reset();
  out.warnings.clear();
  out.open = make_open(out);
  out.sheets = make_sheet_edges(out);
  place_surface_losses(out);
  out.wires.reset();
  make_wire_network(out, config);
  return out;
}

std::shared_ptr<const em::CutCellFractions> make_open(const Case& c) {
  const Wires wires = wires_on_lines(c);
  const std::vector<em::Edge> taken = edges_of_elements(c);
  return std::make_shared<em::CutCellFractions>(
      em::cut_cell_fractions(em::SceneOrder(c.scene), c.stepped, c.grid, c.faces, c.dt_s,
                             {.conformal = c.options.grid.conductors == ConductorChoice::conformal,
                              .wires = wires.wires,
                              .taken = taken,
                              .stepped = computed(c),
                              .symmetry = symmetry_of(c)}));
}

double middle_of_band(const Case& c) { return (c.frequency_min + c.frequency_max) / 2; }

/// What layers are laid out for: Re n in the middle of the band. Where nothing travels, as in a
/// metal, a wave of vacuum.
double index_of_background(const Case& c) {
  const em::Medium& m = c.media.front();
  if (m.pec) return 1;
  const double f = middle_of_band(c);
  const bool constant = !em::disperses(m) && m.sigma[0] == 0 && m.sigma_m[0] == 0;
  if (constant || !(f > 0)) return std::sqrt(m.eps[0] * m.mu[0]);
  return std::max(1.0, std::abs(em::refractive_index(m, 0, em::beside_pole(m, f)).real()));
}

std::array<em::AbsorbingFaces, 3> absorbers_of(const Case& c) {
  const BoundaryOptions& b = c.options.boundary;
  std::array<em::AbsorbingFaces, 3> out;
  for (int d = 0; d < 3; ++d)
    out[static_cast<std::size_t>(d)] = {b.low(d) == Face::absorber, b.high(d) == Face::absorber};
  return out;
}

em::YeeModel make_model(const Case& c, const em::Slab& slab) {
  const BoundaryOptions& boundary = c.options.boundary;
  em::Absorber absorber = boundary.absorber;
  absorber.index = index_of_background(c);
  absorber.frequency_hz = middle_of_band(c);
  em::Pml pml = boundary.pml;
  pml.index = boundary.pml.medium_index.value_or(absorber.index);
  em::YeeModel m =
      em::yee_model(c.grid, c.faces, pml, c.dt_s,
                    c.options.run.precision == Precision::f32 ? Dtype::f32 : Dtype::f64, c.scene,
                    c.stepped, c.options.grid.averaging, *c.open, slab, c.laminates);
  m.bloch_phase = bloch_phase(c);
  em::add_media(m, c.sheets);
  em::add_media(m, c.surface_losses);
  m.material = em::with_absorber(std::move(m.material), c.grid, absorbers_of(c), absorber, c.dt_s);
  m.active = computed(c);
  em::add_elements(m, c.elements);
  m.wires = c.wires;
  return m;
}

int layer_cells(const Case& c, int axis, bool high) {
  return c.grid.resolved(axis) ? c.options.boundary.layer_cells(axis, high) : 0;
}

std::array<double, 3> bloch_phase(const Case& c) {
  std::array<double, 3> phase{};
  for (std::size_t d = 0; d < 3; ++d)
    phase[d] = c.bloch_k[d] * (c.grid.lines[d].back() - c.grid.lines[d].front());
  return phase;
}

std::array<bool, 6> computed(const Case& c) {
  if (!c.grid.resolved(1))
    return {false, true, true, false, true, true};  // along x alone nothing makes Ex and Hx
  const Polarization p =
      c.grid.resolved(1) && !c.grid.resolved(2) ? c.options.grid.polarization : Polarization::both;
  const bool ez = p != Polarization::Hz, hz = p != Polarization::Ez;
  return {hz, hz, ez, ez, ez, hz};
}

std::vector<int> computed_components(const Case& c, const MonitorOptions& o) {
  std::vector<int> out;
  if (!o.components.empty()) {
    for (const Component x : o.components) out.push_back(static_cast<int>(x));
    return out;
  }
  const std::array<bool, 6> all = computed(c);
  for (int x = 0; x < 6; ++x)
    if (all[static_cast<std::size_t>(x)]) out.push_back(x);
  return out;
}

MonitorBox box_of(const Case& c, const MonitorOptions& o) {
  const bool whole = !o.size && (o.kind == MonitorKind::energy || o.kind == MonitorKind::snapshot);
  MonitorBox box{.size = o.size.value_or(Point{})};
  for (std::size_t d = 0; d < 3; ++d) {
    const double low = c.grid.lines[d].front(), high = c.grid.lines[d].back();
    box.middle[d] = o.position ? (*o.position)[d] : (low + high) / 2;
    if (whole) box.size[d] = 2 * (high - low);
  }
  return box;
}

}  // namespace tessera::apps::waves
