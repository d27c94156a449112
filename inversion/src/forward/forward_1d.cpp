// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/forward_1d.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/response.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

namespace tessera::inversion {

Tensor layered_impedance(const std::vector<Tensor>& ln_rho, const std::vector<Tensor>& ln_thickness,
                         const Tensor& frequency_hz) {
  if (ln_rho.empty() || ln_thickness.size() + 1 != ln_rho.size())
    throw Error("[layered_impedance] needs n >= 1 resistivities and n - 1 thicknesses");
  const Tensor root = sqrt(frequency_hz * (std::numbers::pi * mu0));  // sqrt(w mu0 / 2)
  const std::size_t n = ln_rho.size();
  const Tensor bottom = exp(0.5 * ln_rho[n - 1]) * root;
  Tensor w = complex(bottom, 0.0 * bottom);
  for (std::size_t j = n - 1; j-- > 0;) {
    const Tensor a = exp(0.5 * ln_rho[j]) * root;
    const Tensor x = (-2.0 * exp(ln_thickness[j] - 0.5 * ln_rho[j])) * root;  // -2 Re(k h)
    const Tensor q = (a - w) * exp(complex(x, x));
    const Tensor s = a + w;
    w = a * (s - q) / (s + q);
  }
  return w * c128(1, 1);
}

namespace {

using Tensors = std::vector<Tensor>;

/// What the compiled functions take beside the parameters that are wanted, m: n values of ln rho (x
/// of the band-pass map where there are bounds), the n - 1 of ln h unless they are given, and g
/// where there is a static shift. Plans are shared by all soundings of the process and kept by
/// argument types.
struct Given {
  Tensors ln_thickness;  ///< all, or none where they are wanted
  Tensors ln_bounds;     ///< lower and upper, or none
  Tensor frequency;
  bool static_shift = false;
  TESSERA_TREE(ln_thickness, ln_bounds, frequency)
  TESSERA_STATIC(static_shift)
};

Tensor impedance_of(Tensors m, const Given& given) {
  Tensor ln_factor;
  if (given.static_shift) {
    ln_factor = m.back();
    m.pop_back();
  }
  m.insert(m.end(), given.ln_thickness.begin(), given.ln_thickness.end());
  const auto middle = m.begin() + static_cast<std::ptrdiff_t>((m.size() + 1) / 2);
  Tensors ln_rho(m.begin(), middle);
  if (!given.ln_bounds.empty())
    for (Tensor& r : ln_rho) r = bounded(r, given.ln_bounds[0], given.ln_bounds[1]);
  const Tensor z = layered_impedance(ln_rho, Tensors(middle, m.end()), given.frequency);
  return given.static_shift ? exp(ln_factor) * z : z;
}

const auto& compiled_response() {
  static const auto f = jit([](const Tensors& m, const Given& given) {
    const Tensor z = impedance_of(m, given);
    return Tensors{real(z), imag(z)};
  });
  return f;
}

/// Rows: d Re Z / dm_j, then d Im Z / dm_j; each of the shape of z. Every tensor of m must have
/// that shape: no entry of z then shares a parameter with another, and one pullback gives all
/// frequencies at once.
Tensors derivatives(const Tensors& wanted, const Given& given) {
  const auto [z, pull] = vjp([&](const Tensors& m) { return impedance_of(m, given); }, wanted);
  Tensors out = pull(full(z.shape(), c128(1, 0), Dtype::c128));
  const Tensors imaginary = pull(full(z.shape(), c128(0, 1), Dtype::c128));
  out.insert(out.end(), imaginary.begin(), imaginary.end());
  return out;
}

const auto& compiled_jacobian() {
  static const auto f = jit(derivatives);
  return f;
}

/// The same with bounds: a layer goes through them as one number of x, forward with its slope, and
/// not once a frequency. `others` are wanted behind the layers.
const auto& compiled_bounded_jacobian() {
  static const auto f = jit([](const Tensor& x, const Tensors& others, const Given& given) {
    const auto [ln_rho, slope] =
        jvp([&](const Tensor& t) { return bounded(t, given.ln_bounds[0], given.ln_bounds[1]); }, x,
            ones(x.shape()));
    Given free = given;
    free.ln_bounds.clear();
    Tensors wanted;
    for (Index j = 0; j < x.size(); ++j)
      wanted.push_back(broadcast_to(select(ln_rho, 0, j), given.frequency.shape()));
    wanted.insert(wanted.end(), others.begin(), others.end());
    Tensors out = derivatives(wanted, free);
    for (Index j = 0; j < x.size(); ++j)
      for (const std::size_t row :
           {static_cast<std::size_t>(j), wanted.size() + static_cast<std::size_t>(j)})
        out[row] = out[row] * select(slope, 0, j);
    return out;
  });
  return f;
}

/// Directions of second derivatives worked on at once: more would not fit the second-level cache.
constexpr Index directions = 12;

/// H e_k of the scalar sum(y_re Re Z + y_im Im Z) for several k at once: every parameter is a
/// column with one entry per direction k, and the tangent of m_k is 1 in that entry alone.
const auto& compiled_hessian() {
  static const auto f = jit([](const Tensors& wanted, const Tensors& tangents, const Given& given,
                               const Tensor& y_re, const Tensor& y_im) {
    const auto objective = [&](const Tensors& m) {
      const Tensor z = impedance_of(m, given);
      return sum(real(z) * y_re + imag(z) * y_im);
    };
    return jvp(grad(objective), wanted, tangents).second;
  });
  return f;
}

/// One sounding: the frequencies are padded with copies of the last to a multiple of sixteen, so
/// that soundings of similar size share their plans.
class Sounding1d {
 public:
  Sounding1d(std::vector<double> frequency, std::vector<double> thickness, int layers,
             bool free_thickness, const LayeredParameters& parameters)
      : n_(frequency.size()),
        layers_(static_cast<std::size_t>(layers)),
        free_(free_thickness),
        given_{.static_shift = parameters.static_shift} {
    if (n_ == 0 || layers < 1) throw Error("[layered_forward] needs a frequency and a layer");
    for (double f : frequency)
      if (!(f > 0) || !std::isfinite(f))
        throw Error("[layered_forward] frequencies must be positive");
    for (double h : thickness) {
      if (!(h > 0) || !std::isfinite(h))
        throw Error("[layered_forward] thicknesses must be positive");
      given_.ln_thickness.push_back(full({1}, std::log(h)));
    }
    if (const auto& bounds = parameters.ln_rho_bounds) {
      const double width = bounds->upper - bounds->lower;
      if (!(width > 0) || !std::isfinite(width))
        throw Error("[layered_forward] the lower bound must be below the upper one, both finite");
      given_.ln_bounds = {full({1}, bounds->lower), full({1}, bounds->upper)};
    }
    frequency.resize((n_ + 15) / 16 * 16, frequency.back());
    given_.frequency = tensor(frequency);
  }
  std::size_t parameters() const {
    return (free_ ? 2 * layers_ - 1 : layers_) + (given_.static_shift ? 1 : 0);
  }
  std::size_t data() const { return 2 * n_; }

