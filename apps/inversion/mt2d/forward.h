// SPDX-License-Identifier: Apache-2.0
// task = "forward": the soundings of a section that is given.
#pragma once
#include "inversion/mt2d/mesh.h"
#include "inversion/mt2d/results.h"
#include "inversion/mt2d/section_model.h"
#include "tessera/autodiff/tensor.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::apps::mt2d {

/// A section on a mesh, with its stations and frequencies.
struct ForwardProblem {
  Mt2dOptions options;
  std::vector<double> frequency_hz;  ///< falling
  Ground ground;
  SectionModel model;
  inversion::SectionMesh mesh;  ///< its solver's cells have the regions of the model as parameters
  Tensor ln_rho;                ///< as parameters_of
  std::string doubt;            ///< of the mesh, for a warning; or empty
};
ForwardProblem forward_problem(const data::Config& config, const Mt2dOptions& o);

/// The mesh made fine enough (mesh.goal); `doubt` where it is not.
void refine(const data::Config& config, ForwardProblem& p);

/// A line for the user on mesh and frequencies.
std::string describe(const ForwardProblem& p);

/// Whether the case asks for noise in any of its data, and a line on it.
bool has_noise(const Mt2dOptions& o);
std::string describe_noise(const Mt2dOptions& o);

/// Soundings of all stations along the strike, without noise and with the errors of the noise (0
/// where the case asks for none).
/// `done(k)` is told after the k-th of the frequencies; false stops, and nothing is returned.
std::vector<inversion::Sounding> soundings_of(const ForwardProblem& p,
                                              const std::function<bool(std::size_t)>& done);
/// With noise in all elements: normal, keyed by seed and station.
std::vector<inversion::Sounding> with_noise(const ForwardProblem& p,
                                            std::vector<inversion::Sounding> soundings);
/// Positions on the globe and axes to north, for EDI files; an error of 0 is none that is given.
std::vector<inversion::Sounding> on_the_globe(const ForwardProblem& p,
                                              std::vector<inversion::Sounding> soundings);

/// What is written and drawn: data with noise, predictions without.
Result forward_result(const ForwardProblem& p, const std::vector<inversion::Sounding>& exact,
                      const std::vector<inversion::Sounding>& noisy);

}  // namespace tessera::apps::mt2d
