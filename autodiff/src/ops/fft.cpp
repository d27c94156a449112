// SPDX-License-Identifier: Apache-2.0
//
// Four primitives, each on the last axes and each linear: the complex transform, real to half
// spectrum and back, and the eight cosine and sine transforms. Everything else moves axes, pads and
// scales.
#include "tessera/autodiff/ops/fft.h"

#include "../core/cost.h"
#include "../core/rules.h"
#include "../kernels/fftw.h"
#include "../kernels/map.h"
#include "tessera/autodiff/ops.h"

#include <cmath>
#include <numeric>

namespace tessera {
namespace {

using namespace kernels;

int length(const char* op, Index n, const Type& t) {
  if (n < 1) fail(op, "needs at least one point along each axis, got " + to_string(t));
  if (n > (Index{1} << 30)) fail(op, "an axis of " + to_string(t) + " is longer than FFTW takes");
  return static_cast<int>(n);
}
Index rows_of(const View& v, Index per_row) { return per_row ? v.count() / per_row : 0; }

struct FftAttr {
  int axes;  ///< the last so many
  bool inverse;
  double scale;
  TESSERA_ATTRIBUTES(axes, inverse, scale)
};
/// y = scale F x, F_jk = exp(-+ 2 pi i j k / n); F^H has the other sign.
struct Fft : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "fft";
  static double flops(TypeSpan in, TypeSpan, const Attributes* a) {
    return detail::fft_flops(in[0], get<FftAttr>(a).axes);
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    if (!is_complex(in[0].dtype)) fail(name, "needs c64 or c128, got " + to_string(in[0]));
    sizes(in[0], get<FftAttr>(a).axes);
    return {in[0]};
  }
  static std::vector<int> sizes(const Type& t, int axes) {
    std::vector<int> n;
    for (int d = t.shape.size() - axes; d < t.shape.size(); ++d)
      n.push_back(length(name, t.shape[d], t));
    return n;
  }
  template <class Z>
  static void run(Inputs in, Outputs out, const Attributes* attr) {
    const FftAttr& a = get<FftAttr>(attr);
    const std::vector<int> n = sizes(in[0]->type(), a.axes);
    const Index points = std::accumulate(n.begin(), n.end(), Index{1}, std::multiplies<>());
    for_transforms<typename Z::value_type>(
        n, a.inverse ? FFTW_BACKWARD : FFTW_FORWARD, rows_of(*in[0], points), points,
        static_cast<const Z*>(in[0]->data), points, static_cast<Z*>(out[0]->data), a.scale);
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    return in[0] == Dtype::c128 ? run<c128> : in[0] == Dtype::c64 ? run<c64> : nullptr;
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    FftAttr other = a.get<FftAttr>();
    other.inverse = !other.inverse;
    o[0] = apply(primitive<Fft>(), attributes(other), detail::context_line(), ct[0]);
  }
};

struct HalfAttr {
  Index n;  ///< points of the real side
  double scale;
  TESSERA_ATTRIBUTES(n, scale)
};
/// 1 at frequency zero and, for even n, at the highest; `inner` elsewhere: [n/2 + 1].
Tensor half_weights(Index n, double inner, Dtype dtype) {
  std::vector<double> w(static_cast<std::size_t>(n / 2 + 1), inner);
  w[0] = 1;
  if (n % 2 == 0) w.back() = 1;
  return cast(tensor(w), real_of(dtype));
}
Shape with_points(const Type& t, Index n) {
  Shape s = t.shape;
  s[s.size() - 1] = n;
  return s;
}

/// y_k = scale sum_j x_j e^{-2 pi i j k / n}, k = 0 ... n/2.
struct RealFft : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "rfft";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::fft_flops(in[0], 1) / 2;
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    if (!is_float(in[0].dtype) || in[0].shape.empty() || in[0].shape.back() != get<HalfAttr>(a).n)
      fail(name, "needs f32 or f64 with at least one axis, got " + to_string(in[0]));
    length(name, in[0].shape.back(), in[0]);
    return {{complex_of(in[0].dtype), with_points(in[0], in[0].shape.back() / 2 + 1)}};
  }
  template <class R>
  static void run(Inputs in, Outputs out, const Attributes* attr) {
    const HalfAttr& a = get<HalfAttr>(attr);
    for_transforms<R>({static_cast<int>(a.n)}, 0, rows_of(*in[0], a.n), a.n,
                      static_cast<const R*>(in[0]->data), a.n / 2 + 1,
                      static_cast<std::complex<R>*>(out[0]->data), a.scale);
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    return in[0] == Dtype::f64 ? run<double> : in[0] == Dtype::f32 ? run<float> : nullptr;
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o);
};

