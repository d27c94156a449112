// SPDX-License-Identifier: Apache-2.0
//
// Resonances of a ring-down by filter diagonalisation: the modes of
//
//   c_n = sum_k d_k u_k^n,   u = exp((i 2 pi f - gamma) dt),   n = 0 ... N-1,
//
// found in one band of frequencies at a time, with far more digits than the Fourier resolution
// 1/(N dt) where noise allows: V. A. Mandelshtam & H. S. Taylor, J. Chem. Phys. 107 (1997) 6756
// (box filter, M = (N-1)/2 - P). On the grid z_j = e^{2 pi i j / (M+1)} of the Fourier transform
// their double sums are divided differences,
//
//   U^(p)_jk = sum_{n,m=0}^{M} c_{n+m+p} z_j^{-n} z_k^{-m}
//            = (E_p(z_j) - E_p(z_k)) / (1/z_j - 1/z_k),
//   E_p(z) = z^{-1} sum_{n=0}^{M} (c_{n+p} - c_{n+p+M+1}) z^{-n}   (the second term not for n = M),
//
// and the modes are the eigenpairs U^(P) b = u^P U^(0) b, d = (sum_j b_j C_j)^2 / b^T U^(0) b with
// C_j = sum_{n<=M} c_n z_j^{-n}.
//
// **Windows and decimation.** A wide band is cut into windows of some hundred points z_j. One time
// step turns the modes of a window hardly apart from each other, which would cost digits, so the
// shift P is as many steps as keep the angles of a window within half a turn: what decimating the
// signal by P would give. But nothing is filtered or thrown away, so there is nothing to alias:
// every sample enters, modes outside of the window are damped by their distance, and which P-th
// root of u^P is meant is told by the quotient b^T U^(1) b / b^T U^(0) b = u. There is no need to
// thin out a signal that was sampled finely; cost grows as N log N, plus some 50 ms a window.
#pragma once
#include "tessera/autodiff/tree.h"

#include <complex>
#include <span>
#include <vector>

namespace tessera::electromagnetics {

/// One term d exp((i 2 pi f - gamma) t) of a signal; t = 0 is its first sample.
struct Mode {
  double frequency_hz = 0;
  double decay = 0;    ///< gamma, 1/s; negative where the signal grows
  double quality = 0;  ///< Q = pi |f| / gamma: the energy falls by e^{-2 pi/Q} in a period
  std::complex<double> amplitude;  ///< d; the share of a real signal is 2 Re[d exp(...)]
  /// Estimate for f and gamma / 2 pi: |U^(2P) b - u^2P U^(0) b| / |U^(0) b| as a frequency.
  double error_hz = 0;
};

struct HarmonicInversionOptions {
  /// Standard deviation of the noise of a sample, in units of the signal: what it can explain is
  /// taken out of U^(0), which keeps spurious modes away from bands that hold none. A run in f32
  /// leaves 2e-8 to 1e-7 of the largest sample. Zero: 1e-13 of it, as of a long run in f64.
  double noise = 0;
  /// Modes below this share of the largest |d| of the band are dropped.
  double min_amplitude = 1e-9;
  /// Modes with a larger error are dropped: the spurious ones. In units of the Fourier resolution
  /// plus the mode's half width, 1/(N dt) + gamma/(2 pi).
  double max_error = 0.3;
  double min_quality = 0;   ///< of |Q|, as modes may grow; 0: no limit
  int window_points = 120;  ///< points z_j in which modes are reported, in one window
  int margin_points = 24;   ///< at each side of a window, for what leaks in from outside
};

/// Modes with frequency_min <= f <= frequency_max, rising by frequency. Of a real signal, which has
/// a mode at -f for each at f, only those of positive frequency are asked for. Equal frequencies
/// cannot be told apart and give one mode with the summed amplitude. Throws Error for fewer than 8
/// samples, for values that are not finite and for a band outside of
/// [-1/(2 dt), 1/(2 dt)] (real signals: [0, 1/(2 dt)]); an all-zero signal has no modes.
std::vector<Mode> harmonic_inversion(std::span<const double> signal, double dt_s,
                                     double frequency_min_hz, double frequency_max_hz,
                                     const HarmonicInversionOptions& options = {});
std::vector<Mode> harmonic_inversion(std::span<const std::complex<double>> signal, double dt_s,
                                     double frequency_min_hz, double frequency_max_hz,
                                     const HarmonicInversionOptions& options = {});

/// Frequencies (Hz) and decay rates (1/s) of the modes of a signal [n], f64 [mode], with first
/// derivatives in its samples (second ones throw): the way from a time-stepping run to the
/// derivative of a resonance in whatever the run depends on.
struct Resonances {
  Tensor frequency_hz, decay;
  TESSERA_TREE(frequency_hz, decay)
};
/// As `harmonic_inversion`; the number of modes depends on the values, so that it cannot run inside
/// jit or vmap. Throws where it finds none. A derivative costs one Fourier transform of the record
/// for each mode.
Resonances resonances(const Tensor& signal, double dt_s, double frequency_min_hz,
                      double frequency_max_hz, const HarmonicInversionOptions& options = {});

/// sum_k d_k exp((i 2 pi f_k - gamma_k) t): what the modes say of the signal (a real one: twice its
/// real part).
std::complex<double> signal_of(std::span<const Mode> modes, double t_s);

}  // namespace tessera::electromagnetics
