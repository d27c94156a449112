// SPDX-License-Identifier: Apache-2.0
#include <tessera/autodiff/nn.h>
#include <tessera/autodiff/ops.h>
#include <tessera/data/windows.h>
#include <tessera/parallel/tile_streams.h>

#include <filesystem>
#include <iostream>

using namespace tessera;

struct Net {
  nn::Conv first, last;
  TESSERA_TREE(first, last)
  Tensor operator()(const Tensor& image) const {  // [H, W, channels]
    const Tensor x = expand_dims(image, 0);
    return image + squeeze(last(nn::relu(first(x))), 0);
  }
};

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "tessera_images";
  std::filesystem::create_directories(folder);
  const auto scan = folder / "scan.h5", restored = folder / "restored.h5";

  // An image that comes strip by strip.
  const Type type{Dtype::f32, {600, 500, 2}};
  data::create_boxes(scan, type, "image");
  {
    data::BoxFile file(scan, "image");
    for (Index row = 0; row < 600; row += 100)
      file.write({{row, 0, 0}, {row + 100, 500, 2}},
                 normal(random_key(static_cast<std::uint64_t>(row)), {100, 500, 2}, Dtype::f32));
    file.sync();
  }
  data::commit_boxes(scan);

  parallel::Communicator c = parallel::alone();  // under mpirun: mpi_communicator()
  const Net net{nn::conv(random_key(2), {3, 3}, 2, 8, {.dtype = Dtype::f32}),
                nn::conv(random_key(3), {3, 3}, 8, 2, {.dtype = Dtype::f32})};
  const BoxSource image = data::open_boxes(scan, "image");
  const parallel::Tiling tiles{.part = {256, 256, 0}, .tile = 2};

  // A step of training: the loss of each position, its sum, the gradient.
  const auto loss = [](const Net& n, const std::vector<Tensor>& images) {
    return square(n(images[0])) / 600000.0;
  };
  const auto [value, gradient] = parallel::tiled_value_and_grad(c, loss, {image}, tiles)(net);

  // The image through the network, into another file.
  data::create_boxes(restored, type, "image");
  {
    data::BoxFile file(restored, "image");
    parallel::tiled_into(
        c, [](const Net& n, const std::vector<Tensor>& images) { return n(images[0]); }, net,
        {image}, [&](const Box& b, const Tensor& y) { file.write(b, y); }, tiles);
    file.sync();
  }
  data::commit_boxes(restored);

  const Tensor corner = data::open_boxes(restored, "image").read({{0, 0, 0}, {1, 1, 2}});
  const double whole = sum(square(net(image.read(whole_box(type.shape))))).item() / 600000.0;
  std::cout << "loss " << value.item() << ", corner " << to_string(corner) << "\n";
  std::filesystem::remove_all(folder);
  return std::abs(value.item() - whole) < 1e-5 * whole && gradient.last.b->size() == 2 ? 0 : 1;
}
