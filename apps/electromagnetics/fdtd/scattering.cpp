// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/scattering.h"

#include "electromagnetics/fdtd/antenna.h"
#include "electromagnetics/fdtd/monitors.h"
#include "electromagnetics/fdtd/networks.h"
#include "electromagnetics/fdtd/port_monitor.h"
#include "electromagnetics/waves/exterior.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/network_joins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Beyond this an incoming wave at a port that is not driven spoils columns that stand alone.
constexpr double kEcho = 1e-3;

/// A channel that has no run of its own but that of another one.
struct Alike {
  std::size_t channel, run;
  const Likeness* by;
};
std::vector<Alike> alike_channels(const Case& c) {
  std::vector<Alike> out;
  for (const Likeness& x : c.likenesses)
    for (std::size_t r = 0; r < c.excitations.size(); ++r) {
      const PortChannel& like = c.channels[c.excitations[r].channel];
      if (like.port != x.like) continue;
      const std::size_t k = x.place[c.excitations[r].channel];
      if (std::none_of(c.excitations.begin(), c.excitations.end(),
                       [&](const Excitation& e) { return e.channel == k; }))
        out.push_back({k, r, &x});
    }
  return out;
}

/// Waves with a column for each channel of columns_of.
PortWaves with_alike(const Case& c, const PortWaves& waves) {
  const std::vector<Alike> alike = alike_channels(c);
  const auto columns = [&](const Tensor& x) {
    std::vector<std::pair<std::size_t, Tensor>> all;
    for (std::size_t r = 0; r < c.excitations.size(); ++r)
      all.emplace_back(c.excitations[r].channel, select(x, 2, static_cast<Index>(r)));
    for (const Alike& a : alike) {
      const Tensor own = select(x, 2, static_cast<Index>(a.run));
      std::vector<Tensor> rows(c.channels.size());
      for (std::size_t k = 0; k < rows.size(); ++k)
        rows[a.by->place[k]] = a.by->factor[k] * select(own, 1, static_cast<Index>(k));
      all.emplace_back(a.channel, stack(rows, 1));
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Tensor> out;
    for (const auto& [channel, column] : all) out.push_back(column);
    return stack(out, 2);
  };
  return {columns(waves.in), columns(waves.out)};
}

/// told_channels as a tensor, real [frequency, channel], and of given channels.
Tensor told(const Case& c) {
  const auto n = static_cast<Index>(c.channels.size());
  const std::vector<double> all = told_channels(c);
  return tensor(all, {static_cast<Index>(all.size()) / n, n});
}
Tensor told(const Case& c, const std::vector<std::size_t>& channels) {
  const Tensor all = told(c);
  std::vector<Tensor> of;
  for (const std::size_t k : channels) of.push_back(select(all, 1, static_cast<Index>(k)));
  return stack(of, 1);
}
/// 1 where a row and a column are told, real [frequency, channel, column].
Tensor told_elements(const Case& c, const std::vector<std::size_t>& columns) {
  return expand_dims(told(c), -1) * expand_dims(told(c, columns), 1);
}
Tensor nan_unless(const Tensor& known, const Tensor& x) {
  return where(known > 0.5, x, c128(NAN, NAN));
}

std::complex<double> impedance_of(const PortOptions& o) {
  return {o.impedance.value_or(0), o.reactance};
}

std::vector<std::uint64_t> shape_of(const Tensor& t) {
  std::vector<std::uint64_t> out;
  for (const Index n : t.shape()) out.push_back(static_cast<std::uint64_t>(n));
  return out;
}

Quantity complex_quantity(std::string name, std::string units, std::string about, const Tensor& t) {
  return {std::move(name), std::move(units), std::move(about), shape_of(t), complex_values(t)};
}

/// The largest turn of an element above 1e-2 from one frequency to the next, rad.
double largest_turn(const Tensor& s) {
  const Index n = s.shape()[0];
  double most = 0;
  if (n < 2) return most;
  for (const c128 x : (slice(s, 0, 1, n) * conj(slice(s, 0, 0, n - 1))).to_vector<c128>())
    if (std::abs(x) > 1e-4) most = std::max(most, std::abs(std::arg(x)));
  return most;
}

MonitorResult scattering_result(const MonitoredCase& made, const PortWaves& waves, const Tensor& s,
                                const Tensor& reference, data::Log& log) {
  const Case& c = made.c;
  const std::vector<std::size_t> columns = columns_of(c);
  const std::size_t n = c.channels.size();
  std::vector<std::string> to, from;
  for (const PortChannel& x : c.channels) to.push_back(x.name);
  for (const std::size_t k : columns) from.push_back(to[k]);
  MonitorResult out =
      network_result(scattering_name, to, from, c.options.scattering.all_frequencies(),
                     nan_unless(told_elements(c, columns), s));
  std::vector<double> runs;
  for (const Excitation& e : c.excitations) runs.push_back(static_cast<double>(e.channel + 1));
  out.coordinates.push_back({"driven", "1", runs});
  const Tensor echo = echoes(c, waves);
  out.quantities.push_back({"echo", "1",
                            "largest wave that comes in at a port that is not driven, over that "
                            "of the one that is",
                            shape_of(echo), real_values(echo)});
  const char* unit = amplitude_units(c);
  const Tensor known = told_elements(c, driven_channels(c));
  out.quantities.push_back(complex_quantity(
      "in", unit, "waves into the device [port, driven], of the ports' own impedances",
      nan_unless(known, waves.in)));
  out.quantities.push_back(complex_quantity(
      "out", unit, "waves out of the device [port, driven], of the ports' own impedances",
      nan_unless(known, waves.out)));
  out.quantities.push_back(complex_quantity(
      "reference", "ohm",
      "impedance that S refers to [port]; 0: waves of a mode that has none, as they are",
      nan_unless(told(c), reference)));

  constexpr double far = 120, degree = std::numbers::pi / 180;
  if (const double turn = largest_turn(s) / degree; turn > far)
    log.warning(
        fmt::format("S turns by up to {:.0f} degrees from one frequency to the next: group_delay "
                    "may lack whole "
                    "turns, which closer frequencies of s_parameters tell",
                    turn));
  const std::vector<double> most = real_values(echo);
  const double largest = *std::max_element(most.begin(), most.end());
  if (columns.size() < n) {
    if (largest > kEcho)
      log.warning(fmt::format(
          "what is not driven sends back up to {:.2g} of the wave that drives: these columns of S "
          "are off by as much; drive all ports (run.excite), or let layers be thicker",
          largest));
  } else {
    const double gain = max(em::largest_gain(s)).item(), odd = max(em::nonreciprocity(s)).item();
    log.info(fmt::format(
        "S of {} ports: largest gain {:.6f}, reciprocal to {:.1e}; echoes of {:.1e} are taken out",
        n, gain, odd, largest));
  }
  return out;
}

}  // namespace

