// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/media_library.h"

#include "base/numbers.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/options.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

constexpr double kHzPerWavenumber = 100 * speed_of_light;  // of 1/cm

double from_um(double wavelength_um) { return speed_of_light / (wavelength_um * 1e-6); }

void append(std::vector<PoleResidue>& poles, const std::vector<PoleResidue>& more) {
  poles.insert(poles.end(), more.begin(), more.end());
}

Medium isotropic(const char* name, double eps) { return {.name = name, .eps = {eps, eps, eps}}; }

/// eps = 1 + sum f_j wp^2/(w_j^2 - w^2 - i w G_j), all in eV, written by the source for e^{-i w t};
/// w_0 = 0 is the Drude term.
struct Oscillator {
  double strength, damping_ev, resonance_ev;
};
struct LorentzDrudeMetal {
  const char* name;
  const char* what;
  double um_min, um_max;
  double plasma_ev;
  std::vector<Oscillator> oscillators;
};

LibraryMedium lorentz_drude(const LorentzDrudeMetal& m) {
  Medium medium = isotropic(m.name, 1);
  const double fp = m.plasma_ev * kHzPerEv;
  for (const Oscillator& o : m.oscillators) {
    const double f0 = o.resonance_ev * kHzPerEv, gamma = o.damping_ev * kHzPerEv;
    append(medium.poles, f0 == 0 ? drude(fp, gamma, o.strength)
                                 : lorentz(f0, gamma, o.strength * (fp / f0) * (fp / f0)));
  }
  return {
      medium, std::string(m.what) + ", Lorentz-Drude model",
      "A. D. Rakic, A. B. Djurisic, J. M. Elazar and M. L. Majewski, Appl. Opt. 37, 5271 (1998)",
      from_um(m.um_max), from_um(m.um_min)};
}

/// n^2 = constant + sum B_j l^2/(l^2 - l_j^2), l in um: undamped Lorentz terms at c/l_j.
struct Sellmeier {
  const char* name;
  const char* what;
  const char* source;
  double um_min, um_max;
  double constant;
  struct Term {
    double strength, um;
  };
  std::vector<Term> terms;
};

LibraryMedium sellmeier(const Sellmeier& s) {
  Medium medium = isotropic(s.name, s.constant);
  for (const auto& t : s.terms) append(medium.poles, lorentz(from_um(t.um), 0, t.strength));
  return {medium, s.what, s.source, from_um(s.um_max), from_um(s.um_min)};
}

void add_metals(std::vector<LibraryMedium>& list) {
  const LorentzDrudeMetal metals[] = {
      {"Ag",
       "silver",
       0.24797,
       12.398,
       9.01,
       {{0.845, 0.048, 0},
        {0.065, 3.886, 0.816},
        {0.124, 0.452, 4.481},
        {0.011, 0.065, 8.185},
        {0.840, 0.916, 9.083},
        {5.646, 2.419, 20.29}}},
      {"Al",
       "aluminium",
       0.06199,
       247.97,
       14.98,
       {{0.523, 0.047, 0},
        {0.227, 0.333, 0.162},
        {0.050, 0.312, 1.544},
        {0.166, 1.351, 1.808},
        {0.030, 3.382, 3.473}}},
      {"Au",
       "gold",
       0.24797,
       6.1992,
       9.03,
       {{0.760, 0.053, 0},
        {0.024, 0.241, 0.415},
        {0.010, 0.345, 0.830},
        {0.071, 0.870, 2.969},
        {0.601, 2.494, 4.304},
        {4.384, 2.214, 13.32}}},
      {"Cr",
       "chromium",
       0.24797,
       61.992,
       10.75,
       {{0.168, 0.047, 0},
        {0.151, 3.175, 0.121},
        {0.150, 1.305, 0.543},
        {1.149, 2.676, 1.970},
        {0.825, 1.335, 8.775}}},
      {"Cu",
       "copper",
       0.20664,
       12.398,
       10.83,
       {{0.575, 0.030, 0},
        {0.061, 0.378, 0.291},
        {0.104, 1.056, 2.957},
        {0.723, 3.213, 5.300},
        {0.638, 4.305, 11.18}}},
      {"Ni",
       "nickel",
       0.24797,
       6.1992,
       15.92,
       {{0.096, 0.048, 0},
        {0.100, 4.511, 0.174},
        {0.135, 1.334, 0.582},
        {0.106, 2.178, 1.597},
        {0.729, 6.292, 6.089}}},
      {"Pt",
       "platinum",
       0.24797,
       12.398,
       9.59,
       {{0.333, 0.080, 0},
        {0.191, 0.517, 0.780},
        {0.659, 1.838, 1.314},
        {0.547, 3.668, 3.141},
        {3.576, 8.517, 9.249}}},
      {"W",
       "tungsten",
       0.24797,
       12.398,
       13.22,
       {{0.206, 0.064, 0},
        {0.054, 0.530, 1.004},
        {0.166, 1.281, 1.917},
        {0.706, 3.332, 3.580},
        {2.590, 5.836, 7.498}}},
  };
  for (const LorentzDrudeMetal& m : metals) list.push_back(lorentz_drude(m));
}

