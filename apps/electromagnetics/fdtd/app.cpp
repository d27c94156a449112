// SPDX-License-Identifier: Apache-2.0
// The app electromagnetics.fdtd: a scene with sources and monitors goes in; fields, spectra, far
// fields, resonances come out.
#include "electromagnetics/fdtd/mesh.h"
#include "electromagnetics/fdtd/pictures.h"
#include "electromagnetics/fdtd/results.h"
#include "electromagnetics/fdtd/ring_case.h"
#include "electromagnetics/fdtd/run.h"
#include "electromagnetics/fdtd/touchstone.h"
#include "electromagnetics/waves/auto_grid.h"
#include "electromagnetics/waves/pictures.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/run.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/figures.h"
#include "tessera/electromagnetics/grid_cut.h"
#include "tessera/electromagnetics/preview.h"
#include "tessera/parallel/part_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <memory>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// A medium as waves in the middle of the band see it.
std::string medium_line(const em::Medium& m, const Case& c) {
  if (m.pec) return fmt::format("medium {}: perfect conductor", m.name);
  const double f = middle_of_band(c);
  std::string eps = fmt::format("{:.4g}", m.eps[0]);
  if (em::disperses(m) && f > 0) {
    const std::complex<double> at = em::shown_permittivity(m, 0, f), n = std::sqrt(at);
    const em::ReadableUnit in = em::readable_unit({f}, "Hz");
    const std::string k = n.imag() == 0 ? "" : fmt::format(", k {:.4g}", std::abs(n.imag()));
    eps = fmt::format("{:.4g} (n {:.4g}{}) at {:.4g} {}, {} at infinite frequency", at.real(),
                      n.real(), k, f * in.factor, in.unit, eps);
  } else if (em::disperses(m)) {
    eps += " at infinite frequency";
  }
  return fmt::format("medium {}: eps {}, {} poles, sigma {:.4g} S/m", m.name, eps, m.poles.size(),
                     m.sigma[0]);
}

/// Where ports lie on the grid, their modes, and the runs that they make.
void add_port_lines(const Case& c, std::vector<std::string>& lines) {
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    const PortOptions& o = c.options.ports[p];
    if (o.kind == PortKind::lumped) {
      if (c.ports[p].lumped.on_wire) {
        lines.push_back(fmt::format("port {}: on a wire between lines of the grid, {:.6g} ohm",
                                    o.name, *o.circuit.resistance));
        continue;
      }
      const em::PlacedElement& e = c.elements[c.ports[p].lumped.element];
      lines.push_back(fmt::format("port {}: {} edges along {} over {:.6g} m, {:.6g} ohm", o.name,
                                  e.edges.size(), "xyz"[port_axis(o)], e.length_m,
                                  *o.circuit.resistance));
      continue;
    }
    const ModePort& port = c.ports[p].mode;
    const auto axis = static_cast<std::size_t>(port.plane.axis);
    std::string text =
        fmt::format("port {}: the plane {} = {:.6g} m", o.name, "xyz"[axis], port.position);
    if (const double moved = port.position - o.position[axis];
        std::abs(moved) > 1e-6 * em::reference_length(c.grid))
      text += fmt::format(", the nearest line, {:.3g} m from its position", moved);
    // From the middle on the first frequency at which all travel.
    std::size_t at = port.band.at.size() / 2;
    const auto decays = [](const em::GridMode& m) {
      return std::abs(m.beta.imag()) >= std::abs(m.beta.real());
    };
    while (at + 1 < port.band.at.size() &&
           std::any_of(port.band.at[at].modes.begin(), port.band.at[at].modes.end(), decays))
      ++at;
    for (const em::GridMode& mode : port.band.at[at].modes)
      text += fmt::format("{} {:.6g}", &mode == port.band.at[at].modes.data() ? "; index" : ",",
                          mode.index.real());
    lines.push_back(text + fmt::format(" at {:.5g} Hz", port.band.frequency_hz[at]));
  }
  if (c.excitations.empty()) return;
  std::string driven;
  for (const Excitation& e : c.excitations)
    driven += (driven.empty() ? "" : ", ") + c.channels[e.channel].name;
  lines.push_back(fmt::format("{} {}: driven are {}", c.excitations.size(),
                              c.excitations.size() == 1 ? "run" : "runs", driven));
}

