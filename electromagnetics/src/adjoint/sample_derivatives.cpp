// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/fft.h"
#include "tessera/electromagnetics/shape_derivatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace tessera::electromagnetics {
namespace {

constexpr std::int64_t block = 64;  ///< steps
constexpr std::int64_t batch = 16;  ///< edges whose spectra are made together

/// Counts steps towards the whole and asks whether to go on.
struct Work {
  const std::function<bool(double)>& go_on;
  double total, done = 0;
  bool step(std::int64_t n) {
    done += static_cast<double>(n);
    return !go_on || go_on(done / total);
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
                   std::int32_t last) {
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
  Portion out{yee_op(model), {}, {}};
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

/// Histories of the op's design edges, [design, step].
template <class T>
using History = std::vector<T>;

/// u of the run.
template <class T>
bool brackets(const YeeOp& op, const std::vector<Injection>& sources, std::int64_t n_steps,
              History<T>& out, Work& work) {
  const YeeScheme& s = op.scheme;
  const std::int64_t design = s.n_traced(), columns = s.n_injected();
  std::vector<T> state(static_cast<std::size_t>(s.state_size())),
      traces(static_cast<std::size_t>(block * design)), in;
  for (std::int64_t first = 0; first < n_steps; first += block) {
    const std::int64_t n = std::min(block, n_steps - first);
    in.assign(static_cast<std::size_t>(n * columns), T{0});
    bool driven = false;
    std::int64_t column = 0;
    for (const Injection& source : sources) {
      const auto m = static_cast<std::int64_t>(source.edges.size());
      const std::vector<double> own = source.currents(first, n, op.dt_s);
      if (!own.empty()) {
        driven = true;
        for (std::int64_t q = 0; q < n; ++q)
          for (std::int64_t i = 0; i < m; ++i)
            in[static_cast<std::size_t>(q * columns + column + i)] =
                static_cast<T>(own[static_cast<std::size_t>(q * m + i)]);
      }
      column += m;
    }
    s.advance(state.data(), n, driven ? in.data() : nullptr, nullptr, traces.data(), nullptr);
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
  std::vector<T> state(static_cast<std::size_t>(s.state_size())),
      records(static_cast<std::size_t>(block * recorded)),
      currents(static_cast<std::size_t>(block * columns));
  for (std::int64_t first = 0; first < n_steps;
       first += block) {  // counted back from the last step
    const std::int64_t n = std::min(block, n_steps - first);
    if (first == 0)
      for (std::int64_t m = samples.begin()[static_cast<std::size_t>(sample)];
           m < samples.begin()[static_cast<std::size_t>(sample) + 1]; ++m)
        records[static_cast<std::size_t>((n - 1) * recorded +
                                         samples.columns()[static_cast<std::size_t>(m)])] +=
            static_cast<T>(samples.weights()[static_cast<std::size_t>(m)]);
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

/// sum over the portion's ends of the spectra of G times those of s: complex [frequency].
template <class T>
Tensor products(const Portion& portion, std::size_t parameter, const History<T>& u,
                const History<T>& g, std::int64_t n_steps, std::int64_t padded) {
  Tensor sum_of_all = zeros({padded / 2 + 1}, Dtype::c128);
  std::vector<std::size_t> ends;
  const auto& terms = portion.terms[parameter];
  for (std::size_t end = 0; end < terms.size(); ++end)
    if (!terms[end].empty()) ends.push_back(end);
  for (std::size_t first = 0; first < ends.size(); first += batch) {
    const std::size_t count = std::min<std::size_t>(batch, ends.size() - first),
                      n = static_cast<std::size_t>(n_steps);
    std::vector<double> s(count * n, 0.0), r(count * n);
    for (std::size_t b = 0; b < count; ++b) {
      const std::size_t end = ends[first + b];
      std::copy_n(
          g.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(portion.to[end]) * n), n,
          r.begin() + static_cast<std::ptrdiff_t>(b * n));
      for (const Portion::Term& term : terms[end])
        for (std::size_t q = 0; q < n; ++q)
          s[b * n + q] +=
              term.weight * static_cast<double>(u[static_cast<std::size_t>(term.from) * n + q]);
    }
    const tessera::Shape shape{static_cast<Index>(count), static_cast<Index>(n)};
    sum_of_all =
        sum_of_all + sum(rfft(tensor(s, shape), padded) * rfft(tensor(r, shape), padded), {0});
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
  Work work{o.go_on, static_cast<double>(portions) * static_cast<double>(n_steps) *
                         static_cast<double>(1 + n_samples)};
  std::vector<Tensor> spectra(n_parameters * n_samples, zeros({padded / 2 + 1}, Dtype::c128));
  for (int part = 0; part < portions; ++part) {
    const auto begin = static_cast<std::int32_t>(std::int64_t{n_edges} * part / portions),
               end = static_cast<std::int32_t>(std::int64_t{n_edges} * (part + 1) / portions);
    const Portion portion = portion_of(model, derivatives, begin, end);
    if (portion.to.empty()) continue;
    const std::size_t size = portion.op->design.size() * static_cast<std::size_t>(n_steps);
    History<T> u(size), g(size);
    if (!brackets(*portion.op, sources, n_steps, u, work)) return {};
    for (std::size_t q = 0; q < n_samples; ++q) {
      if (!responses(*portion.op, samples, static_cast<std::int64_t>(q), n_steps, g, work))
        return {};
      for (std::size_t p = 0; p < n_parameters; ++p) {
        Tensor& sum_of_all = spectra[p * n_samples + q];
        sum_of_all = sum_of_all + products(portion, p, u, g, n_steps, padded);
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
