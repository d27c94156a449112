// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/section_forward.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/constants.h"
#include "tessera/inversion/frequencies.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace tessera::inversion {

bool predicts_section(DatumKind kind) {
  if (!exists(kind)) return false;
  switch (kind.element) {
    case Element::determinant:
    case Element::average:
    case Element::ty:
      return true;
    case Element::xy:
    case Element::yx:
      return kind.part != Part::phase_tensor;
    case Element::xx:
    case Element::yy:
      return kind.part == Part::phase_tensor;
    case Element::tx:
      return false;
  }
  return false;
}

double turn_of(DatumKind kind) {
  if (kind.part != Part::phase) return 0;
  return kind.element == Element::determinant ? 180 : 360;
}

namespace {

/// Of one place and frequency: Zxy, Zyx, Tzy.
struct Response2d {
  Tensor te, tm, tipper;
  TESSERA_TREE(te, tm, tipper)
};

bool needs_te(DatumKind k) {
  if (k.part == Part::phase_tensor) return k.element == Element::yy;
  return k.element != Element::yx;
}
bool needs_tm(DatumKind k) {
  if (k.part == Part::phase_tensor) return k.element == Element::xx;
  return k.element == Element::yx || k.element == Element::determinant ||
         k.element == Element::average;
}

/// The number that a table has, of responses [n] at w mu0 [n].
Tensor number_of(DatumKind kind, const Response2d& r, const Tensor& w_mu) {
  if (kind.part == Part::phase_tensor) {
    const Tensor& z = kind.element == Element::xx ? r.tm : r.te;
    return imag(z) / real(z);
  }
  const auto response = [&]() -> Tensor {
    switch (kind.element) {
      case Element::xy:
        return r.te;
      case Element::yx:
        return -r.tm;
      case Element::determinant:
        return sqrt(-(r.te * r.tm));
      case Element::average:
        return 0.5 * (r.te - r.tm);
      case Element::ty:
        return r.tipper;
      default:
        throw Error("[SectionForward] a section has no " + name_of(kind));
    }
  };
  const Tensor z = response();
  switch (kind.part) {
    case Part::real:
      return real(z);
    case Part::imag:
      return imag(z);
    case Part::log10_rho:
      return (log(square(real(z)) + square(imag(z))) - log(w_mu)) * (1 / std::numbers::ln10);
    default:
      return phase_degrees(z);
  }
}

/// Phases of a kind along the frequencies of their stations, each in the turn next to the one
/// before it: between frequencies on both sides of +-180 degrees only phases of one turn have a
/// mean. The data have no part in it, of which one may be wrong.
struct SmoothPhases {
  Tensor number, before;  ///< [n], station by station: each number, and the one before it or itself
  Tensor place, first;  ///< [n], of each number: its place among those, that of its station's first

  /// `at` has stations, the fastest, and frequencies, which it follows.
  SmoothPhases(const std::vector<Index>& at, Index n_sensors) {
    const std::size_t n = at.size();
    std::vector<Index> of(n), previous(n), places(n), firsts(n);
    std::iota(of.begin(), of.end(), Index{0});
    const auto station = [&](Index k) { return at[static_cast<std::size_t>(k)] % n_sensors; };
    std::stable_sort(of.begin(), of.end(),
                     [&](Index a, Index b) { return station(a) < station(b); });
    std::size_t begin = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0 && station(of[i]) != station(of[i - 1])) begin = i;
      previous[i] = of[i > begin ? i - 1 : i];
      places[static_cast<std::size_t>(of[i])] = static_cast<Index>(i);
      firsts[static_cast<std::size_t>(of[i])] = static_cast<Index>(begin);
    }
    number = tensor(of), before = tensor(previous);
    place = tensor(places), first = tensor(firsts);
  }
  Tensor operator()(const Tensor& phase, double turn) const {
    const Tensor fixed = stop_gradient(phase);
    const Tensor turns = cumsum(round((take(fixed, before) - take(fixed, number)) * (1 / turn)));
    return phase + turn * (take(turns, place) - take(turns, first));
  }
};

