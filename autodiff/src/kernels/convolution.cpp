// SPDX-License-Identifier: Apache-2.0
#include "convolution.h"

#include "convolution_plan.h"
#include "scalar.h"

namespace tessera::kernels {
namespace {

using Index = std::int64_t;

/// What y and x have in common: batch, groups, row-major results of `channels` in all.
template <class T>
GatherShape gathered(const ConvolutionShape& s, const ConvolutionOperand<T>& in,
                     const ConvolutionOperand<T>& w, Index channels) {
  GatherShape g{};
  g.batch = s.batch, g.groups = s.groups;
  g.in_lead = in.lead, g.in_axis = in.axis, g.w_axis = w.axis;
  g.w_group = s.f * w.last;
  g.out_lead = channels;
  return g;
}
void place_results(GatherShape& g) {
  for (std::size_t a = 3; a-- > 0;) {
    g.out_axis[a] = g.out_lead;
    g.out_lead *= g.axis[a].results;
  }
}

}  // namespace

template <class T>
void convolution_y(int width, const ConvolutionShape& s, const ConvolutionOperand<T>& x,
                   const ConvolutionOperand<T>& w, T* y) {
  GatherShape g = gathered(s, x, w, s.groups * s.f);
  g.in_channels = s.c, g.out_channels = s.f;
  g.w_in = w.lead, g.w_out = w.last;
  for (std::size_t a = 0; a < 3; ++a) {
    const ConvolutionAxis& c = s.axis[a];
    g.axis[a] = {c.m, c.k, c.n, c.stride, c.dilation, -c.low, c.spread};
  }
  place_results(g);
  gather_windows(width, g, x.data, w.data, y);
}
template <class T>
void convolution_x(int width, const ConvolutionShape& s, const ConvolutionOperand<T>& y,
                   const ConvolutionOperand<T>& w, T* x) {
  GatherShape g = gathered(s, y, w, s.groups * s.c);
  g.in_channels = s.f, g.out_channels = s.c;
  g.w_in = w.last, g.w_out = w.lead;
  for (std::size_t a = 0; a < 3; ++a) {
    const ConvolutionAxis& c = s.axis[a];
    g.axis[a] = {c.n, c.k, c.m, c.spread, -c.dilation, c.low, c.stride};
  }
  place_results(g);
  gather_windows(width, g, y.data, w.data, x);
}

template <class T>
std::size_t convolution_y_workspace(int width, const ConvolutionShape& s) {
  GatherShape g = gathered(s, ConvolutionOperand<T>{}, ConvolutionOperand<T>{}, 0);
  g.in_channels = s.c, g.out_channels = s.f;
  for (std::size_t a = 0; a < 3; ++a) g.axis[a].window = s.axis[a].k;
  return gather_workspace<T>(width, g);
}
template <class T>
std::size_t convolution_x_workspace(int width, const ConvolutionShape& s) {
  ConvolutionShape turned = s;
  std::swap(turned.c, turned.f);
  return convolution_y_workspace<T>(width, turned);
}

#define TESSERA_INSTANTIATE(T)                                                               \
  template void convolution_y<T>(int, const ConvolutionShape&, const ConvolutionOperand<T>&, \
                                 const ConvolutionOperand<T>&, T*);                          \
  template void convolution_x<T>(int, const ConvolutionShape&, const ConvolutionOperand<T>&, \
                                 const ConvolutionOperand<T>&, T*);                          \
  template std::size_t convolution_y_workspace<T>(int, const ConvolutionShape&);             \
  template std::size_t convolution_x_workspace<T>(int, const ConvolutionShape&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(c64)
TESSERA_INSTANTIATE(c128)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::kernels
