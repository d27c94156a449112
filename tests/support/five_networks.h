// SPDX-License-Identifier: Apache-2.0
//
// The networks that trainings are tested and timed on, each with its loss and what its batches are.
// A: MLP 784-512-512-10, batch 128. B: VAE of columns, batch 64. C: U-Net 16-32-64 on 4 fields of
// 128^2. D: 2 transformer blocks of 512, 8 heads, 4 texts of 256 tokens, 1000 words. E: message
// passing, 3 blocks of 64, 32 molecules of 21 atoms, energies and forces. S: MLP 3-32-32-1, batch
// 32. Or the same networks in small.
#pragma once
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::testing {

using Arrays = std::vector<Tensor>;

/// A network whose loss is a function of it and of a batch.
template <class N, class L>
struct Task {
  std::string name;
  N like;  ///< f64
  L loss;
  Index batch;
  std::vector<std::string> arrays;                           ///< names of those of a batch
  std::function<Arrays(const Tensor& key, Index n)> sample;  ///< n samples, f64 and i64
};
template <class N, class L>
Task(std::string, N, L, Index, std::vector<std::string>,
     std::function<Arrays(const Tensor&, Index)>) -> Task<N, L>;

inline Tensor as(const Tensor& t, Dtype dtype) { return is_float(t.dtype()) ? cast(t, dtype) : t; }
inline Arrays as(Arrays all, Dtype dtype) {
  for (Tensor& t : all) t = as(t, dtype);
  return all;
}
template <class N>
N in_precision(const N& network, Dtype dtype) {
  return unflatten_tree(network, as(flatten_tree(network), dtype));
}

/// Integers in [0, below).
inline Tensor integers(const Tensor& key, const Shape& shape, Index below) {
  return cast(floor(uniform(key, shape) * static_cast<double>(below)), Dtype::i64);
}

/// The noise of B's codes is one for all batches: that of this key.
inline Tensor code_noise_key() { return random_key(7); }

/// f(task) of each of A to E, and of S.
template <class F>
void each_task(bool small, const F& f) {
  const Tensor key = random_key(1);
  const auto part = [](const Tensor& key, Index k) { return select(split_key(key, 4), 0, k); };

  const std::vector<Index> widths =
      small ? std::vector<Index>{20, 16, 16, 5} : std::vector<Index>{784, 512, 512, 10};
  f(Task{"A",
         nn::mlp(key, widths),
         [](const nn::Mlp& m, const Arrays& b) { return nn::cross_entropy(m(b[0]), b[1]); },
         small ? 8 : 128,
         {"x", "y"},
         [=](const Tensor& k, Index n) {
           return Arrays{normal(part(k, 0), {n, widths.front()}),
                         integers(part(k, 1), {n}, widths.back())};
         }});

  const auto [vae, statistics] = nn::conv_vae(key);
  f(Task{"B",
         vae,
         [statistics = statistics](const nn::ConvVae& v, const Arrays& b) {
           nn::ConvVae::Statistics fitting;
           for (const auto& t : statistics)
             fitting.push_back({as(t.mean, b[0].dtype()), as(t.variance, b[0].dtype())});
           const auto out = v.train(b[0], code_noise_key(), fitting);
           return nn::mean_square(out.y, b[1]) +
                  0.01 * nn::kl_normal(out.code.mean, out.code.log_variance);
         },
         small ? 8 : 64,
         {"x", "y"},
         [=](const Tensor& k, Index n) {
           const Tensor x = cumsum(normal(k, {n, 32}), 1);
           return Arrays{x, x};
         }});

  const Index size = small ? 16 : 128;
  f(Task{"C",
         nn::unet(key, 1, 1,
                  small ? nn::UNetOptions{.widths = {4, 8, 16}, .groups = 4} : nn::UNetOptions{}),
         [](const nn::UNet& u, const Arrays& b) {
           return nn::mean_square(squeeze(u(expand_dims(b[0], -1)), -1), b[1]);
         },
         small ? 2 : 4,
         {"x", "y"},
         [=](const Tensor& k, Index n) {
           const Tensor x = normal(k, {n, size, size});
           return Arrays{x, tanh(cumsum(x, 2))};
         }});

  const nn::GptOptions words =
      small ? nn::GptOptions{.words = 11, .width = 16, .heads = 2, .tokens = 8}
            : nn::GptOptions{.width = 512, .heads = 8};
  f(Task{"D",
         nn::gpt(key, words),
         [](const nn::Gpt& g, const Arrays& b) { return nn::cross_entropy(g(b[0]), b[1]); },
         small ? 2 : 4,
         {"x", "y"},
         [=](const Tensor& k, Index n) {
           const Tensor text = integers(k, {n, words.tokens + 1}, words.words);
           return Arrays{slice(text, 1, 0, words.tokens), slice(text, 1, 1, words.tokens + 1)};
         }});

  const Index atoms = small ? 5 : 21;
  f(Task{"E",
         nn::edge_network(
             key, small ? nn::EdgeNetworkOptions{.species = 5, .width = 8, .basis = 6, .cutoff = 2}
                        : nn::EdgeNetworkOptions{.species = 5, .cutoff = 2}),
         [](const nn::EdgeNetwork& n, const Arrays& b) {
           const auto [e, forces] = n.energy_and_forces(b[0], b[1]);
           return nn::mean_square(e, b[2]) + nn::mean_square(forces, b[3]);
         },
         small ? 4 : 32,
         {"species", "positions", "energies", "forces"},
         [=](const Tensor& k, Index n) {
           return Arrays{integers(part(k, 0), {n, atoms}, 5), normal(part(k, 1), {n, atoms, 3}),
                         normal(part(k, 2), {n}), normal(part(k, 3), {n, atoms, 3})};
         }});

  f(Task{"S",
         nn::mlp(key, {3, 32, 32, 1}),
         [](const nn::Mlp& m, const Arrays& b) { return nn::mean_square(m(b[0]), b[1]); },
         32,
         {"x", "y"},
         [=](const Tensor& k, Index n) {
           const Tensor x = normal(k, {n, 3});
           return Arrays{x, sum(square(x), {1}, true)};
         }});
}

}  // namespace tessera::testing