PortWaves waves_of(const MonitoredCase& made) {
  const std::size_t ports = made.c.ports.size();
  std::vector<Tensor> in, out;
  for (std::size_t k = 0; k < made.c.excitations.size(); ++k) {
    std::vector<Tensor> both;
    for (std::size_t p = 0; p < ports; ++p)
      both.push_back(port_monitor(made.of_excitation(k), p, ports).waves());
    const Tensor all = concatenate(both, 2);
    in.push_back(select(all, 0, 0)), out.push_back(select(all, 0, 1));
  }
  return {stack(in, 2), stack(out, 2)};
}

PortWaves with_images(const Case& c, const PortWaves& waves) {
  std::vector<double> by;  // [channel]
  for (const PortChannel& x : c.channels) by.push_back(std::sqrt(copies_of(c, x.port)));
  if (std::all_of(by.begin(), by.end(), [](double x) { return x == 1; })) return waves;
  const Tensor all = tensor(by, {static_cast<Index>(by.size()), 1});
  return {waves.in * all, waves.out * all};
}

PortConstants constants_of(const MonitoredCase& made) {
  const std::size_t ports = made.c.ports.size();
  const auto frequencies = static_cast<Index>(made.c.options.scattering.all_frequencies().size());
  std::vector<Tensor> propagation, impedance;
  for (std::size_t p = 0; p < ports; ++p) {
    const PortMonitor& m = port_monitor(made.monitors, p, ports);
    const auto n = static_cast<Index>(m.channels().size());
    const auto all = [&](std::vector<std::complex<double>> of, const std::complex<double>& other) {
      if (of.empty()) of.assign(static_cast<std::size_t>(frequencies * n), other);
      return tensor(std::vector<c128>(of.begin(), of.end()), {frequencies, n});
    };
    propagation.push_back(all(m.propagation(), 0));
    impedance.push_back(m.about().impedance ? all({}, impedance_of(m.about()))
                                            : all(m.line_impedance(), 0));
  }
  // What has none where its mode decays takes no part there.
  const Tensor there = told(made.c) > 0.5, own = where(there, concatenate(impedance, 1), c128(50));
  const auto& all = made.c.options.scattering.reference;
  return {where(there, concatenate(propagation, 1), c128(0)), own,
          all ? full(own.shape(), c128(*all), Dtype::c128) : own};
}

