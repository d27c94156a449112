// SPDX-License-Identifier: Apache-2.0
//
// What all kinds of stages have in common: what they report, and how their state lies in a
// checkpoint.
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/molecular/bonded.h"
#include "tessera/molecular/forces.h"
#include "tessera/molecular/stage_run.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace tessera::molecular::stages {

inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Adds the time of its life to a number.
struct Timer {
  double& sum;
  double begin = now_s();
  explicit Timer(double& s) : sum(s) {}
  ~Timer() { sum += now_s() - begin; }
};

inline ForceFunction timed(ForceFunction f, double& seconds) {
  return [f = std::move(f), &seconds](const std::vector<Vec3>& x, const Box& box, Forces& out) {
    const Timer t(seconds);
    f(x, box, out);
  };
}

inline std::vector<double> flat(const std::vector<Vec3>& a) {
  std::vector<double> out;
  out.reserve(3 * a.size());
  for (const Vec3& v : a) out.insert(out.end(), v.begin(), v.end());
  return out;
}
inline std::vector<Vec3> triples(const std::vector<double>& a) {
  std::vector<Vec3> out(a.size() / 3);
  for (std::size_t i = 0; i < 3 * out.size(); ++i) out[i / 3][i % 3] = a[i];
  return out;
}
inline void put(data::Checkpoint& c, const std::string& name, const std::vector<Vec3>& a) {
  c.put(name, flat(a), {a.size(), 3});
}

inline void put(data::Checkpoint& c, const Frame& f, const Forces& forces) {
  put(c, "x", f.x_nm);
  put(c, "v", f.v_nm_ps);
  put(c, "box", {f.box.edge.begin(), f.box.edge.end()});
  c.put("time_ps", f.time_ps);
  c.put("stage_step", f.step);
  put(c, "f", forces.f);
  c.put("terms", std::vector<double>(forces.energy.begin(), forces.energy.end()));
  put(c, "virial", {forces.virial.begin(), forces.virial.end()});
}
inline void get(const data::Checkpoint& c, Frame& f, Forces& forces) {
  f.x_nm = triples(c.array<double>("x"));
  f.v_nm_ps = triples(c.array<double>("v"));
  const auto box = triples(c.array<double>("box")), virial = triples(c.array<double>("virial"));
  const auto& terms = c.array<double>("terms");
  forces.f = triples(c.array<double>("f"));
  if (box.size() != 3 || virial.size() != 3 || terms.size() != n_terms ||
      forces.f.size() != f.x_nm.size())
    throw Error("[checkpoint] the state of a stage is inconsistent");
  std::ranges::copy(box, f.box.edge.begin());
  std::ranges::copy(virial, forces.virial.begin());
  std::ranges::copy(terms, forces.energy.begin());
  f.time_ps = c.scalar<double>("time_ps");
  f.step = c.scalar<std::int64_t>("stage_step");
}

/// Whether each row has the pressure tensor, and its diagonal.
inline bool tells_tensor(const Stage& stage, bool periodic) {
  return periodic && stage.pressure_tensor;
}
inline bool tells_diagonal(const Stage& stage, const Dynamics& o, bool periodic) {
  return tells_tensor(stage, periodic) || (periodic && o.barostat != Dynamics::Barostat::none &&
                                           o.scaling != Dynamics::Scaling::isotropic);
}

/// What the first columns of every stage say.
inline std::vector<double> common_row(const std::vector<Term>& terms, const Frame& f,
                                      const Forces& forces) {
  std::vector<double> out = {static_cast<double>(f.step), f.time_ps};
  for (const Term t : terms) out.push_back(forces.energy[static_cast<std::size_t>(t)]);
  out.push_back(forces.potential());
  return out;
}

/// Terms of the energy that a system has, in the order of `Term`.
inline std::vector<Term> terms_of(const System& s, const Nonbonded& o, bool periodic) {
  std::vector<Term> out;
  for (const Term kind : bonded_terms)
    if (acts(kind, o) && bonded_energy(s, kind)) out.push_back(kind);
  out.push_back(Term::lj);
  if (o.tail != Nonbonded::Tail::none && periodic) out.push_back(Term::lj_tail);
  const bool charged = o.coulomb != Nonbonded::Coulomb::none &&
                       std::ranges::any_of(s.atoms.charge_e, [](double q) { return q != 0; });
  if (charged) out.push_back(Term::coulomb_short);
  if (charged && (o.coulomb == Nonbonded::Coulomb::pme || o.coulomb == Nonbonded::Coulomb::ewald))
    out.push_back(Term::coulomb_reciprocal);
  return out;
}

}  // namespace tessera::molecular::stages