void add_dielectrics(std::vector<LibraryMedium>& list) {
  const Sellmeier dielectrics[] = {
      {"Al2O3",
       "sapphire, ordinary ray, 20 C",
       "I. H. Malitson and M. J. Dodge, J. Opt. Soc. Am. 62, 1405 (1972); M. J. Dodge in Handbook "
       "of "
       "Laser Science and Technology IV 2, CRC Press (1986), p. 30",
       0.20,
       5.0,
       1,
       {{1.4313493, 0.0726631}, {0.65054713, 0.1193242}, {5.3414021, 18.028251}}},
      {"BK7",
       "borosilicate crown glass N-BK7",
       "SCHOTT optical glass data sheets (2017)",
       0.3,
       2.5,
       1,
       {{1.03961212, std::sqrt(0.00600069867)},
        {0.231792344, std::sqrt(0.0200179144)},
        {1.01046945, std::sqrt(103.560653)}}},
      {"CaF2",
       "calcium fluoride, 24 C",
       "I. H. Malitson, Appl. Opt. 2, 1103 (1963)",
       0.23,
       9.7,
       1,
       {{0.5675888, 0.050263605}, {0.4710914, 0.1003909}, {3.8484723, 34.649040}}},
      {"GaAs",
       "gallium arsenide, 22 C",
       "T. Skauli et al., J. Appl. Phys. 94, 6447 (2003)",
       0.97,
       17,
       5.372514,
       {{5.466742, 0.4431307}, {0.02429960, 0.8746453}, {1.957522, 36.9166}}},
      {"Ge",
       "germanium, 22 C",
       "J. H. Burnett et al., Proc. SPIE 9974, 99740X (2016)",
       2,
       14,
       1,
       {{0.4886331, std::sqrt(1.393959)},
        {14.5142535, std::sqrt(0.1626427)},
        {0.0091224, std::sqrt(752.190)}}},
      {"Si",
       "silicon, 26 C",
       "B. Tatian, Appl. Opt. 23, 4477 (1984), fit to C. D. Salzberg and J. J. Villa, J. Opt. Soc. "
       "Am. 47, 244 (1957)",
       1.357,
       11.04,
       1,
       {{10.6684293, 0.301516485}, {0.0030434748, 1.13475115}, {1.54133408, 1104}}},
      {"Si3N4",
       "stoichiometric silicon nitride film",
       "K. Luke et al., Opt. Lett. 40, 4823 (2015)",
       0.310,
       5.504,
       1,
       {{3.0249, 0.1353406}, {40314, 1239.842}}},
      {"SiO2",
       "fused silica, 20 C",
       "I. H. Malitson, J. Opt. Soc. Am. 55, 1205 (1965)",
       0.21,
       6.7,
       1,
       {{0.6961663, 0.0684043}, {0.4079426, 0.1162414}, {0.8974794, 9.896161}}},
      // n^2 = 5.913 + 0.2441/(l^2 - 0.0803), where 1/(l^2 - C) = [l^2/(l^2 - C) - 1]/C
      {"TiO2",
       "rutile, ordinary ray",
       "J. R. DeVore, J. Opt. Soc. Am. 41, 416 (1951)",
       0.43,
       1.53,
       5.913 - 0.2441 / 0.0803,
       {{0.2441 / 0.0803, std::sqrt(0.0803)}}},
  };
  for (const Sellmeier& s : dielectrics) list.push_back(sellmeier(s));
}