/// "2 structures, 1 wire, 1 sheet, 0 sources, 3 monitors".
std::string counted(const Case& c) {
  std::string out;
  const auto count = [&](std::size_t n, const char* what, bool always) {
    if (n > 0 || always)
      out += fmt::format("{}{} {}{}", out.empty() ? "" : ", ", n, what, n == 1 ? "" : "s");
  };
  const CaseOptions& o = c.options;
  count(c.scene.structures.size(), "structure", o.wires.empty() && o.sheets.empty());
  count(o.wires.size(), "wire", false);
  count(o.sheets.size(), "sheet", false);
  count(o.loads.size(), "load", false);
  count(o.ports.size(), "port", false);
  count(o.sources.size(), "source", o.ports.empty());
  count(o.monitors.size(), "monitor", true);
  return out;
}

CheckReport check(const data::Config& config, const MonitoredCase& made) {
  const Case& c = made.c;
  const Monitors& monitors = made.monitors;
  CheckReport report;
  report.findings = c.warnings;
  if (monitors.empty()) {
    data::Diagnostic nothing = config.error(
        629, {}, "nothing is measured: the run would leave no result", "add a [[monitor]]");
    nothing.severity = data::Severity::warning;
    report.findings.push_back(std::move(nothing));
  }
  report.lines.push_back(
      fmt::format("precision {}", c.options.run.precision == Precision::f32 ? "f32" : "f64"));
  report.lines.push_back(fmt::format("grid {} x {} x {}: {:.4g} million cells, smallest {:.4g} m",
                                     c.grid.cells(0), c.grid.cells(1), c.grid.cells(2),
                                     static_cast<double>(c.grid.cell_count()) / 1e6,
                                     em::reference_length(c.grid)));
  for (std::string& text : auto_grid_lines(c)) report.lines.push_back(std::move(text));
  report.lines.push_back(fmt::format("time step {:.6g} s, {:.3g} of the stability limit", c.dt_s,
                                     c.dt_s / c.stable_dt_s));
  if (c.frequency_max > 0)
    report.lines.push_back(
        fmt::format("band {:.4g} to {:.4g} Hz: {:.1f} steps a period, {:.1f} of the smallest cells "
                    "a vacuum wavelength at its upper end",
                    c.frequency_min, c.frequency_max, 1 / c.frequency_max / c.dt_s,
                    em::speed_of_light / c.frequency_max / em::reference_length(c.grid)));
  for (const em::Medium& m : c.named_media()) report.lines.push_back(medium_line(m, c));
  if (!c.scene.blends.empty())
    report.lines.push_back(fmt::format("{} mixtures of media in pixels", c.scene.blends.size()));
  if (c.open->cut_faces > 0)
    report.lines.push_back(
        fmt::format("conductors cut {} faces: the smallest keeps {:.3g} of its area, {:.3g} as "
                    "enlarged for the time step ({} faces are)",
                    c.open->cut_faces, c.open->least_area, c.open->least_kept, c.open->enlarged));
  for (std::size_t w = 0; w < c.options.wires.size(); ++w) {
    const WireOptions& wire = c.options.wires[w];
    report.lines.push_back(
        fmt::format("wire {}: {} points, radius {:.4g} m, {:.3g} of the smallest cell",
                    wire.name.empty() ? std::to_string(w) : wire.name, wire.points.size(),
                    wire.radius, wire.radius / em::reference_length(c.grid)));
  }
  if (c.wires)
    report.lines.push_back(fmt::format(
        "wires between lines of the grid: {} segments, {} edges; they go by one process",
        c.wires->shares.size(), c.wires->edges.size()));
  for (const auto& m : monitors)
    if (const auto t = m->transform())
      report.lines.push_back(
          t->every == 1 ? fmt::format("monitor {}: transforms take every step", m->options().name)
                        : fmt::format("monitor {}: transforms take one step of {}; of the sources' "
                                      "peak {:.1g} at most folds onto their frequencies",
                                      m->options().name, t->every, t->folded));
  add_port_lines(c, report.lines);
  if (made.empty) {
    std::string bodies;
    for (const std::string& name : c.options.reference->without)
      bodies += (bodies.empty() ? "'" : ", '") + name + "'";
    report.lines.push_back(fmt::format("{} runs: the reference{}, without {}, and the case",
                                       made.runs(), made.runs() > 2 ? " of each port" : "",
                                       bodies));
  }
  report.lines.push_back(
      fmt::format("fields {:.3g} GB; {}", static_cast<double>(field_bytes(c)) / 1e9, counted(c)));
  return report;
}

