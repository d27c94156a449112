// SPDX-License-Identifier: Apache-2.0
// task = "forward": the soundings of a section that is given.
#pragma once
#include "inversion/mt2d/forward_mesh.h"
#include "inversion/mt2d/mesh.h"
#include "inversion/mt2d/results.h"
#include "inversion/mt2d/section_model.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/inversion/goal_mesh_2d.h"

#include <functional>
#include <optional>
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

/// A search for the mesh between two of its solves: what it goes on from to the same mesh.
struct MeshSearch {
  std::vector<Look> looks;                           ///< of layers, bodies and tables of cells
  std::optional<inversion::GoalMeshSearch> outline;  ///< of triangles
};
/// The mesh made fine enough (mesh.goal); `doubt` where it is not. `go_on` is told the cells of
/// each mesh that was looked at; where it says no the mesh stays as it was, and that is returned.
bool refine(const data::Config& config, ForwardProblem& p, MeshSearch& search,
            const std::function<bool(Index cells)>& go_on);
/// The same to its end.
void refine(const data::Config& config, ForwardProblem& p);

/// A line for the user on mesh and frequencies.
std::string describe(const ForwardProblem& p);

/// Whether the case asks for noise in any of its data, and a line on it.
bool has_noise(const Mt2dOptions& o);
std::string describe_noise(const Mt2dOptions& o);

/// Responses at the first `frequencies` of a problem, [frequencies, stations]; of tippers where
/// they are asked for.
struct Solved {
  std::size_t frequencies = 0;
  std::vector<c128> te, tm, tipper;
};
/// Adds those of the next frequencies, a few.
void solve_some(const ForwardProblem& p, Solved& solved);
/// At all frequencies.
Solved solve(const ForwardProblem& p);

/// Soundings of all stations along the strike, without noise and with the errors of the noise (0
/// where the case asks for none).
std::vector<inversion::Sounding> soundings_of(const ForwardProblem& p, const Solved& solved);
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
