// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/tile_streams.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/thread_count.h"
#include "traced_image.h"

#include <complex>
#include <cstring>
#include <future>
#include <map>
#include <optional>
#include <tuple>

namespace tessera::parallel {
namespace {

std::vector<Type> types_of_sources(const std::vector<BoxSource>& images) {
  std::vector<Type> t;
  for (const BoxSource& s : images) t.push_back(s.type);
  return t;
}
std::vector<Type> types_of_leaves(const std::vector<Tensor>& x) {
  std::vector<Type> t;
  for (const Tensor& v : x) {
    if (v.is_traced())
      throw Error(
          "[tiled] parameters are traced: images that are read by boxes have no other "
          "derivatives than those of tiled_value_and_grad");
    t.push_back(v.type());
  }
  return t;
}

/// What follows a part's graph and its constants, equal for parts that run the same plan.
std::string key_of(const tessera::Cut& cut) {
  std::string key = to_string(cut.graph);
  for (const auto& [id, t] : cut.graph.captures) {
    const Tensor row_major = contiguous(t);
    key.append(static_cast<const char*>(row_major.view().data),
               static_cast<std::size_t>(row_major.size()) * size_of(row_major.dtype()));
  }
  return key;
}

/// Which of the graphs a part runs is part of what its plan is chosen by.
struct PartInputs {
  std::vector<Tensor> parameters, boxes;
  Index graph;
  TESSERA_TREE(parameters, boxes)
  TESSERA_STATIC(graph)
};

/// Parts' graphs, each kept once, of which many parts are one.
struct Program {
  TracedImage traced;
  Parts parts;
  std::map<std::string, Index> number;
  std::vector<tessera::Graph> graphs;

