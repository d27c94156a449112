// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/response.h"

#include "adjoint/operands.h"
#include "adjoint/spectral_run.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/linear_pair.h"
#include "tessera/electromagnetics/pulse_basis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {

struct Response {
  adjoint::SpectralPlan plan;
  std::vector<c128> of_currents, of_records;  ///< [K, driven], [K, recorded]: from sums over the
                                              ///< steps to the times of the edges
};

namespace {

using namespace adjoint;

struct ResponseAttr {
  ResponsePtr response;
  TESSERA_ATTRIBUTES(response)
};

/// Operand: currents [K, driven and design]; results: records, traces [K, ..], all c128 sums over
/// the steps; parameters: the coefficients, f64. Most objectives take nothing of the traces.
struct YeeResponse {
  static constexpr const char *name = "yee_response", *transposed_name = "yee_response_transposed";
  static constexpr std::size_t operands = 1, results = 2;
  static constexpr std::uint32_t optional_results = 2u;
  static Ordering order(const Attributes* a) {
    return order_of(*tessera::get<ResponseAttr>(a).response->plan.op);
  }
  static Types result_types(std::span<const Type> in, const Attributes* a) {
    const SpectralPlan& p = tessera::get<ResponseAttr>(a).response->plan;
    const YeeOp& s = *p.op;
    const Type spectrum =
        with_lead({Dtype::c128, in[1].shape}, 1, {p.n_frequencies(), s.n_injected()});
    expect(name, in[0], spectrum, "the currents");
    expect(name, in[1], with_lead({Dtype::f64, in[1].shape}, 1, {s.n_traced()}),
           "the coefficients");
    return {with_lead(spectrum, 1, {s.n_recorded()}), with_lead(spectrum, 1, {s.n_traced()})};
  }
  static Types operand_types(std::span<const Type> in, const Attributes* a) {
    const SpectralPlan& p = tessera::get<ResponseAttr>(a).response->plan;
    const YeeOp& s = *p.op;
    expect(transposed_name, in[0],
           with_lead({Dtype::c128, in[0].shape}, 2, {p.n_frequencies(), s.n_recorded()}),
           "the records");
    if (in[1].shape.empty() || in[1].shape.back() != 0)
      expect(transposed_name, in[1], with_lead(in[0], 1, {s.n_traced()}), "the traces");
    expect(transposed_name, in[2], with_lead({Dtype::f64, in[0].shape}, 2, {s.n_traced()}),
           "the coefficients");
    return {with_lead(in[0], 1, {s.n_injected()})};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const SpectralPlan& p = tessera::get<ResponseAttr>(a).response->plan;
      const YeeOp& s = *p.op;
      const Index k = p.n_frequencies(), samples = in[0]->count() / (k * s.n_injected());
      over_samples(s, samples, [&](Index b) {
        run_forward(p, part<const double>(*in[1], b, s.n_traced()),
                    part<const c128>(*in[0], b, k * s.n_injected()),
                    part<c128>(*out[0], b, k * s.n_recorded()),
                    part<c128>(*out[1], b, k * s.n_traced()));
      });
    };
  }
  static KernelFn transposed_kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const SpectralPlan& p = tessera::get<ResponseAttr>(a).response->plan;
      const YeeOp& s = *p.op;
      const Index k = p.n_frequencies(), samples = out[0]->count() / (k * s.n_injected());
      over_samples(s, samples, [&](Index b) {
        run_transposed(p, part<const double>(*in[2], b, s.n_traced()),
                       part<const c128>(*in[0], b, k * s.n_recorded()),
                       part<const c128>(*in[1], b, k * in[1]->shape.back()),
                       part<c128>(*out[0], b, k * s.n_injected()));
      });
    };
  }
  static Change change(const Application& a, std::span<const Tensor> dc) {
    const YeeOp& op = *a.get<ResponseAttr>().response->plan.op;
    const Tensor w = current_of_change(op, dc[0], a.in[1], a.out[1]);
    Change c{{design_among_currents(op, w)}, {}};
    if (op.channels == 1) c.own = {Tensor(), w};  // no part of the bracket
    return c;
  }
  static Change transposed_change(const Application& a, std::span<const Tensor> dc) {
    const YeeOp& op = *a.get<ResponseAttr>().response->plan.op;
    const bool no_traces = a.in_types[1].shape.back() == 0;
    return {{Tensor(), traces_of_change(op, dc[0], a.in[2], design_columns(op, a.out[0]),
                                        no_traces ? Tensor() : a.in[1])},
            {}};
  }
};
TESSERA_REGISTER_PAIR(YeeResponse);