/// x_j = scale Re(y_0 + 2 sum_{0 < k < n/2} y_k e^{2 pi i j k / n} + [n even] (-1)^j y_{n/2}).
struct InverseRealFft : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "irfft";
  static double flops(TypeSpan, TypeSpan out, const Attributes*) {
    return detail::fft_flops(out[0], 1) / 2;
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const Index n = get<HalfAttr>(a).n;
    if (!is_complex(in[0].dtype) || in[0].shape.empty() || in[0].shape.back() != n / 2 + 1)
      fail(name, "needs c64 or c128 with n/2 + 1 values for n = " + std::to_string(n) +
                     " points, got " + to_string(in[0]));
    length(name, n, in[0]);
    return {{real_of(in[0].dtype), with_points(in[0], n)}};
  }
  template <class Z>
  static void without_loose_parts(Z* y, Index n) {
    y[0] = y[0].real();
    if (n % 2 == 0) y[n / 2] = y[n / 2].real();
  }
  template <class R>
  static void run(Inputs in, Outputs out, const Attributes* attr) {
    const HalfAttr& a = get<HalfAttr>(attr);
    using Z = std::complex<R>;
    for_transforms<R>({static_cast<int>(a.n)}, 0, rows_of(*in[0], a.n / 2 + 1), a.n / 2 + 1,
                      static_cast<const Z*>(in[0]->data), a.n, static_cast<R*>(out[0]->data),
                      a.scale, without_loose_parts<Z>);
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    return in[0] == Dtype::c128 ? run<double> : in[0] == Dtype::c64 ? run<float> : nullptr;
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    const HalfAttr& attr = a.get<HalfAttr>();
    o[0] = apply(primitive<RealFft>(), attributes(attr), detail::context_line(), ct[0]) *
           half_weights(attr.n, 2, ct[0].dtype());
  }
};
void RealFft::transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
  const HalfAttr& attr = a.get<HalfAttr>();
  o[0] = apply(primitive<InverseRealFft>(), attributes(attr), detail::context_line(),
               ct[0] * half_weights(attr.n, 0.5, ct[0].dtype()));
}

/// Types 1 to 4 of cosine (`sine` false) and sine transforms, without normalisation, as the header
/// writes them.
struct TrigonometricAttr {
  bool sine;
  int type;
  double scale;
  TESSERA_ATTRIBUTES(sine, type, scale)
};
struct Trigonometric : LeadingBatch {
  static constexpr RuleClass rule = RuleClass::linear;
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "dct_dst";
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return detail::fft_flops(in[0], 1) / 2;
  }
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const auto& [sine, type, scale] = get<TrigonometricAttr>(a);
    if (!is_float(in[0].dtype) || in[0].shape.empty())
      fail(name, "needs f32 or f64 with at least one axis, got " + to_string(in[0]));
    length(name, in[0].shape.back(), in[0]);
    if (!sine && type == 1 && in[0].shape.back() < 2)
      fail("dct", "type 1 needs at least two points, got " + to_string(in[0]));
    return {in[0]};
  }
  template <class R>
  static void run(Inputs in, Outputs out, const Attributes* attr) {
    const auto& [sine, type, scale] = get<TrigonometricAttr>(attr);
    constexpr int kinds[2][4] = {{FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11},
                                 {FFTW_RODFT00, FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11}};
    const Index n = in[0]->shape.back();
    for_transforms<R>({static_cast<int>(n)}, kinds[sine][type - 1], rows_of(*in[0], n), n,
                      static_cast<const R*>(in[0]->data), n, static_cast<R*>(out[0]->data), scale);
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    return in[0] == Dtype::f64 ? run<double> : in[0] == Dtype::f32 ? run<float> : nullptr;
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o);
};

