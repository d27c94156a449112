// SPDX-License-Identifier: Apache-2.0
//
// Training of five networks beside PyTorch, from the weights and batches that it draws: losses over
// steps of Adam in f64, which agree to rounding and what steps make of it; and with --time the time
// of a step in f32 and f64, planned and given its arguments, beside PyTorch eager, each with the
// better of one and two threads.
//
//   training_steps_bench [--small] [--steps N] [--only ABCDE] [--time] [--rounds N]
//
// A: MLP 784-512-512-10, batch 128. B: VAE of columns, batch 64. C: U-Net 16-32-64 on 4 fields of
// 128^2. D: 2 transformer blocks of 512, 8 heads, 4 texts of 256 tokens, 1000 words. E: message
// passing, 3 blocks of 64, 32 molecules of 21 atoms, energies and forces. --small: the same
// networks in small.
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/data/arrays.h"
#include "tessera/data/safetensors.h"

#include <cmath>
#include <optional>

namespace {

using namespace tessera;
using Batch = std::vector<Tensor>;

struct Settings {
  bool small = false, time = false;
  int steps = 100, rounds = 7;
  std::string only = "ABCDE";
  Index batch_b() const { return small ? 8 : 64; }
};

/// A network whose loss is a function of it and of a batch.
template <class N, class L>
struct Task {
  std::string name;
  N like;
  L loss;
  std::vector<std::string> batch;  ///< names of its arrays
};
template <class N, class L>
Task(std::string, N, L, std::vector<std::string>) -> Task<N, L>;

Tensor as(const Tensor& t, Dtype dtype) { return is_float(t.dtype()) ? cast(t, dtype) : t; }

/// Weights by the names of the leaves, batches [4, ...] by theirs.
template <class N>
N weights_of(const N& like, const std::filesystem::path& file, Dtype dtype) {
  std::vector<Tensor> leaves;
  const LeafNames names = leaf_names(like);
  const data::Safetensors found = data::read_safetensors(file, names);
  const std::vector<Tensor> old = flatten_tree(like);
  for (std::size_t k = 0; k < names.size(); ++k)
    for (const data::NamedTensor& t : found.tensors)
      if (t.name == names[k]) {
        if (t.values.shape() != old[k].shape())
          throw Error(names[k] + " is " + to_string(t.values.type()) + ", not " +
                      to_string(old[k].type()));
        leaves.push_back(as(t.values, dtype));
      }
  return unflatten_tree(like, leaves);
}
std::vector<Batch> batches_of(const std::filesystem::path& file,
                              const std::vector<std::string>& names, Dtype dtype) {
  std::vector<Batch> all;
  for (const std::string& name : names) {
    const Tensor t = as(data::read_array(file, name), dtype);
    all.resize(static_cast<std::size_t>(t.dim(0)));
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k].push_back(contiguous(select(t, 0, static_cast<Index>(k))));
  }
  return all;
}

/// Steps of Adam over the batches in turn.
template <class T>
auto training_of(const T& task, const std::filesystem::path& folder, Dtype dtype) {
  auto net = weights_of(task.like, folder / (task.name + ".safetensors"), dtype);
  using N = decltype(net);
  const Optimizer o = adam(constant_rate(1e-3));
  auto step = jit([loss = task.loss, o](const N& n, const OptimizerState& s, const Batch& b) {
    const auto [value, g] = value_and_grad([&](const N& m) { return loss(m, b); })(n);
    const auto [next, state] = o.update(n, g, s);
    return std::tuple(next, state, value);
  });
  return [net, state = o.init(net), step,
          all = batches_of(folder / (task.name + ".npz"), task.batch, dtype),
          count = std::size_t(0)]() mutable {
    Tensor value;
    std::tie(net, state, value) = step(std::move(net), std::move(state), all[count++ % all.size()]);
    return value.item();
  };
}

/// Largest difference of two losses, relative to the peer's.
double difference(const std::vector<double>& ours, const std::vector<double>& theirs) {
  double worst = 0;
  for (std::size_t k = 0; k < ours.size(); ++k)
    worst = std::max(worst, std::abs(ours[k] - theirs.at(k)) / std::abs(theirs.at(k)));
  return worst;
}

