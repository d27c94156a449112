// SPDX-License-Identifier: Apache-2.0
#include "sounding_finish.h"

#include "sounding/conventions.h"
#include "tessera/data/median.h"
#include "tessera/inversion/mt_transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tessera::inversion {
namespace {

/// EMPTY, 1e32, 1e33 and whatever else stands for "nothing measured".
bool is_missing(double v) { return !(std::abs(v) < 1e30); }

void check_frequencies(const Sounding& s, const std::vector<std::size_t>& offsets,
                       Findings& findings) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double f = s.frequency_hz[i];
    if (!(f > 0) || is_missing(f))
      findings.error(305, offsets[i],
                     fmt::format("frequency number {} is {:g}; it must be positive", i + 1, f));
  }
  std::vector<std::size_t> order(s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return s.frequency_hz[a] < s.frequency_hz[b];
  });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (s.frequency_hz[order[i]] == s.frequency_hz[order[i - 1]] && s.frequency_hz[order[i]] > 0)
      findings.error(306, offsets[order[i]],
                     fmt::format("frequency {:g} Hz is given twice (numbers {} and {})",
                                 s.frequency_hz[order[i]], order[i - 1] + 1, order[i] + 1));
}

void sort_by_frequency(Sounding& s, Findings& findings) {
  const auto& f = s.frequency_hz;
  if (!std::is_sorted(f.begin(), f.end()) && !std::is_sorted(f.rbegin(), f.rend()))
    findings.note(334, "frequencies neither rise nor fall throughout; sorted");
  std::vector<std::size_t> order(s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return f[a] > f[b]; });
  select_frequencies(s, order);
}

/// No earth has an impedance of zero, nor Zxy or Zyx, and none with currents in it a tipper of zero
/// at all periods: they stand for nothing.
void clear_zeros(Sounding& s, const std::vector<std::size_t>& offsets, Findings& findings) {
  const auto missing = [](Complex z) { return is_missing(z.real()) || is_missing(z.imag()); };
  std::size_t zero = 0, first = 0, half = 0, first_half = 0;
  for (std::size_t i = 0; i < s.impedance.size(); ++i) {
    bool any = false, given = false;
    for (const auto& row : s.impedance[i])
      for (const Complex z : row) {
        given |= !missing(z);
        any |= !missing(z) && z != Complex{};
      }
    if (any) {
      Complex &xy = s.impedance[i][0][1], &yx = s.impedance[i][1][0];
      if ((xy == Complex{} || yx == Complex{}) && half++ == 0) first_half = i;
      for (Complex* z : {&xy, &yx})
        if (*z == Complex{}) *z = kMissing;
    }
    if (any || !given) continue;
    if (zero++ == 0) first = i;
    s.impedance[i] = {{{kMissing, kMissing}, {kMissing, kMissing}}};
  }
  if (zero)
    findings.warn(359, offsets[first],
                  fmt::format("the impedance is zero at {} of {} frequencies: taken as missing",
                              zero, s.size()));
  if (half)
    findings.warn(359, offsets[first_half],
                  fmt::format("Zxy or Zyx is zero beside other elements at {} of {} frequencies: "
                              "taken as missing",
                              half, s.size()));
  const bool idle = std::all_of(s.tipper.begin(), s.tipper.end(), [&](const auto& t) {
    return std::all_of(t.begin(), t.end(), [&](Complex z) { return missing(z) || z == Complex{}; });
  });
  if (!s.has_tipper() || !idle) return;
  if (!s.has_impedance() && s.resistivity.empty())
    findings.error(307, offsets.front(),
                   "the tipper is zero or missing throughout, and the file has nothing else");
  s.tipper.clear();
  s.tipper_error.clear();
  s.tipper_covariance = {};
  findings.note(347, offsets.front(), "the tipper is zero throughout: taken as not given");
}