/// Wanted numbers of one kind, in the order of frequencies.
struct OfKind {
  DatumKind kind;
  std::vector<Index> at;               ///< frequency x sensors + sensor
  std::vector<Index> frequency;        ///< rising
  Tensor places, w_mu;                 ///< `at`, w mu0 there
  std::optional<SmoothPhases> smooth;  ///< of phases between which data lie
  Index first = 0;                     ///< column of `rows` of the first of them
};

/// Whether a row has more than one of these columns: it lies between frequencies.
bool interpolated(const SparseMatrix& rows, Index first, std::size_t count) {
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const auto e = static_cast<std::size_t>(rows.offsets[i]);
    if (static_cast<std::size_t>(rows.offsets[i + 1]) <= e + 1) continue;
    const auto column = static_cast<Index>(rows.columns[e]);
    if (column >= first && column < first + static_cast<Index>(count)) return true;
  }
  return false;
}

/// [n] of [frequencies, sensors], or of none where a mode is not computed.
Tensor at_places(const Tensor& response, const Tensor& places, bool needed) {
  return needed ? take(flatten(response), places) : zeros({1}, Dtype::c128);
}

}  // namespace

struct SectionForward::Body {
  Body(const Mesh2d& mesh, const Sensors2d& sensors, const std::vector<double>& frequency_hz,
       const Forward2dOptions& o)
      : forward(mesh, sensors, frequency_hz, o) {}

  Forward2d forward;
  std::vector<OfKind> kinds;
  SparseMatrix rows;  ///< of the numbers wanted, kind by kind
  CsrPatternPtr pattern;
  Tensor weights;                ///< of the pattern
  Tensor turn, per_turn, datum;  ///< [rows]: turn_of, 1 over it or 0, the datum in it or 0
  Shape model;

  Tensor numbers(const Responses2d& r) const {
    std::vector<Tensor> parts;
    for (const OfKind& k : kinds) {
      const Tensor number = number_of(
          k.kind,
          {at_places(r.te, k.places, needs_te(k.kind)), at_places(r.tm, k.places, needs_tm(k.kind)),
           at_places(r.tipper, k.places, k.kind.element == Element::ty)},
          k.w_mu);
      parts.push_back(k.smooth ? (*k.smooth)(number, turn_of(k.kind)) : number);
    }
    return concatenate(parts);
  }
  Tensor predict(const Tensor& ln_rho) const {
    const Tensor d = csr_matmul(weights, pattern, numbers(forward(ln_rho)));
    return d + turn * stop_gradient(round(datum - d * per_turn));
  }
  Tensor model_of(const std::vector<double>& m) const { return tensor(m, model); }
  void add_part(Index first, const Jacobian2d& part, const SparseMatrix& by_number,
                Matrix& out) const;
};

