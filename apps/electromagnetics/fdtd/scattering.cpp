// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/scattering.h"

#include "electromagnetics/fdtd/antenna.h"
#include "electromagnetics/fdtd/networks.h"
#include "electromagnetics/fdtd/port_monitor.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/network_joins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <type_traits>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Beyond this an incoming wave at a port that is not driven spoils columns that stand alone.
constexpr double kEcho = 1e-3;

std::size_t channel_of(const Case& c, const std::string& name) {
  return static_cast<std::size_t>(
      std::find_if(c.channels.begin(), c.channels.end(),
                   [&](const PortChannel& x) { return x.name == name; }) -
      c.channels.begin());
}

/// A channel that has no run of its own but that of another one: channel k of the file stands
/// where `place[k]` does.
struct Alike {
  std::size_t channel, run;
  std::vector<std::size_t> place;
};
std::vector<Alike> likenesses(const Case& c) {
  std::vector<Alike> out;
  for (std::size_t k = 0; k < c.channels.size(); ++k) {
    const PortOptions& o = c.options.ports[c.channels[k].port];
    if (!o.same_as) continue;
    const std::size_t like = channel_of(c, *o.same_as);
    for (std::size_t r = 0; r < c.excitations.size(); ++r) {
      if (c.excitations[r].channel == k) break;  // has its own
      if (c.excitations[r].channel != like) continue;
      Alike a{k, r, {}};
      for (std::size_t q = 0; q < c.channels.size(); ++q) a.place.push_back(q);
      if (o.order.empty()) {
        std::swap(a.place[k], a.place[like]);
      } else {
        // order[p] takes the place of port p; ports may have several modes, which keep their order.
        std::vector<std::size_t> begin;
        for (const PortChannel& x : c.channels)
          if (x.mode == 0) begin.push_back(static_cast<std::size_t>(&x - c.channels.data()));
        for (std::size_t q = 0; q < c.channels.size(); ++q) {
          const auto& ports = c.options.ports;
          const auto to =
              static_cast<std::size_t>(std::find_if(ports.begin(), ports.end(),
                                                    [&](const PortOptions& p) {
                                                      return p.name == o.order[c.channels[q].port];
                                                    }) -
                                       ports.begin());
          a.place[q] = begin[to] + c.channels[q].mode;
        }
      }
      out.push_back(std::move(a));
    }
  }
  return out;
}