/// Files of fixed size fill up with rows that hold no value. Some programs (BIRRP, then JONES 2.3)
/// write 999 for such a frequency and leave only a tipper beside it, whose true frequency is lost.
void drop_empty_rows(Sounding& s, std::vector<std::size_t>& offsets, Findings& findings) {
  const auto absent = [](Complex z) { return is_missing(z.real()) || is_missing(z.imag()); };
  std::vector<std::size_t> kept;
  std::size_t first_dropped = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    bool any = false;
    if (s.has_impedance())
      for (const auto& row : s.impedance[i])
        for (const Complex z : row) any |= !absent(z);
    if (s.resistivity.errors_apart)
      for (const auto* numbers : {&s.resistivity.rho, &s.resistivity.phase})
        for (const auto& row : (*numbers)[i])
          for (const double v : row) any |= !is_missing(v);
    const bool filler = s.has_impedance() && std::abs(s.frequency_hz[i]) == 999;
    if (s.has_tipper() && !filler)
      for (const Complex z : s.tipper[i]) any |= !absent(z);
    if (any)
      kept.push_back(i);
    else if (kept.size() == i)
      first_dropped = i;
  }
  if (kept.size() == s.size() || kept.empty()) return;
  findings.warn(
      356, offsets[first_dropped],
      fmt::format(
          "{} of {} frequencies are fillers without an impedance or hold no value: left out",
          s.size() - kept.size(), s.size()));
  select_frequencies(s, kept);
  for (std::size_t k = 0; k < kept.size(); ++k) offsets[k] = offsets[kept[k]];  // kept[k] >= k
  offsets.resize(kept.size());
}

Complex cleaned(Complex z) { return is_missing(z.real()) || is_missing(z.imag()) ? kMissing : z; }

/// Units and time sign of every number that has them.
void convert(Sounding& s, double factor, bool conjugate) {
  const auto turned = [&](Complex z) { return conjugate ? std::conj(z) : z; };
  for (auto& t : s.impedance)
    for (auto& row : t)
      for (auto& z : row) z = factor * turned(cleaned(z));
  for (auto& t : s.impedance_error)
    for (auto& row : t)
      for (auto& e : row) e *= factor;
  for (auto& t : s.tipper)
    for (auto& z : t) z = turned(cleaned(z));
  // The product residual * signal_inverse carries impedance^2; the residual takes the factor.
  for (auto* c : {&s.impedance_covariance, &s.tipper_covariance})
    for (auto* list : {&c->signal_inverse, &c->residual})
      for (auto& t : *list)
        for (auto& row : t)
          for (auto& z : row)
            z = turned(cleaned(z)) *
                (c == &s.impedance_covariance && list == &c->residual ? factor * factor : 1.0);
  for (auto& t : s.resistivity.phase)
    for (auto& row : t)
      for (auto& p : row) p = is_missing(p) ? std::nan("") : (conjugate ? -p : p);
  for (auto& t : s.resistivity.rho)
    for (auto& row : t)
      for (auto& r : row) r = is_missing(r) || !(r > 0) ? std::nan("") : r;
}

struct ErrorCount {
  std::size_t given = 0, zero = 0, missing = 0, negative = 0;
};

/// An error of zero means that none was given, never that the value is exact.
void clean_error(double& e, ErrorCount& count) {
  if (std::isnan(e) || is_missing(e))
    ++count.missing;
  else if (e == 0)
    ++count.zero;
  else if (e < 0)
    ++count.negative;
  else {
    ++count.given;
    return;
  }
  e = std::nan("");
}

void report_errors(const ErrorCount& c, const char* what, Findings& findings) {
  const std::size_t all = c.given + c.zero + c.missing + c.negative;
  if (c.zero)
    findings.warn(
        335,
        fmt::format("{} of {} variances of the {} are zero: taken as not given", c.zero, all, what),
        "set an error floor; a missing error never becomes an infinite weight");
  if (c.negative)
    findings.warn(342, fmt::format("{} of {} errors of the {} are negative: taken as not given",
                                   c.negative, all, what));
  if (c.missing)
    findings.note(336,
                  fmt::format("{} of {} errors of the {} are not given", c.missing, all, what));
}

/// Files of a 2-D earth have no diagonal.
bool has_diagonal(const Sounding& s) {
  return std::any_of(s.impedance.begin(), s.impedance.end(), [](const auto& t) {
    return !std::isnan(t[0][0].real()) || !std::isnan(t[1][1].real());
  });
}

void review_values(const Sounding& s, Findings& findings) {
  const bool diagonal = has_diagonal(s);
  std::size_t empty = 0, all = 0;
  for (const auto& t : s.impedance)
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 2; ++j)
        if (i != j || diagonal) ++all, empty += std::isnan(t[i][j].real());
  if (empty) findings.note(337, fmt::format("{} of {} impedance elements are missing", empty, all));
}

