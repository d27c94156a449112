// SPDX-License-Identifier: Apache-2.0
//
// Forces of published systems by every kernel, at every level of instructions this processor has,
// in double and mixed precision, against forces summed the plain way (naive_forces.h); of bonded
// terms, and of everything in systems of up to 850 atoms, also against the same energies in engine
// operations.
//
//   SYSTEM.KERNEL.PRECISION.LEVEL_rms      RMS(f - e)/RMS(e) over atoms
//   SYSTEM.KERNEL.PRECISION.LEVEL_largest  the largest |f - e|/RMS(e)
//
// Kernels are run without the bonded terms, whose forces would hide errors of theirs; `all_terms`
// has both.
//
// Where a force jumps at the cut-off, a pair that is as far apart as the cut-off to all digits of a
// precision has no force: the cut-off is moved, by 2e-5 of it at most, into the middle of the
// widest gap between distances.
//
//   molecular_forces_bench [--only SYSTEM]
#include "measure.h"
#include "molecular_cases.h"
#include "naive_forces.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/openmm_xml.h"
#include "tessera/molecular/parameters.h"
#include "tessera/molecular/pme.h"
#include "tessera/molecular/structure_file.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>

using namespace tessera;
using namespace tessera::benchmarks;
using Coulomb = Nonbonded::Coulomb;
using Modifier = Nonbonded::Modifier;
using naive::Vectors;

namespace {

struct Case {
  std::string name;
  System system;
  Frame frame;
  double cutoff_nm = 1;
};
const std::filesystem::path& folder() {
  static const std::filesystem::path path = tessera::testing::test_data() / "md";
  return path;
}

Case amber(const char* name, const char* topology, const char* positions, double cutoff) {
  Case c{.name = name,
         .system = read_amber_topology(data::read_text_file(folder() / topology)).system,
         .frame = {},
         .cutoff_nm = cutoff};
  c.frame = read_amber_restart(data::read_text_file(folder() / positions), c.system.n_atoms());
  return c;
}
/// A sample configuration of NIST: box, number, then number x y z [name].
Frame nist(const char* name, double unit) {
  std::ifstream in(folder() / "nist" / name);
  Frame f;
  Vec3 l;
  std::string line;
  std::getline(in, line);
  std::istringstream(line) >> l[0] >> l[1] >> l[2];
  f.box = rectangular_box({l[0] * unit, l[1] * unit, l[2] * unit});
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Vec3 p;
    int k;
    if (fields >> k >> p[0] >> p[1] >> p[2])
      f.x_nm.push_back({p[0] * unit, p[1] * unit, p[2] * unit});
  }
  return f;
}
Case nist_lennard_jones(const char* name, const char* file, double cutoff) {
  Case c{.name = name, .system = {}, .frame = nist(file, 1), .cutoff_nm = cutoff};
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {1.0}, {1.0});
  for (std::size_t i = 0; i < c.frame.x_nm.size(); ++i) {
    c.system.residues.push_back({"LJ", "1", "", ""});
    append_atom(c.system, "LJ", 18, 1, 0, 0);
  }
  return c;
}
Case nist_water(const char* name, const char* file) {
  Case c{.name = name, .system = {}, .frame = nist(file, 0.1), .cutoff_nm = 1};
  c.system.lj = mixed(LennardJones::Mixing::lorentz_berthelot, {0.316555789, 0.0},
                      {78.19743111 * gas_constant, 0.0});
  for (std::int32_t o = 0; o < static_cast<std::int32_t>(c.frame.x_nm.size()); o += 3) {
    c.system.residues.push_back({"SOL", "1", "", ""});
    append_atom(c.system, "OW", 8, 15.9994, -0.8476, 0);
    append_atom(c.system, "HW1", 1, 1.008, 0.4238, 1);
    append_atom(c.system, "HW2", 1, 1.008, 0.4238, 1);
    for (const auto& e : {std::array{o, o + 1}, std::array{o, o + 2}, std::array{o + 1, o + 2}})
      c.system.exclusions.push_back(e);
  }
  return c;
}
Case protein() {
  const std::vector<data::TextFile> files = {
      data::read_text_file(folder() / "p6mrr/ff99SBildn.xml"),
      data::read_text_file(folder() / "p6mrr/tip3p_standard.xml")};
  const Structure s = read_structure(folder() / "p6mrr/6mrr_equil.pdb.gz").structure;
  Case c{.name = "6mrr",
         .system = apply(read_openmm_xml(files), s, {.rigid_water = false}).system,
         .frame = {},
         .cutoff_nm = 1};
  c.frame.x_nm = s.x_nm;
  c.frame.box = s.box;
  return c;
}
Case melt() {
  MolecularCase m = melt_case();
  return {.name = "lj_melt",
          .system = std::move(m.system),
          .frame = std::move(m.frame),
          .cutoff_nm = 2.5};
}

