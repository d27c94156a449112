// SPDX-License-Identifier: Apache-2.0
//
// Layouts by chance on meshes of ranks: what a redistribution gives against slices of the whole
// tensor, what it sends against what nobody can go below, counted element by element.
#include "tessera/parallel/layout.h"

#include "dealt.h"
#include "layouts.h"
#include "tessera/autodiff/jit.h"

#include <gtest/gtest.h>

namespace tessera::parallel {
namespace {

using namespace checks;

Tensor in_box(const Tensor& whole, const Box& b) {
  Tensor x = whole;
  for (int d = 0; d < whole.ndim(); ++d) x = slice(x, d, b.begin[d], b.end[d]);
  return contiguous(x);
}
/// A number for the places of a rank along the axes that are named.
int places(const RankMesh& mesh, int rank, const std::vector<std::string>& names) {
  int p = 0;
  for (const std::string& name : names) {
    const int a = mesh.index_of(name);
    p = p * mesh.axis(a).size + mesh.place_of(rank, a);
  }
  return p;
}
int count_of(const RankMesh& mesh, const std::vector<std::string>& names) {
  int n = 1;
  for (const std::string& name : names) n *= mesh.axis(mesh.index_of(name)).size;
  return n;
}
/// What a rank holds of it: parts of the sum by chance, that of place 0 what is missing.
Tensor part_of(const RankMesh& mesh, const Layout& l, const Tensor& of, int rank) {
  const int me = places(mesh, rank, l.partial), n = count_of(mesh, l.partial);
  const auto share = [&](int k) {
    return whole(900 + static_cast<std::uint64_t>(k), of.shape(), of.dtype());
  };
  Tensor mine = of;
  if (me > 0) mine = share(me);
  for (int k = 1; k < n && me == 0; ++k) mine = mine - share(k);
  return in_box(mine, box_of(mesh, of.shape(), l, rank));
}

/// Whether what all ranks have is `of`, parts of sums added up.
void require_whole(const RankMesh& mesh, const Layout& l, const Tensor& of, const Tensor& mine,
                   const std::string& what) {
  Communicator& c = mesh.communicator();
  const Box box = box_of(mesh, of.shape(), l, c.rank());
  require(mine.shape() == box.extents(), "shape, " + what);
  std::vector<std::string> others;
  for (int a = 0; a < mesh.axes(); ++a)
    if (std::find(l.partial.begin(), l.partial.end(), mesh.axis(a).name) == l.partial.end())
      others.push_back(mesh.axis(a).name);
  const auto all = c.all_gather(to_bytes(mine.to_vector()));
  Tensor sum = zeros(mine.shape());
  for (int r = 0; r < c.size(); ++r)
    if (places(mesh, r, others) == places(mesh, c.rank(), others))
      sum = sum + tensor(from_bytes<double>(all[static_cast<std::size_t>(r)]), mine.shape());
  require(same_values(sum + 0.0, in_box(of, box) + 0.0), "values, " + what);
}

/// The fewest elements that can be sent, one by one: who wants one and lacks it gets it; a sum of n
/// parts takes n - 1 to be made where one of them is, and one for each other rank that wants it.
Index fewest(const RankMesh& mesh, const Shape& shape, const Layout& from, const Layout& to) {
  const int ranks = mesh.communicator().size(), parts = count_of(mesh, from.partial);
  const auto is_in = [](const Shape& at, const Box& b) {
    for (int d = 0; d < at.size(); ++d)
      if (at[d] < b.begin[d] || at[d] >= b.end[d]) return false;
    return true;
  };
  std::vector<Box> have, want;
  for (int r = 0; r < ranks; ++r)
    have.push_back(box_of(mesh, shape, from, r)), want.push_back(box_of(mesh, shape, to, r));
  Index sent = 0;
  Shape at = Shape::filled(shape.size(), 0);
  for (Index k = 0; k < shape.count(); ++k) {
    Index wanted = 0, lack = 0;
    for (std::size_t r = 0; r < have.size(); ++r) {
      if (!is_in(at, want[r])) continue;
      ++wanted;
      lack += !is_in(at, have[r]);
    }
    if (parts == 1)
      sent += lack;
    else if (wanted > 0)
      sent += parts - 1 + wanted - (lack < wanted ? 1 : 0);
    for (int d = shape.size() - 1; d >= 0 && ++at[d] == shape[d]; --d) at[d] = 0;
  }
  return sent;
}

/// The same where parts of a sum are made: of the ranks along `to.partial` one has the value, which
/// takes nothing where one of them has it already.
Index fewest_of_parts(const RankMesh& mesh, const Shape& shape, const Layout& from,
                      const Layout& to) {
  std::vector<std::string> others;
  for (int a = 0; a < mesh.axes(); ++a)
    if (std::find(to.partial.begin(), to.partial.end(), mesh.axis(a).name) == to.partial.end())
      others.push_back(mesh.axis(a).name);
  Index sent = 0;
  Shape at = Shape::filled(shape.size(), 0), next = at;
  for (Index k = 0; k < shape.count(); ++k) {
    for (int d = 0; d < at.size(); ++d) next[d] = at[d] + 1;
    const Box one{at, next};
    std::map<int, bool> has_it;  // by the places along the other axes
    for (int r = 0; r < mesh.communicator().size(); ++r)
      if (one.within(box_of(mesh, shape, to, r))) {
        bool& has = has_it[places(mesh, r, others)];
        has = has || one.within(box_of(mesh, shape, from, r));
      }
    for (const auto& [place, has] : has_it) sent += !has;
    for (int d = shape.size() - 1; d >= 0 && ++at[d] == shape[d]; --d) at[d] = 0;
  }
  return sent;
}

std::string text_of(const Layout& l) {
  std::string s;
  for (const AxisLayout& a : l.axes) {
    s += "[";
    for (const std::string& o : a.over) s += o;
    for (const Index b : a.begin) s += " " + std::to_string(b);
    s += " <" + std::to_string(a.low) + " >" + std::to_string(a.high) + "]";
  }
  for (const std::string& p : l.partial) s += " +" + p;
  return s;
}

std::uint64_t sent_by_ranks(Communicator& c, const std::function<void()>& f) {
  const std::uint64_t before = c.sent_bytes();
  f();
  const auto mine = static_cast<double>(c.sent_bytes() - before);
  return static_cast<std::uint64_t>(over_ranks(c, mine));
}

void pairs_by_chance(int ranks, const Axes& axes, const Shape& shape, bool sums, int pairs,
                     std::uint64_t seed) {
  run_ranks(ranks, [&](Communicator& c) {
    const RankMesh mesh(c, axes);
    std::mt19937_64 random(seed);
    const Tensor all = whole(3, shape);
    for (int k = 0; k < pairs; ++k) {
      const Layout from = layout_by_chance(axes, shape, sums, random),
                   to = layout_by_chance(axes, shape, sums, random);
      const std::string what = text_of(from) + " -> " + text_of(to);
      const auto r = redistribution(mesh, shape, from, to);
      Tensor y;
      std::uint64_t messages = 0;
      const Tensor x = part_of(mesh, from, all, c.rank());
      const std::uint64_t sent = sent_by_ranks(c, [&] {
        const std::uint64_t before = c.sent_messages();
        y = redistribute(r, x);
        messages = c.sent_messages() - before;
      });
      require_whole(mesh, to, all, y, what);
      require(sent == 8 * static_cast<std::uint64_t>(sent_by_all(*r)), "what it says, " + what);
      const auto steps = static_cast<std::uint64_t>(from.partial.empty() ? 1 : 2);
      require(messages <= steps * static_cast<std::uint64_t>(c.size() - 1), "messages, " + what);
      if (!to.partial.empty()) {
        const bool overlaps = std::any_of(from.axes.begin(), from.axes.end(),
                                          [](const AxisLayout& a) { return a.low + a.high > 0; });
        if (from.partial.empty() && !overlaps)
          require(sent_by_all(*r) == fewest_of_parts(mesh, shape, from, to), "bytes, " + what);
        continue;
      }
      const Index least = fewest(mesh, shape, from, to);
      if (from.partial.empty())
        require(sent_by_all(*r) == least, "bytes " + std::to_string(sent_by_all(*r)) + " over " +
                                              std::to_string(least) + ", " + what);
      else
        require(sent_by_all(*r) >= least, "fewer than can be, " + what);
    }
  });
}

TEST(Layouts, GiveWhatSlicesGiveAndSendTheLeast) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 8})
    for (const Axes& axes : meshes_of(ranks))
      for (const Shape& shape :
           {Shape{7, 5, 6}, Shape{13}, Shape{2, 3}, Shape{3, 0}, Shape{1, 1, 1}})
        pairs_by_chance(ranks, axes, shape, false, 12, static_cast<std::uint64_t>(ranks));
}