  std::vector<double> predict(const std::vector<double>& m) const {
    const Tensors z = compiled_response()(fill(m, {1}), given_);
    const auto re = z[0].to_vector(), im = z[1].to_vector();
    std::vector<double> d(data());
    for (std::size_t i = 0; i < n_; ++i) {
      d[2 * i] = re[i];
      d[2 * i + 1] = im[i];
    }
    return d;
  }

  Matrix jacobian(const std::vector<double>& m) const {
    const auto middle = m.begin() + static_cast<std::ptrdiff_t>(layers_);
    const Shape& shape = given_.frequency.shape();
    const Tensors rows =
        given_.ln_bounds.empty()
            ? compiled_jacobian()(fill(m, shape), given_)
            : compiled_bounded_jacobian()(tensor(std::vector<double>(m.begin(), middle)),
                                          fill({middle, m.end()}, shape), given_);
    Matrix out(data(), parameters());
    for (std::size_t j = 0; j < parameters(); ++j) {
      const auto re = rows[j].to_vector(), im = rows[parameters() + j].to_vector();
      for (std::size_t i = 0; i < n_; ++i) {
        out(2 * i, j) = re[i];
        out(2 * i + 1, j) = im[i];
      }
    }
    return out;
  }

  Matrix hessian(const std::vector<double>& m, const std::vector<double>& y) const {
    std::vector<double> y_re(static_cast<std::size_t>(given_.frequency.size()), 0.0), y_im = y_re;
    for (std::size_t i = 0; i < n_; ++i) {
      y_re[i] = y[2 * i];
      y_im[i] = y[2 * i + 1];
    }
    const Tensors p = fill(m, {directions, 1});
    const Tensor weight_re = tensor(y_re), weight_im = tensor(y_im);
    const Tensor none = zeros({directions, 1});
    Matrix out(parameters(), parameters());
    constexpr auto width = static_cast<std::size_t>(directions);
    for (std::size_t first = 0; first < parameters(); first += width) {
      const std::size_t last = std::min(parameters(), first + width);
      Tensors tangents(parameters(), none);
      for (std::size_t j = first; j < last; ++j) {
        std::vector<double> e(width, 0.0);
        e[j - first] = 1;
        tangents[j] = tensor(e, {directions, 1});
      }
      const Tensors columns = compiled_hessian()(p, tangents, given_, weight_re, weight_im);
      for (std::size_t j = 0; j < parameters(); ++j) {
        const auto row = columns[j].to_vector();
        for (std::size_t k = first; k < last; ++k) out(j, k) = row[k - first];
      }
    }
    return out;
  }

