// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/medium_checks.h"

#include "base/numbers.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/medium_gain.h"
#include "tessera/electromagnetics/medium_stability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using data::Severity;

constexpr const char* kAxis = "xyz";

class Findings {
 public:
  explicit Findings(const Medium& medium) : name_(medium.name) {}
  void error(int term, std::string what, std::string remedy) {
    add(Severity::error, term, std::move(what), std::move(remedy));
  }
  void warn(int term, std::string what, std::string remedy) {
    add(Severity::warning, term, std::move(what), std::move(remedy));
  }
  void note(int term, std::string what, std::string remedy) {
    add(Severity::note, term, std::move(what), std::move(remedy));
  }
  bool has_errors() const {
    return std::any_of(list_.begin(), list_.end(),
                       [](const MediumFinding& f) { return f.severity == Severity::error; });
  }
  std::vector<MediumFinding> take() { return std::move(list_); }

 private:
  void add(Severity severity, int term, std::string what, std::string remedy) {
    list_.push_back({severity, name_, term, std::move(what), std::move(remedy)});
  }
  std::string name_;
  std::vector<MediumFinding> list_;
};

void check_background(const Medium& m, Findings& found) {
  const auto positive = [&](const std::array<double, 3>& v, const char* what) {
    for (int k = 0; k < 3; ++k) {
      const double x = v[static_cast<std::size_t>(k)];
      if (!(x > 0 && std::isfinite(x)))
        found.error(-1,
                    fmt::format("{} at infinite frequency along {} is {}, and must be > 0: the "
                                "fields would grow at every time step",
                                what, kAxis[k], x),
                    "give the background of the fit as its constant and let poles (Drude, Lorentz) "
                    "make the value negative at the frequencies of interest");
      else if (x < 1)
        found.warn(-1,
                   fmt::format("{} at infinite frequency along {} is {}, below 1: waves faster "
                               "than light at the highest frequencies shorten the time step",
                               what, kAxis[k], x),
                   "fit the model with its constant held at 1");
    }
  };
  const auto not_negative = [&](const std::array<double, 3>& v, const char* what) {
    for (int k = 0; k < 3; ++k) {
      const double x = v[static_cast<std::size_t>(k)];
      if (!(x >= 0 && std::isfinite(x)))
        found.error(-1,
                    fmt::format("{} along {} is {}: a negative one amplifies", what, kAxis[k], x),
                    "give it a finite value >= 0");
    }
  };
  positive(m.eps, "eps");
  positive(m.mu, "mu");
  not_negative(m.sigma_m, "magnetic conductivity");
  if (!std::isfinite(m.chi2) || !std::isfinite(m.chi3))
    found.error(-1, "chi2 or chi3 is not finite", "give finite values");
}

void check_term(const PoleResidue& p, int term, Findings& found) {
  const double weight = is_real(p) ? p.c.real() : 2 * p.c.real();
  if (!(std::isfinite(p.a.real()) && std::isfinite(p.a.imag()) && std::isfinite(p.c.real()) &&
        std::isfinite(p.c.imag()) && std::isfinite(p.second))) {
    found.error(term, "pole or residue is not finite", "give finite numbers");
  } else if (p.second != 0 && !is_real(p)) {
    found.error(term, "only a real pole with a real residue can be double", "give second = 0");
  } else if (p.a.real() > 0) {
    found.error(term,
                fmt::format("the pole {:.6g}{:+.6g}i rad/s grows, by e in {:.3g} s", p.a.real(),
                            p.a.imag(), 1 / p.a.real()),
                "mirror it, Re a -> -Re a, and fit the residues again");
  } else if (p.a == 0.0) {
    if (weight < 0)
      found.error(term,
                  fmt::format("the pole at zero has the residue {:.6g} rad/s: a conductivity of "
                              "{:.6g} S/m",
                              weight, weight * vacuum_permittivity),
                  "its residue must be >= 0, as in a Drude term");
    if (p.second < 0)
      found.error(
          term,
          fmt::format("the double pole at zero has the strength {:.6g} (rad/s)^2: its fields "
                      "grow",
                      p.second),
          "its strength must be >= 0, as that of a plasma");
  } else if (p.a.real() == 0) {
    if (!is_lossless_resonance(p))
      found.error(
          term,
          fmt::format("the pole at {:.6g} Hz has no damping, and its residue {:.6g}{:+.6g}i "
                      "is none of a lossless resonance: it amplifies beside the pole",
                      std::abs(p.a.imag()) / two_pi, p.c.real(), p.c.imag()),
          "a lossless resonance has Re c = 0 and Im c/Im a < 0 (a positive strength); give "
          "the pole damping otherwise");
  }
  if (p.a.imag() == 0 && p.c.imag() != 0)
    found.warn(term,
               "a real pole with a complex residue stands for itself and its conjugate: the real "
               "part counts twice and the imaginary part not at all",
               "give such a term a real residue");
}

