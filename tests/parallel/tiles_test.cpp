// SPDX-License-Identifier: Apache-2.0
//
// Functions of images in tiles: the bits of one rank that computes the same parts, whatever the
// tiles and however many the ranks; values those of the whole call, derivatives those of the whole.
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/nn.h"
#include "tessera/autodiff/ops.h"
#include "tessera/parallel/tile_streams.h"

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>

namespace tessera::parallel {
namespace {

using Leaves = std::vector<Tensor>;

template <class T>
bool equal_bits_of(const Tensor& a, const Tensor& b) {
  const std::vector<T> x = a.to_vector<T>(), y = b.to_vector<T>();
  return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}
bool equal_bits(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  return a.dtype() == Dtype::f32 ? equal_bits_of<float>(a, b) : equal_bits_of<double>(a, b);
}

/// Even windows, a stride, dilation, a pool and the way back: ghosts of 20 and more.
struct Restorer {
  nn::Conv first, second, last;
  TESSERA_TREE(first, second, last)
  Tensor operator()(const Tensor& image) const {  // [channels, H, W]
    Tensor x = expand_dims(moveaxis(image, 0, 2), 0);
    x = nn::gelu(first(x));
    x = nn::relu(second(x));
    x = nn::upsample_nearest(nn::max_pool(x, {2, 2}), {2, 2});
    return moveaxis(reshape(last(x), {last.how.input_dilation[0] * x.dim(1),
                                      last.how.input_dilation[1] * x.dim(2), -1}),
                    2, 0);
  }
};
Restorer restorer(Dtype t, Index channels = 2) {
  return {nn::conv(random_key(1), {4, 4}, channels, 3, {.dtype = t}),
          nn::conv(random_key(2), {3, 3}, 3, 4, {.stride = {2, 2}, .dilation = {3, 3}, .dtype = t}),
          nn::conv_transpose(random_key(3), {4, 4}, 4, channels, {.stride = {2, 2}, .dtype = t})};
}
const auto restored = [](const Restorer& net, const Leaves& images) { return net(images[0]); };
const auto losses = [](const Restorer& net, const Leaves& images) {
  return square(net(images[0]) - images[1]);
};

/// What `f` gives of tiles of one part on one rank, it gives of larger tiles on more ranks.
void expect_bits_of_parts(const std::function<Leaves(Communicator&, Index tile)>& f) {
  Communicator one = alone();
  const Leaves want = f(one, 1);
  for (const Index tile : {1, 2, 4})
    for (const int ranks : {1, 2, 3, 4})
      run_ranks(ranks, [&](Communicator& c) {
        const Leaves got = f(c, tile);
        if (got.size() != want.size()) throw Error("other results");
        for (std::size_t k = 0; k < got.size(); ++k)
          if (!equal_bits(got[k], want[k]))
            throw Error("leaf " + std::to_string(k) + " has other bits on " +
                        std::to_string(ranks) + " ranks, tiles of " + std::to_string(tile));
      });
}

TEST(Tiles, OutputAndBothGradientsHaveTheBitsOfTheParts) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const Restorer net = restorer(t);
    const Tensor x = normal(random_key(4), {2, 64, 72}, t), y = sin(x);
    expect_bits_of_parts([&](Communicator& c, Index tile) {
      const Tiling how{{0, 16, 24}, tile};
      const auto loss = tiled_sum(c, losses, how);
      auto [l, g] = value_and_grad(loss)(net, Leaves{x, y});
      const Leaves of_images = grad([&](const Leaves& i) { return loss(net, i); })(Leaves{x, y});
      Leaves all = flatten_tree(g);
      all.push_back(l);
      all.push_back(tiled(c, restored, how)(net, Leaves{x}));
      all.insert(all.end(), of_images.begin(), of_images.end());
      return all;
    });
  }
}

TEST(Tiles, TheResultHasTheBitsOfTheWholeCall) {
  Communicator c = alone();
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const Restorer net = restorer(t);
    const Tensor x = normal(random_key(4), {2, 64, 72}, t);
    for (const Shape& part :
         {Shape{0, 16, 24}, Shape{0, 7, 13}, Shape{2, 64, 72}, Shape{1, 33, 40}})
      EXPECT_TRUE(equal_bits(tiled(c, restored, {part})(net, Leaves{x}), net(x)))
          << to_string(part);
  }
}