struct Kernel {
  const char* name;
  Nonbonded options;
};
std::vector<Kernel> kernels_of(const Case& c, double rc) {
  const double inner = 0.8 * rc;
  const auto with = [&](Coulomb coulomb, Modifier lj, Modifier charges) {
    Nonbonded o = {.coulomb = coulomb,
                   .coulomb_modifier = charges,
                   .lj_modifier = lj,
                   .cutoff_coulomb_nm = rc,
                   .cutoff_lj_nm = rc};
    if (lj == Modifier::force_switch || lj == Modifier::potential_switch) o.lj_switch_nm = inner;
    return o;
  };
  const bool charged =
      std::ranges::any_of(c.system.atoms.charge_e, [](double q) { return q != 0; });
  const Coulomb plain = charged ? Coulomb::cutoff : Coulomb::none,
                field = charged ? Coulomb::reaction_field : Coulomb::none;
  const Modifier shift = charged ? Modifier::linear_force_shift : Modifier::none;
  std::vector<Kernel> out = {{"cut", with(plain, Modifier::none, Modifier::none)},
                             {"shift", with(plain, Modifier::potential_shift, Modifier::none)},
                             {"force_shift", with(plain, Modifier::linear_force_shift, shift)},
                             {"force_switch", with(field, Modifier::force_switch, Modifier::none)},
                             {"switch", with(plain, Modifier::potential_switch, shift)}};
  if (charged) {
    out[1].options.coulomb_modifier = Modifier::potential_shift;
    out.push_back({"reaction_field", with(field, Modifier::potential_shift, Modifier::none)});
    out.back().options.epsilon_rf = 78.3;
  }
  if (charged && is_periodic(c.frame.box)) {
    out.push_back(
        {"pme", with(Coulomb::pme, Modifier::potential_shift, Modifier::potential_shift)});
    out.push_back(
        {"pme_switch", with(Coulomb::pme, Modifier::force_switch, Modifier::potential_shift)});
    out.back().options.pme_order = 4;
    if (c.system.n_atoms() <= 2500) {
      out.push_back({"ewald", with(Coulomb::ewald, Modifier::none, Modifier::none)});
      out.back().options.ewald_kmax =
          2 * ewald_beta(out.back().options) * std::sqrt(-std::log(1e-6));
    }
  }
  return out;
}

/// The middle of the widest gap between distances just below the cut-off.
double clear_of_pairs(const Case& c, const naive::Pairs& pairs) {
  const double rc = c.cutoff_nm;
  std::vector<double> distances = {rc * (1 - 2e-5), rc};
  for (const auto& [i, j] : pairs)
    if (const auto r = static_cast<double>(naive::length(naive::apart(c.frame, i, j)));
        r > distances[0] && r < rc)
      distances.push_back(r);
  std::ranges::sort(distances);
  std::size_t widest = 1;
  for (std::size_t k = 1; k < distances.size(); ++k)
    if (distances[k] - distances[k - 1] > distances[widest] - distances[widest - 1]) widest = k;
  return 0.5 * (distances[widest] + distances[widest - 1]);
}

bool print_difference(const std::string& name, const std::vector<Vec3>& f, const Vectors& e) {
  long double sum = 0, all = 0, most = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    long double d = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      d += (f[i][c] - e[i][c]) * (f[i][c] - e[i][c]);
      all += e[i][c] * e[i][c];
    }
    sum += d;
    most = std::max(most, d);
  }
  const auto n = static_cast<long double>(f.size());
  print_figure(name + "_rms", static_cast<double>(std::sqrt(sum / all)), "1");
  print_figure(name + "_largest", static_cast<double>(std::sqrt(most / (all / n))), "1");
  return all > 0;
}

std::vector<Vec3> as_forces(const Tensor& gradient) {
  const std::vector<double> v = (-gradient).to_vector<double>();
  std::vector<Vec3> f(v.size() / 3);
  for (std::size_t k = 0; k < v.size(); ++k) f[k / 3][k % 3] = v[k];
  return f;
}
std::vector<Vec3> bonded_forces(const System& s, const Frame& frame) {
  const Nonbonded none = {.coulomb = Coulomb::cutoff,
                          .coulomb_modifier = Modifier::none,
                          .lj_modifier = Modifier::none,
                          .cutoff_coulomb_nm = 1e-3,
                          .cutoff_lj_nm = 1e-3};
  const PotentialEnergy u(s, none, frame.box, PotentialEnergy::Way::engine);
  const Tensor h = edges_of(frame.box);
  const Parameters p = parameters(s);
  return as_forces(grad([&](const Tensor& x) {
    Tensor sum(0.0);
    for (std::size_t k = 0; k <= static_cast<std::size_t>(Term::distance_restraints); ++k)
      sum = sum + u.term(static_cast<Term>(k), x, h, p);
    return sum;
  })(positions_of(frame.x_nm)));
}
std::vector<Vec3> engine_forces(const System& s, const Nonbonded& o, const Frame& frame) {
  const PotentialEnergy u(s, o, frame.box, PotentialEnergy::Way::engine);
  const Tensor h = edges_of(frame.box);
  const Parameters p = parameters(s);
  return as_forces(grad([&](const Tensor& x) { return u(x, h, p); })(positions_of(frame.x_nm)));
}

