// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <complex>
#include <span>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// One term of a susceptibility, with s = i w (time dependence e^{+i w t}):
///   chi(s) = c/(s - a) + conj(c)/(s - conj(a));
/// a term whose a and c are both real is counted once, and may be double:
///   chi(s) = c/(s - a) + second/(s - a)^2.
/// Re a < 0 decays. In time: P = eps0 * 2 Re Q (Q where real), dQ/dt = a Q + c E; of a double pole
/// dQ/dt = a Q + c E + second Y, dY/dt = a Y + E.
struct PoleResidue {
  std::complex<double> a;  ///< pole, rad/s
  std::complex<double> c;  ///< residue, rad/s
  double second = 0;       ///< (rad/s)^2; 0 where a or c is not real
};

/// Whether the term stands for itself alone rather than for a conjugate pair.
inline bool is_real(const PoleResidue& p) { return p.a.imag() == 0 && p.c.imag() == 0; }

/// A medium at rest, its axes those of the grid:
///   D = eps0 (eps E + sum of poles + chi2 E^2 + chi3 |E|^2 E) plus the current sigma E,
///   B = mu0 mu H plus the magnetic current sigma_m H.
struct Medium {
  std::string name;
  std::array<double, 3> eps{1, 1, 1};  ///< relative, at infinite frequency (x, y, z)
  std::array<double, 3> sigma{};       ///< S/m
  std::array<double, 3> mu{1, 1, 1};   ///< relative
  std::array<double, 3> sigma_m{};     ///< magnetic conductivity, ohm/m
  std::vector<PoleResidue> poles;      ///< act on all three axes
  double chi2 = 0;                     ///< m/V
  double chi3 = 0;                     ///< m^2/V^2
  bool pec = false;                    ///< perfect electric conductor; the rest is then unused
};

/// Whether its permittivity depends on frequency by more than a conductivity.
inline bool disperses(const Medium& m) { return !m.poles.empty(); }

/// delta_eps f0^2 / (f0^2 - f^2 + i f gamma), ordinary frequencies in Hz: one conjugate pair, or
/// two real terms where gamma >= 2 f0. gamma = 0 gives poles on the imaginary axis (Sellmeier).
/// The double pole of critical damping is no sum of simple ones: poles nearer to each other than
/// 1e-4 of gamma are moved that far apart, which changes the susceptibility by 1e-8 of itself.
std::vector<PoleResidue> lorentz(double f0_hz, double gamma_hz, double delta_eps);

/// -strength fp^2 / (f^2 - i f gamma): a real term at zero and one at -2 pi gamma. The first is a
/// conductivity of 2 pi strength fp^2 eps0 / gamma. gamma = 0, a plasma without losses, is one
/// double pole at zero, second = strength (2 pi fp)^2.
std::vector<PoleResidue> drude(double fp_hz, double gamma_hz, double strength = 1);

/// delta_eps / (1 + i f / f_relax): one real term.
std::vector<PoleResidue> debye(double f_relax_hz, double delta_eps);

/// A critical point (Etchegoin, Le Ru and Meyer, J. Chem. Phys. 125, 164705 (2006)):
///   amplitude f0 [e^{-i phase}/(f0 - f + i gamma) + e^{+i phase}/(f0 + f - i gamma)],
/// the conjugate of theirs: their e^{-i w t} is our e^{+i w t}. One conjugate pair.
std::vector<PoleResidue> critical_point(double f0_hz, double gamma_hz, double amplitude,
                                        double phase_rad);

/// Susceptibility of `poles` at s (rad/s), complex plane of s = i w.
std::complex<double> susceptibility(const std::vector<PoleResidue>& poles, std::complex<double> s);

/// Relative permittivity at f, conduction included: eps + chi + sigma/(i w eps0). Im <= 0 absorbs.
/// The medium is taken as linear. Throws for a perfect conductor and exactly on a pole.
std::complex<double> permittivity(const Medium& medium, int axis, double f_hz);

/// f, or a millionth above it where a pole lies there: for what looks through a band, in which
/// nobody has asked for that very frequency.
double beside_pole(const Medium& medium, double f_hz);

/// Re of it at each frequency, as a wave in a transparent medium sees it; of a medium without poles
/// one number for all.
std::vector<double> real_permittivities(const Medium& medium, int axis,
                                        std::span<const double> frequencies_hz);

/// Relative permeability at f: mu + sigma_m/(i w mu0).
std::complex<double> permeability(const Medium& medium, int axis, double f_hz);

/// sqrt(permittivity) sqrt(permeability), each root with Im <= 0: n - i k with k >= 0 in a passive
/// medium, Re < 0 where both are negative.
std::complex<double> refractive_index(const Medium& medium, int axis, double f_hz);
/// The largest |Re n| at f (beside_pole) of all axes and media but perfect conductors, at least 1:
/// by it cells are counted per wavelength.
double highest_index(std::span<const Medium> media, double f_hz);

/// The same medium with the residues of poles at zero (those of Drude terms) turned into `sigma`:
/// the same permittivity and, step for step, the same fields, with one term less to carry. That
/// term would add up the field for ever, which costs digits in float32. What is double stays a
/// term.
Medium zero_poles_as_conductivity(Medium medium);

/// The trapezoidal update of one term, Q' = alpha Q + beta (E' + E). It sees the medium at
/// i (2/dt) tan(w dt/2) in place of i w. Of a double pole, with g = 1/(1 - a dt/2) and y =
/// Y/(dt/2),
///   Q' = alpha Q + shear y + Re beta (E' + E),    y' = alpha y + Im beta (E' + E),
///   shear = (alpha + 1) g second (dt/2)^2,    beta = g c dt/2 + g^2 second (dt/2)^2 + i g.
struct PoleUpdate {
  std::complex<double> alpha;  ///< (1 + a dt/2)/(1 - a dt/2)
  std::complex<double> beta;   ///< (c dt/2)/(1 - a dt/2)
  double shear = 0;
};
PoleUpdate pole_update(const PoleResidue& pole, double dt_s);

/// The permittivity that the discrete update with time step dt has at f: `permittivity` at
/// s = i (2/dt) tan(pi f dt). Needs f < 1/(2 dt).
std::complex<double> discrete_permittivity(const Medium& medium, int axis, double f_hz,
                                           double dt_s);

}  // namespace tessera::electromagnetics
