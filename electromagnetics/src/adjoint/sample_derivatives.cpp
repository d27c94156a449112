// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"
#include "tessera/electromagnetics/shape_derivatives.h"
#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace tessera::electromagnetics {
namespace {

constexpr std::int64_t block = 64;  ///< steps
constexpr std::int64_t batch = 16;  ///< edges whose spectra are made together

/// Counts steps towards the whole and asks whether to go on: all ranks have to.
struct Work {
  const SampleDerivativesOptions& o;
  double total, done = 0;
  bool step(std::int64_t n) {
    done += static_cast<double>(n);
    bool on = !o.go_on || o.go_on(done / total);
    if (o.cut.ranks)
      for (const parallel::Bytes& other : o.cut.ranks->all_gather({static_cast<std::byte>(on)}))
        on = on && other.at(0) != std::byte{0};
    return on;
  }
};

/// Some of the edges as the design edges of an op, and which of the derivatives end at them.
struct Portion {
  YeeOpPtr op;
  std::vector<std::int32_t> to;  ///< [end] number of its edge among the op's
  /// [parameter][end] s = sum of weight times bracket
  struct Term {
    std::int32_t from;
    double weight;
  };
  std::vector<std::vector<std::vector<Term>>> terms;
};

Portion portion_of(YeeModel& model, const ShapeDerivatives& derivatives, std::int32_t first,
                   std::int32_t last, const GridCut& cut) {
  std::set<std::int32_t> wanted;
  const auto ours = [&](const ShapeDerivatives::Entry& e) { return e.to >= first && e.to < last; };
  for (const auto& list : derivatives.parameters)
    for (const auto& e : list)
      if (ours(e)) wanted.insert({e.to, e.from});
  const std::vector<std::int32_t> edges(wanted.begin(), wanted.end());
  const auto column = [&](std::int32_t edge) {
    return static_cast<std::int32_t>(std::lower_bound(edges.begin(), edges.end(), edge) -
                                     edges.begin());
  };
  model.traced.clear();
  for (const std::int32_t e : edges)
    model.traced.push_back(derivatives.edges[static_cast<std::size_t>(e)]);
  Portion out{yee_op(model, cut), {}, {}};
  for (const std::int32_t e : edges)
    if (e >= first && e < last) out.to.push_back(column(e));
  for (const auto& list : derivatives.parameters) {
    auto& ends = out.terms.emplace_back(out.to.size());
    for (const auto& e : list) {
      if (!ours(e)) continue;
      const std::int32_t to = column(e.to), from = column(e.from);
      // The bracket of a trace counts the current of its own edge, which tensors pass on to no
      // other.
      if (to != from &&
          std::find(model.injected.begin(), model.injected.end(),
                    derivatives.edges[static_cast<std::size_t>(e.from)]) != model.injected.end())
        throw Error(
            "[sample_derivatives] a source lies on an edge whose tensor moves: put it a cell away "
            "from "
            "the face");
      const auto end = std::lower_bound(out.to.begin(), out.to.end(), to) - out.to.begin();
      ends[static_cast<std::size_t>(end)].push_back(
          {from, e.value / out.op->coefficient[static_cast<std::size_t>(to)]});
    }
  }
  return out;
}

/// Histories of the design edges that this rank holds, [edge, step].
template <class T>
using History = std::vector<T>;

std::size_t this_rank(const YeeOp& op) {
  return static_cast<std::size_t>(op.cut.ranks ? op.cut.ranks->rank() : 0);
}

/// Currents of the sources [n, injected] at the edges of this rank's scheme, design edges last;
/// empty after the last source has ended.
template <class T>
std::vector<T> currents_of(const YeeOp& op, const std::vector<Injection>& sources,
                           std::int64_t first, std::int64_t n) {
  const std::vector<std::int64_t>& own = op.columns.injected[this_rank(op)];
  const auto columns = static_cast<std::int64_t>(own.size());
  std::vector<T> in(static_cast<std::size_t>(n * columns), T{0});
  bool driven = false;
  std::int64_t column = 0, next = 0;
  for (const Injection& source : sources) {
    const auto m = static_cast<std::int64_t>(source.edges.size());
    const std::int64_t begin = next;
    while (next < columns && own[static_cast<std::size_t>(next)] < column + m) ++next;
    const std::vector<double> all =
        next > begin ? source.currents(first, n, op.dt_s) : std::vector<double>();
    driven = driven || !all.empty();
    for (std::int64_t q = 0; q < n && !all.empty(); ++q)
      for (std::int64_t i = begin; i < next; ++i)
        in[static_cast<std::size_t>(q * columns + i)] = static_cast<T>(
            all[static_cast<std::size_t>(q * m + own[static_cast<std::size_t>(i)] - column)]);
    column += m;
  }
  if (!driven) in.clear();
  return in;
}

/// u of the run.
template <class T>
bool brackets(const YeeOp& op, const std::vector<Injection>& sources, std::int64_t n_steps,
              History<T>& out, Work& work) {
  const YeeScheme& s = op.scheme;
  const std::int64_t design = s.n_traced();
  std::vector<T> state(static_cast<std::size_t>(s.state_size())),
      traces(static_cast<std::size_t>(block * design));
  for (std::int64_t first = 0; first < n_steps; first += block) {
    const std::int64_t n = std::min(block, n_steps - first);
    const std::vector<T> in = currents_of<T>(op, sources, first, n);
    s.advance(state.data(), n, in.empty() ? nullptr : in.data(), nullptr, traces.data(), nullptr);
    for (std::int64_t q = 0; q < n; ++q)
      for (std::int64_t e = 0; e < design; ++e)
        out[static_cast<std::size_t>(e * n_steps + first + q)] =
            traces[static_cast<std::size_t>(q * design + e)];
    if (!work.step(n)) return false;
  }
  return true;
}

/// G: what a current of 1 at a design edge adds to the sample n steps later.
template <class T>
bool responses(const YeeOp& op, const SampleList& samples, std::int64_t sample,
               std::int64_t n_steps, History<T>& out, Work& work) {
  const YeeScheme& s = op.scheme;
  const std::int64_t design = s.n_traced(), columns = s.n_injected(), recorded = s.n_recorded();
  const std::vector<std::int64_t>& own = op.columns.recorded[this_rank(op)];
  std::vector<T> state(static_cast<std::size_t>(s.state_size())),
      records(static_cast<std::size_t>(block * recorded)),
      currents(static_cast<std::size_t>(block * columns));
  for (std::int64_t first = 0; first < n_steps;
       first += block) {  // counted back from the last step
    const std::int64_t n = std::min(block, n_steps - first);
    for (std::int64_t m = samples.begin()[static_cast<std::size_t>(sample)];
         first == 0 && m < samples.begin()[static_cast<std::size_t>(sample) + 1]; ++m) {
      const auto u = static_cast<std::size_t>(m);
      const auto at = std::lower_bound(own.begin(), own.end(), samples.columns()[u]);
      if (at != own.end() && *at == samples.columns()[u])
        records[static_cast<std::size_t>((n - 1) * recorded + (at - own.begin()))] +=
            static_cast<T>(samples.weights()[u]);
    }
    s.advance_transposed(state.data(), n, first == 0 ? records.data() : nullptr, nullptr,
                         currents.data(), nullptr, nullptr);
    for (std::int64_t q = 0; q < n; ++q)
      for (std::int64_t e = 0; e < design; ++e)
        out[static_cast<std::size_t>(e * n_steps + first + q)] =
            currents[static_cast<std::size_t>((n - 1 - q) * columns + columns - design + e)];
    if (!work.step(n)) return false;
  }
  return true;
}

/// The histories of some design edges, u and G, at the rank that asks for them.
template <class T>
class Histories {
 public:
  Histories(const YeeOp& op, const History<T>& u, const History<T>& g, std::int64_t n_steps)
      : op_(op), u_(u), g_(g), n_(static_cast<std::size_t>(n_steps)) {
    number_.resize(op.design.size(), -1);
    for (const auto& of_rank : op.columns.traced)
      for (std::size_t q = 0; q < of_rank.size(); ++q)
        number_[static_cast<std::size_t>(of_rank[q])] = static_cast<std::int64_t>(q);
  }
  /// What rank r wants: u of some edges, then G of others.
  struct Wanted {
    std::vector<std::int32_t> u, g;
  };
  /// Of what this rank wants [u, then G][step]. Called on all ranks with what each wants.
  std::vector<T> bring(const std::vector<Wanted>& of_ranks) const {
    if (!op_.cut.ranks) return own_of(of_ranks[0], 0);
    const auto me = static_cast<std::size_t>(op_.cut.ranks->rank());
    std::vector<parallel::Bytes> to;
    for (const Wanted& w : of_ranks) to.push_back(parallel::to_bytes(own_of(w, me)));
    std::vector<std::vector<T>> from;
    for (const parallel::Bytes& b : op_.cut.ranks->all_to_all(std::move(to)))
      from.push_back(parallel::from_bytes<T>(b));
    std::vector<std::size_t> next(from.size(), 0);
    std::vector<T> out;
    over(of_ranks[me], [&](std::int32_t edge, bool) {
      const std::size_t r = holder(edge);
      const auto at = from[r].begin() + static_cast<std::ptrdiff_t>(next[r]);
      out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(n_));
      next[r] += n_;
    });
    return out;
  }