void check_conductivity(const Medium& m, Findings& found) {
  double at_zero = 0;  // conductivity of the poles at zero
  for (const PoleResidue& p : m.poles)
    if (p.a == 0.0) at_zero += (is_real(p) ? 1 : 2) * p.c.real() * vacuum_permittivity;
  for (int k = 0; k < 3; ++k) {
    const double sigma = m.sigma[static_cast<std::size_t>(k)];
    if (!(sigma + std::max(at_zero, 0.0) >= 0 && std::isfinite(sigma)))
      found.error(-1,
                  fmt::format("the conductivity along {} is {} S/m: a negative one amplifies",
                              kAxis[k], sigma),
                  "give it a finite value >= 0");
  }
}

void check_gain(const Medium& m, const MediumCheckOptions& options, Findings& found) {
  const GainReport gain = largest_gain(m, options.f_min_hz, options.f_max_hz);
  if (!gain.passive)
    found.error(-1,
                fmt::format("the medium amplifies: Im eps = {:+.3g} at {:.6g} Hz, and must be <= 0 "
                            "(time dependence e^{{+i w t}})",
                            gain.im_eps, gain.f_hz),
                "take the conjugate of data written for e^{-i w t}; fit again with passivity "
                "enforced (fit_medium)");
}

void check_time_step(const Medium& m, const MediumCheckOptions& options, Findings& found) {
  if (!(options.dt_s > 0 && options.curl_curl_max > 0)) return;
  const double limit = max_stable_dt(m, options.curl_curl_max);
  if (options.dt_s <= limit) return;
  const double growth = worst_amplification(m, options.dt_s, options.curl_curl_max);
  found.error(-1,
              fmt::format("with the time step {:.6g} s the fields grow by {:.6g} in each step",
                          options.dt_s, growth),
              limit > 0 ? fmt::format("take at most {:.9g} s", limit)
                        : std::string("no time step is stable: mend the medium"));
}

void check_accuracy(const Medium& m, const MediumCheckOptions& options, Findings& found) {
  if (!(options.dt_s > 0 && options.f_max_hz > 0) || m.poles.empty()) return;
  const double top = std::min(options.f_max_hz, 0.49 / options.dt_s);
  const double low = options.f_min_hz > 0 ? std::min(options.f_min_hz, top) : top / 100;
  double worst = 0, where = top;
  for (int k = 0; k <= 200; ++k) {
    const double f = low + (top - low) * k / 200;
    const Complex s(0, two_pi * f);
    if (std::any_of(m.poles.begin(), m.poles.end(), [&](const PoleResidue& p) {
          return p.a.real() == 0 && std::abs(std::abs(s) - std::abs(p.a)) < 1e-6 * std::abs(s);
        }))
      continue;
    for (int axis = 0; axis < 3; ++axis) {
      const Complex exact = permittivity(m, axis, f);
      const double error =
          std::abs(discrete_permittivity(m, axis, f, options.dt_s) - exact) / std::abs(exact);
      if (error > worst) worst = error, where = f;
    }
  }
  if (worst > options.accuracy)
    found.warn(-1,
               fmt::format("the time step {:.4g} s changes the permittivity by {:.2g} % at {:.4g} "
                           "Hz",
                           options.dt_s, 100 * worst, where),
               fmt::format("the error falls with the square of the time step: take about {:.3g} s",
                           options.dt_s * std::sqrt(options.accuracy / worst)));
}

