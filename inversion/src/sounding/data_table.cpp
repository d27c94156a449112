// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/data_table.h"

#include "sounding/missing.h"
#include "tessera/autodiff/error.h"
#include "tessera/inversion/response.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace tessera::inversion {
namespace {

struct ElementName {
  Element element;
  const char* word;
};
constexpr std::array<ElementName, 8> kElementNames{{{Element::determinant, "det"},
                                                    {Element::average, "average"},
                                                    {Element::xy, "xy"},
                                                    {Element::yx, "yx"},
                                                    {Element::xx, "xx"},
                                                    {Element::yy, "yy"},
                                                    {Element::tx, "tx"},
                                                    {Element::ty, "ty"}}};
constexpr std::array kParts{Part::real, Part::imag, Part::log10_rho, Part::phase,
                            Part::phase_tensor};

bool is_tipper(Element e) { return e == Element::tx || e == Element::ty; }

/// Rows of one station and element at one frequency.
struct Pair {
  std::optional<std::size_t> real, imag, log10_rho, phase;
};

/// By falling frequency, as the table has them.
std::map<double, Pair, std::greater<>> pairs_of(const DataTable& t, std::size_t station,
                                                Element element) {
  std::map<double, Pair, std::greater<>> out;
  const auto [first, last] =
      std::equal_range(t.station.begin(), t.station.end(), static_cast<std::int64_t>(station));
  for (auto at = first; at != last; ++at) {
    const auto i = static_cast<std::size_t>(at - t.station.begin());
    if (t.kind[i].element != element) continue;
    Pair& p = out[t.frequency_hz[i]];
    switch (t.kind[i].part) {
      case Part::real:
        p.real = i;
        break;
      case Part::imag:
        p.imag = i;
        break;
      case Part::log10_rho:
        p.log10_rho = i;
        break;
      case Part::phase:
        p.phase = i;
        break;
      case Part::phase_tensor:
        break;
    }
  }
  return out;
}

Response complex_rows(const DataTable& t, std::size_t station, Element element,
                      const std::vector<double>& numbers) {
  Response out;
  const auto add = [&](double f, Complex z, double sigma) {
    out.frequency_hz.push_back(f);
    out.impedance_ohm.push_back(z);
    out.sigma_ohm.push_back(sigma);
  };
  for (const auto& [f, p] : pairs_of(t, station, element)) {
    if (p.real && p.imag) {
      add(f, {numbers[*p.real], numbers[*p.imag]}, std::max(t.sigma[*p.real], t.sigma[*p.imag]));
    } else if (p.log10_rho && p.phase) {
      const double size = impedance_modulus(f, std::pow(10.0, numbers[*p.log10_rho]));
      const double by_rho = std::numbers::ln10 / 2 * t.sigma[*p.log10_rho],
                   by_phase = t.sigma[*p.phase] * std::numbers::pi / 180;
      add(f, std::polar(size, numbers[*p.phase] * std::numbers::pi / 180),
          size * std::max(by_rho, by_phase));
    }
  }
  return out;
}

template <class Wanted>
double rms_where(const DataTable& t, Wanted&& wanted) {
  double sum = 0, n = 0;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (wanted(i)) {
      const double r = (t.value[i] - t.predicted[i]) / t.sigma[i];
      sum += r * r;
      ++n;
    }
  return std::sqrt(sum / n);
}

}  // namespace

bool exists(DatumKind kind) {
  const Element e = kind.element;
  if (kind.part == Part::phase_tensor)
    return e == Element::xx || e == Element::xy || e == Element::yx || e == Element::yy;
  return !is_tipper(e) || kind.part == Part::real || kind.part == Part::imag;
}

std::string name_of(DatumKind kind) {
  if (!exists(kind)) throw Error("[name_of] there is no such kind of datum");
  std::string word;
  for (const ElementName& n : kElementNames)
    if (n.element == kind.element) word = n.word;
  const std::string complex = is_tipper(kind.element) ? word : "z" + word;
  switch (kind.part) {
    case Part::real:
      return complex + "_re";
    case Part::imag:
      return complex + "_im";
    case Part::log10_rho:
      return "log10_rho_" + word;
    case Part::phase:
      return "phase_" + word;
    case Part::phase_tensor:
      return "phase_tensor_" + word;
  }
  throw Error("[name_of] unknown part");
}