/// e^{-i 2 pi f (lag + n) dt} over e^{-i 2 pi f n dt}, with a lag in steps for electric and for
/// magnetic edges: [K, edges].
std::vector<c128> lags(const std::vector<double>& frequencies_hz, double dt_s,
                       const std::vector<Edge>& edges, double electric, double magnetic) {
  std::vector<c128> out;
  for (const double f : frequencies_hz)
    for (const Edge& e : edges)
      out.push_back(std::polar(1.0, -2 * std::numbers::pi * f * dt_s *
                                        (is_electric(e.component) ? electric : magnetic)));
  return out;
}

/// What sums over each `every`-th step tell of the signals [2 K, steps] beside the sums over all
/// steps, largest over signals, frequencies and the step that is the first: the signals are 1 at
/// their own frequency.
double folded(const std::vector<double>& signals, std::int64_t steps,
              const std::vector<double>& frequencies_hz, double dt_s, int every) {
  const std::size_t rows = 2 * frequencies_hz.size(), length = static_cast<std::size_t>(steps),
                    stride = static_cast<std::size_t>(every);
  double worst = 0;
  std::vector<c128> wave(length), part(stride);
  for (const double f : frequencies_hz) {
    for (std::size_t n = 0; n < length; ++n)
      wave[n] = std::polar(1.0, -2 * std::numbers::pi * f * dt_s * static_cast<double>(n));
    for (std::size_t j = 0; j < rows; ++j) {
      std::fill(part.begin(), part.end(), c128(0));
      c128 all = 0;
      for (std::size_t n = 0; n < length; ++n)
        part[n % stride] += signals[j * length + n] * wave[n];
      for (const c128& x : part) all += x;
      for (const c128& x : part)
        worst = std::max(worst, std::abs(static_cast<double>(every) * x - all));
    }
  }
  return worst;
}

int chosen_every(const std::vector<double>& signals, std::int64_t steps, const ResponseOptions& o,
                 double dt_s) {
  double highest = 0;
  for (const double f : o.frequencies_hz) highest = std::max(highest, f);
  const int two_a_period = std::max(1, static_cast<int>(0.5 / (highest * dt_s)));
  const auto largest = [&](double folding) {
    int every = two_a_period;
    while (every > 1 && folded(signals, steps, o.frequencies_hz, dt_s, every) > folding) --every;
    return every;
  };
  if (o.every == 0) return largest(1e-9);
  if (o.every < 0 || o.every > two_a_period ||
      folded(signals, steps, o.frequencies_hz, dt_s, o.every) > 1e-6)
    throw Error(
        fmt::format("[response] every = {} counts at {} Hz and below what the signals of the run "
                    "hold elsewhere; take {} or less, or 0, which chooses",
                    o.every, highest, largest(1e-6)));
  return o.every;
}

/// From spectra of the driven edges to sums over the steps of all edges that take currents.
Tensor sums_of_currents(const char* name, const Response& r, const Tensor& currents) {
  const YeeOp& op = *r.plan.op;
  const Index k = r.plan.n_frequencies(), driven = static_cast<Index>(op.driven.size());
  if (currents.ndim() != 2 || currents.dim(0) != k || currents.dim(1) != driven)
    throw Error(fmt::format("[{}] the currents should be c128 [{}, {}], got {}", name, k, driven,
                            to_string(currents.type())));
  return driven_among_currents(
      op, cast(currents, Dtype::c128) * conj(tensor(r.of_currents, {k, driven})));
}

}  // namespace