 private:
  static Tensors fill(const std::vector<double>& values, const Shape& shape) {
    Tensors out;
    for (const double v : values) out.push_back(full(shape, v));
    return out;
  }

  std::size_t n_, layers_;
  bool free_;
  Given given_;
};

ForwardMap forward_map(std::shared_ptr<const Sounding1d> s) {
  ForwardMap f;
  f.n_parameters = s->parameters();
  f.n_data = s->data();
  const auto require = [s](const std::vector<double>& m) {
    if (m.size() != s->parameters())
      throw Error("[layered_forward] the model has " + std::to_string(m.size()) +
                  " parameters, expected " + std::to_string(s->parameters()));
  };
  f.predict = [=](const std::vector<double>& m) {
    require(m);
    return s->predict(m);
  };
  f.jacobian = [=](const std::vector<double>& m) {
    require(m);
    return s->jacobian(m);
  };
  f.hessian = [=](const std::vector<double>& m, const std::vector<double>& y) {
    require(m);
    if (y.size() != s->data())
      throw Error("[layered_forward] the weights differ in length from the data");
    return s->hessian(m, y);
  };
  return f;
}

}  // namespace

ForwardMap layered_forward(std::vector<double> frequency_hz, std::vector<double> thickness_m,
                           const LayeredParameters& parameters) {
  const int layers = static_cast<int>(thickness_m.size()) + 1;
  return forward_map(std::make_shared<const Sounding1d>(
      std::move(frequency_hz), std::move(thickness_m), layers, false, parameters));
}

ForwardMap layered_forward_free(std::vector<double> frequency_hz, int n_layers,
                                const LayeredParameters& parameters) {
  return forward_map(std::make_shared<const Sounding1d>(
      std::move(frequency_hz), std::vector<double>{}, n_layers, true, parameters));
}

// ---- many soundings ----

namespace {

/// Small enough that a chunk's intermediate results stay in the second-level cache, large enough
/// that running an operation costs more than starting it.
constexpr std::size_t chunk_size = 32;

/// Rows j of `values` [rows][count] at soundings first..first+n as columns [chunk, 1]; a short last
/// chunk is filled up with its first sounding.
Tensors columns(std::span<const double> values, std::size_t rows, std::size_t count,
                std::size_t first, std::size_t n) {
  Tensors out;
  std::vector<double> column(chunk_size);
  for (std::size_t j = 0; j < rows; ++j) {
    for (std::size_t s = 0; s < chunk_size; ++s)
      column[s] = values[j * count + first + (s < n ? s : 0)];
    out.push_back(tensor(column, {static_cast<Index>(chunk_size), 1}));
  }
  return out;
}

Tensor block(std::span<const double> values, std::size_t width, std::size_t first, std::size_t n) {
  std::vector<double> out(chunk_size * width);
  for (std::size_t s = 0; s < chunk_size; ++s)
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>((first + (s < n ? s : 0)) * width),
                width, out.begin() + static_cast<std::ptrdiff_t>(s * width));
  return tensor(out, {static_cast<Index>(chunk_size), static_cast<Index>(width)});
}

const auto& compiled_gradient() {
  static const auto f = jit([](const Tensors& p, const Given& given, const Tensor& re,
                               const Tensor& im, const Tensor& per_sigma) {
    const auto misfit = [&](const Tensors& m) {
      const Tensor z = impedance_of(m, given);
      return sum(square((real(z) - re) * per_sigma) + square((imag(z) - im) * per_sigma), {1});
    };
    // No sounding's misfit depends on another's parameters: one pullback of ones is every gradient.
    const auto [value, pull] = vjp(misfit, p);
    Tensors out = pull(ones(value.shape()));
    out.push_back(value);
    return out;
  });
  return f;
}

/// Calls work(first, n) for every chunk; chunk c belongs to thread c mod n_threads.
template <class Work>
void in_chunks(std::size_t count, int threads, const Work& work) {
  const std::size_t chunks = (count + chunk_size - 1) / chunk_size;
  const auto n_threads =
      std::min<std::size_t>(static_cast<std::size_t>(threads), std::max<std::size_t>(chunks, 1));
  std::mutex mutex;
  std::exception_ptr failure;
  const auto body = [&](std::size_t t) {
    try {
      for (std::size_t c = t; c < chunks; c += n_threads)
        work(c * chunk_size, std::min(chunk_size, count - c * chunk_size));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::jthread> pool;
  for (std::size_t t = 1; t < n_threads; ++t) pool.emplace_back(body, t);
  body(0);
  pool.clear();
  if (failure) std::rethrow_exception(failure);
}

void require_size(std::size_t got, std::size_t wanted, const char* what) {
  if (got != wanted)
    throw Error(std::string("[LayeredBatch] ") + what + " has " + std::to_string(got) +
                " numbers, expected " + std::to_string(wanted));
}

}  // namespace

LayeredBatch::LayeredBatch(std::vector<double> frequency_hz, int n_layers, int threads)
    : frequency_hz_(std::move(frequency_hz)),
      layers_(static_cast<std::size_t>(std::max(n_layers, 0))),
      threads_(threads > 0 ? threads
                           : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))) {
  if (frequency_hz_.empty() || n_layers < 1)
    throw Error("[LayeredBatch] needs a frequency and a layer");
}