void add_single_term_media(std::vector<LibraryMedium>& list) {
  Medium ito = isotropic("ITO", 3.8055);
  ito.poles = drude(473e12, 0.0468 * 473e12);
  list.push_back({ito,
                  "indium tin oxide film, Drude model about its zero of permittivity at 1240 nm",
                  "M. Z. Alam, I. De Leon and R. W. Boyd, Science 352, 795 (2016)", from_um(1.5),
                  from_um(1.0)});

  // eps = 6.7 [1 + (L^2 - T^2)/(T^2 - w^2 + i w G)], in 1/cm
  const double to = 793, lo = 969;
  Medium sic = isotropic("SiC", 6.7);
  sic.poles = lorentz(to * kHzPerWavenumber, 4.76 * kHzPerWavenumber,
                      6.7 * (lo * lo - to * to) / (to * to));
  list.push_back({sic, "silicon carbide, phonon resonance",
                  "W. G. Spitzer, D. Kleinman and D. Walsh, Phys. Rev. 113, 127 (1959)",
                  from_um(20), from_um(2)});

  Medium water = isotropic("water", 5.2);
  water.poles = debye(1 / (2 * std::numbers::pi * 8.27e-12), 78.36 - 5.2);
  list.push_back(
      {water, "water, 25 C, Debye model", "U. Kaatze, J. Chem. Eng. Data 34, 371 (1989)", 0, 57e9});
}

/// Loss tangents hold from 0.1 to 100 GHz with a Debye term in each decade.
void add_substrates(std::vector<LibraryMedium>& list) {
  struct Substrate {
    const char* name;
    const char* what;
    const char* source;
    double eps_r, tan_delta, f_hz;
  };
  const Substrate substrates[] = {
      {"FR4", "glass epoxy laminate 370HR: 4.17, loss tangent 0.0161 at 1 GHz",
       "Isola, data sheet of 370HR", 4.17, 0.0161, 1e9},
      {"RO4003C", "ceramic hydrocarbon laminate: 3.38, loss tangent 0.0027 at 10 GHz",
       "Rogers Corporation, data sheet of the RO4000 series", 3.38, 0.0027, 10e9},
      {"RO4350B", "ceramic hydrocarbon laminate: 3.48, loss tangent 0.0037 at 10 GHz",
       "Rogers Corporation, data sheet of the RO4000 series", 3.48, 0.0037, 10e9},
      {"RT5880", "glass microfibre PTFE RT/duroid 5880: 2.20, loss tangent 0.0009 at 10 GHz",
       "Rogers Corporation, data sheet of RT/duroid 5870 and 5880", 2.20, 0.0009, 10e9},
  };
  for (const Substrate& s : substrates) {
    Medium medium = wideband_debye(s.eps_r, s.tan_delta, s.f_hz, 1e7, 1e12, 1);
    medium.name = s.name;
    list.push_back({medium, s.what, s.source, 1e8, 1e11});
  }
}

}  // namespace

const std::vector<LibraryMedium>& media_library() {
  static const std::vector<LibraryMedium> library = [] {
    std::vector<LibraryMedium> list;
    add_metals(list);
    add_dielectrics(list);
    add_single_term_media(list);
    add_substrates(list);
    std::sort(list.begin(), list.end(), [](const LibraryMedium& a, const LibraryMedium& b) {
      return a.medium.name < b.medium.name;
    });
    return list;
  }();
  return library;
}

std::vector<std::string> list_media() {
  std::vector<std::string> names;
  for (const LibraryMedium& m : media_library()) names.push_back(m.medium.name);
  return names;
}

const LibraryMedium& find_library_medium(const std::string& name) {
  for (const LibraryMedium& m : media_library())
    if (m.medium.name == name) return m;
  const auto near = data::nearest_names(name, list_media());
  const std::string hint = near.empty() ? fmt::format("there are {}", fmt::join(list_media(), ", "))
                                        : fmt::format("did you mean '{}'?", near.front());
  throw Error(fmt::format("[find_medium] no medium '{}' is in the library; {}", name, hint));
}

const Medium& find_medium(const std::string& name) { return find_library_medium(name).medium; }

}  // namespace tessera::electromagnetics
