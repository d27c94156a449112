// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/derivative_passes.h"

#include "electromagnetics/fdtd/moved_runs.h"
#include "electromagnetics/fdtd/networks.h"
#include "electromagnetics/fdtd/port_monitor.h"
#include "electromagnetics/fdtd/scattering.h"
#include "electromagnetics/waves/mode_plane.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/log.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <optional>
#include <set>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// What is so far from that of the runs is that of another model.
constexpr double kApart = 1e-3;

std::string unit_of(const Case& c, const std::string& name) {
  const data::Parameter* p = c.options.use.parameters.find(name);
  return p ? data::si_unit(p->value.dimension) : "m";
}
/// Of a quantity, per unit of the parameter.
std::string per_unit(const std::string& quantity, const std::string& unit) {
  if (unit.empty()) return quantity;
  if (quantity == "1") return "1/(" + unit + ")";
  return quantity + "/" + (unit.find_first_of("*/") == std::string::npos ? unit : "(" + unit + ")");
}

template <class T>
double largest_of(const std::vector<T>& all) {
  double most = 0;
  for (const T& x : all) most = std::max(most, std::abs(x));
  return most;
}
/// The largest difference.
template <class T>
double apart(const std::vector<T>& own, const std::vector<T>& again) {
  double most = 0;
  for (std::size_t i = 0; i < own.size(); ++i) most = std::max(most, std::abs(own[i] - again[i]));
  return most;
}

/// What is not told has no derivatives either.
template <class T>
std::vector<T> where_told(std::vector<T> slopes, const std::vector<T>& own) {
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i] != own[i]) slopes[i] = own[i];
  return slopes;
}

/// Elements of S by names.
double add_scattering(const Case& c, const MonitorResult& s, const std::string& name,
                      const Tensor& value, const Tensor& slope, Pass& out) {
  const std::size_t columns = s.coordinates[1].values.size(), rows = c.channels.size();
  const auto own = std::get<std::vector<std::complex<double>>>(s.find("S")->values);
  const std::vector<std::complex<double>> all = where_told(slope.to_vector<c128>(), own);
  const std::size_t frequencies = own.size() / (rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      std::vector<std::complex<double>> one;
      for (std::size_t f = 0; f < frequencies; ++f)
        one.push_back(all[(f * rows + i) * columns + j]);
      const auto from = static_cast<std::size_t>(s.coordinates[1].values[j]) - 1;
      out.emplace_back(
          s.name, Quantity{element_name(c.channels[i].name, c.channels[from].name) + "_by_" + name,
                           per_unit("1", unit_of(c, name)),
                           "derivative in " + name,
                           {frequencies},
                           std::move(one)});
    }
  return apart(own, value.to_vector<c128>());
}

/// One figure of a monitor; what its value is apart, over the largest.
double add_figure(const Case& c, const MonitorResult& r, const MovedFigure& f,
                  const std::string& name, const Tensor& value, const Tensor& slope, Pass& out) {
  const Quantity& of = *r.find(f.name);
  Quantity by{f.name + "_by_" + name,
              per_unit(of.units, unit_of(c, name)),
              "derivative in " + name + " of the " + of.long_name,
              of.shape,
              {}};
  double off = 0, most = 0;
  std::visit(
      [&]<class T>(const std::vector<T>& own) {
        by.values = where_told(slope.to_vector<T>(), own);
        off = apart(own, value.to_vector<T>()), most = largest_of(own);
      },
      of.values);
  out.emplace_back(r.name, std::move(by));
  return most > 0 ? off / most : 0;
}

auto* find_result(auto& results, const std::string& name) {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const MonitorResult& r) { return r.name == name; });
  return found == results.end() ? nullptr : &*found;
}