TEST(Layouts, SumsAndPartsOfSums) {
  for (const int ranks : {2, 3, 4, 5, 6, 8})
    for (const Axes& axes : meshes_of(ranks))
      for (const Shape& shape : {Shape{7, 5, 6}, Shape{13}, Shape{2, 3}, Shape{}})
        pairs_by_chance(ranks, axes, shape, true, 12, 7 + static_cast<std::uint64_t>(ranks));
}

// Every pair of: cut along each axis or two, whole, overlapping, parts of a sum over all ranks.
TEST(Layouts, AllPairsOnMeshesOfTheTable) {
  const Shape shape{12, 10, 9};
  struct Case {
    const char* name;
    Axes axes;
  };
  for (const Case& k : {Case{"5", {{"a", 5}}}, Case{"2x3", {{"a", 2}, {"b", 3}}},
                        Case{"2x2x2", {{"a", 2}, {"b", 2}, {"c", 2}}}}) {
    int ranks = 1;
    std::vector<std::string> names;
    for (const RankMesh::Axis& a : k.axes) ranks *= a.size, names.push_back(a.name);
    std::vector<Layout> all{{{whole(), whole(), whole()}}};
    for (std::size_t d = 0; d < 3; ++d) {
      Layout l{std::vector<AxisLayout>(3)};
      l.axes[d].over = names;  // one axis by all ranks
      all.push_back(l);
      l.axes[d].low = 1, l.axes[d].high = 2;
      all.push_back(l);
      if (names.size() == 1) continue;
      Layout tiles{std::vector<AxisLayout>(3)};
      for (std::size_t a = 0; a < names.size(); ++a) {
        tiles.axes[(d + a) % 3].over = {names[a]};
        Layout one{std::vector<AxisLayout>(3)};  // by some of them, the same on the others
        one.axes[d].over = {names[a]};
        all.push_back(one);
      }
      all.push_back(tiles);
      for (AxisLayout& a : tiles.axes) a.low = a.high = 1;
      all.push_back(tiles);
    }
    Layout sum{std::vector<AxisLayout>(3), names};
    double of_pairs = 0, of_sums = 0;  // rank 0's
    run_ranks(ranks, [&](Communicator& c) {
      const RankMesh mesh(c, k.axes);
      const Tensor g = whole(3, shape);
      double worst = 1, worst_sum = 1;
      const auto over_least = [&](const Layout& from, const Layout& to, double& at_most) {
        const auto r = redistribution(mesh, shape, from, to);
        const Tensor x = part_of(mesh, from, g, c.rank());
        Tensor y;
        const std::uint64_t sent = sent_by_ranks(c, [&] { y = redistribute(r, x); });
        require_whole(mesh, to, g, y, text_of(from) + " -> " + text_of(to));
        const auto least = 8 * fewest(mesh, shape, from, to);
        require(sent == 0 || least > 0, "sends what is there");
        if (least > 0)
          at_most = std::max(at_most, static_cast<double>(sent) / static_cast<double>(least));
      };
      for (const Layout& from : all)
        for (const Layout& to : all) over_least(from, to, worst);
      for (const Layout& to : all) over_least(sum, to, worst_sum);
      require(worst == 1.0, "bytes over the least: " + std::to_string(worst));
      if (c.rank() == 0) of_pairs = worst, of_sums = worst_sum;
    });
    for (const auto& [what, value] : {std::pair("bytes_over_least_", of_pairs),
                                      std::pair("bytes_of_sums_over_least_", of_sums)}) {
      char text[32];
      std::snprintf(text, sizeof text, "%.6g", value);
      std::printf("  measured %s%s %s\n", what, k.name, text);
      RecordProperty(std::string(what) + k.name, text);
    }
  }
}

