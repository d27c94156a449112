// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/learnt_model.h"

#include "base/sparse_factor.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>

namespace tessera::inversion {
namespace {

using Numbers = std::vector<double>;
using Eigen::MatrixXd;

/// What a point of the array's axes takes, and with what share.
struct Share {
  std::size_t number;
  double part;
};
double weight_at(const Region& r, const double* x) {
  double w = 1;
  for (std::size_t a = 0; a < r.bounds.size(); ++a) {
    const double u = (x[a] - r.bounds[a][0]) / (r.bounds[a][1] - r.bounds[a][0]);
    const bool below = u < 0 && !r.beyond.empty() && r.beyond[a][0],
               above = u > 1 && !r.beyond.empty() && r.beyond[a][1];
    if (!(u >= 0 || below) || !(u <= 1 || above)) return 0;
    if (r.fade.empty() || below || above) continue;
    if (r.fade[a][0] > 0) w *= std::min(1.0, u / r.fade[a][0]);
    if (r.fade[a][1] > 0) w *= std::min(1.0, (1 - u) / r.fade[a][1]);
  }
  return w;
}
std::vector<Share> shares_at(const Region& r, const Shape& shape, const double* x) {
  std::vector<Share> out{{0, 1.0}};
  for (std::size_t a = 0; a < r.bounds.size(); ++a) {
    const auto n = static_cast<std::size_t>(shape[static_cast<int>(a)]);
    const double u = (x[a] - r.bounds[a][0]) / (r.bounds[a][1] - r.bounds[a][0]);
    const double at = std::clamp(u * static_cast<double>(n) - 0.5, 0.0, static_cast<double>(n - 1));
    const auto low = std::min(static_cast<std::size_t>(at), n > 1 ? n - 2 : 0);
    const double part = at - static_cast<double>(low);
    std::vector<Share> next;
    for (const Share& s : out) {
      next.push_back({s.number * n + low, s.part * (1 - part)});
      if (n > 1) next.push_back({s.number * n + low + 1, s.part * part});
    }
    out = std::move(next);
  }
  return out;
}

void require_regions(const std::vector<Generator>& generators, const std::vector<Region>& regions,
                     const CellPoints& points, std::size_t cells, const SparseMatrix& pixels) {
  const auto refuse = [](const std::string& what) { throw Error("[learnt_model] " + what); };
  if (generators.size() != regions.size()) refuse("each generator needs its region");
  if (points.at.size() != points.cell.size() * points.axes) refuse("points are [points, axes]");
  for (const std::size_t c : points.cell)
    if (c >= cells)
      refuse("a point lies in cell " + std::to_string(c) + ", of " + std::to_string(cells));
  if (pixels.cols > 0 && pixels.rows != cells) refuse("pixels say nothing of these cells");
  for (std::size_t k = 0; k < regions.size(); ++k) {
    const Region& r = regions[k];
    if (r.bounds.size() != points.axes ||
        generators[k].model.size() != static_cast<int>(points.axes) ||
        (!r.fade.empty() && r.fade.size() != points.axes) ||
        (!r.beyond.empty() && r.beyond.size() != points.axes))
      refuse("region " + std::to_string(k) + " has other axes than its generator or the points");
    for (std::size_t a = 0; a < points.axes; ++a)
      if (!(r.bounds[a][1] > r.bounds[a][0]))
        refuse("region " + std::to_string(k) + " ends where it begins, or before");
    for (std::size_t a = 0; a < r.fade.size(); ++a)
      for (std::size_t side = 0; side < 2; ++side)
        if (!(r.fade[a][side] >= 0 && r.fade[a][side] <= 1) ||
            (r.fade[a][side] > 0 && !r.beyond.empty() && r.beyond[a][side]))
          refuse("region " + std::to_string(k) +
                 " fades over no part of its extent, or where it goes on");
  }
}

/// The square of the generators' weight where a pixel is.
Numbers decoder_part_of(const SparseMatrix& pixels, const Numbers& outside) {
  Numbers weight(pixels.cols, 0.0), all(pixels.cols, 0.0);
  for (std::size_t i = 0; i < pixels.rows; ++i)
    for (auto k = static_cast<std::size_t>(pixels.offsets[i]);
         k < static_cast<std::size_t>(pixels.offsets[i + 1]); ++k) {
      const auto j = static_cast<std::size_t>(pixels.columns[k]);
      weight[j] += std::abs(pixels.values[k]) * (1 - outside[i]);
      all[j] += std::abs(pixels.values[k]);
    }
  for (std::size_t j = 0; j < weight.size(); ++j)
    weight[j] = all[j] > 0 ? std::pow(weight[j] / all[j], 2) : 0;
  return weight;
}

/// A generator's functions compiled, shared by all copies of a map.
struct Compiled {
  using One = std::function<Tensor(const Tensor&)>;
  using Two = std::function<Tensor(const Tensor&, const Tensor&)>;
  using Three = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>;
  Index codes = 0;
  One value, jacobian;  ///< [numbers]; [numbers, codes]
  Two push, pull;       ///< (z, t) -> dD/dz t; (z, y) -> (dD/dz)^T y
  Three twice;          ///< (z, y, t) -> (y . d2D/dz2) t
};
Compiled compiled(const Generator& g) {
  const Index numbers = g.model.count(), codes = g.codes;
  const auto flat = [decode = g.decode, numbers](const Tensor& z) {
    return reshape(decode(z), {numbers});
  };
  const auto pull = [flat](const Tensor& z, const Tensor& y) { return vjp(flat, z).second(y); };
  Compiled c{.codes = codes, .value = jit(flat)};
  c.jacobian = jit([flat](const Tensor& z) { return jacfwd(flat)(z); });
  c.push = jit([flat](const Tensor& z, const Tensor& t) { return jvp(flat, z, t).second; });
  c.pull = jit(pull);
  c.twice = jit([pull](const Tensor& z, const Tensor& y, const Tensor& t) {
    return jvp([&](const Tensor& at) { return pull(at, y); }, z, t).second;
  });
  return c;
}

struct MapBody {
  LearntModel model;
  std::vector<Compiled> generators;