Tensor trigonometric(const Tensor& x, bool sine, int type, double scale, SourceLine line) {
  return apply(primitive<Trigonometric>(), attributes(TrigonometricAttr{sine, type, scale}), line,
               x);
}
/// Row vector [n] of ones with `first` and `last` at its ends.
Tensor ends(Index n, double first, double last, Dtype dtype) {
  std::vector<double> w(static_cast<std::size_t>(n), 1.0);
  w[0] *= first;
  w.back() *= last;
  return cast(tensor(w), dtype);
}
/// Types 4 and sine 1 are symmetric. Cosine 1 is C D with symmetric C and D = diag(1, 2, ..., 2,
/// 1), so its transpose is D (C D) D^-1. The columns of type 3 are the rows of type 2, but for the
/// one without a factor of 2.
void Trigonometric::transpose(const Application& a, std::span<const bool>,
                              std::span<const Tensor> ct, std::span<Tensor> o) {
  const auto& [sine, type, scale] = a.get<TrigonometricAttr>();
  const Index n = ct[0].dim(-1);
  const Dtype dtype = ct[0].dtype();
  const SourceLine line = detail::context_line();
  auto lone = [&, sine = sine](double f) {
    return sine ? ends(n, 1, f, dtype) : ends(n, f, 1, dtype);
  };
  if (type == 2)
    o[0] = trigonometric(ct[0] * lone(2), sine, 3, scale, line);
  else if (type == 3)
    o[0] = trigonometric(ct[0], sine, 2, scale, line) * lone(0.5);
  else if (type == 1 && !sine)
    o[0] = trigonometric(ct[0] * ends(n, 2, 2, dtype), sine, 1, scale, line) *
           ends(n, 0.5, 0.5, dtype);
  else
    o[0] = trigonometric(ct[0], sine, type, scale, line);
}

TESSERA_REGISTER(Fft);
TESSERA_REGISTER(RealFft);
TESSERA_REGISTER(InverseRealFft);
TESSERA_REGISTER(Trigonometric);

// ---- axes, lengths and factors ----

