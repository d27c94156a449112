// SPDX-License-Identifier: Apache-2.0
//
// x [batch..., box] -> y [batch..., box]: boxes are packed, sent, and written where they belong. A
// message holds all of the batch: [batch, elements].
#include "message_block.h"
#include "redistribution.h"
#include "stream_copy.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops/shape.h"
#include "tessera/autodiff/primitive.h"

#include <cstring>

namespace tessera::parallel {
namespace {

struct BoxAttr {
  std::shared_ptr<const BoxExchange> exchange;
  int batch;
  TESSERA_ATTRIBUTES(exchange, batch)
};

/// The runs of a copy that lie side by side in both arrays, and how many there are.
struct CopyRuns {
  explicit CopyRuns(const BoxCopy& c) : copy(c), outer(c.extent) {
    int d = c.extent.size();
    while (d > 0) {
      --d;
      length *= c.extent[d];
      outer.erase(d);
      if (c.extent[d] != c.from_shape[d] || c.extent[d] != c.to_shape[d]) break;
    }
    count = length == 0 ? 0 : outer.count();
  }
  /// Where run k begins in both.
  std::pair<Index, Index> at(Index k) const {
    Index from = 0, to = 0, from_stride = 1, to_stride = 1;
    for (int d = copy.extent.size() - 1; d >= 0; --d) {
      Index i = 0;
      if (d < outer.size()) i = k % outer[d], k /= outer[d];
      from += (copy.from[d] + i) * from_stride, from_stride *= copy.from_shape[d];
      to += (copy.to[d] + i) * to_stride, to_stride *= copy.to_shape[d];
    }
    return {from, to};
  }
  const BoxCopy& copy;
  Shape outer;
  Index length = 1, count = 0;
};

/// One box for each sample: arrays of `n_from` and `n_to` elements a sample.
void copy_box(const BoxCopy& c, Dtype dtype, Index batch, const std::byte* x, Index n_from,
              std::byte* y, Index n_to, bool streams) {
  const CopyRuns runs(c);
  const std::size_t width = size_of(dtype);
  const Index all = batch * runs.count;
  constexpr Index kChunk = Index{1} << 18;
  const Index chunks = std::min(all, all * runs.length * static_cast<Index>(width) / kChunk + 1);
  const auto bytes = static_cast<std::size_t>(runs.length) * width;
  parallel_chunks(chunks, [&](Index chunk) {
    for (Index k = all * chunk / chunks; k < all * (chunk + 1) / chunks; ++k) {
      const auto [from, to] = runs.at(k % runs.count);
      const Index sample = k / runs.count;
      const std::byte* of =
          x + static_cast<std::size_t>(sample * n_from + c.from_offset + from) * width;
      std::byte* into = y + static_cast<std::size_t>(sample * n_to + c.to_offset + to) * width;
      if (c.adds)
        add_bytes(dtype, into, of, bytes);
      else if (streams)
        stream_copy(into, of, bytes);
      else
        std::memcpy(into, of, bytes);
    }
  });
}

void set_zero(const Box& box, const Shape& y_shape, std::size_t width, Index batch, std::byte* y) {
  BoxCopy c{y_shape, box.begin, y_shape, box.begin, box.extents()};
  const CopyRuns runs(c);
  for (Index k = 0; k < batch * runs.count; ++k) {
    const Index to = k / runs.count * y_shape.count() + runs.at(k % runs.count).second;
    std::memset(y + static_cast<std::size_t>(to) * width, 0,
                static_cast<std::size_t>(runs.length) * width);
  }
}

void run_moves(const BoxExchange& e, const BoxMoves& m, const std::string& what, Dtype dtype,
               Index batch, const std::byte* x, std::byte* y, SourceLine line) {
  const std::size_t width = size_of(dtype);
  const Index n_x = m.x.count(), n_y = m.y.count();
  const auto bytes = [&](Index n) { return static_cast<std::size_t>(batch * n) * width; };
  std::vector<MessageBlock> out, in;
  std::vector<Send> send;
  std::vector<Receive> receive;
  for (const BoxMoves::Message& message : m.out) {
    const MessageBlock& b = out.emplace_back(bytes(message.elements));
    for (const BoxCopy& c : message.copies)
      copy_box(c, dtype, batch, x, n_x, b.data.get(), message.elements, false);
    send.push_back({message.rank, b.all()});
  }
  for (const BoxMoves::Message& message : m.in)
    receive.push_back({message.rank, in.emplace_back(bytes(message.elements)).all()});
  e.communicator->exchange(what, send, receive, line);

  for (const Box& box : m.zeros) set_zero(box, m.y, width, batch, y);
  const bool streams = bytes(n_y) >= kStreamed;
  for (const BoxMoves::Source& s : m.sources) {
    const auto k = static_cast<std::size_t>(s.message);
    for (const BoxCopy& c : s.copies)
      copy_box(c, dtype, batch, s.message < 0 ? x : in[k].data.get(),
               s.message < 0 ? n_x : m.in[k].elements, y, n_y, streams);
  }
}

template <bool back>
struct MoveBoxes : Linear<MoveBoxes<back>> {
  static constexpr const char* name = back ? "redistribute_back" : "redistribute";
  static constexpr Ordering order = Ordering::every;
  static const BoxMoves& moves(const BoxAttr& f) {
    return back ? f.exchange->back : f.exchange->there;
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const BoxAttr& f = tessera::get<BoxAttr>(a);
    const BoxMoves& m = moves(f);
    Type t = in[0];
    Shape box, wide;
    for (int d = 0; d < t.shape.size(); ++d) (d < f.batch ? wide : box).push_back(t.shape[d]);
    if (box != m.x || (m.adds && !contains(kNumber, t.dtype)))
      fail(name, "takes a rank's part " + to_string(m.x) + " of " + to_string(f.exchange->whole) +
                     (m.adds ? ", of numbers: parts of a sum are added up" : "") + ", got " +
                     to_string(t));
    for (const Index n : m.y) wide.push_back(n);
    t.shape = wide;
    return {t};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const BoxAttr& f = tessera::get<BoxAttr>(a);
      Index batch = 1;
      std::string what = std::string(name) + " " + name_of(in[0]->dtype);
      for (int d = 0; d < f.batch; ++d) {
        batch *= in[0]->shape[d];
        what += "[" + std::to_string(in[0]->shape[d]) + "]";
      }
      run_moves(*f.exchange, moves(f), what + to_string(f.exchange->whole), in[0]->dtype, batch,
                static_cast<const std::byte*>(in[0]->data), static_cast<std::byte*>(out[0]->data),
                detail::context_line());
    };
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = apply(primitive<MoveBoxes<!back>>(), a.attr, detail::context_line(), ct[0]);
  }
  static void batch(const Application& a, std::span<const bool>, Index, std::span<Tensor> o) {
    BoxAttr f = a.get<BoxAttr>();
    ++f.batch;
    o[0] = apply(primitive<MoveBoxes<back>>(), attributes(std::move(f)), detail::context_line(),
                 a.in[0]);
  }
};
using Redistribute = MoveBoxes<false>;
using RedistributeBack = MoveBoxes<true>;
TESSERA_REGISTER(Redistribute);
TESSERA_REGISTER(RedistributeBack);

}  // namespace

Tensor redistribute(const RedistributionPtr& r, Arg x) {
  if (!x.tensor) fail("redistribute", "takes a tensor, got a number", x.line);
  if (r->steps.empty() && x.tensor->shape() != r->x)
    fail("redistribute",
         "takes a rank's part " + to_string(r->x) + ", got " + to_string(x.tensor->type()), x.line);
  Tensor y = *x.tensor;
  for (const auto& step : r->steps)
    y = apply(primitive<Redistribute>(), attributes(BoxAttr{step, 0}), x.line, y);
  return y;
}

}  // namespace tessera::parallel
