// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/network.h"

#include "tessera/autodiff/ops.h"
#include "tessera/data/diagnostic.h"

#include <algorithm>

namespace tessera::apps::training {
namespace {

/// A file may be made for batches of one size alone: so many samples at a time, the last ones again
/// where they are too few.
Tensor in_its_batches(const data::OnnxNetwork& net, const Tensor& x) {
  const data::OnnxNetwork::Input& in = net.inputs()[0];
  const Tensor typed = cast(x, in.dtype);
  const Index n = in.any_shape || in.shape.empty() ? -1 : in.shape[0], all = x.dim(0);
  if (n < 1 || n == all) return net({typed})[0];
  if (all == 0) {
    Shape s = typed.shape();
    s[0] = n;
    return slice(net({zeros(s, in.dtype)})[0], 0, 0, 0);
  }
  std::vector<Tensor> parts;
  for (Index begin = 0; begin < all; begin += n) {
    std::vector<std::int64_t> rows;
    for (Index k = 0; k < n; ++k) rows.push_back(std::min(begin + k, all - 1));
    parts.push_back(net({take(typed, tensor(rows))})[0]);
  }
  return slice(concatenate(parts, 0), 0, 0, all);
}

}  // namespace

Tensor Network::operator()(Arg x) const {
  if (const auto* layers = std::get_if<nn::Sequential>(&is)) return (*layers)(x);
  return in_its_batches(std::get<data::OnnxNetwork>(is), *x.tensor);
}
std::pair<Tensor, Network> Network::seeing(Arg x, const Tensor& keys) const {
  const auto* layers = std::get_if<nn::Sequential>(&is);
  if (!layers) return {(*this)(x), *this};
  auto [y, seen] = layers->seeing(x, keys);
  return {std::move(y), {std::move(seen)}};
}

bool Network::has_running_norms() const {
  const auto* layers = std::get_if<nn::Sequential>(&is);
  return layers && layers->has_running_norms();
}

Network onnx_network(const std::filesystem::path& file, const Shape& sample, const Shape& target,
                     Dtype dtype, const data::Config& config) {
  const Network net{data::read_onnx(file)};
  const auto& read = std::get<data::OnnxNetwork>(net.is);
  const auto refuse = [&](const char* key, const std::string& message) {
    throw data::InputError(data::ExitCode::config_invalid, {config.error(671, key, message)});
  };
  if (read.inputs().size() != 1 || read.outputs().size() != 1)
    refuse("network.from", "it has " + std::to_string(read.inputs().size()) + " inputs and " +
                               std::to_string(read.outputs().size()) +
                               " results, a training takes one of each");
  if (read.weights.empty()) refuse("network.from", "it has no weights that could learn");
  for (const data::NamedTensor& w : read.weights)
    if (w.values.dtype() != dtype)
      refuse("training.precision", "'" + w.name + "' of the file is " + to_string(w.values.type()) +
                                       ", the training is in " + name_of(dtype));
  Shape one = sample, expected = target;
  one.insert(0, 1), expected.insert(0, 1);
  Tensor y;
  try {
    y = net(zeros(one, dtype));
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse("network.from",
           std::string("it does not take samples ") + to_string(sample) + ": " + e.what());
  }
  if (y.shape() != expected)
    refuse("network.from", "of a sample " + to_string(sample) + " it makes " +
                               to_string(y.shape()) + ", targets are " + to_string(target));
  if (y.dtype() != dtype) refuse("network.from", "it gives " + to_string(y.type()));
  return net;
}

}  // namespace tessera::apps::training
