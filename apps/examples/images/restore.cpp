// SPDX-License-Identifier: Apache-2.0
// Learns to restore an image from a blurred and noisy one, both in files that are read by tiles and
// made here. `example_images_restore FOLDER [SIDE] [STEPS]` goes on from FOLDER's last checkpoint,
// alone or under mpirun, to the same bits; Ctrl-C leaves one. Without arguments it learns on a
// small image, stops in the middle, goes on, and compares with a run that did not stop.
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/optimize.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/file_io.h"
#include "tessera/data/stop.h"
#include "tessera/data/windows.h"
#include "tessera/parallel/mpi.h"
#include "tessera/parallel/tile_streams.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iostream>

using namespace tessera;
namespace fs = std::filesystem;

struct Net {
  nn::Conv first, middle, last;
  TESSERA_TREE(first, middle, last)
  Tensor operator()(const Tensor& image) const {  // [H, W, 1]
    const Tensor x = expand_dims(image, 0);
    return image + squeeze(last(nn::relu(middle(nn::relu(first(x))))), 0);
  }
};
struct State {
  Net net;
  OptimizerState moments;
  TESSERA_TREE(net, moments)
};
using Images = std::vector<Tensor>;

/// Rings and stripes, box by box, and a grain that belongs to the position.
BoxSource made_up(Index side) {
  const Type t{Dtype::f32, {side, side, 1}};
  return {t, [](const Box& b) {
            const Shape n = b.extents();
            const Tensor y = reshape(arange(n[0], Dtype::f64) + static_cast<double>(b.begin[0]),
                                     {n[0], 1, 1}),
                         x = reshape(arange(n[1], Dtype::f64) + static_cast<double>(b.begin[1]),
                                     {n[1], 1});
            const Tensor rings = sin(sqrt(square(x - 71.0) + square(y - 40.0)) * 0.9),
                         stripes = sin(x * 0.21) * cos(y * 0.13);
            return cast(where(stripes > 0.0, rings, stripes), Dtype::f32);
          }};
}
Tensor seen(const Tensor& window, const Images& images) {
  const Tensor blurred =
      squeeze(convolution(expand_dims(images[0], 0), window, {.low = {1, 1}, .high = {1, 1}}), 0);
  const Tensor grain = sin(images[0] * 91.7 + blurred * 63.1);
  return blurred + 0.05 * grain;
}

void make(parallel::Communicator& c, const fs::path& file, const BoxSource& source,
          const std::function<Tensor(const Tensor&, const Images&)>& f,
          const parallel::Tiling& tiles) {
  const Tensor window = tensor<float>({1, 2, 1, 2, 4, 2, 1, 2, 1}, {3, 3, 1, 1}) / 16.0;
  if (c.rank() == 0) data::create_boxes(file, source.type, "image");
  c.barrier();
  {
    data::BoxFile out(file, "image");
    parallel::tiled_into(
        c, f, window, {source}, [&](const Box& b, const Tensor& y) { out.write(b, y); }, tiles);
    out.sync();
  }
  c.barrier();
  if (c.rank() == 0) data::commit_boxes(file);
  c.barrier();
}

// ---- a state in a checkpoint ----

void put(data::Checkpoint& to, const State& s) {
  Index k = 0;
  for (const Tensor& leaf : flatten_tree(s)) {
    const std::string name = std::to_string(k++);
    if (leaf.dtype() == Dtype::f32)
      to.put(name, leaf.to_vector<float>());
    else
      to.put(name, cast(leaf, Dtype::f64).to_vector());
  }
}
State get(const data::Checkpoint& from, const State& like) {
  std::vector<Tensor> leaves;
  for (const Tensor& leaf : flatten_tree(like)) {
    const std::string name = std::to_string(leaves.size());
    leaves.push_back(leaf.dtype() == Dtype::f32
                         ? tensor(from.array<float>(name), leaf.shape())
                         : cast(tensor(from.array<double>(name), leaf.shape()), leaf.dtype()));
  }
  return unflatten_tree(like, leaves);
}