/// The axes counted from the front, each once; all of them, or as many as there are sizes, when
/// none are named.
Shape axes_of(const char* op, const Tensor& x, const Shape& axes, const Shape& sizes,
              SourceLine line) {
  Shape out = axes;
  if (axes.empty())
    for (int d = sizes.empty() ? 0 : x.ndim() - sizes.size(); d < x.ndim(); ++d) out.push_back(d);
  bool ok = sizes.empty() || sizes.size() == out.size(), seen[kMaxDims] = {};
  for (Index& d : out) {
    ok = ok && d >= -x.ndim() && d < x.ndim();
    if (!ok) break;
    if (d < 0) d += x.ndim();
    ok = !seen[d];
    seen[d] = true;
  }
  if (!ok || out.empty())
    fail(op,
         "axes " + to_string(axes) + (sizes.empty() ? "" : " with sizes " + to_string(sizes)) +
             " do not fit " + to_string(x.type()),
         line);
  return out;
}
void need_length(const char* op, Index n, SourceLine line) {
  if (n < 1) fail(op, "a length must be positive, got " + std::to_string(n), line);
}
/// x cut or filled with zeros at its end.
Tensor resized(const char* op, const Tensor& x, int axis, Index n, SourceLine line) {
  need_length(op, n, line);
  const Index have = x.shape()[axis];
  if (have == n) return x;
  if (n < have) return slice(Arg(x, line), axis, 0, n);
  Shape low = Shape::filled(x.ndim(), 0), high = low;
  high[axis] = n - have;
  return pad(Arg(x, line), low, high);
}
/// Axes a[0] ... a[count - 1] of t resized, where there are sizes; how many points they have.
double resize(const char* op, Tensor& t, const Shape& a, const Shape& sizes, int count,
              SourceLine line) {
  double points = 1;
  for (int k = 0; k < count; ++k) {
    const int d = static_cast<int>(a[k]);
    if (!sizes.empty()) t = resized(op, t, d, sizes[k], line);
    points *= static_cast<double>(t.shape()[d]);
  }
  return points;
}
/// f of x with these axes last, in their order; f keeps the number of axes.
template <class F>
Tensor on_last(const Tensor& x, const Shape& axes, F f) {
  Shape order, back = x.shape();
  for (int d = 0; d < x.ndim(); ++d)
    if (std::find(axes.begin(), axes.end(), Index{d}) == axes.end()) order.push_back(d);
  for (Index d : axes) order.push_back(d);
  bool straight = true;
  for (int d = 0; d < x.ndim(); ++d) {
    straight = straight && order[d] == d;
    back[static_cast<int>(order[d])] = d;
  }
  return straight ? f(x) : transpose(f(transpose(x, order)), back);
}
double factor(Norm norm, bool inverse, double n) {
  if (norm == Norm::ortho) return 1 / std::sqrt(n);
  return (norm == Norm::forward) != inverse ? 1 / n : 1;
}
Tensor inexact(const char* op, const Arg& x) {
  const Tensor t = detail::to_tensor(op, x);
  if (!is_inexact(t.dtype()))
    fail(op, "needs f32, f64, c64 or c128, got " + to_string(t.type()) + "; use cast", x.line);
  return t;
}
Tensor real_operand(const char* op, const Arg& x) {
  const Tensor t = inexact(op, x);
  if (is_complex(t.dtype()))
    fail(op, "needs a real tensor, got " + to_string(t.type()) + "; for complex ones there is fft",
         x.line);
  return t;
}

Tensor complex_transform(const char* op, const Arg& x, const Shape& axes, const Shape& sizes,
                         Norm norm, bool inverse) {
  Tensor t = inexact(op, x);
  t = cast(Arg(t, x.line), complex_of(t.dtype()));
  const Shape a = axes_of(op, t, axes, sizes, x.line);
  const double points = resize(op, t, a, sizes, a.size(), x.line);
  const FftAttr attr{a.size(), inverse, factor(norm, inverse, points)};
  return on_last(
      t, a, [&](const Tensor& y) { return apply(primitive<Fft>(), attributes(attr), x.line, y); });
}
Tensor real_transform(const char* op, const Arg& x, const Shape& axes, const Shape& sizes,
                      Norm norm) {
  Tensor t = real_operand(op, x);
  const Shape a = axes_of(op, t, axes, sizes, x.line);
  const double points = resize(op, t, a, sizes, a.size(), x.line);
  return on_last(t, a, [&](const Tensor& y) {
    Tensor z = apply(primitive<RealFft>(),
                     attributes(HalfAttr{y.dim(-1), factor(norm, false, points)}), x.line, y);
    if (a.size() == 1) return z;
    // The other axes lie before the last one.
    Shape others;
    for (int k = 1; k < a.size(); ++k) others.push_back(y.ndim() - 1 - a.size() + k);
    return on_last(z, others, [&](const Tensor& w) {
      return apply(primitive<Fft>(), attributes(FftAttr{a.size() - 1, false, 1}), x.line, w);
    });
  });
}
Tensor inverse_real_transform(const char* op, const Arg& x, const Shape& axes, const Shape& sizes,
                              Norm norm) {
  Tensor t = inexact(op, x);
  t = cast(Arg(t, x.line), complex_of(t.dtype()));
  const Shape a = axes_of(op, t, axes, sizes, x.line);
  const int last = static_cast<int>(a.back());
  const Index n = sizes.empty() ? 2 * (t.shape()[last] - 1) : sizes.back();
  if (!sizes.empty()) need_length(op, n, x.line);
  if (n < 1)
    fail(op, "the half spectrum " + to_string(t.type()) + " belongs to no default length; say n",
         x.line);
  const double points = static_cast<double>(n) * resize(op, t, a, sizes, a.size() - 1, x.line);
  t = resized(op, t, last, n / 2 + 1, x.line);
  return on_last(t, a, [&](const Tensor& y) {
    Tensor z = y;
    if (a.size() > 1) {
      Shape others;
      for (int k = 1; k < a.size(); ++k) others.push_back(y.ndim() - 1 - a.size() + k);
      z = on_last(z, others, [&](const Tensor& w) {
        return apply(primitive<Fft>(), attributes(FftAttr{a.size() - 1, true, 1}), x.line, w);
      });
    }
    return apply(primitive<InverseRealFft>(), attributes(HalfAttr{n, factor(norm, true, points)}),
                 x.line, z);
  });
}
Shape one_size(std::optional<Index> n) { return n ? Shape{*n} : Shape{}; }
Norm swapped(Norm n) {
  return n == Norm::backward ? Norm::forward : n == Norm::forward ? Norm::backward : n;
}