/// Waves with a column for each channel of columns_of.
PortWaves with_alike(const Case& c, const PortWaves& waves) {
  const std::vector<Alike> alike = likenesses(c);
  const auto columns = [&](const Tensor& x) {
    std::vector<std::pair<std::size_t, Tensor>> all;
    for (std::size_t r = 0; r < c.excitations.size(); ++r)
      all.emplace_back(c.excitations[r].channel, select(x, 2, static_cast<Index>(r)));
    for (const Alike& a : alike) {
      const Tensor own = select(x, 2, static_cast<Index>(a.run));
      std::vector<Tensor> rows(c.channels.size());
      for (std::size_t k = 0; k < rows.size(); ++k)
        rows[a.place[k]] = select(own, 1, static_cast<Index>(k));
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

/// What the waves of S refer to, which may be complex: the kind of wave is the port's, travelling
/// ones at guides, those of power at terminals.
em::Terminals terminals_of(const Case& c, const Tensor& s, const Tensor& impedance) {
  std::vector<c128> guided;  // [channel]
  for (const PortChannel& x : c.channels)
    guided.push_back(c.options.ports[x.port].kind == PortKind::mode ? 1.0 : 0.0);
  const Tensor travelling = tensor(guided), z = impedance,  // [frequency, channel]
      power = 1.0 - travelling, w = travelling * z + power * conj(z),
               u = 0.5 / sqrt(travelling * z + power * cast(real(z), Dtype::c128)),
               scale = 1.0 / (u * (z + w));
  const Tensor one = eye(z.shape()[1], Dtype::c128);
  const auto rows = [&](const Tensor& factor, const Tensor& m) {
    return expand_dims(factor, -1) * m;
  };
  return {rows(scale * w, one) + rows(scale * z, s), rows(scale, one - s)};
}

/// What S refers to, [channel]; 0 of modes that are said to have no impedance.
std::vector<std::complex<double>> references(const Case& c) {
  std::vector<std::complex<double>> out;
  for (const PortChannel& x : c.channels)
    out.push_back(c.options.scattering.reference ? *c.options.scattering.reference
                                                 : impedance_of(c.options.ports[x.port]));
  return out;
}

/// Whether S is to have other references, or other waves, than those of the ports.
bool needs_others(const Case& c) {
  return c.options.scattering.reference ||
         std::any_of(c.options.ports.begin(), c.options.ports.end(),
                     [](const PortOptions& o) { return o.reactance != 0; });
}

std::vector<std::uint64_t> shape_of(const Tensor& t) {
  std::vector<std::uint64_t> out;
  for (const Index n : t.shape()) out.push_back(static_cast<std::uint64_t>(n));
  return out;
}

Quantity complex_quantity(std::string name, std::string units, std::string about, const Tensor& t) {
  return {std::move(name), std::move(units), std::move(about), shape_of(t), complex_values(t)};
}

MonitorResult scattering_result(const MonitoredCase& made, const PortWaves& waves, const Tensor& s,
                                data::Log& log) {
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
  const char* unit = c.grid.dimensions() == 3 ? "sqrt(W)*s" : "sqrt(W/m)*s";
  const Tensor known = told_elements(c, driven_channels(c));
  out.quantities.push_back(complex_quantity("in", unit, "waves into the device [port, driven]",
                                            nan_unless(known, waves.in)));
  out.quantities.push_back(complex_quantity("out", unit, "waves out of the device [port, driven]",
                                            nan_unless(known, waves.out)));
  std::vector<std::complex<double>> z = references(c);
  out.quantities.push_back(
      {"reference", "ohm", "impedance that S refers to [port]; 0: the mode's own", {n}, z});

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

/// A unit of a transform as it is per watt (per watt and metre in two dimensions), and how it goes
/// with the wave: 0 not at all, 1 as a field, 2 as power.
struct WattUnit {
  int power = 0;
  std::string text;
};
WattUnit unit_per_watt(const std::string& unit, int dimensions) {
  const std::string watt = dimensions == 3   ? "W"
                           : dimensions == 2 ? "W/m"
                                             : "W/m^2",
                    root = dimensions == 3 ? "/sqrt(W)" : "/sqrt(" + watt + ")";
  const auto after = [&](const std::string& begin) { return unit.substr(begin.size()); };
  for (const char first : {'W', 'J'}) {
    const std::string begin = std::string(1, first) + "*s^2",
                      per = dimensions == 3 ? "" : watt.substr(1), own = first == 'W' ? "" : "s";
    if (!unit.starts_with(begin)) continue;
    std::string rest = after(begin);
    if (!per.empty() && rest.starts_with(per)) rest = rest.substr(per.size());
    if (rest == "/(rad*m)") rest = "/rad";
    return {2, own.empty() ? (rest.empty() ? "1" : "1" + rest) : own + rest};
  }
  if (unit.starts_with("sqrt(W")) return {1, "1"};
  for (const char* begin : {"V*s", "A*s"})
    if (unit.starts_with(begin)) return {1, unit.substr(0, 1) + after(begin) + root};
  return {};
}

/// What S refers to, [frequency, channel]: one reference, or what the ports have, modes their
/// line's.
Tensor seen_at(const MonitoredCase& made) {
  const Tensor own = constants_of(made).impedance;
  if (const auto& all = made.c.options.scattering.reference)
    return tensor(std::vector<c128>(static_cast<std::size_t>(own.size()), *all), own.shape());
  return own;
}

/// S with what its waves refer to: a mode without an impedance counts as a line of 50 ohm.
Network device_of(const Case& c, const Tensor& s) {
  Network out{{}, c.options.scattering.all_frequencies(), {}, {}};
  std::vector<c128> reference;
  for (const std::complex<double>& z : references(c)) reference.push_back(z == 0.0 ? 50.0 : z);
  for (const PortChannel& x : c.channels) out.names.push_back(x.name);
  out.s = nan_unless(told_elements(c, columns_of(c)), s);
  out.reference = tensor(reference);
  out.waves = c.options.scattering.waves == WaveKind::pseudo ? em::Waves::pseudo : em::Waves::power;
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
  const std::vector<std::complex<double>> all = references(made.c);
  // What has none where its mode decays takes no part there.
  return {concatenate(propagation, 1),
          where(told(made.c) > 0.5, concatenate(impedance, 1), c128(50)),
          tensor(std::vector<c128>(all.begin(), all.end()))};
}

PortWaves at_impedance(const PortWaves& waves, std::complex<double> from, const Tensor& change) {
  const Tensor more = cast(change, Dtype::c128), to = from + more;
  const double unit = 2 * std::sqrt(2 * from.real());
  const Tensor current = (waves.in - waves.out) * (unit / (2 * from.real())),
               scale = 0.5 / sqrt(2.0 * cast(real(to), Dtype::c128));
  return {(unit * waves.in + more * current) * scale,
          (unit * waves.out - conj(more) * current) * scale};
}

Tensor of_a_watt(PerWatt wave, const Tensor& in, const Tensor& out) {
  if (wave == PerWatt::incident) return 1.0 / in;
  const Tensor size = abs(in), taken = sqrt(square(size) - square(abs(out)));
  return cast(size / taken, Dtype::c128) / in;
}

std::vector<std::size_t> columns_of(const Case& c) {
  std::vector<std::size_t> out;
  for (const Excitation& e : c.excitations) out.push_back(e.channel);
  for (const Alike& a : likenesses(c)) out.push_back(a.channel);
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

Tensor scattering_matrix(const Case& c, const PortWaves& waves, const PortConstants& constants) {
  const std::vector<std::size_t> columns = columns_of(c);
  const PortWaves all = told_alone(c, with_alike(c, waves), columns);
  Tensor s;
  if (columns.size() == c.channels.size()) {
    s = transpose(solve(transpose(all.in), transpose(all.out)));  // S A = B
  } else {
    std::vector<Tensor> of;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      const auto column = static_cast<Index>(j);
      const Tensor by = select(select(all.in, 2, column), 1, static_cast<Index>(columns[j]));
      of.push_back(select(all.out, 2, column) / expand_dims(by, -1));
    }
    s = stack(of, 2);
  }
  std::vector<double> shift;
  for (const PortChannel& x : c.channels) shift.push_back(c.options.ports[x.port].shift);
  if (std::any_of(shift.begin(), shift.end(), [](double x) { return x != 0; })) {
    // b' = b e^{i beta l}, a' = a e^{-i beta l} at a plane that lies l further along the direction.
    const Tensor turn =
        exp(constants.propagation * tensor(shift) * c128(0, 1));  // [frequency, channel]
    std::vector<Tensor> driven;
    for (const std::size_t k : columns) driven.push_back(select(turn, 1, static_cast<Index>(k)));
    s = expand_dims(turn, -1) * s * expand_dims(stack(driven, 1), 1);
  }
  if (needs_others(c))
    s = em::s_of(
        terminals_of(c, s, constants.impedance), constants.reference,
        c.options.scattering.waves == WaveKind::pseudo ? em::Waves::pseudo : em::Waves::power);
  return s;
}

Tensor echoes(const Case& c, const PortWaves& waves) {
  const Tensor all = told_alone(c, waves, driven_channels(c)).in;
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
  Tensor s;
  if (!c.excitations.empty()) {
    const PortWaves waves = waves_of(made);
    s = scattering_matrix(c, waves, constants_of(made));
    results.push_back(scattering_result(made, waves, s, log));
    if (columns_of(c).size() == c.channels.size()) add_networks(c, device_of(c, s), results);
  }
  for (std::size_t p = 0; p < c.ports.size(); ++p) {
    const PortMonitor& m = port_monitor(made.monitors, p, c.ports.size());
    MonitorResult r = m.result();
    if (c.excitations.empty()) {
      std::vector<std::size_t> own;
      for (std::size_t k = 0; k < c.channels.size(); ++k)
        if (c.channels[k].port == p) own.push_back(k);
      const Tensor waves = nan_unless(told(c, own), m.waves());
      const char* unit = c.grid.dimensions() == 3 ? "sqrt(W)*s" : "sqrt(W/m)*s";
      r.quantities.insert(
          r.quantities.begin(),
          {complex_quantity("in", unit, "waves into the device", select(waves, 0, 0)),
           complex_quantity("out", unit, "waves out of the device", select(waves, 0, 1))});
    }
    if (s.defined()) add_input_figures(c, p, s, columns_of(c), seen_at(made), r);
    results.push_back(std::move(r));
    for (MonitorResult& field : m.fields()) results.push_back(std::move(field));
  }
}

void per_watt(const MonitoredCase& made, std::size_t run, Results& results) {
  const Case& c = made.c;
  if (c.options.scattering.per_watt == PerWatt::no) return;
  const PortChannel& driven = c.channels[c.excitations[run].channel];
  const Tensor waves = port_monitor(made.of_excitation(run), driven.port, c.ports.size()).waves();
  const Tensor both = select(waves, 2, static_cast<Index>(driven.mode));
  const std::vector<double> known = c.options.scattering.all_frequencies();
  std::vector<std::complex<double>> by = complex_values(
      of_a_watt(c.options.scattering.per_watt, select(both, 0, 0), select(both, 0, 1)));
  const std::vector<double> is_told = told_channels(c);
  for (std::size_t k = 0; k < known.size(); ++k)
    if (is_told[k * c.channels.size() + c.excitations[run].channel] == 0) by[k] = c128(NAN, NAN);
  for (MonitorResult& r : results) {
    if (r.axis.name != "frequency" || !r.transform) continue;
    for (Quantity& q : r.quantities) {
      const WattUnit to = unit_per_watt(q.units, c.grid.dimensions());
      if (to.power == 0 || q.name == "sums" || q.shape.empty()) continue;
      const std::size_t each = std::accumulate(q.shape.begin() + 1, q.shape.end(), std::uint64_t{1},
                                               std::multiplies<>());
      for (std::size_t k = 0; k < r.axis.values.size(); ++k) {
        const double f = r.axis.values[k];
        const auto at = static_cast<std::size_t>(
            std::find_if(known.begin(), known.end(),
                         [&](double x) { return std::abs(x - f) <= 1e-9 * f; }) -
            known.begin());
        for (std::size_t i = k * each; i < (k + 1) * each; ++i)
          std::visit(
              [&]<class T>(std::vector<T>& v) {
                if (to.power == 2)
                  v[i] *= std::norm(by[at]);
                else if constexpr (std::is_same_v<T, double>)
                  v[i] *= std::abs(by[at]);
                else
                  v[i] *= by[at];
              },
              q.values);
      }
      q.units = to.text;
    }
  }
}

std::optional<data::Touchstone> touchstone_of(const Case& c, const MonitorResult& s) {
  const std::size_t n = c.channels.size();
  if (columns_of(c).size() < n) return {};
  data::Touchstone out;
  out.ports = n;
  // A file knows no nan.
  const auto& all = std::get<std::vector<std::complex<double>>>(s.find("S")->values);
  for (std::size_t f = 0; f < s.axis.values.size(); ++f) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(f * n * n),
               end = begin + static_cast<std::ptrdiff_t>(n * n);
    if (std::any_of(begin, end, [](const auto& x) { return std::isnan(x.real()); })) continue;
    out.frequency_hz.push_back(s.axis.values[f]);
    out.values.insert(out.values.end(), begin, end);
  }
  if (out.frequency_hz.empty()) return {};
  std::string own;
  for (std::size_t k = 0; k < n; ++k) {
    const std::complex<double> z = references(c)[k];
    if (z == 0.0) own += (own.empty() ? "" : ", ") + c.channels[k].name;
    out.reference_ohm.push_back(z == 0.0 ? 50 : z.real());
    out.comments.push_back(fmt::format(" Port[{}] = {}", k + 1, c.channels[k].name));
  }
  if (!own.empty())
    out.comments.push_back(" Waves of the modes themselves at " + own +
                           ", which have no impedance: the reference there is a mere number.");
  if (const std::size_t less = s.axis.values.size() - out.frequency_hz.size(); less > 0)
    out.comments.push_back(fmt::format(
        " {} of {} frequencies are left out: a mode of a port decays there, or is within {:g} % of "
        "its cut-off.",
        less, s.axis.values.size(), 100 * cutoff_margin));
  return out;
}

void write_touchstone_of(const std::filesystem::path& run, const Case& c, const Results& results) {
  const ScatteringOptions& o = c.options.scattering;
  if (o.touchstone == TouchstoneChoice::none) return;
  for (const MonitorResult& r : results) {
    if (r.name != scattering_name) continue;  // not what is mixed or joined
    const auto network = touchstone_of(c, r);
    if (!network) return;
    const std::vector<double>& z = network->reference_ohm;
    const bool one = std::all_of(z.begin(), z.end(), [&](double x) { return x == z.front(); });
    const data::TouchstoneStyle style{
        .version = o.touchstone == TouchstoneChoice::v2 ||
                           (o.touchstone == TouchstoneChoice::automatic && !one)
                       ? 2
                       : 1,
        .numbers = static_cast<data::TouchstoneStyle::Numbers>(o.numbers)};
    data::write_touchstone(run / fmt::format("{}.s{}p", scattering_name, network->ports), *network,
                           style);
  }
}

}  // namespace tessera::apps::fdtd
