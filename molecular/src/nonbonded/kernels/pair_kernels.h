// SPDX-License-Identifier: Apache-2.0
//
// The pair kernels as the rest of the module sees them: what they read and write, and a table of
// them per instruction set.
//
// Atoms are sorted into clusters: i-clusters of 4, j-clusters of 8 (two i-clusters). An entry of
// the list is a j-cluster with a mask of 32 bits: bit 8 i + j says that atom i of the i-cluster and
// atom j of the j-cluster interact. Rows of the list belong to i-clusters; a pair of atoms is in
// one entry only.
//
// Positions are fractions of the box whose differences are exact: in `float` kernels int32 in units
// of 2^-32 edges, which wrap by themselves, in `double` kernels multiples of 2^-52 in [0, 1). Each
// component of each pair's force is rounded once to an integer multiple of a unit (2^-k kJ/mol/nm;
// parameters of i come multiplied by 2^k) and added as an integer: sums do not depend on order,
// threads, widths of vectors or the age of the list. All operations are exactly rounded ones (+ - *
// / sqrt fma), so that every instruction set gives the same bits.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace tessera::molecular::pairs {

inline constexpr int i_width = 4, j_width = 8;

struct Entry {
  std::int32_t j;  ///< j-cluster
  std::uint32_t mask;
};
struct Row {
  std::int32_t i;   ///< i-cluster
  std::int32_t lj;  ///< atoms of it that have Lennard-Jones parameters; they come first
  /// Entries: [begin, first) of all atoms i, [first, last) of the first two alone, [last, end) of
  /// the last two.
  std::int64_t begin, first, last, end;
};

enum class Field : std::uint8_t {
  none,
  power,
  ewald,
  ewald_long
};                                      ///< ewald_long: any number of coefficients
inline constexpr int short_terms = 14;  ///< of ewald
enum class Rule : std::uint8_t { lorentz_berthelot, geometric, table };
enum class ForceModifier : std::uint8_t {
  none,
  linear_force_shift,
  force_switch,
  potential_switch
};

/// r^-n/n with a modifier: force_switch n r^-(n+1) + a x^2 + b x^3, x = r - from;
/// linear_force_shift n r^-(n+1) + slope; all over n.
template <class T>
struct ModifiedPower {
  T a, b, slope, shift, third_a, quarter_b;
};

template <class T>
struct Input {
  using Position = std::conditional_t<sizeof(T) == 4, std::int32_t, double>;
  using Sum = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const Position* x[3];  ///< [atoms in clusters]
  const T *q_i, *q_j;    ///< charges times sqrt(k_e/e_r); those of i times 2^k as well
  /// lorentz_berthelot: sigma/2 and sqrt(24 epsilon); geometric: sqrt(6 c6) and sqrt(12 c12); i
  /// times 2^(k/2) both... see pair_run.cpp
  const T *a_i, *b_i, *a_j, *b_j;
  const T *c6, *c12;         ///< [types, types]: 6 c6 2^k and 12 c12 2^k
  const std::int32_t* type;  ///< [atoms in clusters]
  std::int32_t types;
  T h[3][3];  ///< edges [nm] per unit of position
  bool slanted;
  T radius2;  ///< of the larger cut-off [nm^2]
  T lj_radius2, q_radius2;
  bool two_cutoffs;  ///< cut-offs differ
  // Coulomb: power: u = 1/r + k r^2 - shift - slope (r - rc); ewald: 1/r - sum_n energy_n t^n -
  // shift, t = scale r^2 - 1.
  T k2, slope;  ///< 2 k; slope
  T k, shift, rc;
  T scale;
  const T* force_series;  ///< F/r = 1/r^3 - sum_n c_n t^n
  const T* energy_series;
  int terms;  ///< of each, even
  ForceModifier modifier;
  ModifiedPower<T> six, twelve;
  T from, inverse_width;  ///< of modified Lennard-Jones
  T limit;                ///< |F|/r beyond which sums might leave their range
};

/// a + b of sums that wrap where a pair was beyond `limit`, and are not used then.
template <class Sum>
constexpr Sum wrapped(Sum a, Sum b) {
  using Bits = std::make_unsigned_t<Sum>;
  return static_cast<Sum>(static_cast<Bits>(a) + static_cast<Bits>(b));
}

/// Adds the forces of rows [begin, end) to `force` [3][atoms in clusters]; true where a pair was
/// beyond `limit`.
template <class T>
using ForceKernel = bool (*)(const Input<T>& in, const Row* begin, const Row* end,
                             const Entry* entries, typename Input<T>::Sum* const force[3]);
/// Adds energies (Lennard-Jones, Coulomb) and the virial's xx xy xz yy yz zz.
using EnergyKernel = bool (*)(const Input<double>& in, const Row* begin, const Row* end,
                              const Entry* entries, std::int64_t sums[8]);
/// Positions in 16 bits, enough to tell which clusters have no pair within a radius: bits of the
/// fractions of the box's edges, so that differences wrap by themselves, from one that stands for
/// at least four radii. Differences times `scale`/2^15 are lengths in one unit along x, y and z; a
/// pair is within the radius only where the sum of their squares/2^16, rounded down, is at most
/// `limit`.
struct Coarse {
  const std::int16_t* x[3];  ///< [atoms in clusters]
  std::int16_t scale[3][3];  ///< of the difference along edge a for axis b
  std::uint16_t limit;
  bool slanted;
};
/// The row of the entries of [begin, end) with a pair that may be within the radius, copied to
/// `kept` and numbered from there; `spare` has room for all.
using PruneKernel = Row (*)(const Coarse& in, std::int32_t i, const Entry* begin, const Entry* end,
                            Entry* kept, Entry* spare);

struct Kernels {
  const char* name;
  std::array<std::array<std::array<ForceKernel<float>, 3>, 2>, 4>
      single;                                               ///< [Field][modified][Rule]
  std::array<std::array<ForceKernel<double>, 2>, 4> twice;  ///< [Field][modified], tables
  std::array<std::array<EnergyKernel, 2>, 4> energy;
  PruneKernel prune;
};
/// Narrowest first; those that this processor has.
std::span<const Kernels* const> kernels();

}  // namespace tessera::molecular::pairs