TEST(Tiles, DerivativesAreThoseOfTheWhole) {
  const Restorer net = restorer(Dtype::f64);
  const Tensor x = normal(random_key(5), {2, 24, 20}), y = sin(x);
  const auto whole = [&](const Restorer& n, const Leaves& i) { return sum(losses(n, i)); };
  const auto near = [](const Leaves& a, const Leaves& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
      if (!(max(abs(a[k] - b[k])).item() < 1e-11 * (1 + max(abs(b[k])).item())))
        throw Error("leaf " + std::to_string(k) + " is not the derivative: off by " +
                    std::to_string(max(abs(a[k] - b[k])).item()));
  };
  const Restorer along = restorer(Dtype::f64);
  for (const int ranks : {1, 2, 5})
    run_ranks(ranks, [&](Communicator& c) {
      const auto f = tiled_sum(c, losses, {{0, 8, 12}});
      near({f(net, Leaves{x, y})}, {whole(net, {x, y})});
      near(flatten_tree(grad(f)(net, Leaves{x, y})), flatten_tree(grad(whole)(net, Leaves{x, y})));
      const auto of_image = [&](const auto& g) {
        return [&](const Tensor& i) { return g(net, Leaves{i, y}); };
      };
      near({grad(of_image(f))(x)}, {grad(of_image(whole))(x)});
      near({hvp(of_image(f), x, y)}, {hvp(of_image(whole), x, y)});
      const auto of_net = [&](const auto& g) {
        return [&](const Restorer& n) { return g(n, Leaves{x, y}); };
      };
      near(flatten_tree(hvp(of_net(f), net, along)), flatten_tree(hvp(of_net(whole), net, along)));
      // Reverse over reverse, through the image as well.
      const auto mixed = [&](const auto& g) {
        return [&](const Restorer& n) {
          return sum(square(grad([&](const Tensor& i) { return g(n, Leaves{i, y}); })(x)));
        };
      };
      near(flatten_tree(grad(mixed(f))(net)), flatten_tree(grad(mixed(whole))(net)));
      near({jvp(of_image(f), x, y).second}, {jvp(of_image(whole), x, y).second});
      const Tensor many = normal(random_key(6), {3, 2, 24, 20});
      near({vmap(of_image(f))(many)}, {vmap(of_image(whole))(many)});
      near({vmap(grad(of_image(f)))(many)}, {vmap(grad(of_image(whole)))(many)});
      // The result itself, pulled back.
      const auto picture = tiled(c, restored, {{0, 8, 12}});
      const auto weighed = [&](const Tensor& i) { return sum(y * picture(net, Leaves{i})); };
      const auto plainly = [&](const Tensor& i) { return sum(y * net(i)); };
      near({grad(weighed)(x)}, {grad(plainly)(x)});
      near({jit(grad(weighed))(x)}, {grad(plainly)(x)});
    });
}

TEST(Tiles, PartsLieAlongTheCurve) {
  const Parts p = parts_of({3, 70, 50}, {{0, 16, 16}, 2});
  ASSERT_EQ(p.boxes.size(), 20u);  // 5 x 4
  EXPECT_EQ(p.boxes[0], (Box{{0, 0, 0}, {3, 16, 16}}));
  EXPECT_EQ(p.boxes[1], (Box{{0, 0, 16}, {3, 16, 32}}));
  EXPECT_EQ(p.boxes[2], (Box{{0, 16, 0}, {3, 32, 16}}));
  EXPECT_EQ(p.boxes[19], (Box{{0, 64, 48}, {3, 70, 50}}));
  EXPECT_EQ(p.tiles, (std::vector<Index>{0, 4, 8, 12, 16, 18, 20}));
  EXPECT_EQ(parts_of({3, 70, 50}, {{0, 16, 16}, 1}).boxes, p.boxes);
  EXPECT_EQ(parts_of({3, 70, 50}, {{0, 16, 16}, 4}).tiles, (std::vector<Index>{0, 16, 20}));
  EXPECT_EQ(parts_of({600, 1025}, {}).boxes.size(), 6u);
  EXPECT_EQ(parts_of({}, {}).boxes.size(), 1u);
  EXPECT_EQ(parts_of({0, 4}, {}).boxes.size(), 1u);
  EXPECT_EQ(deal_tiles(p, 4), (PartsOfRanks{0, 8, 16, 18, 20}));
  EXPECT_EQ(deal_tiles(p, 7), (PartsOfRanks{0, 3, 6, 9, 12, 15, 18, 20}));
  EXPECT_THROW(parts_of({3, 4}, {{1}}), Error);
  EXPECT_THROW(parts_of({3, 4}, {{1, -1}}), Error);
  EXPECT_THROW(parts_of({3, 4}, {{}, 3}), Error);
}