TEST(Layouts, MinusZeroNaNAndEveryType) {
  run_ranks(4, [](Communicator& c) {
    const RankMesh mesh(c, {{"a", 2}, {"b", 2}});
    const Layout rows{{cut_over("a"), whole()}}, columns{{whole(), cut_over("b")}};
    const auto r = redistribution(mesh, {4, 6}, rows, columns);
    for (const Dtype t :
         {Dtype::boolean, Dtype::i32, Dtype::i64, Dtype::f32, Dtype::c64, Dtype::c128}) {
      const Tensor g = cast(whole(1, {4, 6}), t);
      require(same_values(redistribute(r, in_box(g, box_of(mesh, {4, 6}, rows, c.rank()))),
                          in_box(g, box_of(mesh, {4, 6}, columns, c.rank()))),
              "of " + std::string(name_of(t)));
    }
    const Tensor odd = full({2, 6}, -0.0), bad = odd / 0.0;
    require(same_values(redistribute(r, odd), full({4, 3}, -0.0)), "-0 stays");
    for (const double v : redistribute(r, bad).to_vector()) require(std::isnan(v), "NaN stays");
    // The first of a sum sets.
    const Layout parts{{whole(), whole()}, {"a"}};
    const auto s = redistribution(mesh, {4, 6}, parts, rows);
    require(same_values(redistribute(s, full({4, 6}, -0.0)), full({2, 6}, -0.0)), "-0 + -0");
  });
}

