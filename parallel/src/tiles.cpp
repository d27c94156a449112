// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/tiles.h"

#include "part_copies.h"
#include "patches.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/parallel/exchanges.h"
#include "traced_image.h"

namespace tessera::parallel {

TracedImage trace_image(const FunctionOfImages& f, std::span<const Type> parameters,
                        std::span<const Type> images, SourceLine line) {
  std::vector<Type> types(parameters.begin(), parameters.end());
  types.insert(types.end(), images.begin(), images.end());
  const std::size_t n = parameters.size();
  TracedImage t{trace(
                    [&](const std::vector<Tensor>& x) {
                      const auto images_at = x.begin() + static_cast<std::ptrdiff_t>(n);
                      return std::vector{f({x.begin(), images_at}, {images_at, x.end()})};
                    },
                    types),
                n,
                {}};
  for (const auto& [id, captured] : t.graph.captures)
    if (captured.is_traced())
      throw Error("[tiled] " + to_string(line) + ": the function uses " +
                  to_string(captured.type()) +
                  " of an outer transform; pass it as a parameter or an image");
  t.result = t.graph.types[t.graph.outputs[0]];
  return t;
}
tessera::Cut cut_image(const TracedImage& f, const Box& part) {
  std::vector<bool> flags(f.graph.inputs.size(), true);
  std::fill_n(flags.begin(), f.parameters, false);
  return cut(f.graph, part, flags);
}

namespace {

std::vector<Type> types_of(const std::vector<Tensor>& x) {
  std::vector<Type> t;
  for (const Tensor& v : x) t.push_back(v.type());
  return t;
}

/// The boxes of this rank's parts one after the other, of an image that is the same on all ranks.
/// The transpose adds up those of all ranks in the order of the parts.
Tensor taken_by_ranks(Communicator& c, const PatchesPtr& mine, const PatchesPtr& all,
                      const PartsOfRanks& rows, const Tensor& image) {
  if (!is_inexact(image.dtype())) return taken(mine, image);
  return custom_linear(
      [mine](const std::vector<Tensor>& x) { return std::vector{taken(mine, x[0])}; },
      [&c, all, rows](const std::vector<Tensor>& ct) {
        return std::vector{put_back(all, all_gather(c, rows, ct[0]))};
      })({image})[0];
}
/// The other way: parts that do not overlap make a result that is the same on all ranks.
Tensor put_by_ranks(Communicator& c, const PatchesPtr& mine, const PatchesPtr& all,
                    const PartsOfRanks& rows, const Tensor& row) {
  if (row.dtype() == Dtype::boolean)
    return cast(put_by_ranks(c, mine, all, rows, cast(row, Dtype::u8)), Dtype::boolean);
  const auto put = [&c, all, rows](const std::vector<Tensor>& x) {
    return std::vector{put_back(all, all_gather(c, rows, x[0]))};
  };
  if (!is_inexact(row.dtype())) return put({row})[0];
  return custom_linear(put, [mine](const std::vector<Tensor>& ct) {
    return std::vector{taken(mine, ct[0])};
  })({row})[0];
}

/// Boxes of all parts, those of this rank, and where those of each rank begin among the elements.
struct DealtPatches {
  PatchesPtr mine, all;
  PartsOfRanks rows;
  DealtPatches(const Shape& whole, const std::vector<Box>& boxes, const PartsOfRanks& held,
               int rank) {
    all = patches(whole, boxes);
    for (const Index part : held) rows.push_back(all->begin[static_cast<std::size_t>(part)]);
    const auto me = static_cast<std::size_t>(rank);
    mine = patches(whole, {boxes.begin() + held[me], boxes.begin() + held[me + 1]});
  }
};

/// What each part of this rank gives: `of_part` of its box of the result.
struct PartsOfImage {
  std::vector<Tensor> results;
  Type whole;
  Parts parts;
  PartsOfRanks held;
};
PartsOfImage results_of_parts(Communicator& c, const FunctionOfImages& f,
                              const std::vector<Tensor>& parameters,
                              const std::vector<Tensor>& images, const Tiling& t, SourceLine line,
                              const std::function<Tensor(const Tensor&)>& of_part) {
  const TracedImage traced = trace_image(f, types_of(parameters), types_of(images), line);
  PartsOfImage out{{}, traced.result, parts_of(traced.result.shape, t), {}};
  const auto parts = static_cast<Index>(out.parts.boxes.size());
  if (parts < c.size())
    throw Error("[tiled] " + to_string(line) + ": " + std::to_string(parts) + " parts for " +
                std::to_string(c.size()) + " ranks: each holds one at least");
  out.held = deal_tiles(out.parts, c.size());
  const auto me = static_cast<std::size_t>(c.rank());
  const Index first = out.held[me], mine = out.held[me + 1] - first;

  std::vector<tessera::Cut> cuts;
  for (const Box& b : out.parts.boxes) cuts.push_back(cut_image(traced, b));
  const std::vector<Tensor> copies =
      copies_for_parts(c, out.held, static_cast<std::size_t>(mine), parameters);
  std::vector<Tensor> rows;
  std::vector<DealtPatches> dealt;
  for (std::size_t i = 0; i < images.size(); ++i) {
    std::vector<Box> boxes;
    for (const tessera::Cut& cut : cuts) boxes.push_back(cut.inputs[parameters.size() + i]);
    dealt.emplace_back(images[i].shape(), boxes, out.held, c.rank());
    rows.push_back(
        taken_by_ranks(c, dealt.back().mine, dealt.back().all, dealt.back().rows, images[i]));
  }
  for (Index k = 0; k < mine; ++k) {
    const tessera::Cut& cut = cuts[static_cast<std::size_t>(first + k)];
    const auto copy = copies.begin() + k * static_cast<Index>(parameters.size());
    std::vector<Tensor> x(copy, copy + static_cast<Index>(parameters.size()));
    for (std::size_t i = 0; i < images.size(); ++i) {
      const Patches& p = *dealt[i].mine;
      const auto at = static_cast<std::size_t>(k);
      x.push_back(reshape(slice(rows[i], 0, p.begin[at], p.begin[at + 1]), p.boxes[at].extents()));
    }
    // In reverse mode each part is computed again when its turn comes.
    const auto compute = [&cut, &of_part](const std::vector<Tensor>& v) {
      return of_part(evaluate(cut.graph, v)[0]);
    };
    out.results.push_back(checkpointed(compute, line)(cut.operands(x)));
  }
  return out;
}

}  // namespace

Tensor image_in_parts(Communicator& c, const FunctionOfImages& f,
                      const std::vector<Tensor>& parameters, const std::vector<Tensor>& images,
                      const Tiling& t, SourceLine line) {
  const PartsOfImage p = results_of_parts(c, f, parameters, images, t, line,
                                          [](const Tensor& y) { return flatten(y); });
  const DealtPatches dealt(p.whole.shape, p.parts.boxes, p.held, c.rank());
  return put_by_ranks(c, dealt.mine, dealt.all, dealt.rows, concatenate(p.results, 0, line));
}

Tensor sum_in_parts(Communicator& c, const FunctionOfImages& f,
                    const std::vector<Tensor>& parameters, const std::vector<Tensor>& images,
                    const Tiling& t, SourceLine line) {
  const PartsOfImage p =
      results_of_parts(c, f, parameters, images, t, line, [](const Tensor& y) { return sum(y); });
  return sum_of_parts(c, p.held, stack(p.results, 0, line));
}

}  // namespace tessera::parallel
