// SPDX-License-Identifier: Apache-2.0
//
// n-ports by their matrices: S with any reference impedances, Z, Y, H, G, ABCD, each from each.
//
// What they have in common are n independent excitations, and the voltages and currents at all
// ports in each: two matrices V and I, one column an excitation, currents into the network. Every
// matrix says how some of their rows follow from others, so each kind needs one function to V and I
// and one from them: Z = V I^-1, Y = I V^-1. A network that has no Z still has S, V and I.
//
// Waves at a port of reference z: a = u (V + z I), b = u (V - w I), S = b a^-1, with
//
//   power       w = z*, u = 1 / (2 sqrt(Re z))     K. Kurokawa, IEEE Trans. MTT 13 (1965) 194
//   pseudo      w = z,  u = sqrt(Re z) / (2 |z|)   R. Marks & D. Williams, J. Res. NIST 97 (1992)
//                                                  533, with their phase of v0 zero
//   travelling  w = z,  u = 1 / (2 sqrt(z))
//
// For real z all three are the same. Only of power waves |a|^2 - |b|^2 is the power that a port
// takes, whatever z; only of pseudo and travelling waves a line of impedance z reflects nothing.
//
// Shapes: matrices [..., n, n] c128, references [n] or [..., n], real or complex, Re z > 0; leading
// axes (frequencies) broadcast. All of it differentiates in every mode and order, and batches. What
// a network has not throws Error where it is asked for: the Z of a series element.
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/data/touchstone.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace tessera::electromagnetics {

enum class Waves { power, pseudo, travelling };

/// V and I [..., port, excitation].
struct Terminals {
  Tensor v, i;
};

/// What makes the waves of each port, [..., n, 1]: a = u (V + z I), b = u (V - w I). A kind for
/// each port.
struct WaveFactors {
  Tensor z, w, u;
};
WaveFactors wave_factors(const Tensor& reference, const std::vector<Waves>& waves);

Terminals terminals_of_s(const Tensor& s, const Tensor& reference, Waves waves = Waves::power);
Terminals terminals_of_s(const Tensor& s, const Tensor& reference, const std::vector<Waves>& waves);
Terminals terminals_of_z(const Tensor& z);
Terminals terminals_of_y(const Tensor& y);
/// V1, I2 from I1, V2; and the inverse.
Terminals terminals_of_h(const Tensor& h);
Terminals terminals_of_g(const Tensor& g);
/// V1, I1 from V2, -I2: products of such matrices are chains of 2-ports.
Terminals terminals_of_abcd(const Tensor& abcd);

Tensor s_of(const Terminals& t, const Tensor& reference, Waves waves = Waves::power);
Tensor s_of(const Terminals& t, const Tensor& reference, const std::vector<Waves>& waves);
Tensor z_of(const Terminals& t);
Tensor y_of(const Terminals& t);
Tensor h_of(const Terminals& t);
Tensor g_of(const Terminals& t);
Tensor abcd_of(const Terminals& t);

/// S of other references, or other waves.
Tensor renormalized(const Tensor& s, const Tensor& from, const Tensor& to,
                    Waves from_waves = Waves::power, Waves to_waves = Waves::power);

/// The same network seen by modes: of a pair V_D = V+ - V-, I_D = (I+ - I-) / 2, V_C = (V+ + V-) /
/// 2, I_C = I+ + I-; and back. With references 2R and R/2, S is that of Touchstone's mixed modes
/// (D. Bockelman & W. Eisenstadt, IEEE Trans. MTT 43 (1995) 1530). Throws Error unless each port is
/// in one single mode, or in both modes of one pair.
Terminals to_modes(const Terminals& t, const std::vector<data::NetworkMode>& modes);
Terminals from_modes(const Terminals& t, const std::vector<data::NetworkMode>& modes);
/// References of the modes, where those of the ports of a pair are R both.
Tensor mode_references(const Tensor& reference, const std::vector<data::NetworkMode>& modes);

}  // namespace tessera::electromagnetics