/// The transform of one axis, last: for Norm::ortho D_out M D_in / sqrt N with the ends scaled by
/// sqrt 2 where the basis vector is longer or shorter than the others.
Tensor trigonometric_transform(const char* op, const Arg& x, bool sine, int type, int axis,
                               Norm norm, bool inverse) {
  if (type < 1 || type > 4)
    fail(op, "types are 1, 2, 3 and 4, got " + std::to_string(type), x.line);
  const Tensor t = inexact(op, x);
  if (is_complex(t.dtype()))
    return complex(
        trigonometric_transform(op, Arg(real(t), x.line), sine, type, axis, norm, inverse),
        trigonometric_transform(op, Arg(imag(t), x.line), sine, type, axis, norm, inverse));
  if (inverse) type = type == 2 ? 3 : type == 3 ? 2 : type;
  const Shape a = axes_of(op, t, {axis}, {}, x.line);
  const Index n = t.shape()[static_cast<int>(a[0])];
  length(op, n, t.type());
  const double N = 2.0 * static_cast<double>(n + (type != 1 ? 0 : sine ? 1 : -1));
  const double scale = factor(norm, inverse, N);
  return on_last(t, a, [&](const Tensor& y) {
    if (norm != Norm::ortho || type == 4 || (sine && type == 1))
      return trigonometric(y, sine, type, scale, x.line);
    const double up = std::sqrt(2.0), down = 1 / up;
    auto lone = [&](double f) {
      return sine ? ends(n, 1, f, y.dtype()) : ends(n, f, 1, y.dtype());
    };
    if (type == 2) return trigonometric(y, sine, 2, scale, x.line) * lone(down);
    if (type == 3) return trigonometric(y * lone(up), sine, 3, scale, x.line);
    return trigonometric(y * ends(n, up, up, y.dtype()), sine, 1, scale, x.line) *
           ends(n, down, down, y.dtype());
  });
}
Tensor trigonometric_axes(const char* op, const Arg& x, bool sine, int type, const Shape& axes,
                          Norm norm, bool inverse) {
  Tensor t = inexact(op, x);
  for (Index d : axes_of(op, t, axes, {}, x.line))
    t = trigonometric_transform(op, Arg(t, x.line), sine, type, static_cast<int>(d), norm, inverse);
  return t;
}
/// Element i goes to i + shift, around the end.
Tensor rolled(Tensor x, const Shape& axes, bool back, const char* op, SourceLine line) {
  for (Index axis : axes_of(op, x, axes, {}, line)) {
    const int d = static_cast<int>(axis);
    const Index n = x.shape()[d], cut = back ? n / 2 : n - n / 2;
    if (n > 1) x = concatenate({slice(x, d, cut, n), slice(x, d, 0, cut)}, d, line);
  }
  return x;
}
Tensor frequencies(const char* op, Index n, Index first, Index count, double spacing, Dtype dtype) {
  if (n < 1 || !is_float(dtype))
    fail(op,
         "needs n >= 1 and f32 or f64, got n = " + std::to_string(n) + " and " + name_of(dtype));
  std::vector<double> f;
  for (Index k = 0; k < count; ++k)
    f.push_back(static_cast<double>(k < first ? k : k - n) / (static_cast<double>(n) * spacing));
  return cast(tensor(f), dtype);
}

}  // namespace