void LayeredBatch::misfit_and_gradient(std::size_t count, std::span<const double> ln_rho,
                                       std::span<const double> ln_thickness,
                                       std::span<const double> re, std::span<const double> im,
                                       std::span<const double> sigma, std::span<double> misfit,
                                       std::span<double> d_ln_rho,
                                       std::span<double> d_ln_thickness) const {
  const std::size_t nf = frequency_hz_.size();
  require_size(ln_rho.size(), layers_ * count, "ln_rho");
  require_size(ln_thickness.size(), (layers_ - 1) * count, "ln_thickness");
  require_size(re.size(), nf * count, "re");
  require_size(im.size(), nf * count, "im");
  require_size(sigma.size(), nf * count, "sigma");
  require_size(misfit.size(), count, "misfit");
  require_size(d_ln_rho.size(), ln_rho.size(), "d_ln_rho");
  require_size(d_ln_thickness.size(), ln_thickness.size(), "d_ln_thickness");
  const Given given{.frequency = tensor(frequency_hz_)};
  in_chunks(count, threads_, [&](std::size_t first, std::size_t n) {
    Tensors p = columns(ln_rho, layers_, count, first, n);
    const Tensors h = columns(ln_thickness, layers_ - 1, count, first, n);
    p.insert(p.end(), h.begin(), h.end());
    const Tensors out =
        compiled_gradient()(p, given, block(re, nf, first, n), block(im, nf, first, n),
                            1.0 / block(sigma, nf, first, n));
    const auto copy = [&](const Tensor& t, std::span<double> to, std::size_t row) {
      const auto v = t.to_vector();
      std::copy_n(v.begin(), n, to.begin() + static_cast<std::ptrdiff_t>(row * count + first));
    };
    for (std::size_t j = 0; j < layers_; ++j) copy(out[j], d_ln_rho, j);
    for (std::size_t j = 0; j + 1 < layers_; ++j) copy(out[layers_ + j], d_ln_thickness, j);
    copy(out.back(), misfit, 0);
  });
}

