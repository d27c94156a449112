// SPDX-License-Identifier: Apache-2.0
//
// Networks between programs: four of ours as ONNX files, each with what we make of inputs at two
// sizes of the batch, f32; files of others, with what we make of their inputs; and ONNX's own tests
// of single operators.
//
//   onnx_networks_bench out FOLDER                A.onnx, A.npz, ... D.onnx, D.npz
//   onnx_networks_bench in MODEL.onnx IO.npz      difference from its y; loss before, after training
//   onnx_networks_bench nodes FOLDER              test by test: passed, refused, failed
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"
#include "tessera/data/onnx.h"

#include <cstdio>
#include <filesystem>
#include <iostream>

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
    const std::vector<Tensor> out = flatten_tree(jit([&](const N& n, const Tensor& x) {
      return f(n, x);
    })(net, inputs[k]));
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

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "out") {
    write_networks(words[1]);
    return 0;
  }
  std::cerr << "usage: onnx_networks_bench out FOLDER | in MODEL.onnx IO.npz | nodes FOLDER\n";
  return 2;
}