/// The two ways to misread an impedance show in the xy phase and in the size of the apparent
/// resistivity.
void review_conventions(const Sounding& s, const ReadOptions& options, Findings& findings) {
  std::vector<double> rho, phases;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double omega = 2 * std::numbers::pi * s.frequency_hz[i];
    for (const Complex z : {s.impedance[i][0][1], s.impedance[i][1][0]})
      if (std::abs(z) > 0) rho.push_back(std::norm(z) / (omega * mu0));
    const Complex xy = s.impedance[i][0][1];
    if (!(std::abs(xy) > 0)) continue;
    phases.push_back(std::arg(xy) * 180 / std::numbers::pi);
  }
  if (const PhaseReview review = review_phases("xy", phases); review.outside) {
    std::string hint;
    if (review.mirrored)
      hint = options.sign ? "the sign = option in force may be wrong for this file"
                          : "if the file uses e^{-i omega t}, read it with sign = \"minus\"; "
                            "nothing was converted";
    findings.warn(330, review.what, hint);
  }
  const double typical = data::median(rho);
  if (!(typical > 0) || is_of_the_earth(typical)) return;
  if (s.impedance_from_resistivity) {  // its units are those of the file, whatever is asked for
    findings.warn(
        331, fmt::format("the median apparent resistivity in the file is {:.2g} ohm m", typical));
  } else {
    const bool from_ohm = s.source_units == ImpedanceUnits::ohm;
    const double other = typical * std::pow(ohm_per_field_unit, from_ohm ? 2 : -2);
    std::string message =
        fmt::format("the median apparent resistivity is {:.2g} ohm m with the impedance in {}",
                    typical, from_ohm ? "ohm" : "mV/km/nT");
    std::string hint;
    if (is_of_the_earth(other))
      hint = fmt::format(
          "in {} it would be {:.3g} ohm m: read it with units = \"{}\"; nothing was converted",
          from_ohm ? "mV/km/nT" : "ohm", other, from_ohm ? "field" : "ohm");
    findings.warn(331, message, hint);
  }
}

/// Apparent resistivities beside impedances tell whether both are in the units we think.
void review_resistivities(const Sounding& s, Findings& findings) {
  if (s.resistivity.empty() || s.impedance.empty() || s.impedance_from_resistivity) return;
  std::vector<double> ratio;
  for (std::size_t i = 0; i < s.size(); ++i)
    for (const auto& [r, c] : {std::pair{0, 1}, std::pair{1, 0}}) {
      const double from_z =
          std::norm(s.impedance[i][r][c]) / (2 * std::numbers::pi * s.frequency_hz[i] * mu0);
      const double given = s.resistivity.rho[i][r][c];
      if (from_z > 0 && given > 0) ratio.push_back(given / from_z);
    }
  const double typical = data::median(ratio);
  if (!ratio.empty() && std::abs(typical - 1) > 0.02)
    findings.warn(
        338, fmt::format(
                 "the apparent resistivities in the file are {:.3g} times those of its impedances "
                 "(median); the impedances are used",
                 typical));
}

void review_azimuth(const Sounding& s, Findings& findings) {
  if (s.azimuth_deg.empty()) return;
  const auto [low, high] = std::minmax_element(s.azimuth_deg.begin(), s.azimuth_deg.end());
  if (*high - *low > 0.01)
    findings.warn(
        339,
        fmt::format("the axes turn with frequency: x lies {:g} to {:g} degrees east of north", *low,
                    *high),
        "rotate to one direction before comparing elements");
  else if (std::abs(*low) > 0.01)
    findings.note(339, fmt::format("the axes are turned: x lies {:g} degrees east of north", *low));
}

}  // namespace

double given_error(double e) { return e > 0 ? e : kNaN; }

double wrap_degrees(double angle) {
  double a = std::fmod(angle, 360.0);
  if (a > 180) a -= 360;
  if (a <= -180) a += 360;
  return a;
}

void errors_from_covariance(Sounding& s) {
  const auto set = [](double& e, Complex residual, Complex signal_inverse) {
    const double v = residual.real() * signal_inverse.real() / 2;
    if (v > 0 || std::isnan(e)) e = std::sqrt(v);
  };
  if (const auto& c = s.impedance_covariance; !c.empty()) {
    s.impedance_error.resize(s.size(), {{{kNaN, kNaN}, {kNaN, kNaN}}});
    for (std::size_t i = 0; i < s.size(); ++i)
      for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b)
          set(s.impedance_error[i][a][b], c.residual[i][a][a], c.signal_inverse[i][b][b]);
  }
  if (const auto& c = s.tipper_covariance; !c.empty()) {
    s.tipper_error.resize(s.size(), {kNaN, kNaN});
    for (std::size_t i = 0; i < s.size(); ++i)
      for (int b = 0; b < 2; ++b)
        set(s.tipper_error[i][b], c.residual[i][0][0], c.signal_inverse[i][b][b]);
  }
}

YxPhases yx_phases_by_median(std::vector<double> degrees) {
  std::erase_if(degrees, is_missing);
  return std::abs(data::median(std::move(degrees))) < 90 ? YxPhases::of_minus_zyx
                                                         : YxPhases::of_zyx;
}