struct Outcome {
  double before = 0, after = 0;  ///< mean square errors
  bool finished = false;
  State state;
};
Outcome restore(parallel::Communicator& c, const fs::path& folder, Index side, Index steps,
                Index stop_after = -1) {
  const parallel::Tiling tiles{.part = side > 512 ? Shape{512, 512, 0} : Shape{64, 64, 0},
                               .tile = 2};
  const fs::path truth = folder / "truth.h5", image = folder / "seen.h5",
                 restored = folder / "restored.h5";
  if (c.rank() == 0) data::make_folder(folder / "ckpt");
  const auto same = [](const Tensor&, const Images& images) { return images[0]; };
  const bool is_made = fs::exists(image);
  c.barrier();
  if (!is_made) {
    make(c, truth, made_up(side), same, tiles);
    make(c, image, data::open_boxes(truth, "image"), seen, tiles);
  }

  const nn::ConvOptions f32{.dtype = Dtype::f32};
  Net net{nn::conv(random_key(1), {3, 3}, 1, 8, f32), nn::conv(random_key(2), {3, 3}, 8, 8, f32),
          nn::conv(random_key(3), {3, 3}, 8, 1, f32)};
  const Optimizer o = adam(constant_rate(5e-3));
  State state{net, o.init(net)};
  std::uint64_t step = 0;
  if (const auto loaded = data::load_newest_checkpoint(folder / "ckpt")) {
    step = loaded->checkpoint.step;
    state = get(loaded->checkpoint, state);
    if (c.rank() == 0) std::cout << "goes on after step " << step << "\n";
  }
  const BoxSource from = data::open_boxes(image, "image"),
                  wanted = data::open_boxes(truth, "image");
  const double positions = static_cast<double>(side) * static_cast<double>(side);
  const auto loss = [&](const Net& n, const Images& images) {
    return square(n(images[0]) - images[1]) / positions;
  };
  const auto error = [&](const Tensor& scale, const Images& images) {
    return scale * square(images[0] - images[1]) / positions;
  };
  Outcome out;
  out.before =
      parallel::tiled_value_and_grad(c, error, {from, wanted}, tiles)(scalar(1.0, Dtype::f32))
          .first.item<double>();
  const auto value_and_gradient = parallel::tiled_value_and_grad(c, loss, {from, wanted}, tiles);
  const auto keep = [&] {
    if (c.rank() == 0) {
      data::Checkpoint checkpoint{.app = "example.restore", .step = step};
      put(checkpoint, state);
      data::write_checkpoint(folder / "ckpt", checkpoint);
    }
    c.barrier();
  };
  data::StopGuard stop;
  for (Index done = 0; step < static_cast<std::uint64_t>(steps); ++done) {
    // One rank's wish to stop is that of all.
    const parallel::Bytes asked =
        c.broadcast(parallel::to_bytes(std::vector<int>{stop.poll() != data::StopReason::none}));
    if (done == stop_after || parallel::from_bytes<int>(asked)[0]) {
      keep();
      return out;
    }
    const auto [value, gradient] = value_and_gradient(state.net);
    std::tie(state.net, state.moments) = o.update(state.net, gradient, state.moments);
    out.after = value.item<double>();
    ++step;
    if (step % 10 == 0) {
      keep();
      if (c.rank() == 0)
        std::cout << "step " << step << ": mean square " << out.after << ", of the image as it is "
                  << out.before << "\n";
    }
  }
  make(
      c, restored, from, [&](const Tensor&, const Images& images) { return state.net(images[0]); },
      tiles);
  out.finished = true;
  out.state = state;
  return out;
}

bool same_bits(const State& a, const State& b) {
  const std::vector<Tensor> x = flatten_tree(a), y = flatten_tree(b);
  for (std::size_t k = 0; k < x.size(); ++k)
    if (cast(x[k], Dtype::f64).to_vector() != cast(y[k], Dtype::f64).to_vector()) return false;
  return x.size() == y.size();
}

int main(int argc, char** argv) {
  parallel::Communicator c =
      parallel::is_mpi_rank() ? parallel::mpi_communicator() : parallel::alone();
  if (argc > 1) {
    const Index side = argc > 2 ? std::stoll(argv[2]) : 2048;
    const Outcome o = restore(c, argv[1], side, argc > 3 ? std::stoll(argv[3]) : 100);
    c.finish();
    return o.finished ? 0 : 75;
  }
  const fs::path folder =
      fs::temp_directory_path() / ("tessera_restore_" + std::to_string(::getpid()));
  const Outcome whole = restore(c, folder / "whole", 160, 30);
  const bool stopped = !restore(c, folder / "stopped", 160, 30, 13).finished;
  const Outcome gone_on = restore(c, folder / "stopped", 160, 30);
  fs::remove_all(folder);
  std::cout << "mean square " << whole.before << " before, " << whole.after << " after 30 steps\n";
  return stopped && gone_on.finished && same_bits(whole.state, gone_on.state) &&
                 whole.after < 0.5 * whole.before
             ? 0
             : 1;
}
