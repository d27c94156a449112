// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/networks.h"

#include "electromagnetics/fdtd/scattering.h"
#include "electromagnetics/waves/exterior.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/network_joins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <set>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Of S, above which what a device does not do is said.
constexpr double kDoubt = 1e-2;

constexpr const char* kMixed = "s_mixed";
constexpr const char* kJoined = "s_joined";

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}
std::vector<std::uint64_t> lengths(const Tensor& t) { return {t.shape().begin(), t.shape().end()}; }
Tensor row_of(const std::vector<double>& values) {
  return tensor(std::vector<c128>(values.begin(), values.end()));
}
/// References, with those of `other` where there are none.
Tensor or_other(const Tensor& reference, const Tensor& other) {
  return where(abs(reference) > 0, reference, other);
}
Tensor of_port(const Tensor& reference, std::size_t port) {
  return select(reference, 1, static_cast<Index>(port));
}
/// What `make` makes of a network, at the frequencies at which all of this is known; nan at others.
template <class Make>
Network of_known(Network n, const Make& make) {
  const Tensor known = all(is_finite(real(n.s)), {1, 2}, true);
  n.s = where(known, n.s, c128(0));
  Network out = make(n);
  if (!out.names.empty()) out.s = where(known, out.s, c128(NAN, NAN));
  return out;
}
Network read_network(const std::filesystem::path& file) {
  return network_of(data::read_touchstone(file).network);
}

}  // namespace

std::string element_name(const std::string& to, const std::string& from) {
  return "S_" + to + "_" + from;
}

MonitorResult network_result(std::string name, const std::vector<std::string>& to,
                             const std::vector<std::string>& from,
                             const std::vector<double>& frequency_hz, const Tensor& s) {
  MonitorResult out{std::move(name), scattering_name, {"frequency", "Hz", frequency_hz}, {}, {}};
  std::vector<double> rows, columns;
  for (std::size_t k = 1; k <= to.size(); ++k) rows.push_back(static_cast<double>(k));
  for (const std::string& x : from) columns.push_back(static_cast<double>(place_of(to, x) + 1));
  out.coordinates = {{"to", "1", rows, to}, {"from", "1", columns, from}};
  for (std::size_t i = 0; i < to.size(); ++i)
    for (std::size_t j = 0; j < from.size(); ++j) {
      const Tensor one = select(select(s, 2, static_cast<Index>(j)), 1, static_cast<Index>(i));
      out.quantities.push_back({element_name(to[i], from[j]), "1", to[i] + " from " + from[j],
                                lengths(one), one.to_vector<c128>()});
    }
  out.quantities.push_back(
      {"S", "1", "scattering matrix [to, from]", lengths(s), s.to_vector<c128>()});
  if (frequency_hz.size() > 1) {
    const Tensor delay = em::group_delay(s, tensor(frequency_hz));
    out.quantities.push_back(
        {"group_delay", "s", "group delay [to, from]", lengths(delay), delay.to_vector<double>()});
  }
  return out;
}

Network network_of(const data::Touchstone& file) {
  const auto n = static_cast<Index>(file.ports), f = static_cast<Index>(file.frequency_hz.size());
  const Tensor x = tensor(std::vector<c128>(file.values.begin(), file.values.end()), {f, n, n});
  const Tensor reference = row_of(file.reference_ohm);
  Network out{{},
              file.frequency_hz,
              {},
              broadcast_to(reference, {f, n}),
              std::vector<em::Waves>(file.ports, em::Waves::power)};
  for (std::size_t k = 1; k <= file.ports; ++k) out.names.push_back(std::to_string(k));
  if (file.kind == data::NetworkKind::S && file.modes.empty()) {
    out.s = x;
    return out;
  }
  const auto terminals = [&] {
    switch (file.kind) {
      case data::NetworkKind::Y:
        return em::terminals_of_y(x);
      case data::NetworkKind::Z:
        return em::terminals_of_z(x);
      case data::NetworkKind::H:
        return em::terminals_of_h(x);
      case data::NetworkKind::G:
        return em::terminals_of_g(x);
      default:
        return em::terminals_of_s(x, em::mode_references(reference, file.modes));
    }
  };
  const em::Terminals t = terminals();
  out.s = em::s_of(file.modes.empty() ? t : em::from_modes(t, file.modes), reference);
  return out;
}

