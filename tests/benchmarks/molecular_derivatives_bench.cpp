// SPDX-License-Identifier: Apache-2.0
//
// What derivatives of a solvated protein (JAC, 23,558 atoms, PME, smooth cut-off of 0.9 nm) cost
// beside an evaluation of forces as runs make it, mixed beside mixed and double precision beside
// double precision. Lists exist; charges differ a little each time, so that nothing else is known
// from before:
//
//   gradients         energy, forces, derivatives in box, charges and every table
//   hessian           one product with the Hessian of positions, gradient included; hessian_next:
//   one more at the same position gradients_moved   the first at positions where no list exists
//
//   molecular_derivatives_bench [--repeat N] [--threads N] [--parts 1] [--only NAME]
#include "measure.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/text_file.h"
#include "tessera/molecular/amber.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/parameters.h"
#include "test_data.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

using namespace tessera;
using namespace tessera::molecular;
using namespace tessera::benchmarks;

struct Operands {
  Tensor x, h;
  Parameters p;
  TESSERA_TREE(x, h, p)
};

int main(int argc, char** argv) {
  int repeat = 7, threads = 1, parts = 0;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--repeat")
      repeat = std::atoi(argv[i + 1]);
    else if (key == "--threads")
      threads = std::atoi(argv[i + 1]);
    else if (key == "--parts")
      parts = std::atoi(argv[i + 1]);
    else if (key == "--only")
      only = argv[i + 1];
    else
      return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  set_num_threads(threads);
  const auto folder = tessera::testing::test_data() / "md/dhfr";
  if (!std::filesystem::exists(folder / "JAC.prmtop.gz"))
    return std::fprintf(stderr, "no test data: set TESSERA_TEST_DATA\n"), 3;
  System s = read_amber_topology(data::read_text_file(folder / "JAC.prmtop.gz")).system;
  s.lj = by_rule(s.lj, LennardJones::Mixing::lorentz_berthelot);
  const Frame frame = read_amber_restart(data::read_text_file(folder / "JAC.rst7.gz"), s.n_atoms());
  const Nonbonded o = {.coulomb = Nonbonded::Coulomb::pme,
                       .lj_modifier = Nonbonded::Modifier::force_switch,
                       .tail = Nonbonded::Tail::c6,
                       .cutoff_coulomb_nm = 0.9,
                       .cutoff_lj_nm = 0.9,
                       .lj_switch_nm = 0.8,
                       .pme_order = 5};
  const Operands at = {positions_of(frame.x_nm), edges_of(frame.box), parameters(s)};
  const PotentialEnergy exact(s, o, frame.box),
      quick(s, o, frame.box, PotentialEnergy::Way::kernels, Precision::mixed);
  const Tensor v = sin(arange(at.x.size(), Dtype::f64)), along = reshape(v, at.x.shape());

  const ForceEvaluator mixed(s, o), twice(s, o, {.precision = Precision::f64});
  Forces f;
  const auto evaluated = [&](const ForceEvaluator& e, bool energies) {
    return [&f, &e, energies, &frame] {
      f.wants_energies = energies;
      e(frame.x_nm, frame.box, f);
    };
  };
  int times = 0;
  const auto fresh = [&](const Operands& from) {
    Operands q = from;
    q.p.charge = from.p.charge * (1.0 + 1e-10 * ++times);
    return q;
  };
  std::vector<std::pair<std::string, std::function<void()>>> what = {
      {"forces_mixed", evaluated(mixed, false)},
      {"forces_f64", evaluated(twice, false)},
      {"forces_energies_mixed", evaluated(mixed, true)},
      {"forces_energies_f64", evaluated(twice, true)}};
  for (const auto& [kind, given] : {std::pair{"_mixed", &quick}, {"_f64", &exact}}) {
    const PotentialEnergy& u = *given;
    const auto all = [&u](const Operands& q) {
      return value_and_grad([&](const Operands& r) { return u(r.x, r.h, r.p); })(q);
    };
    const auto add = [&, ending = std::string(kind)](const std::string& name,
                                                     std::function<void()> f) {
      what.emplace_back(name + ending, std::move(f));
    };
    add("gradients", [=, &fresh, &at] { all(fresh(at)); });
    add("hessian", [&] {
      const Operands q = fresh(at);
      hvp([&](const Tensor& x) { return u(x, q.h, q.p); }, q.x, along);
    });
    add("hessian_next",
        [push = linearize(grad([&](const Tensor& x) { return u(x, at.h, at.p); }), at.x).second,
         &along] { push(along); });
    add("forces_by_engine", [&] {
      const Operands q = fresh(at);
      value_and_grad([&](const Tensor& x) { return u(x, q.h, q.p); })(q.x);
    });
    add("gradients_moved", [=, &times, &at] {
      Operands q = at;
      q.x = at.x + 1e-9 * ++times;
      all(q);
    });
    if (parts)
      for (const Term t :
           {Term::bonds, Term::angles, Term::dihedrals, Term::pairs_lj, Term::pairs_coulomb,
            Term::lj, Term::coulomb_short, Term::coulomb_reciprocal}) {
        add(std::string("gradients_") + name_of(t), [&, t] {
          value_and_grad([&](const Operands& q) { return u.term(t, q.x, q.h, q.p); })(fresh(at));
        });
        add(std::string("hessian_") + name_of(t), [&, t] {
          const Operands q = fresh(at);
          hvp([&](const Tensor& x) { return u.term(t, x, q.h, q.p); }, q.x, along);
        });
      }
  }
  if (!only.empty()) std::erase_if(what, [&](const auto& w) { return w.first != only; });
  std::vector<Samples> samples(what.size());
  for (int r = -1; r < repeat; ++r)  // the first round warms up
    for (std::size_t k = 0; k < what.size(); ++k) {
      const double seconds = seconds_of(what[k].second);
      if (r >= 0) samples[k].add(seconds);
    }
  std::printf("# %zu atoms, %d threads, best of %d\n", s.n_atoms(), threads, repeat);
  for (std::size_t k = 0; k < what.size(); ++k)
    print_figure(what[k].first, 1e3 * samples[k].best(), "ms");
  if (!only.empty()) return 0;
  // How far mixed results are from those in double precision, relative to the largest entry of each
  // array.
  const auto apart = [](const Tensor& a, const Tensor& b) {
    const double most = b.size() == 0 ? 0 : max(abs(flatten(b))).item<double>();
    return most == 0 ? 0.0 : max(abs(flatten(a - b))).item<double>() / most;
  };
  const auto gradients_of = [&](const PotentialEnergy& u) {
    return flatten_tree(grad([&](const Operands& r) { return u(r.x, r.h, r.p); })(at));
  };
  const auto product_of = [&](const PotentialEnergy& u) {
    return hvp([&](const Tensor& x) { return u(x, at.h, at.p); }, at.x, along);
  };
  const std::vector<Tensor> quick_gradients = gradients_of(quick),
                            exact_gradients = gradients_of(exact);
  double worst = 0;
  for (std::size_t k = 0; k < exact_gradients.size(); ++k) {
    const double error = apart(quick_gradients[k], exact_gradients[k]);
    if (parts)
      print_figure(std::string("error_") + (k == 0   ? "x"
                                            : k == 1 ? "h"
                                                     : parameter_names()[k - 2]),
                   error, "relative");
    worst = std::max(worst, error);
  }
  print_figure("gradients_error_mixed", worst, "relative");
  print_figure("hessian_error_mixed", apart(product_of(quick), product_of(exact)), "relative");
  const auto best = [&](const std::string& name) {
    for (std::size_t k = 0; k < what.size(); ++k)
      if (what[k].first == name) return samples[k].best();
    return 0.0;
  };
  for (const std::string kind : {"_mixed", "_f64"})
    for (const std::string name : {"gradients", "hessian_next", "hessian"})
      print_figure(name + "_ratio" + kind, best(name + kind) / best("forces" + kind), "x");
  return 0;
}
