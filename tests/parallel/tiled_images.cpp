// SPDX-License-Identifier: Apache-2.0
//
// Large images for the acceptance rows, alone or under mpirun. Rank 0 prints lines "name value
// unit" and "name sha256":
//
//   tiled_images bits SIDE TILE         a network of many kinds of windows on 4 x SIDE^2 f32 in
//   memory tiled_images make FILE SIDE         an image, row by row tiled_images infer IN OUT TILE
//   three 3 x 3 layers, 4-16-16-4, into a file tiled_images step IN TILE           loss and
//   gradient of the same tiled_images memory SIDE            the same in memory, in one call; rate
//   of a square product
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/sha256.h"
#include "tessera/data/windows.h"
#include "tessera/parallel/mpi.h"
#include "tessera/parallel/tile_streams.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

using namespace tessera;
using parallel::Communicator;
using Images = std::vector<Tensor>;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
std::string digest(const Tensor& t) {
  const Tensor x = contiguous(t);
  data::Sha256 h;
  h.update(x.view().data, static_cast<std::size_t>(x.size()) * size_of(x.dtype()));
  return data::to_hex(h.finish());
}
/// A number of a line "NAME: 123 ..." of a file of /proc.
double of_process(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1));
  throw Error(std::string("no ") + name + " in " + file);
}
/// Added up over ranks, at all of them.
double of_all_ranks(Communicator& c, double mine) {
  double sum = 0;
  for (const parallel::Bytes& b : c.all_gather(parallel::to_bytes(std::vector<double>{mine})))
    sum += parallel::from_bytes<double>(b)[0];
  return sum;
}
void say_resources(Communicator& c, double begin, double read_before) {
  const double took = seconds() - begin,
               peak = of_all_ranks(c, of_process("/proc/self/status", "VmHWM")) * 1024,
               read = of_all_ranks(c, of_process("/proc/self/io", "rchar") - read_before);
  if (c.rank() == 0) std::printf("seconds %.3f s\npeak %.6e B\nread %.6e B\n", took, peak, read);
}

/// Even windows, stride 2, dilation, a pool, and back: a result needs the image 20 positions and
/// more to each side.
struct Restorer {
  nn::Conv first, second, last;
  TESSERA_TREE(first, second, last)
  Tensor operator()(const Tensor& image) const {  // [4, H, W]
    Tensor x = expand_dims(moveaxis(image, 0, 2), 0);
    x = nn::relu(first(x));
    x = nn::relu(second(x));
    x = nn::upsample_nearest(nn::max_pool(x, {2, 2}), {2, 2});
    return moveaxis(squeeze(last(x), 0), 2, 0);
  }
};
void bits(Communicator& c, Index side, Index tile) {
  const nn::ConvOptions f32{.dtype = Dtype::f32};
  const Restorer net{
      nn::conv(random_key(1), {6, 6}, 4, 4, f32),
      nn::conv(random_key(2), {4, 4}, 4, 6,
               {.stride = {2, 2}, .dilation = {10, 10}, .dtype = Dtype::f32}),
      nn::conv_transpose(random_key(3), {4, 4}, 6, 4, {.stride = {2, 2}, .dtype = Dtype::f32})};
  const Type type{Dtype::f32, {4, side, side}};
  const auto f = [](const Restorer& n, const Images& i) { return n(i[0]); };
  const auto loss = [](const Restorer& n, const Images& i) { return square(n(i[0]) - i[1]); };
  const parallel::Tiling tiles{{0, 512, 512}, tile};
  const Tensor x = normal(random_key(4), type.shape, Dtype::f32);
  if (c.rank() == 0) {
    const Box part{{0, side / 2, side / 2}, {4, side / 2 + 1, side / 2 + 1}};
    const Graph g = trace([&](const Images& i) { return Images{net(i[0])}; }, {&type, 1});
    const Box met = cut(g, part, {true}).inputs[0];
    std::printf("before %lld positions\nbehind %lld positions\n",
                static_cast<long long>(part.begin[1] - met.begin[1]),
                static_cast<long long>(met.end[1] - part.end[1]));
  }
  {
    const Tensor y = parallel::tiled(c, f, tiles)(net, Images{x});
    if (c.rank() == 0) std::printf("output %s\n", digest(y).c_str());
    if (c.size() == 1 && tile == 1)
      std::printf("whole %s\n", digest(jit([&](const Tensor& i) { return net(i); })(x)).c_str());
  }
  const auto both = value_and_grad([&](const std::pair<Restorer, Tensor>& at) {
    return parallel::tiled_sum(c, loss, tiles)(at.first, Images{at.second, x});
  })(std::pair(net, x));
  if (c.rank() != 0) return;
  std::vector<Tensor> leaves;
  for (const Tensor& leaf : flatten_tree(both.second.first)) leaves.push_back(flatten(leaf));
  std::printf("loss %s\ngradient %s\nimage_gradient %s\n", digest(both.first).c_str(),
              digest(concatenate(leaves, 0)).c_str(), digest(both.second.second).c_str());
}