SectionForward::SectionForward(const Mesh2d& mesh, const Sensors2d& sensors, const DataTable& data,
                               const std::vector<double>& frequency_hz,
                               const Forward2dOptions& options, Axes2d axes) {
  require_valid(data, sensors.y.size());
  if (data.size() == 0) throw Error("[SectionForward] there are no data");
  Forward2dOptions o = options;
  o.te = o.tm = o.tipper = false;
  for (const DatumKind kind : data.kind) {
    if (!predicts_section(kind))
      throw Error(
          "[SectionForward] " + name_of(kind) +
          " is zero over any section (x along strike) and cannot be inverted: leave it out");
    o.te |= needs_te(kind);
    o.tm |= needs_tm(kind);
    o.tipper |= kind.element == Element::ty;
  }
  const ModelData md = model_data(data, frequency_hz);
  auto b = std::make_shared<Body>(mesh, sensors, frequency_hz, o);
  const auto n_sensors = static_cast<Index>(sensors.y.size());

  // Numbers kind by kind, each in the order of `wanted`, that is of frequencies.
  std::vector<Index> place(md.wanted.size());
  for (std::size_t k = 0; k < md.wanted.size(); ++k) {
    const ModelData::Wanted& w = md.wanted[k];
    auto of = std::find_if(b->kinds.begin(), b->kinds.end(),
                           [&](const OfKind& x) { return x.kind == w.kind; });
    if (of == b->kinds.end()) of = b->kinds.insert(b->kinds.end(), OfKind{.kind = w.kind});
    of->at.push_back(static_cast<Index>(w.frequency) * n_sensors + w.station);
    of->frequency.push_back(static_cast<Index>(w.frequency));
  }
  Index next = 0;
  for (OfKind& k : b->kinds) {
    k.first = next;
    next += static_cast<Index>(k.at.size());
    std::vector<double> w_mu;
    for (const Index f : k.frequency)
      w_mu.push_back(2 * std::numbers::pi * frequency_hz[static_cast<std::size_t>(f)] * mu0);
    k.places = tensor(k.at);
    k.w_mu = tensor(w_mu);
  }
  std::vector<Index> taken(b->kinds.size(), 0);
  for (std::size_t k = 0; k < md.wanted.size(); ++k) {
    std::size_t of = 0;
    while (!(b->kinds[of].kind == md.wanted[k].kind)) ++of;
    place[k] = b->kinds[of].first + taken[of]++;
  }
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < md.rows.rows; ++i)
    for (auto e = static_cast<std::size_t>(md.rows.offsets[i]);
         e < static_cast<std::size_t>(md.rows.offsets[i + 1]); ++e)
      entries.push_back(
          {i, static_cast<std::size_t>(place[static_cast<std::size_t>(md.rows.columns[e])]),
           md.rows.values[e]});
  b->rows = sparse(md.rows.rows, md.rows.cols, std::move(entries));
  for (OfKind& k : b->kinds)
    if (turn_of(k.kind) > 0 && interpolated(b->rows, k.first, k.at.size()))
      k.smooth = SmoothPhases(k.at, n_sensors);
  b->pattern = csr_pattern(static_cast<Index>(b->rows.rows), static_cast<Index>(b->rows.cols),
                           {b->rows.offsets.begin(), b->rows.offsets.end()},
                           {b->rows.columns.begin(), b->rows.columns.end()});
  b->weights = tensor(b->rows.values);
  std::vector<double> turn, per_turn, datum;
  for (std::size_t i = 0; i < data.size(); ++i) {
    turn.push_back(turn_of(data.kind[i]));
    per_turn.push_back(turn.back() > 0 ? 1 / turn.back() : 0);
    datum.push_back(data.value[i] * per_turn.back());
  }
  b->turn = tensor(turn);
  b->per_turn = tensor(per_turn);
  b->datum = tensor(datum);
  b->model = {b->forward.parameters()};
  if (axes == Axes2d::three) b->model.push_back(3);
  body_ = std::move(b);
}

Tensor SectionForward::operator()(const Tensor& ln_rho) const { return body_->predict(ln_rho); }
std::size_t SectionForward::rows() const { return body_->rows.rows; }
std::size_t SectionForward::parameters() const {
  std::size_t n = 1;
  for (const Index k : body_->model) n *= static_cast<std::size_t>(k);
  return n;
}
const Forward2d& SectionForward::forward() const { return body_->forward; }

