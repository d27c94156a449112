// SPDX-License-Identifier: Apache-2.0
//
// One primitive for all three sums of kernels/convolution.h: y of x and w, x of y and w, w of x and
// y. It is bilinear, and its transposes are itself: docs/decisions/0140-convolution.md.
#include "tessera/autodiff/ops/convolution.h"

#include "../base/context.h"
#include "../core/boxes.h"
#include "../core/cost.h"
#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../kernels/convolution.h"
#include "../kernels/copy.h"
#include "../kernels/gemm_blocked.h"
#include "../kernels/map.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using namespace kernels;

enum Part : Index { part_y, part_x, part_w };

struct ConvolutionAttr {
  Index result;  ///< which Part it sums; its operands are the other two: x before y before w
  Shape size;    ///< the result's positions along each axis
  Shape stride, low, dilation, input_dilation;
  Index groups;
  TESSERA_ATTRIBUTES(result, size, stride, low, dilation, input_dilation, groups)
};

/// x [V, B, n..., in], w [V, k..., in / groups, out], y [V, B, m..., out]: V of them side by side.
struct Convolve : Bilinear<Convolve> {
  static constexpr const char* name = "convolution";
  static constexpr bool takes_strides = true;

  static Types infer(std::span<const Type> in, const Attributes* attr) {
    const ConvolutionAttr& a = get<ConvolutionAttr>(attr);
    const Shape &p = in[0].shape, &q = in[1].shape;
    const int d = a.size.size();
    if (p.size() != d + 3 || q.size() != d + 3 || p[0] != q[0] || in[0].dtype != in[1].dtype ||
        !contains(kInexact, in[0].dtype))
      fail(name, "cannot take " + to_string(in[0]) + " and " + to_string(in[1]));
    Shape s{p[0]};
    if (a.result != part_w) s.push_back(p[1]);
    for (Index n : a.size) s.push_back(n);
    const Index of_w = q[d + 1], last = q[d + 2];
    bool fits = last % a.groups == 0;
    if (a.result == part_y) {
      fits = fits && of_w * a.groups == p[d + 2];
      s.push_back(last);
    } else if (a.result == part_x) {
      fits = fits && last == p[d + 2];
      s.push_back(of_w * a.groups);
    } else {
      fits = fits && p[1] == q[1] && p[d + 2] % a.groups == 0;
      s.push_back(p[d + 2] / a.groups), s.push_back(last);
    }
    if (!fits)
      fail(name, "channels of " + to_string(in[0]) + " and " + to_string(in[1]) + " differ");
    return {{in[0].dtype, s}};
  }
  /// Borders count like the rest: every position meets the whole window.
  static double flops(TypeSpan in, TypeSpan out, const Attributes* attr) {
    const Index result = get<ConvolutionAttr>(attr).result;
    const Type &y = result == part_y   ? out[0]
                    : result == part_x ? in[0]
                                       : in[1],
               &w = result == part_w ? out[0] : in[1];
    return detail::multiply_adds(
        y, detail::count(y) * detail::count(w) / static_cast<double>(w.shape[0] * w.shape.back()));
  }

  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    static constexpr auto table = kernel_table<kInexact>([](auto tag) -> KernelFn {
      using T = typename decltype(tag)::type;
      return [](Inputs in, Outputs out, const Attributes* a) {
        run<T>(get<ConvolutionAttr>(a), *in[0], *in[1], *out[0]);
      };
    });
    return table[static_cast<int>(in[0])];
  }
  template <class T>
  static int width_of() {
    return is_cplx<T> || blocked_widths().empty() ? 0 : blocked_widths().back();
  }
  static bool last_is_dense(const View& v) {
    return v.strides[v.strides.size() - 1] == 1 || v.shape.back() == 1;
  }
  /// Members of the stack that threads take one each; of others, all threads share each.
  static bool a_thread_each(const ConvolutionShape& s, Index stack) {
    return stack > 1 && work_of(s) < 0x1p20;
  }
  static double work_of(const ConvolutionShape& s) {
    return static_cast<double>(s.batch * s.positions() * s.window()) *
           static_cast<double>(s.groups * s.c * s.f);
  }
  static std::size_t workspace(std::span<const View> in, std::span<const View> out,
                               const Attributes* attr) {
    const ConvolutionAttr& a = get<ConvolutionAttr>(attr);
    if (in[0].count() == 0 || in[1].count() == 0 || out[0].count() == 0) return 0;
    std::size_t copies = last_is_dense(in[0]) ? 0 : PackedCopy::workspace(in[0]);
    if (a.result == part_w && !last_is_dense(in[1])) copies += PackedCopy::workspace(in[1]);
    const ConvolutionShape s = shape(a, in[0], in[1], out[0]);
    const Index stack = out[0].shape[0],
                at_once = a_thread_each(s, stack) ? std::min<Index>(stack, num_threads()) : 1;
    const std::size_t each = with_type<kInexact>(in[0].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const int width = width_of<T>();
      return a.result == part_y   ? convolution_y_workspace<T>(width, s)
             : a.result == part_x ? convolution_x_workspace<T>(width, s)
                                  : convolution_w_workspace<T>(width, s);
    });
    return copies + static_cast<std::size_t>(at_once) * each;
  }
  /// The operand at element `v` of the first axis; w has no batch, but one more axis behind.
  template <class T>
  static ConvolutionOperand<T> operand(const View& view, bool weights, Index v) {
    const int d = view.shape.size() - 3, from = weights ? 1 : 2;
    ConvolutionOperand<T> o{static_cast<const T*>(view.data) + v * view.strides[0],
                            view.strides[weights ? d + 1 : 1],
                            {},
                            view.strides[d + 2]};
    for (int k = 0; k < d; ++k)
      o.axis[static_cast<std::size_t>(3 - d + k)] = view.strides[from + k];
    return o;
  }
  /// Of views or of types.
  template <class V>
  static ConvolutionShape shape(const ConvolutionAttr& a, const V& p, const V& q, const V& out) {
    const V& y = a.result == part_y ? out : a.result == part_x ? p : q;
    const V& x = a.result == part_x ? out : p;
    const V& w = a.result == part_w ? out : q;
    const int d = a.size.size();
    ConvolutionShape s{x.shape[1], a.groups, w.shape[d + 1], w.shape[d + 2] / a.groups, {}};
    for (int k = 0; k < d; ++k)
      s.axis[static_cast<std::size_t>(3 - d + k)] = {
          x.shape[2 + k], w.shape[1 + k], y.shape[2 + k],     a.stride[k],
          a.low[k],       a.dilation[k],  a.input_dilation[k]};
    return s;
  }
  template <class T>
  static void run(const ConvolutionAttr& a, const View& p, const View& q, const View& out) {
    T* const to = static_cast<T*>(out.data);
    if (p.count() == 0 || q.count() == 0 || out.count() == 0) {  // sums of nothing
      std::fill_n(to, out.count(), T(0));
      return;
    }
    if (!last_is_dense(p)) return run<T>(a, PackedCopy(p).view(), q, out);
    if (a.result == part_w && !last_is_dense(q)) return run<T>(a, p, PackedCopy(q).view(), out);
    const int width = width_of<T>();
    const ConvolutionShape s = shape(a, p, q, out);
    const Index stack = out.shape[0], each = out.count() / stack;
    const auto one = [&](Index v) {
      const auto first = operand<T>(p, false, v), second = operand<T>(q, a.result != part_w, v);
      if (a.result == part_y)
        convolution_y<T>(width, s, first, second, to + v * each);
      else if (a.result == part_x)
        convolution_x<T>(width, s, first, second, to + v * each);
      else
        convolution_w<T>(width, s, first, second, to + v * each);
    };
    // Threads share large ones, small ones go to a thread each.
    if (a_thread_each(s, stack))
      for_rows(stack, static_cast<Index>(work_of(s)), one);
    else
      for (Index v = 0; v < stack; ++v) one(v);
  }

  static Tensor sum_of(Part result, const ConvolutionAttr& a, const Type& like, const Tensor& p,
                       const Tensor& q) {
    ConvolutionAttr b = a;
    b.result = result;
    const int from = result == part_w ? 1 : 2;
    for (int k = 0; k < a.size.size(); ++k) b.size[k] = like.shape[from + k];
    return apply(primitive<Convolve>(), attributes(b), detail::context_line(), p, q);
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    if (linear[0] && linear[1])
      detail::no_rule(name, "transpose", "it is not linear in both operands together");
    const ConvolutionAttr& c = a.get<ConvolutionAttr>();
    const Part first = c.result == part_x ? part_y : part_x,
               second = c.result == part_w ? part_y : part_w;
    const auto pull = [&](Part unknown, const Type& type, const Tensor& ct, Part known_part,
                          const Tensor& known) {
      const Tensor k = conj(known);
      // x before y before w.
      const bool ct_first =
          known_part == part_w || (known_part == part_y && Part(c.result) == part_x);
      return ct_first ? sum_of(unknown, c, type, ct, k) : sum_of(unknown, c, type, k, ct);
    };
    if (linear[0]) o[0] = pull(first, a.in_types[0], ct[0], second, a.in[1]);
    if (linear[1]) o[1] = pull(second, a.in_types[1], ct[0], first, a.in[0]);
  }

  /// Positions and the batch may be cut; channels are whole. Sums for w take all of their operands.
  static detail::BoxRule boxes(const detail::BoxWanted& want) {
    ConvolutionAttr a = get<ConvolutionAttr>(want.attr);
    const int d = a.size.size();
    Box out = want.box, p = whole_box(want.in[0].shape), q = whole_box(want.in[1].shape);
    for (const int k : {0, d + 2}) detail::set(out, k, {0, want.out.shape[k]});
    if (a.result == part_w) {
      detail::BoxRule r{whole_box(want.out.shape), {p, q}, nullptr};
      r.sweeps = true;
      return r;
    }
    detail::set(p, 1, {out.begin[1], out.end[1]});
    for (int k = 0; k < d; ++k) {
      const Index first = out.begin[2 + k], last = out.end[2 + k] - 1, n = p.end[2 + k],
                  reach = a.dilation[k] * (want.in[1].shape[1 + k] - 1), s = a.stride[k],
                  i = a.input_dilation[k], low = a.low[k];
      // i at_x = s at_y + dilation j - low for some j.
      const detail::Stretch met =
          reach < 0            ? detail::Stretch{0, 0}
          : a.result == part_y ? detail::clipped(detail::ceil_of(s * first - low, i),
                                                 detail::floor_of(s * last + reach - low, i) + 1, n)
                               : detail::clipped(detail::ceil_of(i * first + low - reach, s),
                                                 detail::floor_of(i * last + low, s) + 1, n);
      detail::set(p, 2 + k, met);
      const Index at_x = a.result == part_y ? met.begin : first,
                  at_y = a.result == part_y ? first : met.begin;
      a.low[k] += i * at_x - s * at_y;
      a.size[k] = last + 1 - first;
    }
    return {out, {p, q}, attributes(a)};
  }

  /// [n, V, ...] as [n V, ...].
  static Tensor joined(const Tensor& t) {
    Shape s = t.shape();
    s[1] *= s[0];
    s.erase(0);
    return reshape(t, s);
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    const ConvolutionAttr& c = a.get<ConvolutionAttr>();
    const SourceLine line = detail::context_line();
    const Index stack = a.in[1].dim(batched[1] ? 1 : 0);
    if (c.result != part_w && !batched[1] && stack == 1) {  // one w for all: more of the batch
      Shape s = a.in[0].shape();                            // [n, 1, B, ...]
      const Index b = s[2];
      s.erase(0);
      s[1] = n * b;
      const Tensor y = apply(primitive<Convolve>(), a.attr, line, reshape(a.in[0], s), a.in[1]);
      Shape t = y.shape();
      t[1] = b;
      t.insert(0, n);
      o[0] = reshape(y, t);
      return;
    }
    const Tensor y = apply(primitive<Convolve>(), a.attr, line,
                           joined(detail::with_batch(a.in[0], batched[0], n)),
                           joined(detail::with_batch(a.in[1], batched[1], n)));
    Shape s = y.shape();
    s[0] = stack;
    s.insert(0, n);
    o[0] = reshape(y, s);
  }
};
TESSERA_REGISTER(Convolve);
TESSERA_BOXES(Convolve);

