// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace tessera::oracle {
namespace {

using List = std::vector<Tensor>;
using Function = std::function<List(const List&)>;

std::vector<c128> elements(const Tensor& t) { return cast(t, Dtype::c128).to_vector<c128>(); }
double size_of_finite(const std::vector<c128>& v) {
  double m = 0;
  for (c128 z : v)
    if (std::isfinite(std::abs(z))) m = std::max(m, std::abs(z));
  return m;
}
bool alike(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }
bool alike(c128 a, c128 b) {
  // Infinite moduli count as one, as the other part may be anything.
  if (std::isinf(a.real()) || std::isinf(a.imag()))
    return (std::isinf(b.real()) || std::isinf(b.imag()));
  if (std::isnan(a.real()) || std::isnan(a.imag()))
    return std::isnan(b.real()) || std::isnan(b.imag());
  return alike(a.real(), b.real()) && alike(a.imag(), b.imag());
}

/// How far two arrays are apart, in units of `allowed`; infinite where one is finite and the other
/// is not.
double distance(const Tensor& got, const Tensor& want, double allowed, std::string& worst) {
  const auto a = elements(got), b = elements(want);
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double d = 0;
    const bool real = !is_complex(want.dtype());
    const bool finite = std::isfinite(b[k].real()) && std::isfinite(b[k].imag());
    if (!finite)
      d = (real ? alike(a[k].real(), b[k].real()) : alike(a[k], b[k]))
              ? 0
              : std::numeric_limits<double>::infinity();
    else if (a[k] != b[k])
      d = std::abs(a[k] - b[k]) / allowed;
    if (std::isnan(d)) d = std::numeric_limits<double>::infinity();
    if (d > most) {
      most = d;
      worst = "element " + std::to_string(k) + ": " +
              to_string(got.ndim() ? select(flatten(got), 0, static_cast<Index>(k)) : got) +
              ", torch has " +
              to_string(want.ndim() ? select(flatten(want), 0, static_cast<Index>(k)) : want);
    }
  }
  return most;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!(a.type() == b.type())) return false;
  const Tensor x = contiguous(a), y = contiguous(b);
  return std::memcmp(x.view().data, y.view().data,
                     static_cast<std::size_t>(x.size()) * size_of(x.dtype())) == 0;
}

/// The same elements elsewhere in memory: apart by two, in Fortran's order, or backwards. The gaps
/// hold NaN.
Tensor strided(const Tensor& x, std::uint64_t way) {
  if (x.ndim() == 0 || x.size() == 0) return x;
  return visit_dtype(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Tensor c = contiguous(x);
    const T* from = static_cast<const T*>(c.view().data);
    const int n = x.ndim();
    const Shape shape = x.shape();
    Shape strides = shape;
    Index step = way % 3 == 0 ? 2 : 1, extent = step;
    for (int k = 0; k < n; ++k) {
      const int axis = way % 3 == 1 ? k : n - 1 - k;  // 1: the first index is fastest
      strides[axis] = step;
      step *= std::max<Index>(1, shape[axis]);
    }
    extent = step;
    T gap{};
    if constexpr (std::is_floating_point_v<T>)
      gap = std::numeric_limits<T>::quiet_NaN();
    else if constexpr (!std::is_integral_v<T>)
      gap = T(std::numeric_limits<typename T::value_type>::quiet_NaN());
    auto memory = std::make_shared<std::unique_ptr<T[]>>(new T[static_cast<std::size_t>(extent)]);
    std::fill_n(memory->get(), extent, gap);
    Index start = 0;
    if (way % 3 == 2)
      for (int k = 0; k < n; ++k) {
        start += strides[k] * (shape[k] - 1);
        strides[k] = -strides[k];
      }
    const Shape rows = row_major(shape);
    for (Index e = 0; e < x.size(); ++e) {
      Index at = start;
      for (int k = 0; k < n; ++k) at += e / rows[k] % shape[k] * strides[k];
      (*memory)[static_cast<std::size_t>(at)] = from[e];
    }
    return from_pointer<T>(
        memory->get() + start, shape, [memory] {}, strides);
  });
}

/// Slightly other arguments: near enough to be in the domain, of the same structure.
List nearby(const List& x) {
  List y;
  for (const Tensor& t : x) y.push_back(is_inexact(t.dtype()) ? t * like(1 - 1.0 / 64, t) : t);
  return y;
}

class Judge {
 public:
  Judge(const Case& c, const Op& op) : c_(c), op_(op) {
    // Floating arguments vary, others are captured; where none is floating, all vary.
    const bool any_inexact = std::any_of(c.tensors.begin(), c.tensors.end(),
                                         [](const Tensor& t) { return is_inexact(t.dtype()); });
    for (const Tensor& t : c.tensors) {
      moving_.push_back(!any_inexact || is_inexact(t.dtype()));
      if (moving_.back()) x_.push_back(t);
    }
    for (std::size_t k = 0; k < c.tangents.size(); ++k)
      t_.push_back(cast(c.tangents[k], x_[k].dtype()));
    f_ = on(c.tensors);
  }