  Index graph_of(const tessera::Cut& cut) {
    const auto [at, is_new] = number.emplace(key_of(cut), static_cast<Index>(graphs.size()));
    if (is_new) graphs.push_back(cut.graph);
    return at->second;
  }
  Tensor run(const std::vector<Tensor>& parameters, const std::vector<Tensor>& boxes,
             Index graph) const {
    std::vector<Tensor> x = parameters;
    x.insert(x.end(), boxes.begin(), boxes.end());
    return evaluate(graphs[static_cast<std::size_t>(graph)], x)[0];
  }
};
constexpr std::size_t kKeptPlans = 64;

std::unique_ptr<Program> program(const FunctionOfImages& f, const std::vector<Type>& parameters,
                                 const std::vector<BoxSource>& images, SourceLine line) {
  auto p = std::make_unique<Program>();
  p->traced = trace_image(f, parameters, types_of_sources(images), line);
  return p;
}

/// The smallest box that holds what all parts of a tile need of an image.
Box hull_of(const std::vector<tessera::Cut>& cuts, std::size_t input) {
  Box all;
  bool none = true;
  for (const tessera::Cut& c : cuts) {
    const Box& b = c.inputs[input];
    if (none) all = b;
    if (b.empty()) continue;
    if (none || all.empty()) all = b;
    none = false;
    for (int d = 0; d < b.begin.size(); ++d) {
      all.begin[d] = std::min(all.begin[d], b.begin[d]);
      all.end[d] = std::max(all.end[d], b.end[d]);
    }
  }
  return all;
}

/// A box of an array of which box `all` is there.
Tensor piece(const Tensor& there, const Box& all, const Box& b) {
  if (b.empty()) return zeros(b.extents(), there.dtype());
  Shape begin = b.begin, end = b.end;
  for (int d = 0; d < begin.size(); ++d) begin[d] -= all.begin[d], end[d] -= all.begin[d];
  return contiguous(slice(there, begin, end));
}

struct Tile {
  std::vector<Index> parts;
  std::vector<tessera::Cut> cuts;
  std::vector<Box> boxes;      ///< of each image
  std::vector<Tensor> images;  ///< these boxes
};
/// f(tile) for those of this rank, of which the next is read meanwhile.
template <class F>
TileCounts each_tile(Communicator& c, const Program& p, const std::vector<BoxSource>& images,
                     const F& f) {
  const PartsOfRanks held = deal_tiles(p.parts, c.size());
  const auto me = static_cast<std::size_t>(c.rank());
  std::vector<Index> begin;  // of this rank's tiles, whole or parts of them
  for (const Index at : p.parts.tiles)
    if (at > held[me] && at < held[me + 1]) begin.push_back(at);
  if (held[me] < held[me + 1]) begin.insert(begin.begin(), held[me]);
  begin.push_back(held[me + 1]);

  TileCounts counts;
  const auto read = [&](std::size_t k) {
    const ThreadCount threads(k == 0 ? num_threads() : 1);  // others compute meanwhile
    Tile t;
    for (Index part = begin[k]; part < begin[k + 1]; ++part) {
      t.parts.push_back(part);
      t.cuts.push_back(cut_image(p.traced, p.parts.boxes[static_cast<std::size_t>(part)]));
    }
    for (std::size_t i = 0; i < images.size(); ++i) {
      t.boxes.push_back(hull_of(t.cuts, p.traced.parameters + i));
      const Type expected{images[i].type.dtype, t.boxes.back().extents()};
      t.images.push_back(t.boxes.back().empty() ? zeros(expected.shape, expected.dtype)
                                                : images[i].read(t.boxes.back()));
      if (t.images.back().type() != expected)
        throw Error("[tiled] image " + std::to_string(i) + " gave " +
                    to_string(t.images.back().type()) + " for box " + to_string(t.boxes.back()));
      counts.bytes_read += static_cast<double>(t.images.back().size()) *
                           static_cast<double>(size_of(expected.dtype));
    }
    return t;
  };
  const std::size_t tiles = begin.size() - 1;
  std::future<Tile> next;
  for (std::size_t k = 0; k < tiles; ++k) {
    Tile t = k == 0 ? read(0) : next.get();
    if (k + 1 < tiles) next = std::async(std::launch::async, read, k + 1);
    f(t);
    ++counts.tiles;
    counts.parts += static_cast<Index>(t.parts.size());
  }
  return counts;
}
/// The box that n boxes fill; none where they do not, as some parts of a tile.
template <class F>
std::optional<Box> filled(std::size_t n, const F& box) {
  Box all = box(0);
  Index positions = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Box& b = box(k);
    positions += b.extents().count();
    for (int d = 0; d < b.begin.size(); ++d) {
      all.begin[d] = std::min(all.begin[d], b.begin[d]);
      all.end[d] = std::max(all.end[d], b.end[d]);
    }
  }
  return positions == all.extents().count() ? std::optional(all) : std::nullopt;
}
/// Copies the row-major values of box b to where they lie in those of box `all`.
void put(const Tensor& values, const Box& b, const Tensor& to, const Box& all) {
  if (b.empty()) return;
  const Shape n = b.extents(), whole = all.extents();
  const int axes = n.size();
  const Index row = axes == 0 ? 1 : n[axes - 1], rows = axes == 0 ? 1 : n.count() / row;
  const auto bytes = static_cast<std::size_t>(row) * size_of(values.dtype());
  const auto* from = static_cast<const std::byte*>(values.view().data);
  auto* begin = static_cast<std::byte*>(to.view().data);
  parallel_chunks(rows, [&](std::int64_t k) {
    Index at = axes == 0 ? 0 : b.begin[axes - 1] - all.begin[axes - 1], step = 1, rest = k;
    for (int d = axes - 1; d-- > 0; rest /= n[d]) {
      step *= whole[d + 1];
      at += (b.begin[d] - all.begin[d] + rest % n[d]) * step;
    }
    std::memcpy(begin + static_cast<std::size_t>(at) * size_of(values.dtype()),
                from + static_cast<std::size_t>(k) * bytes, bytes);
  });
}

std::vector<Tensor> boxes_of_part(const Program& p, const Tile& t, std::size_t k) {
  std::vector<Tensor> boxes;
  for (std::size_t i = 0; i < t.images.size(); ++i)
    boxes.push_back(piece(t.images[i], t.boxes[i], t.cuts[k].inputs[p.traced.parameters + i]));
  return t.cuts[k].operands(boxes);
}

/// Rows of leaves of several element types, summed over parts.
class SumsOfLeaves {
 public:
  SumsOfLeaves(const PartsOfRanks& held, int rank, const std::vector<Type>& leaves)
      : leaves_(leaves) {
    const auto start = [&](auto& sum) {
      using T = typename std::decay_t<decltype(*sum)>::Element;
      Index n = 0;
      for (const Type& t : leaves)
        if (is_of<T>(t)) n += t.shape.count();
      if (n > 0) sum.emplace(held, rank, n);
    };
    std::apply([&](auto&... sum) { (start(sum), ...); }, sums_);
    for (const Type& t : leaves)
      if (!contains(kInexact, t.dtype))
        throw Error("[tiled] a parameter " + to_string(t) + " has no gradient");
  }
  void add(const std::vector<Tensor>& leaves) {
    const auto take = [&](auto& sum) {
      if (!sum) return;
      using T = typename std::decay_t<decltype(*sum)>::Element;
      std::vector<T> row;
      for (const Tensor& x : leaves)
        if (is_of<T>(x.type())) {
          const std::vector<T> v = x.to_vector<T>();
          row.insert(row.end(), v.begin(), v.end());
        }
      sum->sum.add(std::move(row));
    };
    std::apply([&](auto&... sum) { (take(sum), ...); }, sums_);
  }
  std::vector<Tensor> finish(Communicator& c, SourceLine line) {
    std::vector<Tensor> out(leaves_.size());
    const auto give = [&](auto& sum) {
      if (!sum) return;
      using T = typename std::decay_t<decltype(*sum)>::Element;
      const std::vector<T> row = sum->sum.finish(c, line);
      std::size_t at = 0;
      for (std::size_t k = 0; k < leaves_.size(); ++k)
        if (is_of<T>(leaves_[k])) {
          const auto n = static_cast<std::size_t>(leaves_[k].shape.count());
          out[k] = from_span<T>(std::span<const T>(row).subspan(at, n), leaves_[k].shape);
          at += n;
        }
    };
    std::apply([&](auto&... sum) { (give(sum), ...); }, sums_);
    for (std::size_t k = 0; k < leaves_.size(); ++k)
      if (!out[k].defined()) out[k] = zeros(leaves_[k].shape, leaves_[k].dtype);  // no elements
    return out;
  }