constexpr Index kFarthest = Index(1) << 60;  ///< sums of a few such numbers stay whole

bool product_fits(Index a, Index b) { return b == 0 || a <= kFarthest / b; }

}  // namespace

Tensor convolution(Arg x_arg, Arg w_arg, const Convolution& c) {
  const detail::CalledAt called(x_arg.line);
  constexpr const char* op = "convolution";
  const SourceLine line = x_arg.line;
  Tensor x = detail::to_tensor(op, x_arg), w = detail::to_tensor(op, w_arg);
  const std::string both = to_string(x.type()) + " and w " + to_string(w.type());
  if (!can_promote(x.dtype(), w.dtype()) || !is_inexact(promote(x.dtype(), w.dtype())))
    fail(op, "cannot take x " + both + "; use cast", line);
  const int d = w.ndim() - 2;
  if (d < 1 || d > 3 || x.ndim() < d + 1)
    fail(op,
         "needs x [..., positions along 1 to 3 axes, channels] and w [window along each, channels "
         "of a group, channels of the result], got x " +
             both,
         line);
  if (c.groups < 1 || w.dim(d) * c.groups != x.dim(-1) || w.dim(d + 1) % c.groups != 0)
    fail(op,
         "with " + std::to_string(c.groups) + " groups the last axis of x, its channels, must be " +
             std::to_string(c.groups) + " times axis " + std::to_string(d) +
             " of w, and divide the last of w, got x " + both,
         line);
  ConvolutionAttr a{part_y, {}, c.stride, c.low, c.dilation, c.input_dilation, c.groups};
  Shape high = c.high;
  for (auto [s, standard] : {std::pair{&a.stride, Index(1)},
                             {&a.low, Index(0)},
                             {&high, Index(0)},
                             {&a.dilation, Index(1)},
                             {&a.input_dilation, Index(1)}}) {
    if (s->empty()) *s = Shape::filled(d, standard);
    if (s->size() != d)
      fail(op,
           "strides, borders and dilations have one entry for each of the " + std::to_string(d) +
               " axes or none, got " + to_string(*s),
           line);
  }
  const int first = x.ndim() - 1 - d;
  for (int k = 0; k < d; ++k) {
    const Index n = x.dim(first + k), window = w.dim(k), stride = a.stride[k];
    const bool ok = stride >= 1 && a.dilation[k] >= 1 && a.input_dilation[k] >= 1 &&
                    stride <= kFarthest && std::abs(a.low[k]) <= kFarthest &&
                    std::abs(high[k]) <= kFarthest && product_fits(a.dilation[k], window) &&
                    product_fits(a.input_dilation[k], n);
    if (!ok)
      fail(op,
           "axis " + std::to_string(k) + " of the window: stride " + std::to_string(stride) +
               ", borders " + std::to_string(a.low[k]) + " and " + std::to_string(high[k]) +
               ", dilations " + std::to_string(a.dilation[k]) + " of w and " +
               std::to_string(a.input_dilation[k]) + " of x do not fit x " + both +
               ": strides and dilations >= 1, all extents at most 2^60",
           line);
    const Index extent = (n == 0 ? 0 : a.input_dilation[k] * (n - 1) + 1) + a.low[k] + high[k],
                reach = window == 0 ? 0 : a.dilation[k] * (window - 1);
    a.size.push_back(extent <= reach ? 0 : (extent - 1 - reach) / stride + 1);
  }
  const Dtype t = promote(x.dtype(), w.dtype());
  Shape lead, flat{1, 1};
  for (int k = 0; k < first; ++k) lead.push_back(x.dim(k));
  flat[1] = lead.count();
  for (int k = first; k < x.ndim(); ++k) flat.push_back(x.dim(k));
  const Tensor y = apply(primitive<Convolve>(), attributes(a), line, reshape(cast(x, t), flat),
                         expand_dims(cast(w, t), 0));
  for (int k = 0; k < d; ++k) lead.push_back(a.size[k]);
  lead.push_back(w.dim(d + 1));
  return reshape(y, lead);
}

}  // namespace tessera
