// SPDX-License-Identifier: Apache-2.0
//
// A prior of whole sections, learnt from drawn ones (geology.h): a variational autoencoder
// (D. Kingma and M. Welling, arXiv:1312.6114) of convolutions. A section is x = D(z) + e, with
// codes z ~ N(0, 1) and an error e ~ N(0, noise^2) in each cell.
//
//   SectionPrior prior = section_prior(random_key(1), {.section = {32, 64}}, centre, scale);
//   auto state = solvers::begin_fit(prior, options);          // options.rules = frozen_leaves()
//   solvers::fit(training_loss, validation_loss, state, train, validation, options);
//   write_section_prior("prior.safetensors", state.best);
//   Generator g = generator_of(read_section_prior("prior.safetensors"));
#pragma once
#include "tessera/autodiff/nn/models.h"
#include "tessera/inversion/code_flow.h"
#include "tessera/inversion/generator.h"
#include "tessera/inversion/prior_calibration.h"
#include "tessera/solvers/fit.h"

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::inversion {

struct SectionPriorOptions {
  Shape section = {32, 64};                  ///< rows, columns: multiples of 2^levels
  std::vector<Index> widths = {16, 32, 64};  ///< channels of each level
  Index codes = 64;
  double noise = 0.2;  ///< standard deviation of e in decades
  Dtype dtype = Dtype::f32;
};

/// log10 of the resistivity in ohm m [B, rows, columns] <-> codes [B, codes].
struct SectionPrior {
  nn::ConvVae net;               ///< of (log10 rho - centre) / scale
  nn::ConvVae::Statistics seen;  ///< what its batch norms have seen; runs along in training
  CodeFlow flow;  ///< between the net's codes and those of the prior; none: no couplings
  double centre = 0, scale = 1;  ///< decades
  double noise = 0.2;            ///< decades
  double aspect = 0;             ///< width of the region over its depth; 0: not known
  TESSERA_TREE(net, seen, flow)
  TESSERA_STATIC(centre, scale, noise, aspect)

  Tensor encode(const Tensor& sections) const;  ///< of the net's means
  Tensor decode(const Tensor& codes) const;
  nn::NormalCode code_of(const Tensor& sections) const;  ///< the net's, in front of the flow
};

/// Weights drawn by the key. `centre` and `scale` are mean and standard deviation of the sections
/// to learn from. Throws Error for sizes that do not halve at each level, and a noise or scale that
/// is not above 0.
SectionPrior section_prior(const Tensor& key, const SectionPriorOptions& o, double centre,
                           double scale);

/// The leaves that `fit` must not train.
std::vector<solvers::LeafRule> frozen_leaves();
/// Minus the evidence lower bound of a cell, up to a constant, its mean over the samples
/// [B, rows, columns]: (x - D(z))^2 / (2 noise^2) at a draw z of each code, and the codes'
/// divergence from N(0, 1) over the number of cells. With it the prior that has seen the batch.
std::pair<Tensor, SectionPrior> training_loss(const SectionPrior& p,
                                              const solvers::Batch<Tensor>& b);
/// The same at the codes' means, with what the norms have seen; then the mean square of x - D(z) in
/// decades^2, and the mean of z^2 over codes.
std::pair<Tensor, std::vector<Tensor>> validation_loss(const SectionPrior& p,
                                                       const solvers::Batch<Tensor>& b);

/// In f64, whatever the weights were learnt in.
Generator generator_of(const SectionPrior& p);

/// As safetensors, all that is needed to read it back within, and what held-out sections show of
/// it. Throws what these throw; E0692 for a file of something else.
void write_section_prior(const std::filesystem::path& file, const SectionPrior& p,
                         const std::optional<PriorCalibration>& calibration = std::nullopt);
SectionPrior read_section_prior(const std::filesystem::path& file);
/// Empty where the file was written without.
std::optional<PriorCalibration> read_prior_calibration(const std::filesystem::path& file);

}  // namespace tessera::inversion
