// SPDX-License-Identifier: Apache-2.0
// What pairs of atoms feel.
#include "io/openmm_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tessera::molecular {

using data::shown;

/// All types that a pattern fits.
std::vector<std::int32_t> OpenmmXmlReader::types_of(const Pattern& p) const {
  if (p.kind == Pattern::Kind::type) return {p.type};
  if (p.kind == Pattern::Kind::class_name) {
    const auto at = of_class_.find(p.class_name);
    return at == of_class_.end() ? std::vector<std::int32_t>{} : at->second;
  }
  std::vector<std::int32_t> out;
  for (std::size_t t = 0; t < ff_.types.size() && p.kind == Pattern::Kind::any; ++t)
    out.push_back(static_cast<std::int32_t>(t));
  return out;
}
/// A scale factor that all elements of a kind must agree on.
void OpenmmXmlReader::agree(OpenmmFile& f, pugi::xml_node n, const char* name,
                            std::optional<double>& known) {
  const double v = f.number(n, name);
  if (known && std::abs(*known - v) > 1e-5)
    f.error(702, n.attribute(name), n,
            fmt::format(
                "{} is {} here and {} in another file: these force fields do not belong together",
                name, v, *known));
  if (!known) known = v;
}

void OpenmmXmlReader::expect_lennard_jones(OpenmmFile& f, pugi::xml_node e, double sigma,
                                           double epsilon) {
  if (epsilon < 0 || sigma < 0) f.error(702, e, "sigma and epsilon must not be negative");
  if (!std::isfinite(4 * epsilon * std::pow(sigma, 12)))
    f.error(702, e,
            fmt::format("4 epsilon sigma^12 of sigma {} nm and epsilon {} kJ/mol is beyond the "
                        "range of double precision",
                        sigma, epsilon));
}

void OpenmmXmlReader::nonbonded(OpenmmFile& f, pugi::xml_node n) {
  agree(f, n, "coulomb14scale", coulomb14_);
  agree(f, n, "lj14scale", lj14_);
  ff_.coulomb14_scale = coulomb14_.value_or(1);
  bool charge_of_residue = false;
  for (const pugi::xml_node u : n.children("UseAttributeFromResidue")) {
    if (f.text(u, "name") == "charge")
      charge_of_residue = true;
    else
      f.error(703, u,
              "of the attributes of a residue only charge is read, got " +
                  shown(u.attribute("name").value()));
  }
  for (const pugi::xml_node e : n.children("Atom")) {
    ForceField::NonbondedType t{
        true, charge_of_residue, 0, f.number(e, "sigma"), f.number(e, "epsilon"), 0, 0};
    if (!charge_of_residue) t.charge_e = f.number(e, "charge");
    expect_lennard_jones(f, e, t.sigma_nm, t.epsilon);
    t.sigma14_nm = t.sigma_nm;
    t.epsilon14 = t.epsilon;
    for (const std::int32_t k : types_of(one_pattern(f, e)))
      ff_.nonbonded[static_cast<std::size_t>(k)] = t;
  }
}

void OpenmmXmlReader::lennard_jones(OpenmmFile& f, pugi::xml_node n) {
  agree(f, n, "lj14scale", lj14_alone_);
  for (const pugi::xml_node e : n.children("Atom")) {
    const double sigma = f.number(e, "sigma"), epsilon = f.number(e, "epsilon");
    expect_lennard_jones(f, e, sigma, epsilon);
    const std::array<double, 4> values = {sigma, epsilon, f.number(e, "sigma14", sigma),
                                          f.number(e, "epsilon14", epsilon)};
    for (const std::int32_t k : types_of(one_pattern(f, e)))
      alone_[static_cast<std::size_t>(k)] = values;
  }
  for (const pugi::xml_node e : n.children("NBFixPair")) {
    const auto on = patterns<2>(f, e);
    const double sigma = f.number(e, "sigma"), epsilon = f.number(e, "epsilon");
    if (!on) continue;
    if ((*on)[0].kind == Pattern::Kind::any || (*on)[1].kind == Pattern::Kind::any) {
      f.error(703, e, "NBFixPair with a wildcard is not read");
      continue;
    }
    const std::vector<std::int32_t> first = types_of((*on)[0]), second = types_of((*on)[1]);
    if (first.size() * second.size() + ff_.nbfix.size() > most_pairs) {
      f.error(702, e, fmt::format("more than {} pairs of types with NBFixPair", most_pairs));
      return;
    }
    for (const std::int32_t i : first)
      for (const std::int32_t j : second)
        ff_.nbfix[{std::min(i, j), std::max(i, j)}] = {sigma, epsilon};
  }
}
/// A LennardJonesForce takes the place of NonbondedForce's, whose epsilon must then be zero:
/// OpenMM would add both.
void OpenmmXmlReader::lennard_jones_alone() {
  ff_.lj14_scale = lj14_alone_ ? *lj14_alone_ : lj14_.value_or(1);
  if (!lj14_alone_) return;
  for (std::size_t k = 0; k < ff_.types.size(); ++k) {
    ForceField::NonbondedType& t = ff_.nonbonded[k];
    if (t.given && t.epsilon != 0)
      files_[0].findings().error(
          703, 0,
          "the type " + shown(ff_.types[k].name) +
              " has Lennard-Jones parameters in NonbondedForce and in LennardJonesForce");
    if (const auto at = alone_.find(k); at != alone_.end())
      std::tie(t.sigma_nm, t.epsilon, t.sigma14_nm, t.epsilon14) = std::tuple_cat(at->second);
    else
      t.given = false;
  }
  finish_pass();
}

}  // namespace tessera::molecular
