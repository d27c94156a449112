// SPDX-License-Identifier: Apache-2.0
// What stands around the pieces on ONNX files of docs/how-to/networks.md.
#include <tessera/autodiff/grad.h>
#include <tessera/autodiff/nn.h>
#include <tessera/autodiff/ops.h>
#include <tessera/data/onnx.h>

#include <filesystem>
#include <iostream>

using namespace tessera;

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "tessera_onnx_parts";
  std::filesystem::create_directories(folder);
  const auto file = folder / "network.onnx";
  const nn::Mlp net = nn::mlp(random_key(1), {2, 32, 1});
  const Tensor x = uniform(random_key(2), {100, 2}), y = sum(x, {1}, true);

  // For other programs: a function of parameters and inputs, any number of samples at a time.
  const auto answer = [](const nn::Mlp& m, const std::vector<Tensor>& in) { return m(in[0]); };
  const data::OnnxWritten written = data::write_onnx(
      file, answer, net, {.inputs = {{"x", {Dtype::f64, {1, 2}}}}, .outputs = {"y"}});
  std::cout << (written.any_batch ? "any batch" : written.why_not) << "\n";

  // From them: a tree of weights, and their function.
  const data::OnnxNetwork read = data::read_onnx(file);
  const auto loss = [&](const data::OnnxNetwork& n) { return nn::mean_square(n({x})[0], y); };
  const auto [l, gradient] = value_and_grad(loss)(read);
  std::cout << gradient.weights[0].name << ": " << norm(gradient.weights[0].values).item() << "\n";

  const bool same = max(abs(read({x})[0] - net(x))).item() < 1e-12;
  std::filesystem::remove_all(folder);
  return same && written.any_batch ? 0 : 1;
}