/// d(number) = Re(conj(g) dZ) with the pullback g of 1: each number has responses of its own.
void SectionForward::Body::add_part(Index first, const Jacobian2d& part,
                                    const SparseMatrix& by_number, Matrix& out) const {
  const Index n = static_cast<Index>(out.cols), block = 64;
  const Index sensors =
      part.value.te.shape()[1] > 0 ? part.value.te.shape()[1] : part.value.tm.shape()[1];
  const Index count = std::max(part.value.te.shape()[0], part.value.tm.shape()[0]);
  const auto flat = [&](const Tensor& t) {
    return t.size() == 0 ? Tensor() : contiguous(reshape(t, {t.shape()[0] * t.shape()[1], n}));
  };
  const Tensor te = flat(part.te), tm = flat(part.tm), tipper = flat(part.tipper);
  struct Term {
    const c128* row;  ///< of the Jacobian of responses
    c128 g;
    Index number;
  };
  std::vector<Term> terms;
  for (const OfKind& k : kinds) {
    const auto from = std::lower_bound(k.frequency.begin(), k.frequency.end(), first),
               to = std::lower_bound(k.frequency.begin(), k.frequency.end(), first + count);
    if (from == to) continue;
    const auto begin = from - k.frequency.begin(), end = to - k.frequency.begin();
    std::vector<Index> places;
    for (auto i = begin; i < end; ++i) places.push_back(k.at[i] - first * sensors);
    const Tensor at = tensor(places), w_mu = slice(k.w_mu, 0, begin, end);
    const bool of_te = needs_te(k.kind), of_tm = needs_tm(k.kind),
               of_tipper = k.kind.element == Element::ty;
    const Response2d r{at_places(part.value.te, at, of_te), at_places(part.value.tm, at, of_tm),
                       at_places(part.value.tipper, at, of_tipper)};
    const auto [value, pull] =
        vjp([&](const Response2d& x) { return number_of(k.kind, x, w_mu); }, r);
    const Response2d g = pull(ones(value.shape(), Dtype::f64));
    const auto add = [&](const Tensor& jacobian, const Tensor& weight) {
      const auto of = weight.to_vector<c128>();
      const c128* rows = jacobian.data<c128>().data();
      for (std::size_t i = 0; i < places.size(); ++i)
        terms.push_back({rows + places[i] * n, of[i], k.first + begin + static_cast<Index>(i)});
    };
    if (of_te && !of_tipper) add(te, g.te);
    if (of_tm) add(tm, g.tm);
    if (of_tipper) add(tipper, g.tipper);
  }
  // Columns in blocks, so that what is written lies close by.
  parallel_chunks((n + block - 1) / block, [&](std::int64_t chunk) {
    const Index j0 = chunk * block, j1 = std::min(n, j0 + block);
    for (const Term& t : terms)
      for (auto e = by_number.offsets[static_cast<std::size_t>(t.number)];
           e < by_number.offsets[static_cast<std::size_t>(t.number) + 1]; ++e) {
        const auto row = static_cast<std::size_t>(by_number.columns[static_cast<std::size_t>(e)]);
        const c128 g = by_number.values[static_cast<std::size_t>(e)] * t.g;
        for (Index j = j0; j < j1; ++j)
          out.values[row + static_cast<std::size_t>(j) * out.rows] +=
              g.real() * t.row[j].real() + g.imag() * t.row[j].imag();
      }
  });
}

Matrix SectionForward::jacobian(const Tensor& ln_rho) const {
  const Body& b = *body_;
  Matrix out(rows(), parameters());
  std::vector<Entry> turned;
  for (std::size_t i = 0; i < b.rows.rows; ++i)
    for (auto e = static_cast<std::size_t>(b.rows.offsets[i]);
         e < static_cast<std::size_t>(b.rows.offsets[i + 1]); ++e)
      turned.push_back({static_cast<std::size_t>(b.rows.columns[e]), i, b.rows.values[e]});
  const SparseMatrix by_number = sparse(b.rows.cols, b.rows.rows, std::move(turned));
  b.forward.jacobian(ln_rho, [&](Index first, const Jacobian2d& part) {
    b.add_part(first, part, by_number, out);
  });
  return out;
}

