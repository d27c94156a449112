// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/medium.h"

#include <span>

namespace tessera::electromagnetics {

// The coupled scheme on one wave, exactly. Yee leapfrog for E (at n dt) and H (at (n + 1/2) dt),
// trapezoidal terms Q_p (dQ/dt = a Q + c E, P = sum of 2 Re Q_p, real terms once):
//
//   eps0 [eps (E' - E) + (P' - P)]/dt + sigma (E' + E)/2 = curl H,    Q' = alpha Q + beta (E' + E)
//
// With P' - P = sum 2 Re[(alpha - 1) Q] + S (E' + E), S = sum 2 Re beta, and r = sigma dt/(2 eps0):
//
//   (eps + r + S) E' = (eps - r - S) E + sum 2 Re[(1 - alpha) Q] + (dt/eps0) curl H
//   (mu + r_m) H'    = (mu - r_m) H - (dt/mu0) curl E,                r_m = sigma_m dt/(2 mu0)
//
// On an eigenvector of the discrete curl curl with eigenvalue L (1/m^2) this is one real matrix
// that takes (E, H, Q) over one step and depends on K = (c dt)^2 L alone. Its eigenvalues z solve
//
//   eps(s) mu(s) (z - 1)^2/z + K = 0,    s = (2/dt)(z - 1)/(z + 1),    |z| > 1 where Re s > 0.
//
// A passive medium keeps the limit of its background, K < 4 eps mu, whatever its terms. Proof:
// write s eps(s) = eps s + y and s mu(s) = mu s + m. As (z - 1)^2/z = (s dt)^2/(1 - (s dt/2)^2),
//
//   y + F = 0,    F = [(eps mu - K/4) s^2 + eps m s + K/dt^2]/(mu s + m)
//                   = (eps - K/(4 mu)) s + r + (K/dt^2 - r m)/(mu s + m),    r = K m/(4 mu^2).
//
// Re y >= 0 for Re s > 0 is what passive means. On the imaginary axis Re F >= min(r, K/(dt^2 m)) >=
// 0, so Re F > 0 for Re s > 0: no wave grows.
//
// For a medium that differs between axes every (eps, sigma) is joined with every (mu, sigma_m):
// sufficient, and exact where the axes are alike.

/// Largest modulus of the eigenvalues of that matrix: growth per step of the fastest growing wave
/// with curl-curl eigenvalue `curl_curl`, 1/m^2. Infinite where eps + r + S is zero.
double step_amplification(const Medium& medium, double dt_s, double curl_curl);

/// The largest `step_amplification` over curl-curl eigenvalues in [0, curl_curl_max], at 0 and at
/// 40 values spread linearly and geometrically.
double worst_amplification(const Medium& medium, double dt_s, double curl_curl_max);

/// Growth per step that counts as rounding of the eigenvalues.
inline constexpr double kAmplificationTolerance = 1e-10;

/// The largest time step for which the scheme is stable on a grid whose curl curl is at most
/// `curl_curl_max` (`curl_curl_bound`): 2 sqrt(eps mu)/(c sqrt(curl_curl_max)) less 1e-9 of itself
/// for a medium without gain (`largest_gain`); with gain, what bisection of `worst_amplification`
/// finds below it; 0 where no step is stable, and with eps or mu <= 0.
double max_stable_dt(const Medium& medium, double curl_curl_max);
/// The least of all that are not perfect conductors; infinite where all are.
double max_stable_dt(std::span<const Medium> media, double curl_curl_max);

}  // namespace tessera::electromagnetics