ResponsePtr response(const YeeOpPtr& op, const ResponseOptions& o) {
  const std::int64_t pulse = o.pulse_steps > 0 ? o.pulse_steps : o.n_steps / 2;
  if (o.n_steps < 1 || pulse > o.n_steps)
    throw Error(fmt::format("[response] the pulse of {} steps does not fit into a run of {}", pulse,
                            o.n_steps));
  const PulseBasis basis = pulse_basis(o.frequencies_hz, op->dt_s, static_cast<int>(pulse), true);
  auto out = std::make_shared<Response>();
  const std::vector<double> signals = basis.signals.to_vector();
  out->plan = {
      op, o.frequencies_hz, signals, o.n_steps, pulse, chosen_every(signals, pulse, o, op->dt_s)};
  // A current at (n + 1/2) dt (magnetic: n dt) and a record at (n + 1) dt (magnetic: (n + 1/2) dt)
  // belong to step n.
  out->of_currents = lags(o.frequencies_hz, op->dt_s, op->driven, 0.5, 0);
  out->of_records = lags(o.frequencies_hz, op->dt_s, op->recorded, 1, 0.5);
  return out;
}

Tensor spectra(const ResponsePtr& r, const Tensor& c, const Tensor& currents) {
  const Tensor cb = cast(c, Dtype::f64), w = sums_of_currents("spectra", *r, currents);
  const std::vector<Tensor> out =
      LinearPair<YeeResponse>::apply(attributes(ResponseAttr{r}), {w, cb});
  return out[0] * tensor(r->of_records, {r->plan.n_frequencies(), r->plan.op->n_recorded()});
}

double left_over(const ResponsePtr& r, const Tensor& c, const Tensor& currents) {
  const YeeOp& s = *r->plan.op;
  const std::vector<double> cb = cast(c, Dtype::f64).to_vector();
  const std::vector<c128> w = sums_of_currents("left_over", *r, currents).to_vector<c128>();
  std::vector<c128> records(static_cast<std::size_t>(r->plan.n_frequencies() * s.n_recorded())),
      traces(static_cast<std::size_t>(r->plan.n_frequencies() * s.n_traced()));
  Swing swing;
  run_forward(r->plan, cb.data(), w.data(), records.data(), traces.data(), &swing);
  return swing.ever > 0 ? swing.at_end / swing.ever : 0;
}

Tensor sample_values(const SampleList& samples, const Tensor& x) {
  const auto edges = static_cast<Index>(samples.edges().size()),
             size = static_cast<Index>(samples.size());
  if (x.ndim() != 2 || x.dim(1) != edges)
    throw Error(fmt::format("[sample_values] the samples stand on {} edges, the spectra are {}",
                            edges, to_string(x.type())));
  std::vector<Index> row, column(samples.columns().begin(), samples.columns().end());
  for (Index r = 0; r < size; ++r)
    row.insert(row.end(),
               static_cast<std::size_t>(samples.begin()[static_cast<std::size_t>(r) + 1] -
                                        samples.begin()[static_cast<std::size_t>(r)]),
               r);
  const CooPattern coo = csr_from_coo(size, edges, row, column);
  std::vector<c128> weights;
  for (std::size_t m = 0; is_complex(x.dtype()) && m < samples.phases().size(); ++m)
    weights.push_back(samples.weights()[m] * samples.phases()[m]);
  const Tensor w = weights.empty() ? tensor(samples.weights()) : tensor(weights);
  return transpose(csr_matmul(csr_values(coo, cast(w, x.dtype())), coo.pattern, transpose(x)));
}

Tensor current_spectra(const ResponsePtr& r, const Tensor& moments, const Waveform& waveform) {
  const YeeOp& op = *r->plan.op;
  const auto steps = static_cast<int>(r->plan.n_steps);
  const std::vector<std::complex<double>> electric = spectrum(waveform, r->plan.frequencies_hz,
                                                              op.dt_s, steps, 0.5),
                                          magnetic = spectrum(waveform, r->plan.frequencies_hz,
                                                              op.dt_s, steps, 0);
  std::vector<c128> w;
  for (std::size_t k = 0; k < electric.size(); ++k)
    for (const Edge& e : op.driven)
      w.push_back(is_electric(e.component) ? electric[k] : magnetic[k]);
  return cast(moments, Dtype::c128) *
         tensor(w, {r->plan.n_frequencies(), static_cast<Index>(op.driven.size())});
}

}  // namespace tessera::electromagnetics