/// The most that a rank takes and sends: the sides of its slab in each step, the samples of
/// monitors that lie in it, and the energies of its rows at each check. Rank 0 keeps the monitors.
std::optional<RankShare> share_of_rank(const RunOptions& how, const Case& c,
                                       const em::YeeScheme& scheme, int axis,
                                       const std::vector<em::Edge>& edges, std::int64_t steps) {
  const int ranks = how.estimated_ranks, ny = c.grid.cells(1), nz = c.grid.cells(2),
            cells = axis < 0 ? 0 : c.grid.cells(axis);
  if (ranks == 0 || cells < ranks) return {};
  constexpr std::int64_t kCall = 64;  // steps between which slabs wait for each other
  const em::SeamTraffic seam = scheme.seam_traffic(axis, kCall);
  const parallel::PartsOfRanks begin = parallel::deal_parts(cells, ranks);
  const bool joined = c.faces[static_cast<std::size_t>(axis)].low == em::Boundary::periodic;
  const auto n = static_cast<double>(steps),
             sample = static_cast<double>(size_of(scheme.dtype()) * scheme.parts()),
             checks = n / static_cast<double>(steps_between_checks(c)),
             rows = static_cast<double>((ny + 1) * (nz + 1)) / ranks * sizeof(double);
  RankShare most;
  for (int r = 0; r < ranks; ++r) {
    const auto first = begin[static_cast<std::size_t>(r)],
               end = begin[static_cast<std::size_t>(r) + 1];
    const bool below = joined || r > 0, above = joined || r + 1 < ranks;
    const auto recorded = std::count_if(edges.begin(), edges.end(), [&](const em::Edge& e) {
      const int at = axis == 1 ? e.j : e.k;
      return at >= first && (at < end || r + 1 == ranks);
    });
    const double bytes = n * ((below ? seam.bytes_down : 0) + (above ? seam.bytes_up : 0)) +
                         (r == 0 ? 0 : n * static_cast<double>(recorded) * sample + checks * rows),
                 messages =
                     n * ((below ? seam.messages_down : 0) + (above ? seam.messages_up : 0)) +
                     (r == 0 ? 0 : (edges.empty() ? 0 : n / kCall) + 2 * checks);
    most.sent_bytes = std::max(most.sent_bytes, bytes);
    most.messages = std::max(most.messages, messages);
    const double share = static_cast<double>(end - first + (below ? 1 : 0) + (above ? 1 : 0)) /
                         static_cast<double>(cells);
    most.memory_bytes =
        std::max(most.memory_bytes,
                 (std::uint64_t{80} << 20) +
                     static_cast<std::uint64_t>(share * static_cast<double>(field_bytes(c))));
  }
  return most;
}