 private:
  template <class F>
  static void over(const Wanted& w, F&& f) {
    for (const std::int32_t e : w.u) f(e, false);
    for (const std::int32_t e : w.g) f(e, true);
  }
  std::size_t holder(std::int32_t edge) const {
    std::size_t r = 0;
    const auto& of = op_.columns.traced;
    while (r + 1 < of.size() && !std::binary_search(of[r].begin(), of[r].end(), edge)) ++r;
    return r;
  }
  std::vector<T> own_of(const Wanted& w, std::size_t me) const {
    std::vector<T> out;
    over(w, [&](std::int32_t edge, bool is_g) {
      if (op_.cut.ranks && holder(edge) != me) return;
      const History<T>& h = is_g ? g_ : u_;
      const auto at =
          h.begin() + static_cast<std::ptrdiff_t>(
                          static_cast<std::size_t>(number_[static_cast<std::size_t>(edge)]) * n_);
      out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(n_));
    });
    return out;
  }

  const YeeOp& op_;
  const History<T>&u_, &g_;
  std::size_t n_;
  std::vector<std::int64_t> number_;  ///< [design] of an edge among those of its rank
};

/// Some ends of a portion whose spectra are made together, and what they want of histories.
struct Batch {
  std::vector<std::size_t> ends;
  std::vector<std::int32_t> from, to;
};
std::vector<Batch> batches_of(const Portion& portion, std::size_t parameter) {
  std::vector<Batch> all;
  const auto& terms = portion.terms[parameter];
  for (std::size_t end = 0; end < terms.size(); ++end) {
    if (terms[end].empty()) continue;
    if (all.empty() || all.back().ends.size() == batch) all.emplace_back();
    all.back().ends.push_back(end);
    all.back().to.push_back(portion.to[end]);
    for (const Portion::Term& term : terms[end]) all.back().from.push_back(term.from);
  }
  return all;
}