TEST(Tiles, Edges) {
  const auto blur = [](const Tensor& w, const Leaves& i) {
    return select(convolution(expand_dims(i[0], 2), w, {.low = {4, 4}, .high = {4, 4}}), 2, 0);
  };
  const Tensor w = normal(random_key(7), {9, 9, 1, 1});
  Communicator c = alone();
  const auto whole = [&](const Tensor& x) { return blur(w, {x}); };
  for (const Shape& s : {Shape{1, 1}, Shape{1, 40}, Shape{40, 1}, Shape{5, 3}, Shape{17, 33}})
    for (const Shape& part : {Shape{1, 1}, Shape{8, 8}, Shape{0, 1}, Shape{3, 0}, Shape{64, 64}}) {
      const Tensor x = normal(random_key(8), s);
      EXPECT_TRUE(equal_bits(tiled(c, blur, {part})(w, Leaves{x}), whole(x)))
          << to_string(s) << " in " << to_string(part);
    }
  // No channels, no rows: sums of nothing.
  const auto sums = [](const Tensor& v, const Leaves& i) { return v * sum(i[0], {2}); };
  EXPECT_EQ(sum(tiled(c, sums, {{2, 2}})(ones({}), Leaves{ones({5, 4, 0})})).item(), 0);
  EXPECT_EQ(tiled_sum(c, sums, {{2, 2}})(ones({}), Leaves{ones({0, 4, 3})}).item(), 0);
  // A NaN stays in the parts that meet it; gradients of parameters are NaN as in the whole.
  const Tensor x = where(equal(reshape(arange(400), {20, 20}), 210), std::nan(""), ones({20, 20}));
  const Tensor y = tiled(c, blur, {{8, 8}})(w, Leaves{x});
  EXPECT_TRUE(equal_bits(cast(not_equal(y, y), Dtype::f64),
                         cast(not_equal(whole(x), whole(x)), Dtype::f64)));
  // More ranks than parts; images of which the function asks nothing; what it captures.
  run_ranks(3, [&](Communicator& three) {
    try {
      (void)tiled(three, blur, {{20, 10}})(w, Leaves{x});
    } catch (const Error& e) {
      if (std::string(e.what()).find("2 parts for 3 ranks") != std::string::npos) return;
    }
    throw Error("more ranks than parts");
  });
  const Tensor mask = normal(random_key(9), {20, 20});
  const auto masked = [&](const Tensor& v, const Leaves&) { return v * mask; };
  EXPECT_TRUE(equal_bits(tiled(c, masked, {{7, 9}})(Tensor(2.0), Leaves{x}), 2.0 * mask));
  const auto captured = [&](const Tensor& v) {
    return tiled_sum(c, [&](const Tensor& p, const Leaves& i) { return p * v * i[0]; }, {{7, 9}})(
        w, Leaves{ones({9, 9, 1, 1})});
  };
  EXPECT_THROW(grad(captured)(Tensor(1.0)), Error);
}

/// Boxes of a result, put together by all ranks that share this memory.
struct Sheet {
  explicit Sheet(const Type& t) : whole(zeros(t.shape, t.dtype)) {}
  void put(const Box& b, const Tensor& y) {
    const std::lock_guard lock(mutex);
    Shape high = whole.shape();
    for (int d = 0; d < high.size(); ++d) high[d] -= b.end[d];
    const Tensor here = pad(ones(b.extents(), Dtype::boolean), b.begin, high);
    whole = where(here, pad(y, b.begin, high), whole);
    positions += b.extents().count();
  }
  std::mutex mutex;
  Tensor whole;
  Index positions = 0;
};

TEST(Tiles, StreamsHaveTheBitsOfImagesInMemory) {
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    const Restorer net = restorer(t);
    const Tensor x = normal(random_key(4), {2, 48, 72}, t), y = sin(x);
    Communicator one = alone();
    const auto [l, g] = value_and_grad(tiled_sum(one, losses, {{0, 16, 24}}))(net, Leaves{x, y});
    for (const Index tile : {1, 2, 4})
      for (const int ranks : {1, 2, 5, 12}) {  // nine parts: some of twelve ranks have none
        Sheet sheet(x.type());
        run_ranks(ranks, [&, l = l, g = g](Communicator& c) {
          const std::vector<BoxSource> sources{source_of(x), source_of(y)};
          const auto step = tiled_value_and_grad(c, losses, sources, {{0, 16, 24}, tile});
          for (int repeat = 0; repeat < 2; ++repeat) {
            const auto [value, gradient] = step(net);
            Leaves got = flatten_tree(gradient), want = flatten_tree(g);
            got.push_back(value), want.push_back(l);
            for (std::size_t k = 0; k < got.size(); ++k)
              if (!equal_bits(got[k], want[k]))
                throw Error("leaf " + std::to_string(k) + " has other bits");
          }
          const TileCounts counts = tiled_into(
              c, restored, net, {sources[0]},
              [&](const Box& b, const Tensor& v) { sheet.put(b, v); }, {{0, 16, 24}, tile});
          if (counts.parts > 9) throw Error("more parts than there are");
        });
        EXPECT_TRUE(equal_bits(sheet.whole, net(x)));
        EXPECT_EQ(sheet.positions, x.size());
      }
  }
}