void LayeredBatch::predict(std::size_t count, std::span<const double> ln_rho,
                           std::span<const double> ln_thickness, std::span<double> re,
                           std::span<double> im) const {
  const std::size_t nf = frequency_hz_.size();
  require_size(ln_rho.size(), layers_ * count, "ln_rho");
  require_size(ln_thickness.size(), (layers_ - 1) * count, "ln_thickness");
  require_size(re.size(), nf * count, "re");
  require_size(im.size(), nf * count, "im");
  const Given given{.frequency = tensor(frequency_hz_)};
  in_chunks(count, threads_, [&](std::size_t first, std::size_t n) {
    Tensors p = columns(ln_rho, layers_, count, first, n);
    const Tensors h = columns(ln_thickness, layers_ - 1, count, first, n);
    p.insert(p.end(), h.begin(), h.end());
    const Tensors z = compiled_response()(p, given);
    const auto a = z[0].to_vector(), b = z[1].to_vector();
    std::copy_n(a.begin(), n * nf, re.begin() + static_cast<std::ptrdiff_t>(first * nf));
    std::copy_n(b.begin(), n * nf, im.begin() + static_cast<std::ptrdiff_t>(first * nf));
  });
}

void LayeredBatch::jacobian(std::size_t count, std::span<const double> ln_rho,
                            std::span<const double> ln_thickness, std::span<double> re,
                            std::span<double> im) const {
  const std::size_t nf = frequency_hz_.size(), rows = 2 * layers_ - 1;
  require_size(ln_rho.size(), layers_ * count, "ln_rho");
  require_size(ln_thickness.size(), (layers_ - 1) * count, "ln_thickness");
  require_size(re.size(), rows * nf * count, "re");
  require_size(im.size(), rows * nf * count, "im");
  const Given given{.frequency = tensor(frequency_hz_)};
  const Shape shape{static_cast<Index>(chunk_size), static_cast<Index>(nf)};
  in_chunks(count, threads_, [&](std::size_t first, std::size_t n) {
    Tensors p = columns(ln_rho, layers_, count, first, n);
    const Tensors h = columns(ln_thickness, layers_ - 1, count, first, n);
    p.insert(p.end(), h.begin(), h.end());
    for (Tensor& t : p) t = contiguous(broadcast_to(t, shape));
    const Tensors out = compiled_jacobian()(p, given);
    for (std::size_t j = 0; j < rows; ++j) {
      const auto a = out[j].to_vector(), b = out[rows + j].to_vector();
      const auto at = static_cast<std::ptrdiff_t>((j * count + first) * nf);
      std::copy_n(a.begin(), n * nf, re.begin() + at);
      std::copy_n(b.begin(), n * nf, im.begin() + at);
    }
  });
}

}  // namespace tessera::inversion