TEST(Layouts, CotangentsOfWhatIsWholeAreParts) {
  // A loss of a product whose operands lie in three ways, against one process.
  constexpr Index kRows = 6, kIn = 4, kOut = 5;
  const Tensor x = whole(1, {kRows, kIn}), w = whole(2, {kIn, kOut}), v = whole(3, {kIn, kOut});
  const auto one = [&](Tensor u) { return sum(square(square(matmul(x, u)))); };
  const Tensor gradient = grad(one)(w), product = hvp(one, w, v);
  run_ranks(6, [&](Communicator& c) {
    const RankMesh mesh(c, {{"data", 3}, {"model", 2}});
    const Layout rows{{cut_over("data"), whole()}}, columns{{whole(), cut_over("model")}},
        tiles{{cut_over("data"), cut_over("model")}}, all{{whole(), whole()}};
    const auto mine = [&](const Tensor& g, const Layout& l) {
      return in_box(g, box_of(mesh, g.shape(), l, c.rank()));
    };
    const auto to_columns = redistribution(mesh, {kIn, kOut}, tiles, columns);
    // w lies in tiles; each rank has some rows of x and takes some columns of w.
    const auto loss = [&](Tensor u) {
      const Tensor y = matmul(mine(x, rows), redistribute(to_columns, u));
      return sum_over_ranks(c, sum(square(square(y))));
    };
    require(loss(mine(w, tiles)).item() == one(w).item(), "loss");
    require(same_values(grad(loss)(mine(w, tiles)), mine(gradient, tiles)), "gradient");
    require(same_values(jit(grad(loss))(mine(w, tiles)), mine(gradient, tiles)), "planned");
    require(same_values(hvp(loss, mine(w, tiles), mine(v, tiles)), mine(product, tiles)),
            "Hessian product");
    // The same with w whole: its gradient comes in parts, which are added up to any layout.
    const Layout parts = cotangent_of(mesh, all);
    require(parts == Layout{all.axes, {"data", "model"}} && cotangent_of(mesh, parts) == all &&
                cotangent_of(mesh, rows) == Layout{rows.axes, {"model"}},
            "layouts of cotangents");
    const auto take = redistribution(mesh, {kIn, kOut}, all, columns);
    const auto of_whole = [&](Tensor u) {
      const Tensor y = matmul(mine(x, rows), redistribute(take, u));
      return sum_over_ranks(c, sum(square(square(y))));
    };
    const auto sum_up = redistribution(mesh, {kIn, kOut}, parts, tiles);
    require(same_values(redistribute(sum_up, grad(of_whole)(w)), mine(gradient, tiles)), "parts");
  });
}