Network at_frequencies(const Network& n, const std::vector<double>& frequency_hz) {
  const std::vector<double>& own = n.frequency_hz;
  std::vector<Tensor> rows, reference;
  for (const double f : frequency_hz) {
    const double slack = 1e-9 * f;
    if (own.empty() || f < own.front() - slack || f > own.back() + slack)
      throw Error(
          fmt::format("[network] there is nothing at {:.6g} Hz: the file goes from {:.6g} to "
                      "{:.6g} Hz",
                      f, own.empty() ? NAN : own.front(), own.empty() ? NAN : own.back()));
    const auto above = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(std::lower_bound(own.begin(), own.end(), f) - own.begin(), 1,
                                   std::max<std::ptrdiff_t>(1, std::ssize(own) - 1)));
    const double share =
        own.size() == 1
            ? 0
            : std::clamp((f - own[above - 1]) / (own[above] - own[above - 1]), 0.0, 1.0);
    const auto between = [&](const Tensor& x) {
      const auto at = [&](std::size_t k) { return select(x, 0, static_cast<Index>(k)); };
      // Its neighbour may be nan.
      if (share < 1e-9 || share > 1 - 1e-9) return at(share < 0.5 ? above - 1 : above);
      return (1 - share) * at(above - 1) + share * at(above);
    };
    rows.push_back(between(n.s)), reference.push_back(between(n.reference));
  }
  return {n.names, frequency_hz, stack(rows, 0), stack(reference, 0), n.waves};
}

Network device_of(const Case& c, const MonitorResult& s) {
  const Quantity &all = *s.find("S"), &to = *s.find("reference");
  const auto array = [](const Quantity& q) {
    const auto& v = std::get<std::vector<std::complex<double>>>(q.values);
    Shape shape;
    for (const std::uint64_t n : q.shape) shape.push_back(static_cast<Index>(n));
    return tensor(std::vector<c128>(v.begin(), v.end()), shape);
  };
  Network out{{}, s.axis.values, array(all), array(to), waves_of_s(c)};
  out.reference = where(is_finite(real(out.reference)), out.reference, c128(50));  // no port there
  for (const PortChannel& x : c.channels) out.names.push_back(x.name);
  return out;
}

Tensor renormalized(const Network& n, const Tensor& to, const std::vector<em::Waves>& waves) {
  const Tensor own = or_other(n.reference, or_other(to, scalar(1.0, Dtype::c128)));
  return em::s_of(em::terminals_of_s(n.s, own, n.waves), or_other(to, own), waves);
}

Network mixed_modes(const Network& n, const std::vector<PairOptions>& pairs) {
  using Kind = data::NetworkMode::Kind;
  Network out{{}, n.frequency_hz, {}, {}, {}};
  std::vector<data::NetworkMode> modes;
  std::vector<bool> paired(n.names.size());
  std::vector<Tensor> reference;  // of a pair that of either, where the other one has none
  for (std::size_t k = 0; k < n.names.size(); ++k) reference.push_back(of_port(n.reference, k));
  for (const PairOptions& p : pairs) {
    const std::size_t plus = place_of(n.names, p.plus), minus = place_of(n.names, p.minus);
    paired[plus] = paired[minus] = true;
    reference[plus] = or_other(reference[plus], reference[minus]);
    reference[minus] = or_other(reference[minus], reference[plus]);
    for (const Kind kind : {Kind::differential, Kind::common}) {
      modes.push_back({kind, plus, minus});
      out.waves.push_back(n.waves[plus]);
    }
    out.names.push_back(p.name + ".d"), out.names.push_back(p.name + ".c");
  }
  for (std::size_t k = 0; k < n.names.size(); ++k) {
    if (paired[k]) continue;
    modes.push_back({Kind::single, k, 0});
    out.names.push_back(n.names[k]), out.waves.push_back(n.waves[k]);
  }
  const Tensor known = stack(reference, 1), own = or_other(known, scalar(50.0, Dtype::c128));
  out.reference = em::mode_references(known, modes);
  out.s = em::s_of(em::to_modes(em::terminals_of_s(n.s, own, n.waves), modes),
                   em::mode_references(own, modes), out.waves);
  return out;
}

