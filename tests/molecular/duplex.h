// SPDX-License-Identifier: Apache-2.0
//
// Heavy atoms of a short double helix: bases in the standard reference frames of Olson et al. (J.
// Mol. Biol. 313 (2001) 229), pairs turned by 36 degrees and 0.338 nm apart, sugars by internal
// coordinates (C2'-endo, chi = -110, gamma = 50 degrees), phosphates between O3' and O5'.
#pragma once
#include "tessera/molecular/structure_file.h"
#include "vectors.h"

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace tessera::molecular::testing {

using Named = std::vector<std::pair<std::string, Vec3>>;  ///< Angstrom

inline const Named& base_atoms(char base) {
  static const std::map<char, Named> all = {{'A',
                                             {{"N9", {-1.291, 4.498, 0}},
                                              {"C8", {0.024, 4.897, 0}},
                                              {"N7", {0.877, 3.902, 0}},
                                              {"C5", {0.071, 2.771, 0}},
                                              {"C6", {0.369, 1.398, 0}},
                                              {"N6", {1.611, 0.909, 0}},
                                              {"N1", {-0.668, 0.532, 0}},
                                              {"C2", {-1.912, 1.023, 0}},
                                              {"N3", {-2.320, 2.290, 0}},
                                              {"C4", {-1.267, 3.124, 0}}}},
                                            {'G',
                                             {{"N9", {-1.289, 4.551, 0}},
                                              {"C8", {0.023, 4.962, 0}},
                                              {"N7", {0.870, 3.969, 0}},
                                              {"C5", {0.071, 2.833, 0}},
                                              {"C6", {0.424, 1.460, 0}},
                                              {"O6", {1.554, 0.955, 0}},
                                              {"N1", {-0.700, 0.641, 0}},
                                              {"C2", {-1.999, 1.087, 0}},
                                              {"N2", {-2.949, 0.139, 0}},
                                              {"N3", {-2.342, 2.364, 0}},
                                              {"C4", {-1.265, 3.177, 0}}}},
                                            {'C',
                                             {{"N1", {-1.285, 4.542, 0}},
                                              {"C2", {-1.472, 3.158, 0}},
                                              {"O2", {-2.628, 2.709, 0}},
                                              {"N3", {-0.391, 2.344, 0}},
                                              {"C4", {0.837, 2.868, 0}},
                                              {"N4", {1.875, 2.027, 0}},
                                              {"C5", {1.056, 4.275, 0}},
                                              {"C6", {-0.023, 5.068, 0}}}},
                                            {'T',
                                             {{"N1", {-1.284, 4.500, 0}},
                                              {"C2", {-1.462, 3.135, 0}},
                                              {"O2", {-2.562, 2.608, 0}},
                                              {"N3", {-0.298, 2.407, 0}},
                                              {"C4", {0.994, 2.897, 0}},
                                              {"O4", {1.944, 2.119, 0}},
                                              {"C5", {1.106, 4.338, 0}},
                                              {"C7", {2.466, 4.961, 0}},
                                              {"C6", {-0.024, 5.057, 0}}}},
                                            {'U',
                                             {{"N1", {-1.284, 4.500, 0}},
                                              {"C2", {-1.462, 3.131, 0}},
                                              {"O2", {-2.563, 2.608, 0}},
                                              {"N3", {-0.302, 2.397, 0}},
                                              {"C4", {0.989, 2.884, 0}},
                                              {"O4", {1.935, 2.094, 0}},
                                              {"C5", {1.089, 4.311, 0}},
                                              {"C6", {-0.024, 5.053, 0}}}}};
  return all.at(base);
}

inline Vec3 along(const Vec3& a, double s, const Vec3& b) {
  return {a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]};
}
inline Vec3 crossed(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double length_of(const Vec3& a) { return std::hypot(a[0], a[1], a[2]); }
inline Vec3 unit_of(const Vec3& a) {
  return {a[0] / length_of(a), a[1] / length_of(a), a[2] / length_of(a)};
}
/// The atom behind c with the distance r to it, the angle b-c-d and the dihedral a-b-c-d [degrees].
inline Vec3 placed(const Vec3& a, const Vec3& b, const Vec3& c, double r, double angle,
                   double dihedral) {
  constexpr double degree = std::numbers::pi / 180;
  const Vec3 axis = unit_of(minus(c, b)), normal = unit_of(crossed(minus(b, a), axis)),
             side = crossed(normal, axis);
  const double s = std::sin(angle * degree);
  return along(along(along(c, -r * std::cos(angle * degree), axis),
                     r * s * std::cos(dihedral * degree), side),
               r * s * std::sin(dihedral * degree), normal);
}

/// A nucleotide without its phosphate, in the frame of its base.
inline Named nucleoside(char base, bool rna) {
  std::map<std::string, Vec3> x;
  for (const auto& [name, at] : base_atoms(base)) x[name] = at;
  const bool purine = x.count("N9") > 0;
  const Vec3 n = x[purine ? "N9" : "N1"], c = x[purine ? "C4" : "C2"], c1 = {-2.479, 5.346, 0};
  const Vec3 o4 = placed(c, n, c1, 1.42, 108, -110), c2 = placed(c, n, c1, 1.525, 114, -230),
             c4 = placed(c2, c1, o4, 1.446, 109.7, -21), c3 = placed(c1, o4, c4, 1.524, 105.6, -2),
             c5 = placed(c1, o4, c4, 1.511, 109.4, 118), o3 = placed(o4, c4, c3, 1.431, 110, -96),
             o5 = placed(c3, c4, c5, 1.44, 110.2, 50);
  Named out = {{"O5'", o5}, {"C5'", c5}, {"C4'", c4}, {"O4'", o4},
               {"C3'", c3}, {"O3'", o3}, {"C2'", c2}};
  if (rna) {  // on the side of the ring that the base is not
    const Vec3 up = placed(o4, c1, c2, 1.41, 110, 155), down = placed(o4, c1, c2, 1.41, 110, -85);
    out.push_back({"O2'", length_of(minus(up, n)) > length_of(minus(down, n)) ? up : down});
  }
  out.push_back({"C1'", c1});
  for (const auto& a : base_atoms(base)) out.push_back(a);
  return out;
}

/// Both strands, without bonds, in a box of 4 nm; the ends have no phosphates.
inline Structure duplex(const std::string& sequence, bool rna) {
  constexpr double degree = std::numbers::pi / 180, angstrom = 0.1;
  const std::map<char, char> partner = {
      {'A', rna ? 'U' : 'T'}, {'T', 'A'}, {'U', 'A'}, {'G', 'C'}, {'C', 'G'}};
  const auto n = sequence.size();
  Structure s;
  s.source = "duplex";
  s.box = rectangular_box({4, 4, 4});
  for (const bool second : {false, true})
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t pair = second ? n - 1 - k : k;
      const char base = second ? partner.at(sequence[pair]) : sequence[pair];
      const double turn = 36 * degree * static_cast<double>(pair),
                   rise = 3.38 * static_cast<double>(pair);
      s.residues.push_back({rna ? std::string(1, base) : std::string("D") + base,
                            std::to_string(s.residues.size() + 1), second ? "B" : "A", ""});
      s.chain.push_back(second);
      const auto add = [&](const std::string& name, const Vec3& x) {
        s.name.push_back(name);
        s.element.push_back(name[0] == 'C' ? 6 : name[0] == 'N' ? 7 : name[0] == 'O' ? 8 : 15);
        s.residue.push_back(static_cast<std::int32_t>(s.residues.size()) - 1);
        s.x_nm.push_back({2 + angstrom * x[0], 2 + angstrom * x[1], 1.5 + angstrom * x[2]});
      };
      Named atoms;
      for (const auto& [name, at] : nucleoside(base, rna)) {
        const Vec3 x = second ? Vec3{at[0], -at[1], -at[2]} : at;
        atoms.push_back({name,
                         {x[0] * std::cos(turn) - x[1] * std::sin(turn),
                          x[0] * std::sin(turn) + x[1] * std::cos(turn), x[2] + rise}});
      }
      static Vec3 before;  // O3' of the nucleotide before
      if (k > 0) {         // 1.6 from either oxygen, away from the axis
        const Vec3 o5 = atoms[0].second, middle = along(o5, 0.5, minus(before, o5)),
                   bridge = unit_of(minus(before, o5));
        Vec3 out = {middle[0], middle[1], 0};
        out = unit_of(along(out, -(out[0] * bridge[0] + out[1] * bridge[1]), bridge));
        const double half = 0.5 * length_of(minus(before, o5)),
                     height = half < 1.6 ? std::sqrt(1.6 * 1.6 - half * half) : 0;
        const Vec3 p = along(middle, height, out), normal = crossed(out, bridge);
        add("P", p);
        add("OP1", along(along(p, 0.74, out), 1.28, normal));
        add("OP2", along(along(p, 0.74, out), -1.28, normal));
      }
      for (const auto& [name, x] : atoms) {
        add(name, x);
        if (name == "O3'") before = x;
      }
    }
  return s;
}

}  // namespace tessera::molecular::testing