  Tensor code(std::size_t k, const Numbers& x) const {
    const std::size_t first = model.first_code(k);
    const auto n = static_cast<std::size_t>(generators[k].codes);
    return tensor(Numbers(x.begin() + static_cast<std::ptrdiff_t>(first),
                          x.begin() + static_cast<std::ptrdiff_t>(first + n)));
  }
  Numbers pixels_of(const Numbers& x) const {
    return {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(model.n_pixels())};
  }
};

/// W_k dD_k/dz of all generators, side by side: [cells, codes].
Matrix of_codes(const MapBody& body, const Numbers& x) {
  using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const LearntModel& m = body.model;
  Matrix out(m.cells(), m.n_codes());
  for (std::size_t k = 0; k < m.generators.size(); ++k) {
    const Tensor d = body.generators[k].jacobian(body.code(k, x));
    const Numbers rows = d.to_vector();
    const Eigen::Map<const ByRows> dd(rows.data(), d.dim(0), d.dim(1));
    const SparseMatrix& w = m.into[k];
    ByRows product = ByRows::Zero(static_cast<Eigen::Index>(m.cells()), d.dim(1));
    for (std::size_t i = 0; i < w.rows; ++i)
      for (auto e = static_cast<std::size_t>(w.offsets[i]);
           e < static_cast<std::size_t>(w.offsets[i + 1]); ++e)
        product.row(static_cast<Eigen::Index>(i)) += w.values[e] * dd.row(w.columns[e]);
    view(out).middleCols(static_cast<Eigen::Index>(m.first_code(k) - m.n_pixels()), d.dim(1)) =
        product;
  }
  return out;
}

/// dm/dx at one x: products by the engine, from the left by numbers.
LinearMap tangent(const std::shared_ptr<const MapBody>& body, const Numbers& x) {
  const LearntModel& m = body->model;
  LinearMap out{.rows = m.cells(), .cols = m.size()};
  const LinearMap p = linear_map(m.pixels);
  std::vector<Tensor> code;
  for (std::size_t k = 0; k < m.generators.size(); ++k) code.push_back(body->code(k, x));
  out.times = [=](const Numbers& t) {
    Numbers y = p.times(body->pixels_of(t));
    for (std::size_t k = 0; k < code.size(); ++k) {
      const Numbers part = body->model.into[k].times(
          body->generators[k].push(code[k], body->code(k, t)).to_vector());
      view(y) += view(part);
    }
    return y;
  };
  out.transposed_times = [=](const Numbers& y) {
    Numbers t = p.transposed_times(y);
    for (std::size_t k = 0; k < code.size(); ++k) {
      const Numbers part = body->generators[k]
                               .pull(code[k], tensor(body->model.into[k].transposed_times(y)))
                               .to_vector();
      t.insert(t.end(), part.begin(), part.end());
    }
    return t;
  };
  out.from_left = [=](const Matrix& b) {
    const Matrix codes = of_codes(*body, x);
    Matrix all(b.rows, body->model.size());
    view(all).leftCols(static_cast<Eigen::Index>(p.cols)) = view(from_left(b, p));
    view(all).rightCols(static_cast<Eigen::Index>(codes.cols)) = view(b) * view(codes);
    return all;
  };
  return out;
}

}  // namespace

std::size_t LearntModel::n_codes() const { return first_code(generators.size()) - n_pixels(); }
std::size_t LearntModel::first_code(std::size_t generator) const {
  std::size_t at = n_pixels();
  for (std::size_t k = 0; k < generator; ++k) at += static_cast<std::size_t>(generators[k].codes);
  return at;
}

ForwardMap LearntModel::map() const {
  auto made = std::make_shared<MapBody>(MapBody{*this, {}});
  for (const Generator& g : generators) made->generators.push_back(compiled(g));
  const std::shared_ptr<const MapBody> body = std::move(made);
  ForwardMap out{.n_parameters = size(), .n_data = cells()};
  out.predict = [body](const Numbers& x) {
    const LearntModel& m = body->model;
    Numbers y = m.background;
    if (m.n_pixels() > 0) {
      const Numbers p = m.pixels.times(body->pixels_of(x));
      view(y) += view(p);
    }
    for (std::size_t k = 0; k < m.generators.size(); ++k) {
      const Numbers part = m.into[k].times(body->generators[k].value(body->code(k, x)).to_vector());
      view(y) += view(part);
    }
    return y;
  };
  out.linearize = [body](const Numbers& x) { return tangent(body, x); };
  out.curvature = [body](const Numbers& x, const Numbers& y) {
    const std::size_t n = body->model.size();
    std::vector<Tensor> code, weight;
    for (std::size_t k = 0; k < body->generators.size(); ++k) {
      code.push_back(body->code(k, x));
      weight.push_back(tensor(body->model.into[k].transposed_times(y)));
    }
    LinearMap h{.rows = n, .cols = n};
    h.times = [=](const Numbers& t) {
      Numbers out(n, 0.0);
      for (std::size_t k = 0; k < code.size(); ++k) {
        const Numbers part =
            body->generators[k].twice(code[k], weight[k], body->code(k, t)).to_vector();
        std::copy(part.begin(), part.end(),
                  out.begin() + static_cast<std::ptrdiff_t>(body->model.first_code(k)));
      }
      return out;
    };
    h.transposed_times = h.times;
    return h;
  };
  return out;
}

GaussianPrior LearntModel::prior(GaussianPrior of_pixels) const {
  if (of_pixels.size() != n_pixels())
    throw Error("[LearntModel] the prior of pixels is one of " + std::to_string(of_pixels.size()) +
                " numbers, pixels are " + std::to_string(n_pixels()));
  for (std::size_t k = 0; k < generators.size(); ++k) {
    // Where it is -|z|^2 / 2, its gradient is -z wherever one looks.
    const Tensor z = normal(random_key(17), {generators[k].codes});
    const Numbers g = grad(generators[k].log_prior)(z).to_vector(), at = z.to_vector();
    for (std::size_t j = 0; j < g.size(); ++j)
      if (std::abs(g[j] + at[j]) > 1e-12 * (1 + std::abs(at[j])))
        throw Error("[LearntModel] codes of generator " + std::to_string(k) +
                    " are not N(0, 1): steps of Gauss-Newton are not for them");
  }
  SparseMatrix& q = of_pixels.precision;
  const std::size_t first = n_pixels();
  q.rows = q.cols = size();
  for (std::size_t j = first; j < size(); ++j) {
    of_pixels.mean.push_back(0);
    q.columns.push_back(static_cast<std::int32_t>(j));
    q.values.push_back(1);
    q.offsets.push_back(static_cast<std::int64_t>(q.values.size()));
  }
  return of_pixels;
}

Tensor LearntModel::array_of(std::size_t generator, const Numbers& m) const {
  if (m.size() != cells()) throw Error("[LearntModel] the model has another number of cells");
  const SparseMatrix& w = into.at(generator);
  const Shape& shape = generators.at(generator).model;
  const auto n = static_cast<std::size_t>(shape.count());
  // min |W a - (m - b)|^2 + e |differences of neighbours|^2, e small beside what W says.
  std::vector<Entry> entries;
  double scale = 0;
  for (std::size_t i = 0; i < w.rows; ++i)
    for (auto a = static_cast<std::size_t>(w.offsets[i]);
         a < static_cast<std::size_t>(w.offsets[i + 1]); ++a)
      for (auto b = static_cast<std::size_t>(w.offsets[i]);
           b < static_cast<std::size_t>(w.offsets[i + 1]); ++b) {
        const auto row = static_cast<std::size_t>(w.columns[a]);
        entries.push_back({row, static_cast<std::size_t>(w.columns[b]), w.values[a] * w.values[b]});
        if (a == b) scale += w.values[a] * w.values[a] / static_cast<double>(n);
      }
  const double e = 1e-3 * scale;
  std::size_t stride = n;
  for (int axis = 0; axis < shape.size(); ++axis) {
    const auto length = static_cast<std::size_t>(shape[axis]);
    stride /= length;
    for (std::size_t j = 0; j < n; ++j) {
      if (j / stride % length + 1 == length) continue;
      const std::size_t other = j + stride;
      entries.push_back({j, j, e});
      entries.push_back({other, other, e});
      entries.push_back({j, other, -e});
      entries.push_back({other, j, -e});
    }
  }
  Numbers rest = m;
  // What generators overlap by is shared in proportion to their weights, the background's part
  // goes off.
  view(rest) -= view(background);
  if (generators.size() > 1) {
    Numbers share(cells(), 0.0);
    for (std::size_t k = 0; k < into.size(); ++k) {
      const Numbers s = into[k].times(Numbers(into[k].cols, 1.0));
      for (std::size_t i = 0; i < share.size(); ++i) share[i] += s[i];
    }
    const Numbers own = w.times(Numbers(w.cols, 1.0));
    for (std::size_t i = 0; i < share.size(); ++i) rest[i] *= share[i] > 0 ? own[i] / share[i] : 0;
  }
  const SparseFactor factor(sparse(n, n, std::move(entries)), {}, "array_of");
  const Numbers right = w.transposed_times(rest);
  return tensor(to_vector(factor.solve(view(right))), shape);
}

LearntModel learnt_model(std::vector<Generator> generators, const std::vector<Region>& regions,
                         const CellPoints& points, Numbers background, SparseMatrix pixels) {
  const std::size_t cells = background.size(), n = points.cell.size();
  require_regions(generators, regions, points, cells, pixels);
  Numbers of_cell(cells, 0.0);  // points of each
  for (const std::size_t c : points.cell) of_cell[c] += 1;
  Numbers sum(n, 0.0);  // of weights at each point
  for (const Region& r : regions)
    for (std::size_t k = 0; k < n; ++k) sum[k] += weight_at(r, &points.at[k * points.axes]);
  LearntModel out{.generators = std::move(generators), .pixels = std::move(pixels)};
  if (out.pixels.cols == 0) out.pixels = sparse(cells, 0, {});
  out.outside.assign(cells, 1.0);
  for (std::size_t g = 0; g < regions.size(); ++g) {
    std::vector<Entry> entries;
    for (std::size_t k = 0; k < n; ++k) {
      const double* x = &points.at[k * points.axes];
      const double w = weight_at(regions[g], x) / (std::max(1.0, sum[k]) * of_cell[points.cell[k]]);
      if (w == 0) continue;
      out.outside[points.cell[k]] -= w;
      for (const Share& s : shares_at(regions[g], out.generators[g].model, x))
        if (s.part != 0)
          entries.push_back({points.cell[k], s.number, w * s.part * std::numbers::ln10});
    }
    if (entries.empty())
      throw Error("[learnt_model] no cell has a point in region " + std::to_string(g));
    out.into.push_back(sparse(cells, static_cast<std::size_t>(out.generators[g].model.count()),
                              std::move(entries)));
  }
  for (double& w : out.outside)
    if (std::abs(w) < 1e-12) w = 0;  // sums of shares round
  out.decoder_part = decoder_part_of(out.pixels, out.outside);
  out.background = std::move(background);
  for (std::size_t c = 0; c < cells; ++c) out.background[c] *= out.outside[c];
  return out;
}

}  // namespace tessera::inversion
