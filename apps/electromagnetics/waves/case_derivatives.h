// SPDX-License-Identifier: Apache-2.0
// How a case moves with the numbers that S and transforms are differentiated in.
#pragma once
#include "tessera/electromagnetics/medium_derivatives.h"
#include "tessera/electromagnetics/time_domain.h"

#include <complex>
#include <string>
#include <vector>

namespace tessera::apps::waves {

struct CaseDerivatives {
  std::vector<std::string> names;  ///< of parameters and lengths, each once
  /// Of edges and faces, circuits of elements among them; parameters in the order of the names.
  electromagnetics::MediumDerivatives media;
  /// Whose open part moves with a conductor.
  std::vector<electromagnetics::Edge> reshaped;
  /// What waves refer to, ohm per unit of the parameter.
  struct References {
    std::vector<std::complex<double>> of_ports;
    double of_s = 0;  ///< s_parameters.reference
  };
  std::vector<References> references;  ///< [name]
  /// [name, excitation] What the source of a port gains with its circuit; of no edges: nothing.
  std::vector<std::vector<electromagnetics::Injection>> sources;
};

}  // namespace tessera::apps::waves