void SectionForward::jacobian(const Tensor& ln_rho, const JacobianRows& visit) const {
  const Body& b = *body_;
  std::vector<Index> frequency(b.rows.cols);  // of numbers
  for (const OfKind& k : b.kinds)
    std::copy(k.frequency.begin(), k.frequency.end(), frequency.begin() + k.first);
  std::vector<std::vector<Entry>> entries(rows());  // with the numbers in rows
  std::vector<Index> from(rows(), std::numeric_limits<Index>::max()), to(rows(), -1);
  for (std::size_t i = 0; i < rows(); ++i)
    for (auto e = static_cast<std::size_t>(b.rows.offsets[i]);
         e < static_cast<std::size_t>(b.rows.offsets[i + 1]); ++e) {
      const auto number = static_cast<std::size_t>(b.rows.columns[e]);
      entries[i].push_back({number, i, b.rows.values[e]});
      from[i] = std::min(from[i], frequency[number]);
      to[i] = std::max(to[i], frequency[number]);
    }
  const std::size_t n = parameters();
  std::vector<std::size_t> begun;  // rows that later frequencies have a share in
  Matrix of_begun;
  b.forward.jacobian(ln_rho, [&](Index first, const Jacobian2d& part) {
    const Index end = first + std::max(part.value.te.shape()[0], part.value.tm.shape()[0]);
    std::vector<std::size_t> now;
    for (std::size_t i = 0; i < rows(); ++i)
      if (from[i] < end && to[i] >= first) now.push_back(i);
    const auto rest =
        std::stable_partition(now.begin(), now.end(), [&](std::size_t i) { return to[i] < end; });
    const auto complete = static_cast<std::size_t>(rest - now.begin());
    std::vector<std::size_t> place(rows());
    std::vector<Entry> by_number;
    for (std::size_t k = 0; k < now.size(); ++k) {
      place[now[k]] = k;
      for (const Entry& e : entries[now[k]]) by_number.push_back({e.row, k, e.value});
    }
    Matrix values(now.size(), n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < begun.size(); ++k) values(place[begun[k]], j) = of_begun(k, j);
    b.add_part(first, part, sparse(b.rows.cols, now.size(), std::move(by_number)), values);
    begun.assign(rest, now.end());
    of_begun = Matrix(begun.size(), n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < begun.size(); ++k) of_begun(k, j) = values(complete + k, j);
    now.resize(complete);
    visit(now, values);
  });
}

ForwardMap SectionForward::map(First first) const {
  using Vector = std::vector<double>;
  ForwardMap f{.n_parameters = parameters(), .n_data = rows()};
  f.predict = [b = body_](const Vector& m) { return b->predict(b->model_of(m)).to_vector(); };
  if (first == First::numbers)
    f.jacobian = [self = *this](const Vector& m) { return self.jacobian(self.body_->model_of(m)); };
  f.linearize = [b = body_](const Vector& m) {
    const auto data = [b](const Tensor& x) { return b->predict(x); };
    const Tensor at = b->model_of(m);
    LinearMap out{.rows = b->rows.rows, .cols = m.size()};
    // Planned once: steps by conjugate gradients take hundreds of products.
    out.times = [b, push = jit([by = linearize(data, at).second](const Tensor& v) {
                      return by(v);
                    })](const Vector& v) { return push(b->model_of(v)).to_vector(); };
    out.transposed_times = [pull = jit([by = vjp(data, at).second](const Tensor& y) {
                              return flatten(by(y));
                            })](const Vector& y) { return pull(tensor(y)).to_vector(); };
    return out;
  };
  f.pullback = [b = body_](const Vector& m) {
    const auto [value, pull] = vjp([&](const Tensor& x) { return b->predict(x); }, b->model_of(m));
    return PulledBack{value.to_vector(), [pull = pull](const Vector& y) {
                        return flatten(pull(tensor(y))).to_vector();
                      }};
  };
  f.curvature = [b = body_](const Vector& m, const Vector& y) {
    const auto weighted = [b, w = tensor(y)](const Tensor& x) { return sum(w * b->predict(x)); };
    LinearMap out{.rows = m.size(), .cols = m.size()};
    out.times =
        [b, push = jit([by = linearize(grad(weighted), b->model_of(m)).second](const Tensor& v) {
              return flatten(by(v));
            })](const Vector& v) { return push(b->model_of(v)).to_vector(); };
    out.transposed_times = out.times;
    return out;
  };
  return f;
}

}  // namespace tessera::inversion
