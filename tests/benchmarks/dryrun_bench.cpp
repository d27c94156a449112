// SPDX-License-Identifier: Apache-2.0
//
// What `dryrun` says of a step of training (loss, gradients, Adam; arguments given away, f32)
// beside the highest mark of memory of a process that takes three of them, less what the process
// had before: the five networks of training_steps_bench, as large as takes 300 MiB and more. And
// how long it takes to price a U-Net on 4 fields of 30000^2, what that allocates, and the time of a
// step beside the roofline's.
//
//   dryrun_bench [--only ABCDE]
#include "measure.h"
#include "tessera/autodiff/dryrun.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

using namespace tessera;
using benchmarks::print_figure;

namespace {

using Batch = std::vector<Tensor>;

/// A line of /proc/self/status in bytes.
double status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (double kib = 0; word == key + ":" && file >> kib) return 1024 * kib;
  return 0;
}

template <class N>
N as_f32(const N& net) {
  std::vector<Tensor> leaves;
  for (const Tensor& t : flatten_tree(net))
    leaves.push_back(is_float(t.dtype()) ? cast(t, Dtype::f32) : t);
  return unflatten_tree(net, leaves);
}

/// Three steps, and what they took at most. A process measures one network.
template <class N, class L>
void measure(const std::string& name, const std::function<N()>& make, const L& loss,
             const std::function<Batch()>& batch_of) {
  set_num_threads(2);
  machine_rates();
  release_cached_memory();
  const double idle = status("VmRSS");
  std::ofstream("/proc/self/clear_refs") << 5;  // the mark begins anew
  N net = as_f32(make());
  const Batch batch = batch_of();
  const Optimizer o = adam(constant_rate(1e-4));
  OptimizerState state = o.init(net);
  release_cached_memory();
  const auto step = [&](const N& n, const OptimizerState& s, const Batch& b) {
    const auto [value, g] = value_and_grad([&](const N& m) { return loss(m, b); })(n);
    const auto [next, now] = o.update(n, g, s);
    return std::tuple(next, now, value);
  };
  const DryRun d =
      dryrun(step, given("weights", net), given("moments", state), named("batch", batch));
  std::ofstream("/proc/self/clear_refs") << 5;
  const auto planned = jit(step);
  Tensor value;
  double seconds = 0;
  for (int k = 0; k < 3; ++k)
    seconds = benchmarks::seconds_of(
        [&] { std::tie(net, state, value) = planned(std::move(net), std::move(state), batch); });
  const double mark = status("VmHWM") - idle;
  std::printf("# %s\n%s", name.c_str(), to_string(d).c_str());
  print_figure(name + "_memory", mark / (1 << 20), "MiB");
  print_figure(name + "_dryrun_memory_ratio", d.peak / mark, "1");
  print_figure(name + "_dryrun_time_ratio", d.seconds / seconds, "1");
  if (!std::isfinite(value.item())) std::exit(1);
}

void price_large_unet() {
  machine_rates();
  const nn::UNet net = as_f32(nn::unet(random_key(1), 1, 1, {}));
  const Optimizer o = adam(constant_rate(1e-4));
  const OptimizerState state = o.init(net);
  const Tensor field = stand_in({Dtype::f32, {4, 30000, 30000}});
  const auto step = [&](const nn::UNet& n, const OptimizerState& s, const Tensor& x,
                        const Tensor& y) {
    const auto [value, g] = value_and_grad([&](const nn::UNet& m) {
      return nn::mean_square(squeeze(m(expand_dims(x, -1)), -1), y);
    })(n);
    const auto [next, now] = o.update(n, g, s);
    return std::tuple(next, now, value);
  };
  reset_peak_memory();
  const std::size_t before = memory_stats().peak;
  DryRun d;
  const double seconds = benchmarks::seconds_of([&] {
    d = dryrun(step, given("weights", net), given("moments", state), named("inputs", field),
               named("targets", field));
  });
  std::printf("# U-Net on 4 fields of 30000^2\n%s", to_string(d).c_str());
  print_figure("large_unet_seconds", seconds, "s");
  print_figure("large_unet_allocated", double(memory_stats().peak - before) / 1024, "KiB");
  print_figure("large_unet_memory", d.peak / std::pow(1024.0, 4), "TiB");
}

}  // namespace

int main(int argc, char** argv) {
  std::string only;
  if (argc == 3 && std::string(argv[1]) == "--only") only = argv[2];
  if (only.size() != 1) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    for (const char name : only.empty() ? std::string("ABCDE") : only) {
      std::fflush(stdout);
      if (std::system(("'" + self + "' --only " + name).c_str()) != 0)
        std::printf("# %c did not end well\n", name);
    }
    price_large_unet();
    return 0;
  }
  const Tensor key = random_key(1);
  const auto wanted = [&](const char* name) { return only.find(name) != std::string::npos; };
  const auto field = [](const Shape& s) { return normal(random_key(2), s, Dtype::f32); };
  const auto numbers = [](const Shape& s, Index below) {
    return cast(floor(uniform(random_key(3), s) * double(below)), Dtype::i64);
  };
  if (wanted("A"))
    measure<nn::Mlp>(
        "A",
        [&] {
          return nn::mlp(key, {784, 4096, 4096, 10});
        },
        [](const nn::Mlp& m, const Batch& b) { return nn::cross_entropy(m(b[0]), b[1]); },
        [&] {
          return Batch{field({1024, 784}), numbers({1024}, 10)};
        });
  if (wanted("B")) {
    const auto fitting = nn::conv_vae(key).second;
    measure<nn::ConvVae>(
        "B", [&] { return nn::conv_vae(key).first; },
        [fitting](const nn::ConvVae& v, const Batch& b) {
          nn::ConvVae::Statistics s;
          for (const auto& t : fitting)
            s.push_back({cast(t.mean, Dtype::f32), cast(t.variance, Dtype::f32)});
          const auto out = v.train(b[0], random_key(7), s);
          return nn::mean_square(out.y, b[1]) +
                 0.01 * nn::kl_normal(out.code.mean, out.code.log_variance);
        },
        [&] {
          return Batch{field({16384, 32}), field({16384, 32})};
        });
  }
  if (wanted("C"))
    measure<nn::UNet>(
        "C", [&] { return nn::unet(key, 1, 1, {}); },
        [](const nn::UNet& u, const Batch& b) {
          return nn::mean_square(squeeze(u(expand_dims(b[0], -1)), -1), b[1]);
        },
        [&] {
          return Batch{field({4, 384, 384}), field({4, 384, 384})};
        });
  if (wanted("D"))
    measure<nn::Gpt>(
        "D", [&] { return nn::gpt(key, {.width = 512, .heads = 8}); },
        [](const nn::Gpt& g, const Batch& b) { return nn::cross_entropy(g(b[0]), b[1]); },
        [&] {
          return Batch{numbers({16, 256}, 1000), numbers({16, 256}, 1000)};
        });
  if (wanted("E"))
    measure<nn::EdgeNetwork>(
        "E", [&] { return nn::edge_network(key, {.species = 5, .cutoff = 2}); },
        [](const nn::EdgeNetwork& n, const Batch& b) {
          const auto [e, f] = n.energy_and_forces(b[0], b[1]);
          return nn::mean_square(e, b[2]) + nn::mean_square(f, b[3]);
        },
        [&] {
          return Batch{numbers({192, 21}, 5), field({192, 21, 3}), field({192}),
                       field({192, 21, 3})};
        });
  return 0;
}
