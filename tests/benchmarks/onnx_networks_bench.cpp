// SPDX-License-Identifier: Apache-2.0
//
// Networks between programs: four of ours as ONNX files, each with what we make of inputs at two
// sizes of the batch, f32; files of others, with what we make of their inputs; and ONNX's own tests
// of single operators.
//
//   onnx_networks_bench out FOLDER                A.onnx, A.npz, ... D.onnx, D.npz
//   onnx_networks_bench in MODEL.onnx IO.npz      difference from its y; loss before, after
//   training onnx_networks_bench nodes FOLDER              test by test: passed, refused, failed
#include "onnx_operator_tests.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/data/arrays.h"
#include "tessera/data/onnx.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>

namespace {

using namespace tessera;
namespace fs = std::filesystem;

/// The network as a file, and in an archive x0, y0.0, y0.1, ... and x1, y1.0, ...
template <class N, class F>
void write(const fs::path& folder, const std::string& name, const N& net, const F& f,
           const std::vector<Tensor>& inputs) {
  const data::OnnxWritten w =
      data::write_onnx(folder / (name + ".onnx"),
                       [&](const N& n, const std::vector<Tensor>& x) { return f(n, x[0]); }, net,
                       {.inputs = {{"x", inputs[0].type()}}});
  std::printf("%s_any_batch %d %s\n", name.c_str(), w.any_batch, w.why_not.c_str());
  std::vector<data::NamedTensor> all;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    all.push_back({"x" + std::to_string(k), inputs[k]});
    const std::vector<Tensor> out =
        flatten_tree(jit([&](const N& n, const Tensor& x) { return f(n, x); })(net, inputs[k]));
    for (std::size_t j = 0; j < out.size(); ++j)
      all.push_back({"y" + std::to_string(k) + "." + std::to_string(j), out[j]});
  }
  data::write_npz(folder / (name + ".npz"), all);
}

void write_networks(const fs::path& folder) {
  const Tensor key = random_key(3);
  const auto draw = [&](const Shape& s) { return normal(key, s, Dtype::f32); };
  nn::MlpOptions mlp;
  mlp.linear.dtype = Dtype::f32;
  write(folder, "A", nn::mlp(key, {784, 512, 512, 10}, mlp),
        [](const nn::Mlp& m, const Tensor& x) { return m(x); }, {draw({128, 784}), draw({3, 784})});
  auto [vae, statistics] = nn::conv_vae(key, {.dtype = Dtype::f32});
  for (std::size_t k = 0; k < statistics.size(); ++k) {  // as if it had seen something
    statistics[k].mean = 0.1 * draw(statistics[k].mean.shape());
    statistics[k].variance = 1 + square(statistics[k].mean);
  }
  using Vae = std::pair<nn::ConvVae, nn::ConvVae::Statistics>;
  write(folder, "B", Vae{vae, statistics},
        [](const Vae& v, const Tensor& x) {
          const nn::NormalCode code = v.first.encode(x, v.second);
          return std::vector<Tensor>{v.first.decode(code.mean, v.second), code.mean,
                                     code.log_variance};
        },
        {draw({64, 32}), draw({5, 32})});
  write(folder, "C", nn::unet(key, 1, 1, {.dtype = Dtype::f32}),
        [](const nn::UNet& u, const Tensor& x) { return u(x); },
        {draw({4, 128, 128, 1}), draw({2, 128, 128, 1})});
  const auto words = [&](Index b) {
    return cast(uniform(key, {b, 256}, Dtype::f64) * 1000, Dtype::i64);
  };
  write(folder, "D",
        nn::gpt(key, {.words = 1000, .width = 512, .heads = 8, .blocks = 2, .dtype = Dtype::f32}),
        [](const nn::Gpt& g, const Tensor& x) { return g(x); }, {words(4), words(1)});
}

// ---- in ----

std::vector<Tensor> arrays_of(const fs::path& archive, const std::string& prefix) {
  std::vector<Tensor> all;
  for (const data::NamedTensor& t : data::read_npz(archive))
    if (t.name.starts_with(prefix)) all.push_back(t.values);
  return all;
}
double difference(const Tensor& ours, const Tensor& theirs) {
  const Tensor a = cast(ours, Dtype::f64), b = cast(theirs, Dtype::f64);
  if (a.shape() != b.shape()) return HUGE_VAL;
  if (a.size() == 0) return 0;
  return max(abs(a - b)).item() / std::max(max(abs(b)).item(), 1e-30);
}
/// What we make of its inputs beside y0, y1, ...; and a few steps of Adam towards other results,
/// with the same network planned.
void read_network(const fs::path& model, const fs::path& archive) {
  const data::OnnxNetwork net = data::read_onnx(model);
  const std::vector<Tensor> x = arrays_of(archive, "x"), y = arrays_of(archive, "y");
  const std::vector<Tensor> ours = net(x);
  double worst = 0;
  for (std::size_t k = 0; k < y.size(); ++k) worst = std::max(worst, difference(ours.at(k), y[k]));
  const Tensor wanted = y[0] + 0.1 * normal(random_key(1), y[0].shape(), y[0].dtype());
  const auto step =
      jit(value_and_grad([](const data::OnnxNetwork& n, const std::vector<Tensor>& x,
                            const Tensor& wanted) { return mean(square(n(x)[0] - wanted)); }));
  data::OnnxNetwork moving = net;
  const Optimizer optimizer = adam(constant_rate(1e-3));
  OptimizerState state = optimizer.init(moving);
  double first = 0, last = 0;
  for (int k = 0; k < 30; ++k) {
    const auto [loss, g] = step(moving, x, wanted);
    (k ? last : first) = loss.item();
    std::tie(moving, state) = optimizer.update(moving, g, state);
  }
  std::printf("weights %zu tensors\ndifference %.3e 1\nfirst_loss %.4e 1\nlast_loss %.4e 1\n",
              net.weights.size(), worst, first, last);
}

// ---- ONNX's tests of operators ----

void run_nodes(const fs::path& folder) {
  std::map<std::string, int> counts;
  for (const fs::directory_entry& test : fs::directory_iterator(folder)) {
    const std::string what = testing::outcome_of_onnx_test(test.path());
    ++counts[what.substr(0, what.find(':'))];
    std::printf("%s %s\n", test.path().filename().c_str(), what.c_str());
  }
  for (const auto& [what, n] : counts) std::printf("%s %d\n", what.c_str(), n);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "out") {
    write_networks(words[1]);
    return 0;
  }
  if (words.size() == 3 && words[0] == "in") {
    read_network(words[1], words[2]);
    return 0;
  }
  if (words.size() == 2 && words[0] == "nodes") {
    run_nodes(words[1]);
    return 0;
  }
  std::cerr << "usage: onnx_networks_bench out FOLDER | in MODEL.onnx IO.npz | nodes FOLDER\n";
  return 2;
}
