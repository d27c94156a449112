// SPDX-License-Identifier: Apache-2.0
//
// Whole networks, as structs of layers with their makers: a language model (A. Radford et al.,
// 2019: GPT-2), a U-Net (O. Ronneberger et al., arXiv:1505.04597), a variational autoencoder of
// columns (D. Kingma & M. Welling, arXiv:1312.6114), and message passing between atoms (K. Schütt
// et al., arXiv:1706.08566: filters that are functions of distance).
#pragma once
#include "tessera/autodiff/nn/attention.h"
#include "tessera/autodiff/nn/convolution.h"

#include <tuple>
#include <utility>
#include <vector>

namespace tessera::nn {

// ---- words ----

struct GptOptions {
  Index words = 1000, width = 128, heads = 4, blocks = 2;
  Index tokens = 256;  ///< at most
  double dropout = 0;
  Dtype dtype = Dtype::f64;
};
/// Words [B..., n], integers, -> logits [B..., n, words] of the word that follows each.
struct Gpt {
  Embedding words;
  PositionEmbedding positions;
  std::vector<TransformerBlock> blocks;
  LayerNorm last;
  Linear logits;  ///< without bias
  TESSERA_TREE(words, positions, blocks, last, logits)
  Tensor operator()(Arg words) const;
  Tensor train(Arg words, const Tensor& key) const;
};
/// Weights normal with deviation 0.02, those that add to the stream over sqrt(2 blocks).
Gpt gpt(const Tensor& key, const GptOptions& o = {});

// ---- fields ----

/// Twice: convolution over windows of 3, group norm, silu.
struct ConvPair {
  Conv first;
  GroupNorm first_norm;
  Conv second;
  GroupNorm second_norm;
  TESSERA_TREE(first, first_norm, second, second_norm)
  Tensor operator()(Arg x) const;
};
struct UNetOptions {
  int axes = 2;                              ///< 1 to 3
  std::vector<Index> widths = {16, 32, 64};  ///< channels of each level
  Index groups = 8;                          ///< of the norms; divides all widths
  Dtype dtype = Dtype::f64;
};
/// x [B, n_1, ..., n_d, in] -> [B, n_1, ..., n_d, out]. Between levels axes are halved by the
/// largest of two and doubled by transposed convolutions; what a level gave on the way down lies
/// before what comes up. Axes are multiples of 2^(levels - 1).
struct UNet {
  std::vector<ConvPair> down, merge;  ///< of each level; of each but the last
  std::vector<Conv> up;               ///< from the level below
  Conv last;                          ///< window 1
  TESSERA_TREE(down, merge, up, last)
  Tensor operator()(Arg x) const;
};
UNet unet(const Tensor& key, Index in, Index out, const UNetOptions& o = {});

// ---- arrays as codes ----

/// Convolution without bias, batch norm, silu.
struct NormedConv {
  Conv conv;
  BatchNorm norm;
  TESSERA_TREE(conv, norm)
};
/// What a variational autoencoder says of a sample: independent normal distributions [B, codes].
struct NormalCode {
  Tensor mean, log_variance;
  TESSERA_TREE(mean, log_variance)
  /// A draw, from one key [2] or a key for each sample [B, 2].
  Tensor sample(const Tensor& key) const;
};
struct ConvVaeOptions {
  std::vector<Index> widths = {16, 32, 64};  ///< channels of each level
  Shape lengths = {32};                      ///< of one to three axes: multiples of 2^levels
  Index codes = 16;
  Dtype dtype = Dtype::f64;
};
/// Arrays x [B, lengths...] <-> codes [B, codes]; about 52,400 weights as it stands. Encoder: at
/// each level two convolutions over windows of 3 along each axis, then the largest of each two;
/// decoder: a linear layer, then transposed convolutions over windows of 6 that double the lengths,
/// 64-32-16-1.
///
/// What batch norm has seen goes in and out by the side: `statistics` has an entry for each norm,
/// those of the encoder first. Samples of a batch depend on each other in training alone.
struct ConvVae {
  std::vector<NormedConv> encoder;  ///< two a level
  Linear mean, log_variance, grow;
  std::vector<NormedConv> decoder;  ///< all but the last
  Conv last;
  Shape lengths;
  TESSERA_TREE(encoder, mean, log_variance, grow, decoder, last)
  TESSERA_STATIC(lengths)
  using Statistics = std::vector<BatchStatistics>;
  NormalCode encode(Arg x, const Statistics& statistics) const;
  Tensor decode(Arg code, const Statistics& statistics) const;
  struct Trained {
    NormalCode code;
    Tensor y;  ///< of a sample of the code by the key
    Statistics statistics;
    TESSERA_TREE(code, y, statistics)
  };
  Trained train(Arg x, const Tensor& key, const Statistics& statistics) const;
  /// Those of these samples alone, as a validation within `fit` takes them: no state beside the
  /// weights.
  Statistics statistics_of(Arg x) const;
};
std::pair<ConvVae, ConvVae::Statistics> conv_vae(const Tensor& key, const ConvVaeOptions& o = {});

// ---- molecules ----

struct EdgeNetworkOptions {
  Index species = 10, width = 64, blocks = 3;
  Index basis = 20;     ///< Gaussians of distance
  double cutoff = 0.5;  ///< in the unit of positions
  Dtype dtype = Dtype::f64;
};
/// h_i + update(sum over j != i of filter(g_ij) f_ij * h_j w).
struct MessageBlock {
  Linear send;         ///< w, without bias
  Mlp filter, update;  ///< basis - width - width, width - width - width, with silu
  TESSERA_TREE(send, filter, update)
};
/// Energies of molecules, the same for all ways to turn, shift, mirror them or number their atoms.
/// Of each pair: r^2 = |x_j - x_i|^2, f = (1 - r^2 / cutoff^2)^3 within the cut-off and 0 beyond,
/// g_k = exp(-(s - s_k)^2 / (2 w^2)) at s = sqrt(r^2 + (cutoff / 100)^2), centres s_k from 0 to the
/// cut-off at distances w. All are functions of r^2: forces and what is differentiated of them are
/// finite where atoms meet, too.
struct EdgeNetwork {
  Embedding species;
  std::vector<MessageBlock> blocks;
  Mlp atom_energy;  ///< width - width - 1
  double cutoff = 0.5;
  Index basis = 20;
  TESSERA_TREE(species, blocks, atom_energy)
  TESSERA_STATIC(cutoff, basis)
  /// species [B..., n], integers, positions [B..., n, 3] -> energies [B...].
  Tensor operator()(Arg species, Arg positions) const;
  /// Energies, and forces [B..., n, 3]: their negative gradient.
  std::pair<Tensor, Tensor> energy_and_forces(Arg species, Arg positions) const;
};
EdgeNetwork edge_network(const Tensor& key, const EdgeNetworkOptions& o = {});

}  // namespace tessera::nn