  Verdict verdict() {
    if (!check("value", [&] { compare_all("value", f_(x_), c_.value, c_.value_moved, 1); }))
      return v_;
    check("jit", [&] { planned(); });
    check("strided", [&] {
      List all;
      for (const Tensor& t : c_.tensors) all.push_back(strided(t, c_.seed));
      compare_all("strided", op_(Call(c_.places, c_.names, all)), c_.value, c_.value_moved, 1);
    });
    check("vmap", [&] { batched(f_, "vmap"); });
    if (c_.vjp) derivatives();
    return v_;
  }

 private:
  Tensor narrowed(const Tensor& t) const {
    if (!c_.narrow) return t;
    return t.dtype() == Dtype::f64    ? cast(t, Dtype::f32)
           : t.dtype() == Dtype::c128 ? cast(t, Dtype::c64)
                                      : t;
  }
  /// The operation as a function of its floating arguments.
  Function on(const List& tensors) const {
    return [this, tensors](const List& x) {
      List all = tensors;
      std::size_t next = 0;
      for (std::size_t k = 0; k < all.size(); ++k)
        if (moving_[k]) all[k] = x[next++];
      return op_(Call(c_.places, c_.names, all));
    };
  }
  /// Its results that have derivatives in torch, in order.
  Function live() const {
    return [this](const List& x) {
      List inexact,
          r;  // of the types that the results have, which may be wider than those of the arguments
      for (const Tensor& y : f_(x))
        if (is_inexact(y.dtype())) inexact.push_back(y);
      for (int k : c_.live) r.push_back(inexact.at(static_cast<std::size_t>(k)));
      return r;
    };
  }