TEST(Tiles, StripsAreLongAlongTheLastAxes) {
  const auto tiles = [](const Shape& result, const Tiling& t) {
    const Parts p = strips_of(result, t);
    std::vector<Box> hulls;
    for (std::size_t k = 0; k + 1 < p.tiles.size(); ++k) {
      Box all = p.boxes[static_cast<std::size_t>(p.tiles[k])];
      const Box& last = p.boxes[static_cast<std::size_t>(p.tiles[k + 1]) - 1];
      for (int d = 0; d < all.end.size(); ++d) all.end[d] = std::max(all.end[d], last.end[d]);
      hulls.push_back(all);
    }
    return hulls;
  };
  // 2 x 2 parts a tile: as 1 x 4, and where a row has but three, 1 x 3.
  EXPECT_EQ(tiles({3, 8}, {{2, 2}, 2}), (std::vector<Box>{{{0, 0}, {2, 8}}, {{2, 0}, {3, 8}}}));
  EXPECT_EQ(tiles({4, 6}, {{2, 2}, 2}), (std::vector<Box>{{{0, 0}, {2, 6}}, {{2, 0}, {4, 6}}}));
  EXPECT_EQ(tiles({4, 4}, {{2, 2}, 2}), (std::vector<Box>{{{0, 0}, {4, 4}}}));
  EXPECT_EQ(tiles({5}, {{2}, 1}), (std::vector<Box>{{{0}, {2}}, {{2}, {4}}, {{4}, {5}}}));
  EXPECT_EQ(tiles({2, 0}, {{1, 1}, 2}).size(), 1u);
  EXPECT_EQ(tiles({}, {}).size(), 1u);
  // The same boxes as those of the tree.
  auto a = parts_of({7, 9, 5}, {{2, 4, 0}, 2}).boxes,
       b = strips_of({7, 9, 5}, {{2, 4, 0}, 2}).boxes;
  const auto before = [](const Box& x, const Box& y) {
    return std::lexicographical_compare(x.begin.begin(), x.begin.end(), y.begin.begin(),
                                        y.begin.end());
  };
  std::sort(a.begin(), a.end(), before), std::sort(b.begin(), b.end(), before);
  EXPECT_EQ(a, b);
}

TEST(Tiles, ATileIsReadOnceWithItsGhosts) {
  const auto blur = [](const Tensor& w, const Leaves& i) {
    return select(convolution(expand_dims(i[0], 2), w, {.low = {1, 1}, .high = {1, 1}}), 2, 0);
  };
  const Tensor w = normal(random_key(7), {3, 3, 1, 1}), x = normal(random_key(8), {64, 64});
  std::vector<Box> asked;
  std::mutex mutex;
  BoxSource source = source_of(x);
  source.read = [&, read = source.read](const Box& b) {
    const std::lock_guard lock(mutex);
    asked.push_back(b);
    return read(b);
  };
  Communicator c = alone();
  const TileCounts counts =
      tiled_into(c, blur, w, {source}, [](const Box&, const Tensor&) {}, {{16, 16}, 2});
  EXPECT_EQ(
      asked,
      (std::vector<Box>{
          {{0, 0}, {17, 64}}, {{15, 0}, {33, 64}}, {{31, 0}, {49, 64}}, {{47, 0}, {64, 64}}}));
  EXPECT_EQ(counts.tiles, 4);
  EXPECT_EQ(counts.parts, 16);
  EXPECT_EQ(counts.bytes_read, (17 + 18 + 18 + 17) * 64 * 8);
  EXPECT_EQ(counts.bytes_written, 64 * 64 * 8);
}

TEST(Tiles, AStepKnowsParametersOfOtherStructure) {
  Communicator c = alone();
  const Tensor x = normal(random_key(8), {1, 12, 12, 1});
  const auto loss = [](const nn::Conv& layer, const Leaves& i) { return square(layer(i[0])); };
  const auto step = tiled_value_and_grad(c, loss, {source_of(x)}, {{0, 5, 5, 0}});
  nn::Conv layer = nn::conv(random_key(1), {3, 3}, 1, 1);
  for (const Index stride : {1, 2, 1}) {  // no tensor changes
    layer.how.stride = {stride, stride};
    EXPECT_NEAR(step(layer).first.item(), sum(square(layer(x))).item(), 1e-10);
  }
}