Network joined(const Network& n, const std::vector<JoinOptions>& joins) {
  std::vector<std::string> names = n.names;
  std::vector<em::Waves> waves = n.waves;
  std::vector<Tensor> reference, s;  // [port] and [network]
  for (std::size_t k = 0; k < names.size(); ++k) reference.push_back(of_port(n.reference, k));
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<bool> inner(names.size());
  for (const JoinOptions& join : joins) {
    const Network file = at_frequencies(read_network(join.file), n.frequency_hz);
    s.push_back(file.s);
    for (std::size_t k = 0; k < file.names.size(); ++k) {
      const std::string& to = join.ports[k];
      names.push_back(join.name + "." + file.names[k]);
      waves.push_back(file.waves[k]), reference.push_back(of_port(file.reference, k));
      inner.push_back(!to.empty());
      if (to.empty()) continue;
      const std::size_t port = place_of(n.names, to);
      inner[port] = true;
      reference[port] = or_other(reference[port], reference.back());
      pairs.emplace_back(port, names.size() - 1);
    }
  }
  s.insert(s.begin(), n.s);
  Network out{{}, n.frequency_hz, {}, {}, {}};
  const Tensor all = or_other(stack(reference, 1), scalar(50.0, Dtype::c128));
  std::vector<Tensor> left, known;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (inner[k]) continue;
    out.names.push_back(names[k]), out.waves.push_back(waves[k]);
    left.push_back(of_port(all, k)), known.push_back(reference[k]);
  }
  const Tensor power = em::s_of(em::terminals_of_s(em::side_by_side(s), all, waves), all),
               rest = em::join_ports(power, all, pairs);
  if (left.empty()) return out;
  out.reference = stack(known, 1);
  out.s = em::s_of(em::terminals_of_s(rest, stack(left, 1)), stack(left, 1), out.waves);
  return out;
}

MonitorResult compared(const Network& n, const CompareOptions& with,
                       const std::vector<std::string>& ports,
                       const std::vector<PairOptions>& pairs) {
  Network file = read_network(with.file);
  if (with.result == kMixed) {
    file.names = ports;
    file = mixed_modes(file, pairs);
  }
  std::vector<double> f;
  for (const double x : file.frequency_hz)
    if (x >= n.frequency_hz.front() * (1 - 1e-9) && x <= n.frequency_hz.back() * (1 + 1e-9))
      f.push_back(x);
  Network own = at_frequencies(n, f), other = at_frequencies(file, f);
  other.s = renormalized(other, own.reference, n.waves);
  MonitorResult out = network_result(with.name, n.names, n.names, f, other.s);
  out.kind = "compared";
  double apart = NAN;
  for (const double x : abs(own.s - other.s).to_vector<double>())
    if (!std::isnan(x)) apart = std::isnan(apart) ? x : std::max(apart, x);
  out.quantities.push_back({"difference",
                            "1",
                            "largest |S - S of the file|, S on straight lines between its "
                            "frequencies, where it is told",
                            {1},
                            std::vector<double>{apart}});
  return out;
}

void doubt_network(const Case& c, const Tensor& s, data::Log& log) {
  const auto& ports = c.options.ports;
  const bool power = c.options.scattering.waves == WaveKind::power ||
                     std::all_of(ports.begin(), ports.end(),
                                 [](const PortOptions&p) { return p.reactance == 0; }),
             linear = std::all_of(c.media.begin(), c.media.end(),
                                  [](const em::Medium&m) { return m.chi2 == 0 && m.chi3 == 0; });
  if (!power || !linear) return;
  const bool whole = s.shape()[1] == s.shape()[2];
  const double gain =
                   (whole ? max(em::largest_gain(s)) : max(sqrt(sum(square(abs(s)), {1})))).item(),
               odd = whole && c.bloch_k == Point{} ? max(em::nonreciprocity(s)).item() : 0;
  const char* const may_be =
      "the run may have ended too early, a port's mode may miss a part of the wave, or ports see "
      "each other";
  if (gain > 1 + kDoubt)
    log.warning(fmt::format(
        "S has a gain of up to {:.4g}, and a device without sources has none above 1: {}", gain,
        may_be));
  if (odd > kDoubt)
    log.warning(fmt::format(
        "S_ij is up to {:.3g} away from S_ji, and media here are reciprocal: {}", odd, may_be));
}