YxPhases yx_phases_by_median(const Sounding& s) {
  std::vector<double> degrees;
  for (const auto& p : s.resistivity.phase) degrees.push_back(p[1][0]);
  return yx_phases_by_median(std::move(degrees));
}

void impedance_from_resistivity(Sounding& s, YxPhases yx) {
  ResistivityPhase& rp = s.resistivity;
  if (yx == YxPhases::of_minus_zyx)
    for (auto& p : rp.phase) p[1][0] -= 180;
  const double nan = std::nan("");
  s.impedance.assign(s.size(), {{{kMissing, kMissing}, {kMissing, kMissing}}});
  s.impedance_error.assign(s.size(), {{{nan, nan}, {nan, nan}}});
  for (std::size_t i = 0; i < s.size(); ++i)
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c) {
        const double rho = rp.rho[i][r][c], phase = rp.phase[i][r][c];
        if (!(rho > 0) || is_missing(rho) || is_missing(phase) || !(s.frequency_hz[i] > 0))
          continue;
        const double size = std::sqrt(2 * std::numbers::pi * s.frequency_hz[i] * mu0 * rho);
        s.impedance[i][r][c] = std::polar(size, phase * std::numbers::pi / 180);
        // The phase error has one meaning; that of the resistivity is in log10 units in some
        // programs. Where both are sure, the larger one holds for both parts.
        const double by_phase = rp.phase_error[i][r][c] * std::numbers::pi / 180,
                     by_rho = rp.rho_error[i][r][c] / (2 * rho);
        const bool both = rp.errors_apart && !is_missing(rp.rho_error[i][r][c]);
        s.impedance_error[i][r][c] =
            size * (!(by_phase > 0) || (both && by_rho > by_phase) ? by_rho : by_phase);
      }
  s.impedance_from_resistivity = true;
}

void use_channel_azimuths(Sounding& s, const ChannelAzimuths& channels, std::size_t offset,
                          Findings& findings) {
  const auto apart = [](double a, double b) { return std::abs(wrap_degrees(a - b)); };
  s.azimuth_deg.assign(s.size(), wrap_degrees(channels.hx));
  if (apart(channels.hy, channels.hx + 90) < 0.01 && apart(channels.ex, channels.hx) < 0.01 &&
      apart(channels.ey, channels.hx + 90) < 0.01)
    return;

  using Real2 = Tensor2<double>;
  // Measured components from those on right-angled axes: rows (cos a, sin a), a counted from Hx.
  const auto projection = [&](double x, double y) {
    const double a = (x - channels.hx) * std::numbers::pi / 180,
                 b = (y - channels.hx) * std::numbers::pi / 180;
    return Real2{{{std::cos(a), std::sin(a)}, {std::cos(b), std::sin(b)}}};
  };
  const auto inverse = [](const Real2& m) {
    const double det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    return Real2{{{m[1][1] / det, -m[0][1] / det}, {-m[1][0] / det, m[0][0] / det}}};
  };
  const auto parallel = [](const Real2& m) {
    return std::abs(m[0][0] * m[1][1] - m[0][1] * m[1][0]) < 0.05;
  };
  const Real2 uh = projection(channels.hx, channels.hy), ue = projection(channels.ex, channels.ey);
  if (parallel(uh) || (s.has_impedance() && parallel(ue))) {
    findings.error(
        318, offset,
        fmt::format("channels are nearly parallel: Hx {:g}, Hy {:g}, Ex {:g}, Ey {:g} degrees",
                    channels.hx, channels.hy, channels.ex, channels.ey));
    findings.throw_if_errors();
  }
  const auto product = [](const auto& a, const auto& b) {
    Tensor2<Complex> out{};
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 2; ++k) out[i][j] += a[i][k] * b[k][j];
    return out;
  };
  const auto transposed = [](const Real2& m) {
    return Real2{{{m[0][0], m[1][0]}, {m[0][1], m[1][1]}}};
  };
  // E_m = Ue E and H_m = Uh H, so Z = Ue^-1 Z_m Uh; <H H+>^-1 = Uh^T <H_m H_m+>^-1 Uh; N = Ue^-1
  // N_m Ue^-T.
  if (s.has_impedance()) {
    const Real2 ie = inverse(ue);
    for (auto& z : s.impedance) z = product(product(ie, z), uh);
    for (auto& m : s.impedance_covariance.signal_inverse)
      m = product(product(transposed(uh), m), uh);
    for (auto& m : s.impedance_covariance.residual) m = product(product(ie, m), transposed(ie));
    // Elements taken as independent: variances add with squared coefficients. Covariances follow.
    for (auto& e : s.impedance_error) {
      Real2 out{};
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
          for (int k = 0; k < 2; ++k)
            for (int l = 0; l < 2; ++l)
              out[i][j] += std::pow(ie[i][k] * given_error(e[k][l]) * uh[l][j], 2);
          out[i][j] = std::sqrt(out[i][j]);
        }
      e = out;
    }
  }
  for (auto& t : s.tipper)
    t = {t[0] * uh[0][0] + t[1] * uh[1][0], t[0] * uh[0][1] + t[1] * uh[1][1]};
  for (auto& m : s.tipper_covariance.signal_inverse) m = product(product(transposed(uh), m), uh);
  for (auto& e : s.tipper_error) {
    const double x = given_error(e[0]), y = given_error(e[1]);
    e = {std::hypot(x * uh[0][0], y * uh[1][0]), std::hypot(x * uh[0][1], y * uh[1][1])};
  }
  errors_from_covariance(s);
  findings.note(
      340, offset,
      fmt::format(
          "channels point to Hx {:g}, Hy {:g}, Ex {:g}, Ey {:g} degrees; turned to right-angled "
          "axes with x along Hx",
          channels.hx, channels.hy, channels.ex, channels.ey));
}

