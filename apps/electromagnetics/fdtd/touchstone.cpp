// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/touchstone.h"

#include "electromagnetics/fdtd/networks.h"
#include "electromagnetics/fdtd/scattering.h"
#include "tessera/autodiff/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

namespace tessera::apps::fdtd {
namespace {

/// What a port of the file refers to.
struct FileReference {
  double ohm = 50;
  bool known = false, changed = false;
  std::string was;  ///< what S of the run refers to, where that is another
};

/// To six digits, so that lines that are alike have one.
double rounded(double x) { return std::stod(fmt::format("{:.6g}", x)); }

/// `own` [frequency]: what is given, or what a `line` has.
FileReference file_reference(const std::vector<c128>& own, bool line,
                             const std::vector<double>& frequency) {
  const std::size_t middle = own.size() / 2;
  const c128 z = own[middle];
  if (z == 0.0) return {};
  if (!line && z.imag() == 0) return {z.real(), true, false, {}};
  std::string was = fmt::format("{:.6g}", z.real());
  if (std::abs(z.imag()) > 1e-9 * std::abs(z)) was += fmt::format(" {:+.6g}i", z.imag());
  was += " ohm";
  if (!line) return {z.real(), true, true, was};
  return {rounded(z.real()), true, true,
          fmt::format("the impedance of its line, {} at {:.6g} Hz", was, frequency[middle])};
}

/// The frequencies at which all is told: a file knows no nan.
Network told_part(const Network& n) {
  const std::vector<double> off = max(abs(n.s), {1, 2}).to_vector<double>();
  Network out = n;
  out.frequency_hz.clear();
  std::vector<Tensor> s, reference;
  for (std::size_t f = 0; f < off.size(); ++f) {
    if (std::isnan(off[f])) continue;
    out.frequency_hz.push_back(n.frequency_hz[f]);
    s.push_back(select(n.s, 0, static_cast<Index>(f)));
    reference.push_back(select(n.reference, 0, static_cast<Index>(f)));
  }
  if (!s.empty()) out.s = stack(s, 0), out.reference = stack(reference, 0);
  return out;
}

}  // namespace

std::optional<data::Touchstone> touchstone_of(const Case& c, const MonitorResult& s) {
  const std::size_t n = c.channels.size();
  if (columns_of(c).size() < n) return {};
  const Network own = told_part(device_of(c, s));
  if (own.frequency_hz.empty()) return {};
  data::Touchstone out;
  out.ports = n;
  out.frequency_hz = own.frequency_hz;
  std::string waves;
  std::vector<c128> to;
  std::vector<std::string> changed;
  for (std::size_t k = 0; k < n; ++k) {
    const bool line =
        !c.options.scattering.reference && !c.options.ports[c.channels[k].port].impedance;
    const FileReference r = file_reference(
        select(own.reference, 1, static_cast<Index>(k)).to_vector<c128>(), line, own.frequency_hz);
    const std::string& name = c.channels[k].name;
    out.reference_ohm.push_back(r.ohm);
    out.comments.push_back(fmt::format(" Port[{}] = {}", k + 1, name));
    to.push_back(r.ohm);
    if (!r.known) waves += (waves.empty() ? "" : ", ") + name;
    if (r.changed)
      changed.push_back(
          fmt::format(" S refers to {:g} ohm at {}, that of the run to {}.", r.ohm, name, r.was));
  }
  const auto all = changed.empty()
                       ? own.s
                       : renormalized(own, broadcast_to(tensor(to), own.reference.shape()),
                                      std::vector(n, electromagnetics::Waves::power));
  for (const c128& x : all.to_vector<c128>()) out.values.push_back(x);
  out.comments.insert(out.comments.end(), changed.begin(), changed.end());
  if (!waves.empty())
    out.comments.push_back(" Waves of the modes themselves at " + waves +
                           ", which have no impedance: the reference there is a mere number.");
  if (const std::size_t less = s.axis.values.size() - out.frequency_hz.size(); less > 0)
    out.comments.push_back(fmt::format(
        " {} of {} frequencies are left out: a mode of a port decays there, or is within {:g} % of "
        "its cut-off.",
        less, s.axis.values.size(), 100 * cutoff_margin));
  return out;
}

void write_touchstone_of(const std::filesystem::path& run, const Case& c, const Results& results,
                         data::Log& log) {
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
    const std::string name = fmt::format("{}.s{}p", scattering_name, network->ports);
    data::write_touchstone(run / name, *network, style);
    for (const std::string& text : network->comments)
      if (text.starts_with(" S refers")) log.info(name + ":" + text);
  }
}

}  // namespace tessera::apps::fdtd