Tensor fft(Arg x, std::optional<Index> n, int axis, Norm norm) {
  return complex_transform("fft", x, {axis}, one_size(n), norm, false);
}
Tensor ifft(Arg x, std::optional<Index> n, int axis, Norm norm) {
  return complex_transform("ifft", x, {axis}, one_size(n), norm, true);
}
Tensor fftn(Arg x, const Shape& axes, const Shape& sizes, Norm norm) {
  return complex_transform("fftn", x, axes, sizes, norm, false);
}
Tensor ifftn(Arg x, const Shape& axes, const Shape& sizes, Norm norm) {
  return complex_transform("ifftn", x, axes, sizes, norm, true);
}
Tensor fft2(Arg x, Norm norm) { return complex_transform("fft2", x, {-2, -1}, {}, norm, false); }
Tensor ifft2(Arg x, Norm norm) { return complex_transform("ifft2", x, {-2, -1}, {}, norm, true); }
Tensor rfft(Arg x, std::optional<Index> n, int axis, Norm norm) {
  return real_transform("rfft", x, {axis}, one_size(n), norm);
}
Tensor irfft(Arg x, std::optional<Index> n, int axis, Norm norm) {
  return inverse_real_transform("irfft", x, {axis}, one_size(n), norm);
}
Tensor rfftn(Arg x, const Shape& axes, const Shape& sizes, Norm norm) {
  return real_transform("rfftn", x, axes, sizes, norm);
}
Tensor irfftn(Arg x, const Shape& axes, const Shape& sizes, Norm norm) {
  return inverse_real_transform("irfftn", x, axes, sizes, norm);
}
Tensor hfft(Arg x, std::optional<Index> n, int axis, Norm norm) {
  return irfft(Arg(conj(x), x.line), n, axis, swapped(norm));
}
Tensor ihfft(Arg x, std::optional<Index> n, int axis, Norm norm) {
  return conj(rfft(x, n, axis, swapped(norm)));
}

Tensor fftfreq(Index n, double spacing, Dtype dtype) {
  return frequencies("fftfreq", n, (n + 1) / 2, n, spacing, dtype);
}
Tensor rfftfreq(Index n, double spacing, Dtype dtype) {
  return frequencies("rfftfreq", n, n, n / 2 + 1, spacing, dtype);
}
Tensor fftshift(Arg x, const Shape& axes) {
  return rolled(detail::to_tensor("fftshift", x), axes, false, "fftshift", x.line);
}
Tensor ifftshift(Arg x, const Shape& axes) {
  return rolled(detail::to_tensor("ifftshift", x), axes, true, "ifftshift", x.line);
}

Tensor dct(Arg x, int type, int axis, Norm norm) {
  return trigonometric_transform("dct", x, false, type, axis, norm, false);
}
Tensor idct(Arg x, int type, int axis, Norm norm) {
  return trigonometric_transform("idct", x, false, type, axis, norm, true);
}
Tensor dst(Arg x, int type, int axis, Norm norm) {
  return trigonometric_transform("dst", x, true, type, axis, norm, false);
}
Tensor idst(Arg x, int type, int axis, Norm norm) {
  return trigonometric_transform("idst", x, true, type, axis, norm, true);
}
Tensor dctn(Arg x, int type, const Shape& axes, Norm norm) {
  return trigonometric_axes("dctn", x, false, type, axes, norm, false);
}
Tensor idctn(Arg x, int type, const Shape& axes, Norm norm) {
  return trigonometric_axes("idctn", x, false, type, axes, norm, true);
}
Tensor dstn(Arg x, int type, const Shape& axes, Norm norm) {
  return trigonometric_axes("dstn", x, true, type, axes, norm, false);
}
Tensor idstn(Arg x, int type, const Shape& axes, Norm norm) {
  return trigonometric_axes("idstn", x, true, type, axes, norm, true);
}

}  // namespace tessera