void finish_sounding(Sounding& s, const FileConventions& file, const ReadOptions& options,
                     std::vector<std::size_t> frequency_offsets, Findings& findings) {
  findings.throw_if_errors();
  clear_zeros(s, frequency_offsets, findings);
  drop_empty_rows(s, frequency_offsets, findings);
  check_frequencies(s, frequency_offsets, findings);
  findings.throw_if_errors();

  s.file = findings.text().path;
  s.source_sign = options.sign.value_or(file.stated_sign.value_or(file.default_sign));
  s.source_units = options.units.value_or(file.stated_units.value_or(file.default_units));
  s.sign_stated = options.sign || file.stated_sign;
  s.units_stated = options.units || file.stated_units;
  const bool field = s.source_units == ImpedanceUnits::field && !s.impedance_from_resistivity;
  convert(s, field ? ohm_per_field_unit : 1.0, s.source_sign == TimeSign::minus);

  const bool diagonal = has_diagonal(s);
  ErrorCount z_errors, t_errors, of_no_value;
  for (auto& t : s.impedance_error)
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 2; ++j)
        clean_error(t[i][j], i != j || diagonal ? z_errors : of_no_value);
  for (auto& t : s.tipper_error)
    for (auto& e : t) clean_error(e, t_errors);
  if (s.has_impedance() && s.impedance_error.empty()) {
    s.impedance_error.assign(s.size(), {{{NAN, NAN}, {NAN, NAN}}});
    findings.warn(341, "the file gives no errors of the impedance", "set an error floor");
  } else {
    report_errors(z_errors, "impedance", findings);
  }
  if (s.has_tipper() && s.tipper_error.empty())
    s.tipper_error.assign(s.size(), {NAN, NAN});
  else
    report_errors(t_errors, "tipper", findings);
  for (auto* list : {&s.resistivity.rho_error, &s.resistivity.phase_error})
    for (auto& t : *list)
      for (auto& row : t)
        for (auto& e : row)
          if (is_missing(e) || !(e > 0)) e = std::nan("");

  if (s.azimuth_deg.empty()) s.azimuth_deg.assign(s.size(), 0.0);
  for (double& a : s.azimuth_deg) a = wrap_degrees(a);
  sort_by_frequency(s, findings);

  if (s.declination_deg && *s.declination_deg != 0)
    findings.note(353, fmt::format("the file gives a declination of {:g} degrees; directions are "
                                   "taken as they stand, it is not added to them",
                                   *s.declination_deg));
  if (!s.has_impedance() && s.has_tipper())
    findings.note(343, "the file has a tipper only, no impedance");
  if (s.latitude_deg && s.longitude_deg && *s.latitude_deg == 0 && *s.longitude_deg == 0) {
    if (!s.place_m) findings.warn(333, "the position is 0 N, 0 E: taken as not given");
    s.latitude_deg.reset();
    s.longitude_deg.reset();
  } else if ((!s.latitude_deg || !s.longitude_deg) && !s.place_m) {
    findings.warn(333, "the file gives no position");
  }
  review_values(s, findings);
  if (s.has_impedance()) review_conventions(s, options, findings);
  review_resistivities(s, findings);
  review_azimuth(s, findings);
  s.findings = findings.take_remarks();
}

}  // namespace tessera::inversion