void add_networks(const Case& c, const Network& device, Results& results) {
  const ScatteringOptions& o = c.options.scattering;
  std::vector<std::pair<std::string, Network>> all{{scattering_name, device}};
  const auto add = [&](const char* name, Network n) {
    if (n.names.empty()) return;
    results.push_back(network_result(name, n.names, n.names, n.frequency_hz, n.s));
    results.back().quantities.push_back({"reference", "ohm",
                                         "impedance that it refers to [port]; 0: waves of a mode "
                                         "that has none, as they are",
                                         lengths(n.reference), n.reference.to_vector<c128>()});
    all.emplace_back(name, std::move(n));
  };
  if (!o.pairs.empty())
    add(kMixed, of_known(device, [&](const Network& n) { return mixed_modes(n, o.pairs); }));
  if (!o.joins.empty())
    add(kJoined, of_known(device, [&](const Network& n) { return joined(n, o.joins); }));
  for (const CompareOptions& with : o.compare)
    for (const auto& [name, network] : all)
      if (name == with.result) results.push_back(compared(network, with, device.names, o.pairs));
}

void check_networks(const Case& c, const data::Config& config) {
  const ScatteringOptions& o = c.options.scattering;
  const auto refuse = [&](const std::string& key, std::string what, std::string hint) {
    throw data::InputError(data::ExitCode::config_invalid,
                           {config.error(668, key, std::move(what), std::move(hint))});
  };
  const std::vector<double> f = o.all_frequencies();
  std::size_t outer = c.channels.size();
  const auto read = [&](const std::string& key, const std::filesystem::path& file) {
    try {
      return read_network(file);
    } catch (const data::InputError&) {
      throw;
    } catch (const Error& e) {
      refuse(key, e.what(), "give a file of S, Y or Z");
    }
    return Network{};
  };
  const auto copies_of_channel = [&](const std::string& name) {
    std::size_t k = 0;
    while (c.channels[k].name != name) ++k;
    return copies_of(c, c.channels[k].port);
  };
  for (std::size_t k = 0; k < o.pairs.size(); ++k)
    if (copies_of_channel(o.pairs[k].plus) != copies_of_channel(o.pairs[k].minus))
      refuse(fmt::format("s_parameters.pair[{}]", k),
             "one of the two stands beside a symmetry, and S has it together with its images",
             "pair ports that have as many images, or simulate the whole");
  for (std::size_t k = 0; k < o.joins.size(); ++k) {
    const std::string key = fmt::format("s_parameters.join[{}]", k);
    const Network file = read(key + ".file", o.joins[k].file);
    if (file.names.size() != o.joins[k].ports.size())
      refuse(key + ".ports",
             fmt::format("the file has {} ports, and {} are named", file.names.size(),
                         o.joins[k].ports.size()),
             "name for each of its ports one of the device, or \"\" where it stays open");
    if (f.front() < file.frequency_hz.front() * (1 - 1e-9) ||
        f.back() > file.frequency_hz.back() * (1 + 1e-9))
      refuse(key + ".file",
             fmt::format("the file goes from {:.6g} to {:.6g} Hz, and S from {:.6g} to {:.6g} Hz",
                         file.frequency_hz.front(), file.frequency_hz.back(), f.front(), f.back()),
             "let s_parameters ask for frequencies that the file has");
    std::set<double> copies;
    for (const std::string& name : o.joins[k].ports)
      if (!name.empty()) copies.insert(copies_of_channel(name));
    if (copies.size() > 1)
      refuse(key + ".ports",
             "the file joins ports beside a symmetry, of which S has each together "
             "with its images, to others",
             "join ports that have as many images, or simulate the whole");
    for (const std::string& name : o.joins[k].ports) outer = name.empty() ? outer + 1 : outer - 1;
  }
  for (std::size_t k = 0; k < o.compare.size(); ++k) {
    const std::string key = fmt::format("s_parameters.compare[{}]", k);
    const Network file = read(key + ".file", o.compare[k].file);
    const std::size_t ports = o.compare[k].result == kJoined ? outer : c.channels.size();
    if (file.names.size() != ports)
      refuse(key + ".file",
             fmt::format("the file has {} ports, and '{}' has {}", file.names.size(),
                         o.compare[k].result, ports),
             "compare with a file of as many ports");
    if (std::none_of(file.frequency_hz.begin(), file.frequency_hz.end(), [&](double x) {
          return x >= f.front() * (1 - 1e-9) && x <= f.back() * (1 + 1e-9);
        }))
      refuse(key + ".file", "no frequency of the file lies in the band of s_parameters",
             "compare in a band that both have");
  }
}

}  // namespace tessera::apps::fdtd