  template <class F>
  bool check(const std::string& name, F f) {
    const std::size_t before = v_.failed.size();
    v_.done[name] = std::max(v_.done[name], 0.0);
    try {
      f();
    } catch (const std::exception& e) {
      v_.failed.push_back({name, std::string("throws ") + e.what()});
    }
    return v_.failed.size() == before;
  }
  /// `moved` is added to the size of what is compared.
  void compare(const std::string& name, const Tensor& got, const Tensor& want, double moved,
               double factor) {
    if (!(got.shape() == want.shape())) {
      v_.failed.push_back(
          {name, "shape " + to_string(got.type()) + ", torch has " + to_string(want.type())});
      return;
    }
    const Tensor expected = narrowed(want);
    if (got.dtype() != expected.dtype() && !(c_.narrow && got.dtype() == want.dtype())) {
      v_.failed.push_back(
          {name, "type " + to_string(got.type()) + ", torch has " + to_string(want.type())});
      return;
    }
    const bool exact = !is_inexact(got.dtype());
    const bool single = got.dtype() == Dtype::f32 || got.dtype() == Dtype::c64 || c_.narrow;
    const double epsilon = single ? 0x1p-23 : 0x1p-52;
    const double least = single ? 0x1p-126 : 0x1p-1000;
    // Weights and directions are of size 1: what is much smaller than the derivatives they meet is
    // rounding.
    const double floor = name == "value" || name == "strided" ? 0 : 1;
    const double allowed =
        exact ? 0x1p-1000
              : std::max(least, kRounding * epsilon * factor *
                                    (size_of_finite(elements(want)) + moved + floor));
    std::string worst;
    const double d =
        distance(got, is_inexact(got.dtype()) ? cast(want, got.dtype()) : want, allowed, worst);
    v_.done[name] = std::max(v_.done[name], d);
    if (exact && d == 0 && !same_bits(got, want))
      v_.failed.push_back({name, "other integers beyond 2^53 in " + to_string(got.type())});
    if (d > 1) v_.failed.push_back({name, worst + " in " + to_string(got.type()), d});
  }
  void compare_all(const std::string& name, const List& got, const List& want,
                   const std::vector<double>& moved, double factor) {
    if (got.size() != want.size()) {
      v_.failed.push_back({name, std::to_string(got.size()) + " results, torch has " +
                                     std::to_string(want.size())});
      return;
    }
    for (std::size_t k = 0; k < got.size(); ++k)
      compare(name, got[k], want[k], k < moved.size() ? moved[k] : 0, factor);
  }
  /// Ours against ours, computed otherwise.
  void agree(const std::string& name, const List& got, const List& want, double factor) {
    if (got.size() != want.size()) {
      v_.failed.push_back({name, "another number of results"});
      return;
    }
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double moved = *std::max_element(scale_.begin(), scale_.end());
      if (!(got[k].type() == want[k].type()))
        v_.failed.push_back(
            {name, to_string(got[k].type()) + " in place of " + to_string(want[k].type())});
      else
        compare(name, got[k], want[k], moved, factor);
    }
  }

  void planned() {
    const auto plan = jit(f_);
    if (x_.empty()) return;
    const List eager = f_(x_);
    for (int run = 0; run < 2; ++run) {
      const List y = plan(x_);
      for (std::size_t k = 0; k < y.size(); ++k)
        if (!same_bits(y[k], eager[k]))
          v_.failed.push_back({"jit", "other bits in result " + std::to_string(k) + " of run " +
                                          std::to_string(run)});
    }
  }
  /// Over a batch of two: the case and one near it, all floating arguments or the first alone,
  /// along the first axis or the last.
  void batched(const Function& f, const std::string& name) {
    if (x_.empty()) return;
    const List near = nearby(x_);
    const bool first_alone = c_.seed / 3 % 2, last_axis = c_.seed / 6 % 2;
    List whole = x_, batch, second = x_;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      if (first_alone && k > 0) continue;
      batch.push_back(stack({x_[k], near[k]}, last_axis ? x_[k].ndim() : 0));
      second[k] = near[k];
    }
    const Function of_batch = [&](const List& part) {
      List all = whole;
      std::copy(part.begin(), part.end(), all.begin());
      return f(all);
    };
    const int out_axis = last_axis ? -1 : 0;
    const auto mapped =
        vmap(of_batch, {last_axis ? std::optional<int>(-1) : std::optional<int>(0)}, out_axis);
    const List y = mapped(batch);
    List one, two;
    for (const Tensor& t : y) {
      one.push_back(select(t, last_axis ? t.ndim() - 1 : 0, 0));
      two.push_back(select(t, last_axis ? t.ndim() - 1 : 0, 1));
    }
    agree(name, one, f(whole), 1);
    agree(name, two, f(second), 1);
  }

  void derivatives() {
    const Function f = live();
    List w;
    const List y = f(x_);
    for (std::size_t k = 0; k < y.size(); ++k)
      w.push_back(cast(c_.weights.at(static_cast<std::size_t>(c_.live[k])), y[k].dtype()));
    const Function gradient = [f, w](const List& x) { return tessera::vjp(f, x).second(w); };
    scale_ = {1};
    for (const auto* m : {&c_.value_moved, &c_.vjp_moved, &c_.jvp_moved, &c_.second_moved})
      scale_.insert(scale_.end(), m->begin(), m->end());

    if (!check("vjp", [&] { compare_all("vjp", gradient(x_), *c_.vjp, c_.vjp_moved, 1); })) return;
    check("jit of vjp", [&] {
      const List eager = gradient(x_), y = jit(gradient)(x_);
      for (std::size_t k = 0; k < y.size(); ++k)
        if (!same_bits(y[k], eager[k]))
          v_.failed.push_back({"jit of vjp", "other bits in result " + std::to_string(k)});
    });
    check("strided vjp", [&] {
      List s;
      for (const Tensor& t : x_) s.push_back(strided(t, c_.seed + 1));
      compare_all("strided vjp", gradient(s), *c_.vjp, c_.vjp_moved, 1);
    });
    check("vmap of vjp", [&] { batched(gradient, "vmap of vjp"); });
    if (c_.jvp)
      check("jvp", [&] { compare_all("jvp", jvp(f, x_, t_).second, *c_.jvp, c_.jvp_moved, 1); });
    if (!c_.second) return;

    const double loose = c_.rough ? 1e4 : 64;
    check("forward over reverse", [&] {
      compare_all("forward over reverse", jvp(gradient, x_, t_).second, *c_.second, c_.second_moved,
                  loose);
    });
    check("reverse over reverse", [&] {
      compare_all("reverse over reverse", tessera::vjp(gradient, x_).second(t_), *c_.second,
                  c_.second_moved, loose);
    });
    check("jet", [&] {
      const auto y = jet(f, 2)(x_, t_);
      if (c_.jvp) compare_all("jet", y.at(1), *c_.jvp, c_.jvp_moved, 1);
      // 2 Re <w, y_2> = Re <t, H t>.
      const auto paired = [](const List& a, const List& b) {
        double s = 0;
        for (std::size_t k = 0; k < a.size(); ++k) {
          const auto u = elements(a[k]), v = elements(b[k]);
          for (std::size_t e = 0; e < u.size(); ++e) s += (std::conj(u[e]) * v[e]).real();
        }
        return s;
      };
      double moved = 0, size = 0;
      for (std::size_t k = 0; k < c_.second->size(); ++k) {
        const double m = k < c_.second_moved.size() ? c_.second_moved[k] : 0;
        moved += m * static_cast<double>((*c_.second)[k].size());
        for (c128 z : elements((*c_.second)[k]))
          size += std::isfinite(std::abs(z)) ? std::abs(z) : 0;
      }
      for (const Tensor& y2 : y.at(2))
        size += size_of_finite(elements(y2)) * static_cast<double>(y2.size());
      compare("jet", narrowed(Tensor(2 * paired(w, y.at(2)))), Tensor(paired(t_, *c_.second)),
              moved + size, loose);
    });
  }

  /// Multiples of epsilon times size and condition, 2e-13 in f64: the algorithms are backward
  /// stable on at most some thousand elements, and the condition is estimated from one direction.
  /// Second derivatives are of conditions that are themselves sums.
  static constexpr double kRounding = 1024;
  const Case& c_;
  const Op& op_;
  std::vector<bool> moving_;
  List x_, t_;
  Function f_;
  std::vector<double> scale_{1};
  Verdict v_;
};

}  // namespace

Verdict judge(const Case& c, const Op& op) { return Judge(c, op).verdict(); }

}  // namespace tessera::oracle