/// Three layers on [4, H, W]: 6,912 operations a position.
struct Layers {
  nn::Conv a, b, c;
  TESSERA_TREE(a, b, c)
  Tensor operator()(const Tensor& image) const {
    const Tensor x = expand_dims(moveaxis(image, 0, 2), 0);
    return moveaxis(squeeze(c(nn::relu(b(nn::relu(a(x))))), 0), 2, 0);
  }
};
constexpr double kFlops = 6912;
Layers layers() {
  const nn::ConvOptions f32{.dtype = Dtype::f32};
  return {nn::conv(random_key(1), {3, 3}, 4, 16, f32), nn::conv(random_key(2), {3, 3}, 16, 16, f32),
          nn::conv(random_key(3), {3, 3}, 16, 4, f32)};
}
double positions(const Type& t) {
  return static_cast<double>(t.shape[1]) * static_cast<double>(t.shape[2]);
}

void make(Communicator& c, const std::string& file, Index side) {
  if (c.rank() != 0) return;
  const Type type{Dtype::f32, {4, side, side}};
  data::create_boxes(file, type, "image");
  data::BoxFile out(file, "image");
  constexpr Index kRows = 250;
  for (Index k = 0; k < 4; ++k)
    for (Index row = 0; row < side; row += kRows) {
      const Index n = std::min(kRows, side - row);
      const Tensor y = reshape(arange(n, Dtype::f32) + static_cast<double>(row), {n, 1}),
                   x = arange(side, Dtype::f32);
      const Tensor v = sin(x * (0.013 + 0.002 * static_cast<double>(k)) + y * 0.017) +
                       0.1 * sin(x * 12.9 + y * 78.2);
      out.write({{k, row, 0}, {k + 1, row + n, side}}, reshape(v, {1, n, side}));
    }
  out.sync();
  data::commit_boxes(file);
}

void infer(Communicator& c, const std::string& in, const std::string& out, Index tile) {
  const double begin = seconds(), before = of_process("/proc/self/io", "rchar");
  const BoxSource image = data::open_boxes(in, "image");
  if (c.rank() == 0) data::create_boxes(out, image.type, "image");
  c.barrier();
  parallel::TileCounts counts;
  {
    data::BoxFile file(out, "image");
    counts = parallel::tiled_into(
        c, [](const Layers& n, const Images& i) { return n(i[0]); }, layers(), {image},
        [&](const Box& b, const Tensor& y) { file.write(b, y); }, {{0, 512, 512}, tile});
    const double computed = seconds();
    file.sync();
    if (c.rank() == 0) std::printf("sync %.3f s\n", seconds() - computed);
  }
  c.barrier();
  if (c.rank() == 0) data::commit_boxes(out);
  const double asked = of_all_ranks(c, counts.bytes_read);
  say_resources(c, begin, before);
  if (c.rank() == 0)
    std::printf("asked %.6e B\nimage %.6e B\nflops %.6e operations\n", asked,
                16 * positions(image.type), kFlops * positions(image.type));
}

void step(Communicator& c, const std::string& in, Index tile) {
  const double begin = seconds(), before = of_process("/proc/self/io", "rchar");
  const BoxSource image = data::open_boxes(in, "image");
  const double n = 4 * positions(image.type);
  const auto loss = [n](const Layers& net, const Images& i) {
    return square(net(i[0]) - i[0]) / n;
  };
  const auto [value, gradient] =
      parallel::tiled_value_and_grad(c, loss, {image}, {{0, 512, 512}, tile})(layers());
  say_resources(c, begin, before);
  if (c.rank() != 0) return;
  std::vector<Tensor> leaves;
  for (const Tensor& leaf : flatten_tree(gradient)) leaves.push_back(flatten(leaf));
  std::printf("value %.9g 1\nloss %s\ngradient %s\nflops %.6e operations\n", value.item<double>(),
              digest(value).c_str(), digest(concatenate(leaves, 0)).c_str(),
              3 * kFlops * positions(image.type));
}

void memory(Index side) {
  const Type type{Dtype::f32, {4, side, side}};
  const Tensor x = normal(random_key(4), type.shape, Dtype::f32);
  const auto f = jit([](const Layers& n, const Tensor& i) { return n(i); });
  const Layers net = layers();
  double best = 1e30;
  for (int k = 0; k < 3; ++k) {
    const double begin = seconds();
    (void)f(net, x);
    if (k > 0) best = std::min(best, seconds() - begin);
  }
  std::printf("memory_rate %.4e operations/s\n", kFlops * positions(type) / best);
  constexpr Index kSize = 2000;
  const Tensor a = normal(random_key(5), {kSize, kSize}, Dtype::f32);
  best = 1e30;
  for (int k = 0; k < 5; ++k) {
    const double begin = seconds();
    (void)matmul(a, a);
    best = std::min(best, seconds() - begin);
  }
  std::printf("product_rate %.4e operations/s\n", 2.0 * kSize * kSize * kSize / best);
}

void run(Communicator& c, const std::vector<std::string>& a) {
  const auto number = [&](std::size_t k) { return static_cast<Index>(std::stoll(a.at(k))); };
  if (a.at(0) == "bits")
    bits(c, number(1), number(2));
  else if (a[0] == "make")
    make(c, a.at(1), number(2));
  else if (a[0] == "infer")
    infer(c, a.at(1), a.at(2), number(3));
  else if (a[0] == "step")
    step(c, a.at(1), number(2));
  else if (a[0] == "memory")
    memory(number(1));
  else
    throw Error("no such word: " + a[0]);
}

}  // namespace

int main(int argc, char** argv) {
  const bool ranks = parallel::is_mpi_rank();
  try {
    Communicator c = ranks ? parallel::mpi_communicator() : parallel::alone();
    run(c, {argv + 1, argv + argc});
    c.finish();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    if (ranks) parallel::end_all_ranks(1);
    return 1;
  }
}
