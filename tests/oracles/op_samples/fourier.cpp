// SPDX-License-Identifier: Apache-2.0
#include "compose.h"
#include "tessera/autodiff/ops/fft.h"

namespace tessera::oracle {
namespace {

Norm norm_of(const Call& c, int place) {
  const std::string n = c.text(place, "norm", "backward");
  return n == "ortho" ? Norm::ortho : n == "forward" ? Norm::forward : Norm::backward;
}
template <Tensor (*F)(Arg, std::optional<Index>, int, Norm)>
Tensor line(const Call& c) {
  const Tensor x = floating(c[0]);
  return F(x, c.has(1, "n") ? std::optional<Index>(c.integer(1, "n", 0)) : std::nullopt,
           axis_of(c.integer(2, "dim", -1), x.ndim()), norm_of(c, 3));
}
/// Axes and sizes as torch reads them: axes given, or the last as many as sizes; -1 keeps a size.
struct Grid {
  Shape axes, sizes;
};
Grid grid(const Call& c, const Tensor& x, bool two) {
  Grid g{c.sizes(2, "dim"), c.sizes(1, "s")};
  if (!c.has(2, "dim")) {
    const int n = !g.sizes.empty() ? g.sizes.size() : two ? 2 : x.ndim();
    for (int k = x.ndim() - n; k < x.ndim(); ++k) g.axes.push_back(k);
  }
  for (Index& a : g.axes) a = axis_of(a, x.ndim());
  return g;
}
template <Tensor (*F)(Arg, const Shape&, const Shape&, Norm), bool Two>
Tensor planes(const Call& c) {
  const Tensor x = floating(c[0]);
  const Grid g = grid(c, x, Two);
  return F(x, g.axes, g.sizes, norm_of(c, 3));
}
Norm other(Norm n) {
  return n == Norm::backward ? Norm::forward : n == Norm::forward ? Norm::backward : n;
}
/// hfftn(x) = irfftn of the conjugate with the other norm, ihfftn the reverse.
template <bool Two>
Tensor hermitian_planes(const Call& c) {
  const Tensor x = floating(c[0]);
  const Grid g = grid(c, x, Two);
  return irfftn(conj(x), g.axes, g.sizes, other(norm_of(c, 3)));
}
template <bool Two>
Tensor inverse_hermitian_planes(const Call& c) {
  const Tensor x = floating(c[0]);
  const Grid g = grid(c, x, Two);
  return conj(rfftn(x, g.axes, g.sizes, other(norm_of(c, 3))));
}
template <Tensor (*F)(Arg, const Shape&)>
Tensor shifted(const Call& c) {
  return F(c[0], c.axes(1, "dim", c[0].ndim()));
}

/// Spectra of windows, [..., frequency, frame].
Tensor short_time(const Call& c) {
  Tensor x = c[0];
  const Index n = c.integer(1, "n_fft", 0), hop = c.integer(2, "hop_length", n / 4),
              length = c.integer(3, "win_length", n);
  const bool complex_input = is_complex(x.dtype()),
             onesided = c.flag(-1, "onesided", !complex_input);
  if (c.flag(-1, "center", true)) {
    std::vector<std::int64_t> at;
    const Index size = x.dim(-1);
    for (Index i = -n / 2; i < size + n / 2; ++i)
      at.push_back(i < 0 ? -i : i >= size ? 2 * size - 2 - i : i);
    x = take(x, tensor(at), x.ndim() - 1);
  }
  const Index frames = (x.dim(-1) - n) / hop + 1;
  const Tensor at = reshape(arange(frames) * hop, {-1, 1}) + arange(n);
  Tensor w = c.has(4, "window") ? c.tensor(4, "window") : ones({length}, real_of(x.dtype()));
  const Index left = (n - length) / 2;
  w = pad(w, {left}, {n - length - left});
  const Tensor framed = take(x, at, x.ndim() - 1) * w;
  const Norm norm = c.flag(-1, "normalized", false) ? Norm::ortho : Norm::backward;
  const Tensor y = onesided ? rfft(framed, n, -1, norm) : fft(framed, n, -1, norm);
  const Tensor z = moveaxis(y, y.ndim() - 1, y.ndim() - 2);
  return c.flag(-1, "return_complex", true) ? z : as_real(z);
}

}  // namespace

void fourier_rows(Table& t) {
  t["fft.fft"] = line<fft>;
  t["fft.ifft"] = line<ifft>;
  t["fft.rfft"] = line<rfft>;
  t["fft.irfft"] = line<irfft>;
  t["fft.hfft"] = line<hfft>;
  t["fft.ihfft"] = line<ihfft>;
  t["fft.fft2"] = planes<fftn, true>;
  t["fft.ifft2"] = planes<ifftn, true>;
  t["fft.rfft2"] = planes<rfftn, true>;
  t["fft.irfft2"] = planes<irfftn, true>;
  t["fft.fftn"] = planes<fftn, false>;
  t["fft.ifftn"] = planes<ifftn, false>;
  t["fft.rfftn"] = planes<rfftn, false>;
  t["fft.irfftn"] = planes<irfftn, false>;
  t["fft.hfft2"] = hermitian_planes<true>;
  t["fft.hfftn"] = hermitian_planes<false>;
  t["fft.ihfft2"] = inverse_hermitian_planes<true>;
  t["fft.ihfftn"] = inverse_hermitian_planes<false>;
  t["fft.fftshift"] = shifted<fftshift>;
  t["fft.ifftshift"] = shifted<ifftshift>;
  t["stft"] = short_time;
}

}  // namespace tessera::oracle