TEST(Layouts, LargeBoxesGoPastTheCaches) {
  run_ranks(2, [](Communicator& c) {
    const RankMesh mesh(c, {{"a", 2}});
    const Layout rows{{cut_over("a"), whole(), whole()}},
        tiles{{whole(), overlapping("a", 1, 0), whole()}};
    const Shape shape{300, 151, 101};
    const Tensor g = cast(reshape(arange(shape.count()), shape), Dtype::f64);
    const auto r = redistribution(mesh, shape, rows, tiles);
    require(same_values(redistribute(r, in_box(g, box_of(mesh, shape, rows, c.rank()))),
                        in_box(g, box_of(mesh, shape, tiles, c.rank()))),
            "values");
  });
}

TEST(Layouts, RefuseWhatDoesNotFit) {
  Communicator c = alone();
  const auto expect = [&](const std::string& words, const std::function<void()>& f) {
    std::string text;
    try {
      f();
    } catch (const Error& e) {
      text = e.what();
    }
    EXPECT_NE(text.find(words), std::string::npos) << "'" << words << "' in: " << text;
  };
  const RankMesh mesh(c, {{"a", 1}, {"b", 1}});
  const Layout rows{{cut_over("a"), whole()}};
  expect("[rank_mesh] its axes have 6 ranks, the program has 1", [&] {
    RankMesh(c, {{"a", 2}, {"b", 3}});
  });
  expect("two axes are called 'a'", [&] { RankMesh(c, {{"a", 1}, {"a", 1}}); });
  expect("axis 'a' has 0 ranks", [&] { RankMesh(c, {{"a", 0}}); });
  expect("[layout] it says how 2 axes lie, of a tensor [3]",
         [&] { redistribution(mesh, {3}, rows, rows); });
  expect("the mesh has no axis 'x', it has a, b", [&] {
    redistribution(mesh, {3, 2}, rows, {{cut_over("x"), whole()}});
  });
  expect("uses the mesh's axis 'a' twice", [&] {
    redistribution(mesh, {3, 2}, rows, {{cut_over("a"), cut_over("a")}});
  });
  expect("uses the mesh's axis 'a' twice", [&] {
    redistribution(mesh, {3, 2}, rows, {{cut_over("a"), whole()}, {"a"}});
  });
  expect("axis 0 of [3,2] in 1 parts begins at 2 numbers from 0 to 3 that do not fall, got 3", [&] {
    redistribution(mesh, {3, 2}, rows, {{cut_over("a", {0, 2, 3}), whole()}});
  });
  expect("widths are not negative", [&] {
    redistribution(mesh, {3, 2}, rows, {{overlapping("a", -1, 0), whole()}});
  });
  expect("[redistribute] takes a rank's part [3,2] of [3,2], got f64[2]", [&] {
    redistribute(redistribution(mesh, {3, 2}, rows, {{whole(), whole()}}), ones({2}));
  });
  expect("[redistribute] takes a rank's part [3,2], got f64[2]", [&] {
    redistribute(redistribution(mesh, {3, 2}, rows, rows), ones({2}));
  });
  expect("[redistribute] takes a tensor, got a number", [&] {
    redistribute(redistribution(mesh, {3, 2}, rows, rows), 1.0);
  });
  expect("cotangents of what overlaps are no layout", [&] {
    cotangent_of(mesh, {{overlapping("a", 1, 0), whole()}});
  });
}

}  // namespace
}  // namespace tessera::parallel