/// Of a batch the sum of the spectra of G times those of s: complex [frequency].
template <class T>
Tensor product(const Portion& portion, std::size_t parameter, const Batch& b,
               const std::vector<T>& histories, std::size_t n, std::int64_t padded) {
  const std::size_t count = b.ends.size();
  std::vector<double> s(count * n, 0.0);
  auto next = histories.begin();
  for (std::size_t e = 0; e < count; ++e)
    for (const Portion::Term& term : portion.terms[parameter][b.ends[e]])
      for (std::size_t q = 0; q < n; ++q)
        s[e * n + q] += term.weight * static_cast<double>(*next++);
  const std::vector<double> r(next, histories.end());
  const tessera::Shape shape{static_cast<Index>(count), static_cast<Index>(n)};
  return sum(rfft(tensor(s, shape), padded) * rfft(tensor(r, shape), padded), {0});
}

/// sum over the portion's ends of the spectra of G times those of s: complex [frequency]. Batches
/// are dealt to the ranks and added up in their order, on all of them.
template <class T>
Tensor products(const Portion& portion, std::size_t parameter, const Histories<T>& histories,
                std::int64_t n_steps, std::int64_t padded) {
  parallel::Communicator* ranks = portion.op->cut.ranks;
  const std::vector<Batch> all = batches_of(portion, parameter);
  const std::size_t n_ranks = ranks ? static_cast<std::size_t>(ranks->size()) : 1,
                    me = this_rank(*portion.op);
  const tessera::Shape of_spectrum{padded / 2 + 1};
  Tensor sum_of_all = zeros(of_spectrum, Dtype::c128);
  for (std::size_t first = 0; first < all.size(); first += n_ranks) {
    std::vector<typename Histories<T>::Wanted> wanted(n_ranks);
    const std::size_t count = std::min(n_ranks, all.size() - first);
    for (std::size_t r = 0; r < count; ++r) wanted[r] = {all[first + r].from, all[first + r].to};
    const std::vector<T> brought = histories.bring(wanted);
    Tensor own;
    if (me < count)
      own = product<T>(portion, parameter, all[first + me], brought,
                       static_cast<std::size_t>(n_steps), padded);
    if (!ranks) {
      sum_of_all = sum_of_all + own;
      continue;
    }
    const std::vector<parallel::Bytes> of_ranks = ranks->all_gather(
        parallel::to_bytes(own.defined() ? own.to_vector<c128>() : std::vector<c128>()));
    for (std::size_t r = 0; r < count; ++r)
      sum_of_all = sum_of_all + tensor(parallel::from_bytes<c128>(of_ranks[r]), of_spectrum);
  }
  return sum_of_all;
}