PortWaves at_impedance(const PortWaves& waves, std::complex<double> from, const Tensor& change) {
  const Tensor more = cast(change, Dtype::c128), to = from + more;
  const double unit = 2 * std::sqrt(2 * from.real());
  const Tensor current = (waves.in - waves.out) * (unit / (2 * from.real())),
               scale = 0.5 / sqrt(2.0 * cast(real(to), Dtype::c128));
  return {(unit * waves.in + more * current) * scale,
          (unit * waves.out - conj(more) * current) * scale};
}

std::vector<std::size_t> columns_of(const Case& c) {
  std::vector<std::size_t> out;
  for (const Excitation& e : c.excitations) out.push_back(e.channel);
  for (const Alike& a : alike_channels(c)) out.push_back(a.channel);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::size_t> driven_channels(const Case& c) {
  std::vector<std::size_t> out;
  for (const Excitation& e : c.excitations) out.push_back(e.channel);
  return out;
}

PortWaves told_alone(const Case& c, const PortWaves& waves,
                     const std::vector<std::size_t>& columns) {
  const Tensor known = told_elements(c, columns);
  std::vector<double> own(c.channels.size() * columns.size(), 0.0);
  for (std::size_t j = 0; j < columns.size(); ++j) own[columns[j] * columns.size() + j] = 1;
  const Tensor others =
      expand_dims(1.0 - told(c), -1) *
      tensor(own, {static_cast<Index>(c.channels.size()), static_cast<Index>(columns.size())});
  return {waves.in * known + others, waves.out * known};
}

std::vector<em::Waves> waves_of_s(const Case& c) {
  std::vector<em::Waves> out;
  for (const PortChannel& x : c.channels) {
    const PortOptions& port = c.options.ports[x.port];
    const bool own =
        port.kind == PortKind::mode && port.reactance == 0 && !c.options.scattering.reference;
    out.push_back(own                                              ? em::Waves::travelling
                  : c.options.scattering.waves == WaveKind::pseudo ? em::Waves::pseudo
                                                                   : em::Waves::power);
  }
  return out;
}

PortWaves seen_waves(const Case& c, const PortWaves& waves, const PortConstants& constants) {
  PortWaves out = with_images(c, waves);
  std::vector<double> shift;   // [channel]
  std::vector<em::Waves> own;  // of the ports themselves
  bool otherwise = c.options.scattering.reference.has_value();
  for (const PortChannel& x : c.channels) {
    const PortOptions& port = c.options.ports[x.port];
    shift.push_back(port.shift);
    own.push_back(port.kind == PortKind::mode ? em::Waves::travelling : em::Waves::power);
    otherwise = otherwise || port.reactance != 0;
  }
  if (std::any_of(shift.begin(), shift.end(), [](double x) { return x != 0; })) {
    // b' = b e^{i beta l}, a' = a e^{-i beta l} at a plane that lies l further along the direction.
    const Tensor turn =
        expand_dims(exp(constants.propagation * tensor(shift) * c128(0, 1)), -1);  // of all runs
    out = {out.in / turn, out.out * turn};
  }
  if (!otherwise) return out;
  // By voltages and currents; a mode without an impedance keeps its waves.
  const Tensor known = abs(constants.impedance) > 0;
  const em::WaveFactors from = em::wave_factors(where(known, constants.impedance, c128(1)), own),
                        to = em::wave_factors(where(known, constants.reference, c128(1)),
                                              waves_of_s(c));
  const Tensor both = from.u * (from.z + from.w), current = (out.in - out.out) / both,
               voltage = (from.w * out.in + from.z * out.out) / both, told = expand_dims(known, -1);
  return {where(told, to.u * (voltage + to.z * current), out.in),
          where(told, to.u * (voltage - to.w * current), out.out)};
}

Tensor scattering_matrix(const Case& c, const PortWaves& waves, const PortConstants& constants) {
  const std::vector<std::size_t> columns = columns_of(c);
  const PortWaves all = seen_waves(c, told_alone(c, with_alike(c, waves), columns), constants);
  if (columns.size() == c.channels.size())
    return transpose(solve(transpose(all.in), transpose(all.out)));  // S A = B
  std::vector<Tensor> of;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const auto column = static_cast<Index>(j);
    const Tensor by = select(select(all.in, 2, column), 1, static_cast<Index>(columns[j]));
    of.push_back(select(all.out, 2, column) / expand_dims(by, -1));
  }
  return stack(of, 2);
}