/// The least |E| at which eps + 2 chi2 E + 3 chi3 E^2 vanishes; infinite if it never does.
double field_limit(double eps, double chi2, double chi3) {
  if (chi3 == 0)
    return chi2 == 0 ? std::numeric_limits<double>::infinity() : eps / (2 * std::abs(chi2));
  const double discriminant = chi2 * chi2 - 3 * chi3 * eps;
  if (discriminant < 0) return std::numeric_limits<double>::infinity();
  return eps / (std::abs(chi2) + std::sqrt(discriminant));
}

/// What is small beside a strong field E sees the permittivity dD/dE, and leapfrog is stable for
/// (c dt)^2 L < 4 mu dD/dE: the limit of a linear medium with this in place of eps.
void check_nonlinearity(const Medium& m, const MediumCheckOptions& options, Findings& found) {
  const double eps = *std::min_element(m.eps.begin(), m.eps.end());
  const double needed = options.slope_min / *std::min_element(m.mu.begin(), m.mu.end());
  const double limit = field_limit(eps, m.chi2, m.chi3);
  const double steps_limit =
      needed < eps ? field_limit(eps - needed, m.chi2, m.chi3) : limit;  // else no step is stable
  const std::string of_steps = fmt::format(
      "from |E| = {:.4g} V/m on short waves may grow without limit: dD/dE = eps + 2 chi2 E + 3 "
      "chi3 E^2 falls below {:.4g}, which the time step needs",
      steps_limit, needed);
  const std::string weaker = "keep the fields below it, or take shorter steps (run.courant)";
  if (steps_limit < limit && !std::isfinite(limit))
    found.note(-1, of_steps, weaker);
  else if (steps_limit < limit)
    found.warn(-1, of_steps,
               weaker + fmt::format(": with short steps it is {:.4g} V/m, from where on a field "
                                    "has no one displacement any more (dD/dE <= 0)",
                                    limit));
  else if (std::isfinite(limit))
    found.warn(-1,
               fmt::format("from |E| = {:.4g} V/m on a field has no one displacement any more "
                           "(dD/dE <= 0)",
                           limit),
               "keep the fields well below it, or give chi3 >= chi2^2/(3 eps)");
}

}  // namespace

std::string to_string(const MediumFinding& f) {
  const char* severity = f.severity == Severity::error     ? "error"
                         : f.severity == Severity::warning ? "warning"
                                                           : "note";
  const std::string term = f.term < 0 ? "" : fmt::format(", term {}", f.term);
  return fmt::format("{}: medium '{}'{}: {}; {}", severity, f.medium, term, f.what, f.remedy);
}

std::vector<MediumFinding> check_medium(const Medium& medium, const MediumCheckOptions& options) {
  Findings found(medium);
  if (medium.pec) return found.take();
  check_background(medium, found);
  for (std::size_t k = 0; k < medium.poles.size(); ++k)
    check_term(medium.poles[k], static_cast<int>(k), found);
  check_conductivity(medium, found);
  if (found.has_errors()) return found.take();  // the checks below need sound numbers
  check_gain(medium, options, found);
  check_time_step(medium, options, found);
  check_accuracy(medium, options, found);
  check_nonlinearity(medium, options, found);
  return found.take();
}

std::vector<MediumLine> lines_of(const Medium& medium) {
  std::vector<MediumLine> out;
  for (const PoleResidue& p : medium.poles)
    if (const double w = std::abs(p.a.imag()); w > 0)
      out.push_back({w / two_pi, -2 * p.a.real() / two_pi});
  return out;
}

double stepped_shift(double f_hz, double dt_s) {
  const double half = two_pi / 2 * f_hz * dt_s;
  return 2 * half < two_pi / 2 ? f_hz * (std::tan(half) / half - 1) : INFINITY;
}

std::vector<MediumFinding> require_sound(const std::vector<Medium>& media,
                                         const MediumCheckOptions& options) {
  std::vector<MediumFinding> remarks;
  std::string errors;
  for (const Medium& m : media)
    for (MediumFinding& f : check_medium(m, options)) {
      if (f.severity == Severity::error)
        errors += "\n  " + to_string(f);
      else
        remarks.push_back(std::move(f));
    }
  if (!errors.empty()) throw Error("[media] expected media that do not amplify, got" + errors);
  return remarks;
}

}  // namespace tessera::electromagnetics