template <class T>
Tensor derivatives_of(YeeModel& model, const ShapeDerivatives& derivatives,
                      const std::vector<Injection>& sources, const SampleList& samples,
                      std::int64_t n_steps, const SampleDerivativesOptions& o) {
  const auto n_edges = static_cast<std::int32_t>(derivatives.edges.size());
  const auto most = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(o.most_bytes / (2 * static_cast<std::int64_t>(sizeof(T)) * n_steps),
                               1, std::max(n_edges, 1)));
  const std::int64_t padded =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n_steps)));
  const std::size_t n_parameters = derivatives.parameters.size(),
                    n_samples = static_cast<std::size_t>(samples.size());
  const int portions = (n_edges + most - 1) / most;
  Work work{o, static_cast<double>(portions) * static_cast<double>(n_steps) *
                   static_cast<double>(1 + n_samples)};
  std::vector<Tensor> spectra(n_parameters * n_samples, zeros({padded / 2 + 1}, Dtype::c128));
  for (int part = 0; part < portions; ++part) {
    const auto begin = static_cast<std::int32_t>(std::int64_t{n_edges} * part / portions),
               end = static_cast<std::int32_t>(std::int64_t{n_edges} * (part + 1) / portions);
    const Portion portion = portion_of(model, derivatives, begin, end, o.cut);
    if (portion.to.empty()) continue;
    const std::size_t size = static_cast<std::size_t>(portion.op->scheme.n_traced() * n_steps);
    History<T> u(size), g(size);
    if (!brackets(*portion.op, sources, n_steps, u, work)) return {};
    for (std::size_t q = 0; q < n_samples; ++q) {
      if (!responses(*portion.op, samples, static_cast<std::int64_t>(q), n_steps, g, work))
        return {};
      const Histories<T> histories(*portion.op, u, g, n_steps);
      for (std::size_t p = 0; p < n_parameters; ++p) {
        Tensor& sum_of_all = spectra[p * n_samples + q];
        sum_of_all = sum_of_all + products(portion, p, histories, n_steps, padded);
      }
    }
  }
  std::vector<Tensor> signals;
  for (const Tensor& s : spectra) signals.push_back(slice(irfft(s, padded), 0, 0, n_steps));
  return reshape(stack(signals), {static_cast<Index>(n_parameters), static_cast<Index>(n_samples),
                                  static_cast<Index>(n_steps)});
}

}  // namespace

Tensor sample_derivatives(YeeModel model, const ShapeDerivatives& derivatives,
                          const std::vector<Injection>& sources, const SampleList& samples,
                          std::int64_t n_steps, const SampleDerivativesOptions& options) {
  if (n_steps < 1 || samples.size() < 1 || derivatives.parameters.empty())
    throw Error(
        fmt::format("[sample_derivatives] needs steps, samples and parameters, got {}, {} and {}",
                    n_steps, samples.size(), derivatives.parameters.size()));
  if (model.bloch_phase != std::array<double, 3>{})
    throw Error(
        "[sample_derivatives] faces joined with a phase have fields of two parts, which it does "
        "not "
        "take: use periodic faces");
  model.injected.clear();
  for (const Injection& s : sources)
    model.injected.insert(model.injected.end(), s.edges.begin(), s.edges.end());
  model.recorded = samples.edges();
  return model.dtype == Dtype::f32
             ? derivatives_of<float>(model, derivatives, sources, samples, n_steps, options)
             : derivatives_of<double>(model, derivatives, sources, samples, n_steps, options);
}

}  // namespace tessera::electromagnetics
