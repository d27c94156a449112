// SPDX-License-Identifier: Apache-2.0
//
// The time dependence of a source, and its content at a frequency: W(f) = integral w(t) e^{-i 2 pi
// f t} dt.
//
//   name                 w(t), s = (t - t0)/tau                     W(f)
//   gaussian_pulse       e^{-s^2} cos(2 pi f0 (t - t0) + phase)     G(f - f0) e^{i phase}/2
//                                                                   + G(f + f0) e^{-i phase}/2
//   gaussian_derivative  d^n/ds^n e^{-s^2}, peak 1                  (i 2 pi f tau)^n G(f) / peak
//   ricker               (1 - 2 s^2) e^{-s^2}, tau = 1/(pi f_peak)  2 (f/f_peak)^2 G(f)
//
// all times e^{-i 2 pi f t0}, with G(f) = sqrt(pi) tau e^{-(pi f tau)^2}.
#pragma once
#include <complex>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

namespace tessera::electromagnetics {

/// A function of time. Values add, scale and move; make one with the functions below or from any
/// lambda.
struct Waveform {
  std::function<double(double t_s)> at;
  double end_s = 0;  ///< from here on |w| stays below 1e-8 of its peak ("after the source");
                     ///< infinite for a continuous wave
  /// W(f); empty where there is no formula.
  std::function<std::complex<double>(double f_hz)> transform = {};
};

struct GaussianOptions {
  double delay = 4.5;  ///< t0 / tau: the pulse begins at e^{-delay^2} of its peak
  /// Of the carrier; -pi/2, a sine: odd, so that no charge stays behind.
  double phase_rad = -1.5707963267948966;
};
/// A modulated Gaussian pulse. `bandwidth_hz` is the full width between the frequencies where the
/// amplitude spectrum is a tenth (-20 dB) of its value at `frequency_hz`: tau = 2 sqrt(ln 10) / (pi
/// bandwidth).
Waveform gaussian_pulse(double frequency_hz, double bandwidth_hz,
                        const GaussianOptions& options = {});
/// e^{-((t - t0)/tau)^2}, from zero frequency on. tau = 0.5/f leaves 8.5 % of the spectrum at f.
Waveform gaussian_baseband(double tau_s, double t0_s);
/// Its n-th derivative in time, n = 0 ... 8, scaled so that the largest |w| is 1 and the sign is
/// that of the derivative.
Waveform gaussian_derivative(int n, double tau_s, double t0_s);
/// The negative second derivative of a Gaussian, 1 at its middle; the spectrum peaks at `peak_hz`.
/// The delay is sqrt(2)/peak where none is given: w(0) = -1e-7. `ricker_derivative` is its time
/// derivative with largest value 1.
Waveform ricker(double peak_hz, double delay_s = -1);
Waveform ricker_derivative(double peak_hz, double delay_s = -1);
/// ramp(t/ramp_s) cos(2 pi f t + phase), ramp(x) = x^3 (10 - 15 x + 6 x^2) on [0, 1]: two
/// continuous derivatives. Zero before t = 0; never ends and has no transform.
Waveform continuous_wave(double frequency_hz, double ramp_s,
                         double phase_rad = -1.5707963267948966);
/// Values at t = start + n dt, joined by a cubic spline, zero outside. Needs 3 values or more.
Waveform sampled(std::vector<double> values, double dt_s, double start_s = 0);
/// The same from a text file: two columns, time in s, evenly spaced to 1e-6 of a step, and value;
/// '#' begins a comment. Before 0 s, where runs begin, values are zero. Throws InputError that
/// names line and column.
Waveform read_waveform(const std::filesystem::path& path);

Waveform operator+(const Waveform& a, const Waveform& b);
Waveform operator*(double factor, const Waveform& w);
Waveform delayed(const Waveform& w, double by_s);

/// W(f) by its formula; throws Error where there is none.
std::complex<double> spectrum(const Waveform& w, double frequency_hz);
/// dt sum_{n=0}^{N-1} w(t_n) e^{-i 2 pi f t_n}, t_n = (n + offset) dt, for each frequency: what a
/// run of N steps has put in.
std::vector<std::complex<double>> spectrum(const Waveform& w,
                                           std::span<const double> frequencies_hz, double dt_s,
                                           int n_steps, double offset = 0);

}  // namespace tessera::electromagnetics