Estimate estimate(const RunOptions& how, const MonitoredCase& made) {
  const Case& c = made.c;
  const Monitors& monitors = made.monitors;
  Estimate e;
  const std::int64_t steps = expected_steps(c);
  std::int64_t monitor_bytes = 0, recorded = 0;
  std::vector<em::Edge> edges;
  for (const auto& m : monitors) {
    monitor_bytes += m->bytes(steps);
    recorded += static_cast<std::int64_t>(m->edges().size());
    edges.insert(edges.end(), m->edges().begin(), m->edges().end());
  }
  e.memory_bytes = {{"program", 80u << 20},
                    {"fields", static_cast<std::uint64_t>(field_bytes(c))},
                    {"monitors", static_cast<std::uint64_t>(static_cast<std::int64_t>(made.runs()) *
                                                                monitor_bytes +
                                                            16 * 24 * recorded)}};
  e.disk_bytes = static_cast<std::uint64_t>(monitor_bytes + how.keep_checkpoints *
                                                                (field_bytes(c) + monitor_bytes));
  // A short run of this very case tells the speed.
  em::YeeModel model = make_model(c);
  const int axis = em::cut_axis(c.grid);
  em::TimeDomain run(std::move(model), make_injections(c), edges);
  run.advance(16);
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t taken = 0;
  double seconds = 0;
  while (seconds < 0.3) {
    run.advance(16);
    taken += 16;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  const auto runs = static_cast<double>(made.runs());
  e.seconds = runs * seconds / static_cast<double>(taken) * static_cast<double>(steps);
  if (runs > 1)
    e.notes.push_back(fmt::format("{} runs: {}", runs,
                                  !made.empty ? "a port each"
                                  : made.references() > 1
                                      ? "the reference and the case, a port each"
                                      : "the reference and the case"));
  e.notes.push_back(fmt::format("{} steps at {:.1f} Mcells/s", steps,
                                static_cast<double>(taken * c.grid.cell_count()) / seconds / 1e6));
  e.of_rank = share_of_rank(how, c, run.scheme(), axis, edges, steps);
  const StopOptions& s = c.options.run.stop;
  if (!s.time && !s.steps && !s.after_sources)
    e.notes.push_back(
        "the run ends by its decay: the number of steps is a guess of 20 passages of the domain");
  return e;
}

data::ExitCode run(RunContext& context, MonitoredCase& made) {
  const Case& c = made.c;
  std::string why_not;
  if (c.options.output.vtk && !data::vtk_xml_available(&why_not))
    context.log.warning("no VTK XML files: " + why_not);
  const auto& path = context.folder.path();
  if (c.options.output.scene && c.options.output.vtk && data::vtk_xml_available())
    write_scene(path / "vtk", c);
  if (c.options.output.scene && c.options.output.pictures) draw_scene(context.folder.plots(), c);
  Results results;
  const data::ExitCode code = step_case(context, made, results);
  if (code != data::ExitCode::ok) return code;
  write_results(path, c, results);
  write_touchstone_of(path, c, results, context.log);
  if (c.options.output.pictures) draw_results(context.folder.plots(), results, c.options);
  bool met = true;
  for (const Expectation& p : check_expectations(c.options.expectations, results, context.config)) {
    (p.met ? context.log.info(p.text) : context.log.error(p.text));
    met = met && p.met;
    context.manifest.metrics.emplace_back(p.name, p.found);
  }
  for (const MonitorResult& r : results) {
    if (r.kind != "resonances") continue;
    const auto& f = std::get<std::vector<double>>(r.find("frequency")->values);
    const auto& q = std::get<std::vector<double>>(r.find("quality")->values);
    for (std::size_t m = 0; m < f.size(); ++m)
      context.log.info(fmt::format("{}[{}]: {:.9g} Hz, Q {:.5g}", r.name, m, f[m], q[m]));
    if (f.empty())
      context.log.warning(
          fmt::format("monitor '{}' finds no resonance in its band: let the run be longer after "
                      "the end of the sources, or move it off the nodes of the field",
                      r.name));
  }
  return met ? data::ExitCode::ok : data::ExitCode::not_converged;
}

PreparedCase prepare(const AppContext& context) {
  const data::Config& config = context.config;
  Case prepared = make_case(read_options(config), config);
  if (context.for_derivatives) {
    prepared.options.run.precision = Precision::f64;
    check_differentiable(prepared, config);
  }
  const std::shared_ptr<MonitoredCase> made = with_monitors(std::move(prepared), config);
  Case& c = made->c;
  c.inputs = data::inputs_read();
  return {.precision = c.options.run.precision == Precision::f32 ? "f32" : "f64",
          .inputs = c.inputs,
          .chosen = waves::chosen_lines(c),
          .check = [&config, made] { return check(config, *made); },
          .estimate = [how = context.options, made] { return estimate(how, *made); },
          .run = [made](RunContext& to) { return run(to, *made); },
          .help = [made](HelpContext& with) { help_with_steps(with, *made); },
          .mesh = [made](const std::filesystem::path& to) { return write_mesh(to, made->c); },
          .derivatives =
              [&config, made] {
                parallel::Communicator alone = parallel::alone();
                return derivatives(made, config, alone, {});
              },
          .derivatives_on_ranks =
              [&config, made](HelpContext& with) {
                return derivatives(made, config, with.ranks, with.weights);
              },
          .against = [&config,
                      made](const data::Checkpoint& from) { return against(config, *made, from); }};
}

/// Files of pixels and drawings may be gone by now: blocks are then drawn as boxes, other bodies
/// not at all.
std::vector<std::filesystem::path> plot(const std::filesystem::path& run_dir) {
  const data::Config config = data::read_config(run_dir / "resolved.toml");
  CaseOptions options = read_options(config);
  try {
    read_densities(options, config);
    read_drawings(options, config);
  } catch (const data::InputError&) {
  }
  return draw_results(run_dir / "plots", read_results(run_dir / "results.h5"), options);
}

/// What a sweep puts side by side: spectra and time series, elements of S.
std::vector<Curve> curves(const std::filesystem::path& run_dir) {
  constexpr std::size_t most_columns = 16;  // a few modes or orders, not the angles of a pattern
  std::vector<Curve> out;
  for (const MonitorResult& r : read_results(run_dir / "results.h5"))
    for (const Quantity& q : r.quantities) {
      const std::size_t n = r.axis.values.size();
      if (!in_table(r, q) || q.name == r.axis.name || width(q) > most_columns) continue;
      for (std::size_t w = 0; w < width(q); ++w) {
        Curve c{r.name,
                width(q) > 1 ? fmt::format("{}_{}", q.name, w) : q.name,
                r.axis.name,
                r.axis.units,
                r.axis.values,
                q.units,
                {},
                r.kind == scattering_name};
        std::visit(
            [&](const auto& all) {
              auto column = all;
              column.clear();
              for (std::size_t k = 0; k < n; ++k) column.push_back(all[k * width(q) + w]);
              c.values = std::move(column);
            },
            q.values);
        out.push_back(std::move(c));
      }
    }
  return out;
}

}  // namespace

App app() {
  return {
      .summary =
          "Maxwell's equations in time: fields, spectra, far fields and resonances of structures "
          "on a Yee grid",
      .options = fdtd_options(),
      .prepare = prepare,
      .make_example = make_example,
      .curves = curves,
      .plot = plot,
      .derivatives = true,
      .may_change = {"run.stop.time", "run.stop.steps", "run.stop.after_sources",
                     "run.stop.decay_db", "run.stop.dft_tolerance", "output", "title", "expect"}};
}

std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t) {
  const std::filesystem::path file = dir / "ring.toml";
  data::write_file_atomically(file, ring_case);
  return file;
}

}  // namespace tessera::apps::fdtd