std::optional<DatumKind> kind_of(std::string_view name) {
  for (const ElementName& n : kElementNames)
    for (const Part part : kParts)
      if (const DatumKind kind{n.element, part}; exists(kind) && name_of(kind) == name) return kind;
  return std::nullopt;
}

std::string unit_of(DatumKind kind) {
  if (kind.part == Part::phase) return "deg";
  const bool complex = kind.part == Part::real || kind.part == Part::imag;
  return complex && !is_tipper(kind.element) ? "ohm" : "1";
}

void DataTable::add(std::int64_t of_station, double at_hz, DatumKind what, double is,
                    double give_or_take) {
  station.push_back(of_station);
  frequency_hz.push_back(at_hz);
  kind.push_back(what);
  value.push_back(is);
  sigma.push_back(give_or_take);
  predicted.push_back(kNaN);
}

void DataTable::append(const DataTable& other, std::int64_t first_station) {
  const auto add_all = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const std::int64_t s : other.station) station.push_back(first_station + s);
  add_all(frequency_hz, other.frequency_hz);
  add_all(kind, other.kind);
  add_all(value, other.value);
  add_all(sigma, other.sigma);
  add_all(predicted, other.predicted);
}

void require_valid(const DataTable& t, std::size_t n_stations) {
  const std::size_t n = t.size();
  if (t.station.size() != n || t.frequency_hz.size() != n || t.kind.size() != n ||
      t.sigma.size() != n || t.predicted.size() != n)
    throw Error("[DataTable] columns differ in length");
  for (std::size_t i = 0; i < n; ++i) {
    const double f = t.frequency_hz[i], s = t.sigma[i];
    if (i > 0 && t.station[i] < t.station[i - 1])
      throw Error("[DataTable] the rows of a station stand together, in the order of stations");
    if (t.station[i] < 0 || t.station[i] >= static_cast<std::int64_t>(n_stations) ||
        !exists(t.kind[i]) || !std::isfinite(t.value[i]) || !(f > 0) || !std::isfinite(f) ||
        !(s > 0) || !std::isfinite(s))
      throw Error("[DataTable] row " + std::to_string(i) +
                  " needs a station, a kind, a finite value and a positive finite frequency and "
                  "sigma");
  }
}

Response response_of(const DataTable& table, std::size_t station, Element element) {
  return complex_rows(table, station, element, table.value);
}

Response predicted_response(const DataTable& table, std::size_t station, Element element) {
  return complex_rows(table, station, element, table.predicted);
}

void set_predicted(DataTable& t, std::size_t station, Element element, const Response& predicted) {
  std::size_t i = 0;
  for (const auto& [f, p] : pairs_of(t, station, element)) {
    if (!(p.real && p.imag) && !(p.log10_rho && p.phase)) continue;
    if (i >= predicted.size() || predicted.frequency_hz[i] != f)
      throw Error("[set_predicted] the prediction is not at the frequencies of the data");
    const Complex z = predicted.impedance_ohm[i++];
    if (p.real) t.predicted[*p.real] = z.real();
    if (p.imag) t.predicted[*p.imag] = z.imag();
    if (p.log10_rho) t.predicted[*p.log10_rho] = std::log10(apparent_resistivity(f, z));
    if (p.phase) t.predicted[*p.phase] = phase_degrees(z);
  }
  if (i != predicted.size())
    throw Error("[set_predicted] the prediction is not at the frequencies of the data");
}

double rms_of(const DataTable& table) {
  return rms_where(table, [](std::size_t) { return true; });
}
double rms_of_station(const DataTable& table, std::size_t station) {
  return rms_where(
      table, [&](std::size_t i) { return table.station[i] == static_cast<std::int64_t>(station); });
}
double rms_of_kind(const DataTable& table, DatumKind kind) {
  return rms_where(table, [&](std::size_t i) { return table.kind[i] == kind; });
}

}  // namespace tessera::inversion