Tensor echoes(const Case& c, const PortWaves& waves) {
  const Tensor all = told_alone(c, with_images(c, waves), driven_channels(c)).in;
  std::vector<Tensor> of;
  for (std::size_t r = 0; r < c.excitations.size(); ++r) {
    const Tensor in = select(all, 2, static_cast<Index>(r));
    const Tensor by = abs(select(in, 1, static_cast<Index>(c.excitations[r].channel)));
    Tensor most = zeros({in.shape()[0]});
    for (std::size_t k = 0; k < c.channels.size(); ++k)
      if (k != c.excitations[r].channel)
        most = maximum(most, abs(select(in, 1, static_cast<Index>(k))) / by);
    of.push_back(most);
  }
  return max(stack(of, 1), {1});
}

void add_port_results(const MonitoredCase& made, data::Log& log, Results& results) {
  const Case& c = made.c;
  if (c.ports.empty()) return;
  Tensor s, reference;
  if (!c.excitations.empty()) {
    const PortWaves waves = waves_of(made);
    const PortConstants constants = constants_of(made);
    reference = constants.reference;
    s = scattering_matrix(c, waves, constants);
    doubt_network(c, s, log);
    results.push_back(scattering_result(made, waves, s, reference, log));
    if (columns_of(c).size() == c.channels.size())
      add_networks(c, device_of(c, results.back()), results);
  }
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    const PortMonitor& m = port_monitor(made.monitors, p, c.ports.size());
    MonitorResult r = m.result();
    if (c.excitations.empty()) {
      std::vector<std::size_t> own;
      for (std::size_t k = 0; k < c.channels.size(); ++k)
        if (c.channels[k].port == p) own.push_back(k);
      const Tensor waves = nan_unless(told(c, own), m.waves());
      const char* unit = amplitude_units(c);
      r.quantities.insert(
          r.quantities.begin(),
          {complex_quantity("in", unit, "waves into the device", select(waves, 0, 0)),
           complex_quantity("out", unit, "waves out of the device", select(waves, 0, 1))});
    }
    if (s.defined()) add_input_figures(c, p, s, columns_of(c), reference, r);
    results.push_back(std::move(r));
    for (MonitorResult& field : m.fields()) results.push_back(std::move(field));
  }
}

}  // namespace tessera::apps::fdtd