 private:
  template <class T>
  struct Typed {
    using Element = T;
    Typed(const PartsOfRanks& held, int rank, Index n) : sum(held, rank, n) {}
    RunningSum<T> sum;
  };
  template <class T>
  static bool is_of(const Type& t) {
    return t.dtype == dtype_of<T>();
  }
  std::vector<Type> leaves_;
  std::tuple<std::optional<Typed<float>>, std::optional<Typed<double>>, std::optional<Typed<c64>>,
             std::optional<Typed<c128>>>
      sums_;
};

}  // namespace

BoxSource source_of(const Tensor& x) {
  return {x.type(), [x](const Box& b) { return piece(x, whole_box(x.shape()), b); }};
}

TileCounts detail::image_into(Communicator& c, const FunctionOfImages& f,
                              const std::vector<Tensor>& parameters,
                              const std::vector<BoxSource>& images, const BoxSink& sink,
                              const Tiling& t, SourceLine line) {
  const auto p = program(f, types_of_leaves(parameters), images, line);
  p->parts = strips_of(p->traced.result.shape, t);
  const auto compute =
      jit([&p](const PartInputs& in) { return p->run(in.parameters, in.boxes, in.graph); },
          {.keep = kKeptPlans});
  double written = 0;
  std::future<void> writing;
  const auto write = [&](const Box& b, const Tensor& y) {
    written += static_cast<double>(y.size()) * static_cast<double>(size_of(y.dtype()));
    if (writing.valid()) writing.get();
    writing = std::async(std::launch::async, [&sink, b, y] {
      const ThreadCount threads(1);
      sink(b, y);
    });
  };
  TileCounts counts = each_tile(c, *p, images, [&](const Tile& tile) {
    const auto box = [&](std::size_t k) -> const Box& {
      return p->parts.boxes[static_cast<std::size_t>(tile.parts[k])];
    };
    const std::optional<Box> whole = filled(tile.parts.size(), box);
    const Tensor all = whole ? empty({p->traced.result.dtype, whole->extents()}) : Tensor();
    for (std::size_t k = 0; k < tile.parts.size(); ++k) {
      const Tensor y =
          compute(PartInputs{parameters, boxes_of_part(*p, tile, k), p->graph_of(tile.cuts[k])});
      if (whole)
        put(contiguous(y), box(k), all, *whole);
      else
        write(box(k), y);
    }
    if (whole) write(*whole, all);
  });
  if (writing.valid()) writing.get();
  counts.bytes_written = written;
  return counts;
}

struct detail::TiledGradient::Kept {
  Communicator& c;
  std::vector<BoxSource> images;
  Tiling tiling;
  SourceLine line;
  std::vector<Type> types;  ///< of the parameters that the program was made for
  TreeStructure structure;
  std::unique_ptr<Program> program;
  std::function<std::vector<Tensor>(const PartInputs&)> of_part;
};

detail::TiledGradient::TiledGradient(Communicator& c, std::vector<BoxSource> images,
                                     const Tiling& t, SourceLine line)
    : kept_(new Kept{c, std::move(images), t, line, {}, {}, {}, {}}) {}

std::vector<Tensor> detail::TiledGradient::run(const FunctionOfImages& f,
                                               const std::vector<Tensor>& parameters,
                                               const TreeStructure& structure) const {
  Kept& k = *kept_;
  const std::vector<Type> types = types_of_leaves(parameters);
  if (!k.program || k.types != types || k.structure != structure) {
    k.types = types, k.structure = structure;
    k.program = program(f, types, k.images, k.line);
    k.program->parts = parts_of(k.program->traced.result.shape, k.tiling);
    k.of_part = jit(
        [p = k.program.get()](const PartInputs& in) {
          const auto [value, gradient] = value_and_grad([&](const std::vector<Tensor>& v) {
            return sum(p->run(v, in.boxes, in.graph));
          })(in.parameters);
          std::vector<Tensor> all{value};
          all.insert(all.end(), gradient.begin(), gradient.end());
          return all;
        },
        {.keep = kKeptPlans});
  }
  Program& p = *k.program;
  std::vector<Type> leaves{{p.traced.result.dtype, {}}};
  leaves.insert(leaves.end(), types.begin(), types.end());
  SumsOfLeaves sums(deal_tiles(p.parts, k.c.size()), k.c.rank(), leaves);
  each_tile(k.c, p, k.images, [&](const Tile& tile) {
    for (std::size_t n = 0; n < tile.parts.size(); ++n)
      sums.add(
          k.of_part(PartInputs{parameters, boxes_of_part(p, tile, n), p.graph_of(tile.cuts[n])}));
  });
  return sums.finish(k.c, k.line);
}

}  // namespace tessera::parallel