TEST(Tiles, WhatASourceOrASinkThrowsIsThrown) {
  const auto same = [](const Tensor& w, const Leaves& i) { return w * i[0]; };
  Communicator c = alone();
  BoxSource source = source_of(ones({8, 8}));
  const auto nothing = [](const Box&, const Tensor&) {};
  const BoxSink full = [](const Box&, const Tensor&) { throw Error("no room"); };
  EXPECT_THROW(tiled_into(c, same, Tensor(2.0), {source}, full, {{2, 2}}), Error);
  source.read = [](const Box& b) -> Tensor {
    if (b.begin[0] > 4) throw Error("a bad block");
    return ones(b.extents());
  };
  EXPECT_THROW(tiled_into(c, same, Tensor(2.0), {source}, nothing, {{2, 2}}), Error);
  source.read = [](const Box&) { return ones({3}); };
  EXPECT_THROW(tiled_into(c, same, Tensor(2.0), {source}, nothing, {{2, 2}}), Error);
  const auto step = tiled_value_and_grad(c, same, {source_of(ones({8, 8}))}, {{2, 2}});
  EXPECT_THROW(grad([&](const Tensor& w) { return step(w).first; })(Tensor(2.0)), Error);
  EXPECT_THROW(step(scalar(2, Dtype::i64)), Error);
}

TEST(Tiles, IntegerImagesAreTakenAsTheyAre) {
  const Tensor labels = cast(normal(random_key(10), {12, 9}) * 3.0, Dtype::i64),
               x = normal(random_key(11), {12, 9});
  const auto f = [](const Tensor& v, const Leaves& i) {
    return v * where(equal(i[1], 1), square(i[0]), i[0]);
  };
  expect_bits_of_parts([&](Communicator& c, Index tile) {
    const auto loss = [&](const Tensor& i) {
      return tiled_sum(c, f, {{3, 4}, tile})(Tensor(0.5), Leaves{i, labels});
    };
    return Leaves{loss(x), grad(loss)(x)};
  });
}

/// The derivative of sum(k w x) in w is k times the sum of 0 ... 107: 3 x 5778, without rounding.
TEST(Tiles, CountersStandBesideTheWeights) {
  struct Scaled {
    Tensor weight, count;
    TESSERA_TREE(weight, count)
  };
  const Tensor x = reshape(arange(108, Dtype::f64), {12, 9}), count = scalar(3, Dtype::i32);
  const auto f = [](const Scaled& m, const Leaves& i) {
    return cast(m.count, Dtype::f64) * m.weight * i[0];
  };
  const auto slope = [&](Communicator& c, Index tile) {
    return grad([&](const Tensor& w) {
      return tiled_sum(c, f, {{3, 4}, tile})(Scaled{w, count}, Leaves{x});
    })(Tensor(0.5));
  };
  Communicator one = alone();
  EXPECT_EQ(slope(one, 1).item(), 3.0 * 5778.0);
  expect_bits_of_parts([&](Communicator& c, Index tile) { return Leaves{slope(c, tile)}; });
}

TEST(Tiles, ResultsOfAnyTypeAreThoseOfTheWholeCall) {
  const Tensor x = normal(random_key(12), {12, 9}), two = Tensor(2.0);
  for (const Dtype t : {Dtype::boolean, Dtype::u8, Dtype::i32, Dtype::i64, Dtype::u32}) {
    const auto labels = [t](const Tensor& v, const Leaves& i) {
      return cast(cast(abs(v * i[0]), Dtype::i64), t);
    };
    const Tensor whole = labels(two, {x});
    const double all = sum(cast(whole, Dtype::f64)).item();
    for (const int ranks : {1, 2, 5})
      run_ranks(ranks, [&](Communicator& c) {
        const auto f = tiled(c, labels, {{3, 4}});
        const Tensor y = f(two, Leaves{x});
        if (y.type() != whole.type()) throw Error("got " + to_string(y.type()));
        if (!equal_bits(cast(y, Dtype::f64), cast(whole, Dtype::f64))) throw Error("other labels");
        // Labels do not move: what they weigh does.
        const auto weighed = [&](const Tensor& v) {
          return v * sum(cast(f(v, Leaves{x}), Dtype::f64));
        };
        if (grad(weighed)(two).item() != all) throw Error("labels have a derivative");
      });
  }
}

}  // namespace
}  // namespace tessera::parallel