System without_bonded(System s) {
  s.bonds = s.urey_bradley = {};
  s.angles = {};
  s.dihedrals = s.impropers = {};
  s.harmonic_impropers = {};
  s.ryckaert_bellemans = {};
  s.pairs = {};
  return s;
}

struct Level {
  const char* name;
  Simd simd;
};
/// What this processor can run.
std::vector<Level> levels(const System& s, const Nonbonded& o) {
  std::vector<Level> out;
  for (const Level& level : {Level{"portable", Simd::portable}, Level{"avx2", Simd::avx2},
                             Level{"avx512", Simd::avx512}}) {
    try {
      ForceEvaluator(s, o, {.simd = level.simd});
      out.push_back(level);
    } catch (const Error&) {
    }
  }
  return out;
}

void compare(const std::string& name, const System& s, const Nonbonded& o, const Frame& frame,
             const Vectors& expected) {
  for (const Level& level : levels(s, o))
    for (const Precision precision : {Precision::f64, Precision::mixed}) {
      Forces f;
      f.wants_energies = false;
      ForceEvaluator(s, o, {.precision = precision, .simd = level.simd})(frame.x_nm, frame.box, f);
      print_difference(name + (precision == Precision::f64 ? ".f64." : ".mixed.") + level.name, f.f,
                       expected);
    }
}

void run(const Case& c) {
  const double begin = seconds_now();
  const System bare = without_bonded(c.system);
  naive::Pairs pairs = naive::near_pairs(bare, c.frame, c.cutoff_nm);
  const double rc = clear_of_pairs(c, pairs);
  std::printf("# %s: %zu atoms, %zu pairs, cut-off %.9g nm\n", c.name.c_str(), bare.n_atoms(),
              pairs.size(), rc);
  const std::vector<Kernel> kernels = kernels_of(c, rc);
  for (const Kernel& k : kernels) {
    const std::string name = c.name + "." + k.name;
    const bool pme = k.options.coulomb == Coulomb::pme;
    const Vectors expected = naive::nonbonded_forces(
        bare, k.options, pme ? pme_grid(k.options, c.frame.box) : std::array{0, 0, 0}, c.frame,
        pairs);
    compare(name, bare, k.options, c.frame, expected);
    if (bare.n_atoms() <= 850)
      print_difference(name + ".engine", engine_forces(bare, k.options, c.frame), expected);
    const bool last = &k == &kernels.back();
    if (c.system.bonds.size() == 0 ||
        !(std::strcmp(k.name, "pme") == 0 || (last && !is_periodic(c.frame.box))))
      continue;
    Vectors whole = expected;
    const std::vector<Vec3> bonded = bonded_forces(c.system, c.frame);
    for (std::size_t i = 0; i < whole.size(); ++i)
      for (std::size_t a = 0; a < 3; ++a) whole[i][a] += bonded[i][a];
    compare(c.name + ".all_terms", c.system, k.options, c.frame, whole);
  }
  std::printf("# %s took %.1f s\n", c.name.c_str(), seconds_now() - begin);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc == 3 && std::strcmp(argv[1], "--only") == 0 ? argv[2] : "";
  if (argc != 1 && only.empty())
    return std::fprintf(stderr, "usage: molecular_forces_bench [--only SYSTEM]\n"), 2;
  if (!std::filesystem::exists(folder()))
    return std::fprintf(stderr, "no test data: set TESSERA_TEST_DATA\n"), 3;
  const std::vector<std::pair<std::string, std::function<Case()>>> cases = {
      {"nist_lj1",
       [] { return nist_lennard_jones("nist_lj1", "lj_sample_config_periodic1.txt", 3); }},
      {"nist_lj4",
       [] { return nist_lennard_jones("nist_lj4", "lj_sample_config_periodic4.txt", 4); }},
      {"nist_spce1", [] { return nist_water("nist_spce1", "spce_sample_config_periodic1.txt"); }},
      {"nist_spce4", [] { return nist_water("nist_spce4", "spce_sample_config_periodic4.txt"); }},
      {"ala2_vac",
       [] { return amber("ala2_vac", "amber/ala2_vac.prmtop", "amber/ala2_vac.rst7", 3); }},
      {"ala2_tip3p",
       [] { return amber("ala2_tip3p", "amber/ala2_tip3p.prmtop", "amber/ala2_tip3p.rst7", 0.9); }},
      {"water_ala3",
       [] { return amber("water_ala3", "amber/water_ala3.parm7", "amber/water_ala3.rst7", 1); }},
      {"6mrr", protein},
      {"jac", [] { return amber("jac", "dhfr/JAC.prmtop.gz", "dhfr/JAC.rst7.gz", 0.9); }},
      {"lj_melt", melt}};
  bool any = false;
  for (const auto& [name, make] : cases)
    if (only.empty() || name == only) {
      run(make());
      any = true;
    }
  return any ? 0 : (std::fprintf(stderr, "no system '%s'\n", only.c_str()), 2);
}
