// SPDX-License-Identifier: Apache-2.0
//
// Training of the five networks of tests/support/five_networks.h beside PyTorch, from the weights
// and batches that it draws: losses over steps of Adam in f64, which agree to rounding and what
// steps make of it; and with --time the time of a step in f32 and f64, planned and given its
// arguments, beside PyTorch eager, with channels last, and compiled, and JAX, each with the better
// of one and two threads.
//
//   training_steps_bench [--small] [--steps N] [--only ABCDES] [--time] [--rounds N]
//
// S is a network so small that the calls count. --small: all networks in small.
#include "five_networks.h"
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/data/arrays.h"
#include "tessera/data/safetensors.h"

#include <cmath>
#include <optional>

namespace {

using namespace tessera;
using testing::Arrays;
using testing::as;
namespace fs = std::filesystem;

struct Settings {
  bool small = false, time = false;
  int steps = 100, rounds = 7;
  std::string only = "ABCDES";
  Index batch_b() const { return small ? 8 : 64; }
};

/// A peer's way to take a step: a process for each number of threads.
struct Way {
  std::string name, function;
  bench::Peer* of[2];
};

/// Weights by the names of the leaves, batches [4, ...] by theirs.
template <class N>
N weights_of(const N& like, const fs::path& file, Dtype dtype) {
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
std::vector<Arrays> batches_of(const fs::path& file, const std::vector<std::string>& names,
                               Dtype dtype) {
  std::vector<Arrays> all;
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
auto training_of(const T& task, const fs::path& folder, Dtype dtype) {
  auto net = weights_of(task.like, folder / (task.name + ".safetensors"), dtype);
  using N = decltype(net);
  const Optimizer o = adam(constant_rate(1e-3));
  auto step = jit([loss = task.loss, o](const N& n, const OptimizerState& s, const Arrays& b) {
    const auto [value, g] = value_and_grad([&](const N& m) { return loss(m, b); })(n);
    const auto [next, state] = o.update(n, g, s);
    return std::tuple(next, state, value);
  });
  return [net, state = o.init(net), step,
          all = batches_of(folder / (task.name + ".npz"), task.arrays, dtype),
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

/// Medians of a step with 1 and 2 threads, the better one.
struct Seconds {
  std::vector<double> of[2];
  const std::vector<double>& better() const {
    return bench::median(of[0]) < bench::median(of[1]) ? of[0] : of[1];
  }
  double best() const { return bench::median(better()); }
};

template <class T>
void time_steps(const T& task, const Settings& s, const fs::path& folder, Dtype dtype,
                const std::vector<Way>& all_ways) {
  const std::string kind = dtype == Dtype::f64 ? "_f64" : "_f32", name = task.name + kind;
  const int repeats = task.name == "S" ? 300 : 1;  // of steps that are shorter than the question
  std::vector<Way> ways;
  for (Way w : all_ways) {
    w.function = name + w.function;
    std::string why = w.of[0]->cannot(w.function);
    if (why.empty()) why = w.of[1]->cannot(w.function);
    if (why.empty())
      ways.push_back(w);
    else
      std::printf("# %s: %s cannot: %s\n", name.c_str(), w.name.c_str(), why.c_str());
  }
  auto step = training_of(task, folder, dtype);
  const auto steps = [&] {
    for (int k = 0; k < repeats; ++k) step();
  };
  Seconds ours;
  std::vector<Seconds> theirs(ways.size());
  for (int r = -2; r < s.rounds; ++r)
    for (int t = 0; t < 2; ++t) {
      set_num_threads(t + 1);
      const double mine = bench::seconds_of(steps) / repeats;
      if (r >= 0) ours.of[t].push_back(mine);
      for (std::size_t k = 0; k < ways.size(); ++k) {
        const double other = ways[k].of[t]->seconds(ways[k].function, repeats);
        if (r >= 0) theirs[k].of[t].push_back(other);
      }
    }
  bench::print(name + "_step_ms", 1e3 * ours.best(), "ms");
  bench::print(name + "_step_spread", bench::spread(ours.better()), "1");
  double best = INFINITY;
  for (std::size_t k = 0; k < ways.size(); ++k) {
    bench::print(name + "_" + ways[k].name + "_step_ms", 1e3 * theirs[k].best(), "ms");
    best = std::min(best, theirs[k].best());
  }
  if (!ways.empty()) bench::print(name + "_step_ratio", best / ours.best(), "x");
}

template <class T>
void run(const T& task, const Settings& s, const fs::path& folder, bench::Peer& torch,
         bench::Peer* jax, const std::vector<Way>& ways) {
  if (s.only.find(task.name) == std::string::npos) return;
  auto train = training_of(task, folder, Dtype::f64);
  std::vector<double> losses;
  for (int k = 0; k < s.steps; ++k) losses.push_back(train());
  for (bench::Peer* peer : {&torch, jax}) {
    if (!peer || !peer->there()) continue;
    peer->seconds(task.name + "_losses");
    const std::vector<double> theirs = peer->result(task.name + "_losses").at(0).to_vector();
    std::printf("# %s: loss %.6g to %.6g, that of %s to %.6g\n", task.name.c_str(), losses.front(),
                losses.back(), peer->library().c_str(), theirs.back());
    bench::print(task.name + (peer == jax ? "_jax" : "") + "_loss_difference",
                 difference(losses, theirs), "1");
  }
  if (!s.time) return;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) time_steps(task, s, folder, dtype, ways);
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
  std::map<std::string, Tensor> arrays = {
      {"setting", tensor({s.small ? 1.0 : 0.0, double(s.steps)})},
      {"noise", normal(testing::code_noise_key(), {s.batch_b(), 16})}};
  bench::Peer torch("training_steps_peer.py", "torch", arrays, s.time ? 1 : 2);
  if (!torch.there()) return 0;
  const fs::path& folder = torch.folder();
  std::optional<bench::Peer> torch2, jax, jax2;
  std::vector<Way> ways;
  if (s.time) {
    torch2.emplace("training_steps_peer.py", "torch", arrays, 2);
    testing::each_task(s.small, [&](const auto& task) {
      if (s.only.find(task.name) == std::string::npos) return;
      for (const data::NamedTensor& t :
           data::read_safetensors(folder / (task.name + ".safetensors")).tensors)
        arrays[task.name + "." + t.name] = t.values;
      for (const std::string& a : task.arrays)
        arrays[task.name + ".batch." + a] = data::read_array(folder / (task.name + ".npz"), a);
    });
    jax.emplace("training_steps_jax.py", "jax", arrays, 1);
    jax2.emplace("training_steps_jax.py", "jax", arrays, 2);
    for (const char* how : {"eager", "channels_last", "compiled"})
      ways.push_back({std::string("torch_") + how, std::string("_") + how, {&torch, &*torch2}});
    if (jax->there() && jax2->there()) ways.push_back({"jax", "", {&*jax, &*jax2}});
  }
  testing::each_task(
      s.small, [&](const auto& task) { run(task, s, folder, torch, jax ? &*jax : nullptr, ways); });
  return 0;
}