bool asks(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The pass of one name.
Pass differentiate_in(const std::string& name, std::size_t number, const MonitoredCase& made,
                      MovedRuns& runs, data::Log& log, const Results& results) {
  const Case& c = made.c;
  std::vector<double> way(c.derivatives->names.size(), 0.0);
  way[number] = 1;
  const auto [values, slopes] = jvp([&](const Tensor& p) { return runs.values(p); },
                                    zeros({static_cast<Index>(way.size())}), tensor(way));
  Pass out;
  double off = 0;
  std::size_t next = 0;
  if (runs.with_scattering()) {
    if (const MonitorResult* s = find_result(results, scattering_name);
        s && asks(c.options.scattering.derivatives, name))
      off = add_scattering(c, *s, name, values[next], slopes[next], out);
    ++next;
  }
  for (const MovedFigure& f : runs.figures()) {
    const std::string run = made.name_of(f.run);
    const Monitor& m = *made.of_excitation(f.run)[f.monitor];
    if (asks(m.options().derivatives, name))
      off = std::max(
          off,
          add_figure(c, *find_result(results, m.options().name + (run.empty() ? "" : "." + run)), f,
                     name, values[next], slopes[next], out));
    ++next;
  }
  if (off > kApart)
    log.warning(fmt::format(
        "derivatives in {} are those of results that differ by {:.2g} from those of the runs: "
        "faces across the grid have tensors, which what moves is taken without, shares of media "
        "with losses or poles are rounded to 1/64 in runs, or these had float32",
        name, off));
  return out;
}

/// Adds to results what passes have found.
void add_passes(const std::vector<Pass>& ended, Results& results) {
  for (const Pass& pass : ended)
    for (const auto& [name, quantity] : pass) {
      MonitorResult* const to = find_result(results, name);
      if (!to) throw Error("[checkpoint] has derivatives of '" + name + "', which is no result");
      to->quantities.push_back(quantity);
    }
}

/// A stop within a pass.
struct Stopped {};

/// Of a quantity of a pass in a checkpoint.
std::string pass_prefix(std::size_t pass, std::size_t quantity) {
  return fmt::format("pass/{}/{}/", pass, quantity);
}

/// Runs that drive more than they may hold of it.
[[noreturn]] void refuse_currents(const em::CurrentsTooLarge& e) {
  throw data::InputError(
      {.number = 0,
       .place = {"tessera", 0, 0, {}},
       .message = fmt::format("the sources drive {} edges over {} steps: a pass of derivatives "
                              "would hold {:.3g} GB of currents",
                              e.edges, e.steps, e.bytes * 1e-9),
       .hint = "a smaller box of the wave, fewer steps, or no derivatives"},
      data::ExitCode::would_not_fit);
}

/// Of runs whose steps are known.
void check_currents(const Case& c) {
  for (std::size_t k = 0; k < run_count(c); ++k) {
    double edges = 0, end = 0;
    for (const em::Injection& s : make_injections(c, k))
      edges += static_cast<double>(s.edges.size()), end = std::max(end, s.end_s);
    const std::int64_t steps = fixed_end(c, end);
    const double bytes = edges * static_cast<double>(steps) * 8;
    if (bytes > em::ObservedRunOptions{}.most_bytes)
      refuse_currents({static_cast<std::int64_t>(edges), steps, bytes});
  }
}

/// Whose medium a monitor knows: its own, and of the density of states at a magnetic current the
/// four of E around each face, as what it gives alone goes by their permittivity.
std::vector<em::Edge> known_edges(const Case& c, const Monitor& m) {
  std::vector<em::Edge> out = m.edges();
  if (m.options().kind != MonitorKind::ldos) return out;
  for (const em::Edge& h : m.edges()) {
    if (em::is_electric(h.component)) continue;
    for (const int turn : {1, 2}) {
      const int along = (em::axis_of(h.component) + turn) % 3,
                across = (em::axis_of(h.component) + 3 - turn) % 3;
      em::Edge e = h;
      e.component = static_cast<std::uint8_t>(along);
      out.push_back(e);
      int& i = across == 0 ? e.i : across == 1 ? e.j : e.k;
      ++i;
      if (!c.grid.resolved(across) ||
          c.faces[static_cast<std::size_t>(across)].low == em::Boundary::periodic)
        i %= c.grid.cells(across);
      out.push_back(e);
    }
  }
  return out;
}

}  // namespace

void check_passes(const MonitoredCase& made, const data::Config& config) {
  const Case& c = made.c;
  if (!c.derivatives) return;
  check_currents(c);
  const auto places = [](const std::vector<em::Edge>& edges) {
    std::set<std::array<int, 4>> out;
    for (const em::Edge& e : edges) out.insert({e.component, e.i, e.j, e.k});
    return out;
  };
  const auto moved = places(c.derivatives->media.edges.edges),
             reshaped = places(c.derivatives->reshaped);
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m) {
    const MonitorOptions& o = c.options.monitors[m];
    if (o.kind == MonitorKind::resonances || o.derivatives.empty()) continue;
    const auto refuse = [&](const char* what) {
      throw data::InputError(
          data::ExitCode::config_invalid,
          {config.error(642, fmt::format("monitor[{}].derivatives", m), what,
                        o.kind == MonitorKind::ldos ? "move its source two cells away"
                                                    : "move the monitor two cells away")});
    };
    // Fluxes and fields take what is there; others know the medium.
    const bool plain = o.kind == MonitorKind::flux || o.kind == MonitorKind::dft;
    for (const em::Edge& e : known_edges(c, *made.monitors[m])) {
      const std::array<int, 4> place{e.component, e.i, e.j, e.k};
      if (plain && reshaped.count(place)) refuse("a conductor moves where its fields are taken");
      if (!plain && moved.count(place))
        refuse("what moves lies where its fields are taken, for the medium that is there");
    }
    if (o.kind != MonitorKind::mode) continue;
    const em::ModePlane plane =
        waves::mode_plane(c, waves::flat_axis(c, *o.size), *o.position, o.size);
    for (const std::array<int, 4>& e : moved)
      if (std::abs(e[static_cast<std::size_t>(plane.axis) + 1] - plane.line) <= 2)
        refuse("what moves lies within two cells of its plane, and its modes are constants");
  }
}

