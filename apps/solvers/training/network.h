// SPDX-License-Identifier: Apache-2.0
// What learns: layers of ours, or a network that another program wrote.
#pragma once
#include "tessera/autodiff/nn/sequential.h"
#include "tessera/data/config.h"
#include "tessera/data/onnx.h"

#include <filesystem>
#include <variant>

namespace tessera::apps::training {

struct Network {
  std::variant<nn::Sequential, data::OnnxNetwork> is;

  Tensor operator()(Arg x) const;
  /// With what is done in training alone, of which ONNX files have nothing; and the network whose
  /// batch norms have seen x.
  std::pair<Tensor, Network> seeing(Arg x, const Tensor& keys) const;
  bool has_running_norms() const;
};

/// network.from, for samples, targets and a type like these. Throws data::InputError E0671 at the
/// key where it does not fit, or as data::read_onnx.
Network onnx_network(const std::filesystem::path& file, const Shape& sample, const Shape& target,
                     Dtype dtype, const data::Config& config);

}  // namespace tessera::apps::training

template <>
struct tessera::Tree<tessera::apps::training::Network> {
  using Is = Tree<std::variant<nn::Sequential, data::OnnxNetwork>>;
  template <class T, class F>
  static void visit(T& t, F&& f) {
    Is::visit(t.is, f);
  }
  static void describe(const apps::training::Network& t, TreeStructure& s) {
    Is::describe(t.is, s);
  }
  static void name(const apps::training::Network& t, const std::string& path, LeafNames& names) {
    Is::name(t.is, path, names);
  }
};