template <class T>
void run(const T& task, const Settings& s, const std::filesystem::path& folder, bench::Peer& one,
         bench::Peer* two) {
  if (s.only.find(task.name) == std::string::npos) return;
  auto train = training_of(task, folder, Dtype::f64);
  std::vector<double> losses;
  for (int k = 0; k < s.steps; ++k) losses.push_back(train());
  one.seconds(task.name + "_losses");
  const std::vector<double> theirs = one.result(task.name + "_losses").at(0).to_vector();
  std::printf("# %s: loss %.6g to %.6g, PyTorch's to %.6g\n", task.name.c_str(), losses.front(),
              losses.back(), theirs.back());
  bench::print(task.name + "_loss_difference", difference(losses, theirs), "1");
  if (!s.time) return;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
    const std::string name = task.name + (dtype == Dtype::f64 ? "_f64" : "_f32");
    auto step = training_of(task, folder, dtype);
    std::vector<double> ours[2], peers[2];
    for (int r = -2; r < s.rounds; ++r)
      for (int threads = 1; threads <= 2; ++threads) {
        set_num_threads(threads);
        const double mine = bench::seconds_of(step);
        const double other = (threads == 1 ? one : *two).seconds(name);
        if (r < 0) continue;
        ours[threads - 1].push_back(mine), peers[threads - 1].push_back(other);
      }
    const double mine = std::min(bench::median(ours[0]), bench::median(ours[1]));
    const double other = std::min(bench::median(peers[0]), bench::median(peers[1]));
    bench::print(name + "_step_ms", 1e3 * mine, "ms");
    bench::print(name + "_torch_step_ms", 1e3 * other, "ms");
    bench::print(name + "_step_spread",
                 bench::spread(bench::median(ours[0]) == mine ? ours[0] : ours[1]), "1");
    bench::print(name + "_step_ratio", other / mine, "x");
  }
}

Settings settings_of(int argc, char** argv) {
  Settings s;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    const auto value = [&] { return std::string(k + 1 < argc ? argv[++k] : ""); };
    if (a == "--small")
      s.small = true;
    else if (a == "--time")
      s.time = true;
    else if (a == "--steps")
      s.steps = std::max(1, std::atoi(value().c_str()));
    else if (a == "--rounds")
      s.rounds = std::max(1, std::atoi(value().c_str()));
    else if (a == "--only")
      s.only = value();
    else
      std::printf("# not known: %s\n", a.c_str());
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings s = settings_of(argc, argv);
  set_num_threads(2);
  bench::print_machine();
  const Tensor key = random_key(1), noise_key = random_key(7);
  const std::map<std::string, Tensor> arrays = {
      {"setting", tensor({s.small ? 1.0 : 0.0, double(s.steps)})},
      {"noise", normal(noise_key, {s.batch_b(), 16})}};
  bench::Peer one("training_steps_peer.py", "torch", arrays, s.time ? 1 : 2);
  if (!one.there()) return 0;
  std::optional<bench::Peer> two;
  if (s.time) two.emplace("training_steps_peer.py", "torch", arrays, 2);
  const auto go = [&](const auto& task) { run(task, s, one.folder(), one, two ? &*two : nullptr); };

  const std::vector<Index> widths =
      s.small ? std::vector<Index>{20, 16, 16, 5} : std::vector<Index>{784, 512, 512, 10};
  go(Task{"A",
          nn::mlp(key, widths),
          [](const nn::Mlp& m, const Batch& b) { return nn::cross_entropy(m(b[0]), b[1]); },
          {"x", "y"}});
  const auto [vae, statistics] = nn::conv_vae(key);
  go(Task{"B",
          vae,
          [noise_key, statistics = statistics](const nn::ConvVae& v, const Batch& b) {
            nn::ConvVae::Statistics fitting;
            for (const auto& t : statistics)
              fitting.push_back({as(t.mean, b[0].dtype()), as(t.variance, b[0].dtype())});
            const auto out = v.train(b[0], noise_key, fitting);
            return nn::mean_square(out.y, b[1]) +
                   0.01 * nn::kl_normal(out.code.mean, out.code.log_variance);
          },
          {"x", "y"}});
  const nn::UNetOptions levels =
      s.small ? nn::UNetOptions{.widths = {4, 8, 16}, .groups = 4} : nn::UNetOptions{};
  go(Task{"C",
          nn::unet(key, 1, 1, levels),
          [](const nn::UNet& u, const Batch& b) {
            return nn::mean_square(squeeze(u(expand_dims(b[0], -1)), -1), b[1]);
          },
          {"x", "y"}});
  const nn::GptOptions words =
      s.small ? nn::GptOptions{.words = 11, .width = 16, .heads = 2, .tokens = 8}
              : nn::GptOptions{.width = 512, .heads = 8};
  go(Task{"D",
          nn::gpt(key, words),
          [](const nn::Gpt& g, const Batch& b) { return nn::cross_entropy(g(b[0]), b[1]); },
          {"x", "y"}});
  const nn::EdgeNetworkOptions atoms =
      s.small ? nn::EdgeNetworkOptions{.species = 5, .width = 8, .basis = 6, .cutoff = 2}
              : nn::EdgeNetworkOptions{.species = 5, .cutoff = 2};
  go(Task{"E",
          nn::edge_network(key, atoms),
          [](const nn::EdgeNetwork& n, const Batch& b) {
            const auto [e, f] = n.energy_and_forces(b[0], b[1]);
            return nn::mean_square(e, b[2]) + nn::mean_square(f, b[3]);
          },
          {"species", "positions", "energies", "forces"}});
  return 0;
}