void save_passes(const std::vector<Pass>& ended, data::Checkpoint& out) {
  std::vector<std::uint64_t> counts;
  for (std::size_t p = 0; p < ended.size(); ++p) {
    counts.push_back(ended[p].size());
    for (std::size_t q = 0; q < ended[p].size(); ++q) {
      const auto& [result, quantity] = ended[p][q];
      const std::string prefix = pass_prefix(p, q);
      out.put(prefix + "result", result);
      out.put(prefix + "name", quantity.name);
      out.put(prefix + "units", quantity.units);
      out.put(prefix + "long_name", quantity.long_name);
      out.put(prefix + "shape", quantity.shape);
      if (const auto* real = std::get_if<std::vector<double>>(&quantity.values))
        out.put(prefix + "real", *real);
      else
        out.put(prefix + "complex", std::get<std::vector<std::complex<double>>>(quantity.values));
    }
  }
  out.put("passes", std::move(counts));
}

std::vector<Pass> load_passes(const data::Checkpoint& in) {
  std::vector<Pass> ended;
  if (!in.has("passes")) return ended;
  const auto& counts = in.array<std::uint64_t>("passes");
  for (std::size_t p = 0; p < counts.size(); ++p) {
    Pass& pass = ended.emplace_back();
    for (std::size_t q = 0; q < counts[p]; ++q) {
      const std::string prefix = pass_prefix(p, q);
      Quantity quantity{in.text(prefix + "name"),
                        in.text(prefix + "units"),
                        in.text(prefix + "long_name"),
                        in.array<std::uint64_t>(prefix + "shape"),
                        {}};
      if (in.has(prefix + "real"))
        quantity.values = in.array<double>(prefix + "real");
      else
        quantity.values = in.array<std::complex<double>>(prefix + "complex");
      pass.emplace_back(in.text(prefix + "result"), std::move(quantity));
    }
  }
  return ended;
}

data::ExitCode differentiate_in_passes(RunContext& context, const MonitoredCase& made,
                                       const std::vector<std::int64_t>& steps,
                                       std::vector<Pass>& ended, const std::function<void()>& save,
                                       Results& results) {
  if (!made.c.derivatives) return data::ExitCode::ok;
  const std::vector<std::string>& names = made.c.derivatives->names;
  if (!ended.empty())
    context.log.info(
        fmt::format("{} of {} passes of derivatives had ended", ended.size(), names.size()));
  data::Progress progress({.style = context.progress_style,
                           .phase = "derivatives",
                           .unit = "passes",
                           .total = names.size(),
                           .already_done = ended.size(),
                           .heartbeat = context.folder.heartbeat_json()});
  const auto heed_stop = [&] {
    progress.update(ended.size());
    if (context.stop.poll() != data::StopReason::none) throw Stopped();
  };
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> begun;  // of the pass that goes on
  try {
    std::optional<MovedRuns> runs;
    while (ended.size() < names.size()) {
      heed_stop();
      begun = Clock::now();
      const std::size_t k = ended.size();
      const auto own = steps.begin() + static_cast<std::ptrdiff_t>(made.references());
      if (!runs) runs.emplace(made, std::vector<std::int64_t>(own, steps.end()), heed_stop);
      ended.push_back(differentiate_in(names[k], k, made, *runs, context.log, results));
      begun.reset();
      save();
      progress.update(ended.size());
      context.log.info(
          fmt::format("derivatives in {}: pass {} of {}", names[k], k + 1, names.size()));
    }
  } catch (const em::CurrentsTooLarge& e) {
    refuse_currents(e);
  } catch (const Stopped&) {
    progress.finish("stopped");
    if (begun)
      context.log.warning(fmt::format(
          "derivatives in {}: the pass was stopped after {:.1f} s and begins anew with 'resume': "
          "passes are kept as wholes, so that --max-time has to leave the time of one",
          names[ended.size()], std::chrono::duration<double>(Clock::now() - *begun).count()));
    return data::ExitCode::stopped_resumable;
  }
  progress.finish();
  add_passes(ended, results);
  return data::ExitCode::ok;
}

}  // namespace tessera::apps::fdtd
