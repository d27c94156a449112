// SPDX-License-Identifier: Apache-2.0
//
// Two primitives: the call, and its tangent, which is linear in t and whose transpose is the user's
// vjp.
#include "tessera/autodiff/host_call.h"

#include "../core/rules.h"
#include "../core/tensor_internal.h"
#include "../kernels/copy.h"
#include "subgraph.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"

namespace tessera {
namespace {

using List = HostFunction::List;
using detail::zeros_of;

struct HostAttr {
  std::shared_ptr<const HostFunction> f;
  int n_in;  ///< number of operands of f
  TESSERA_ATTRIBUTES(f, n_in)
};

std::string quoted(const HostFunction& f) { return "'" + f.name + "'"; }
std::vector<const Tensor*> pointers(const List& x) {
  std::vector<const Tensor*> p;
  for (const Tensor& t : x) p.push_back(&t);
  return p;
}
List part(const List& v, std::size_t begin, std::size_t end) {
  return {v.begin() + static_cast<std::ptrdiff_t>(begin),
          v.begin() + static_cast<std::ptrdiff_t>(end)};
}
List joined(List a, const List& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// The entries that have derivatives, and the way back with zeros in between.
List live(const List& v) {
  List out;
  for (const Tensor& t : v)
    if (is_inexact(t.dtype())) out.push_back(t);
  return out;
}
List spread(const List& like, const List& some) {
  List out;
  std::size_t next = 0;
  for (const Tensor& t : like)
    out.push_back(is_inexact(t.dtype()) ? some[next++] : zeros_of(t.type()));
  return out;
}
/// Those entries of a rule's result that belong to live entries of `like`, checked.
List checked(const HostFunction& f, const char* rule, const List& like, const List& got) {
  if (got.size() != like.size())
    fail("host_call", std::string(rule) + " of " + quoted(f) + " gave " +
                          std::to_string(got.size()) + " tensors for " +
                          std::to_string(like.size()));
  List out;
  for (std::size_t k = 0; k < like.size(); ++k) {
    if (!is_inexact(like[k].dtype())) continue;
    if (got[k].type() != like[k].type())
      fail("host_call", std::string(rule) + " of " + quoted(f) + " gave a " +
                            to_string(got[k].type()) + " at position " + std::to_string(k) +
                            " where a " + to_string(like[k].type()) + " belongs");
    out.push_back(got[k]);
  }
  return out;
}

List tangent(const HostFunction& f, const List& x, const List& y, const List& t);
/// Of live entries, as `tangent`.
List cotangent(const HostFunction& f, const List& x, const List& y, const List& ct) {
  if (f.vjp) return checked(f, "vjp", x, f.vjp(x, y, spread(y, ct)));
  const Graph g = record_abstract(
                      "host_call", [&](const List& t) { return tangent(f, x, y, t); },
                      detail::types_of(live(x)))
                      .graph;
  return detail::transpose_graph(g, ct);
}
List tangent(const HostFunction& f, const List& x, const List& y, const List& t) {
  if (f.jvp) return checked(f, "jvp", y, f.jvp(x, y, spread(x, t)));
  if (!f.vjp)
    fail("host_call", quoted(f) + " has neither jvp nor vjp: give one of them to differentiate it");
  const Graph g = record_abstract(
                      "host_call", [&](const List& ct) { return cotangent(f, x, y, ct); },
                      detail::types_of(live(y)))
                      .graph;
  return detail::transpose_graph(g, t);
}

/// Calls are seen in their order; those that exchange messages are waited for.
Ordering order_of_call(const Attributes* a) {
  return tessera::get<HostAttr>(a).f->exchanges ? Ordering::every : Ordering::kept;
}

/// f for every sample of a leading axis.
std::shared_ptr<const HostFunction> batched(const std::shared_ptr<const HostFunction>& f,
                                            Index size) {
  auto wide = std::make_shared<HostFunction>();
  wide->name = f->name;
  wide->exchanges = f->exchanges;
  wide->types = [f, size](const Types& x) {
    Types one = x;
    for (Type& t : one) t.shape.erase(0);
    Types y = f->types(one);
    for (Type& t : y) t.shape.insert(0, size);
    return y;
  };
  wide->run = [f, size, types = wide->types](const List& x) {
    std::vector<List> columns;
    for (Index s = 0; s < size; ++s) {
      List one;
      for (const Tensor& t : x) one.push_back(contiguous(select(t, 0, s)));
      const List y = f->run(one);
      columns.resize(y.size());
      for (std::size_t k = 0; k < y.size(); ++k) columns[k].push_back(y[k]);
    }
    List out;
    for (const List& c : columns) out.push_back(stack(c));
    if (size == 0)
      for (const Type& t : types(detail::types_of(x))) out.push_back(zeros_of(t));
    return out;
  };
  const auto over_samples = [](const auto& rule) {
    return [rule](const List& x, const List& y, const List& c) {
      const std::size_t nx = x.size(), ny = y.size();
      const List all = joined(joined(x, y), c);
      return detail::vmap_flat(
          [&](const List& v) {
            return rule(part(v, 0, nx), part(v, nx, nx + ny), part(v, nx + ny, v.size()));
          },
          all, std::vector<std::optional<int>>(all.size(), 0), 0);
    };
  };
  if (f->jvp) wide->jvp = over_samples(f->jvp);
  if (f->vjp) wide->vjp = over_samples(f->vjp);
  return wide;
}
template <class P>
void batch_call(const Application& a, std::span<const bool> flags, Index size,
                std::span<Tensor> o) {
  const HostAttr& h = a.get<HostAttr>();
  List in;
  for (std::size_t k = 0; k < a.in.size(); ++k)
    in.push_back(detail::with_batch(a.in[k], flags[k], size));
  dispatch(primitive<P>(), pointers(in), attributes(HostAttr{batched(h.f, size), h.n_in}),
           detail::context_line(), o);
}
List values_of(Inputs in) {
  List x;
  for (const View* v : in) x.push_back(detail::contiguous_copy(*v));
  return x;
}

/// Operands x, results y of a tangent, and its live tangents.
struct Parts {
  List x, y, t;
};
Parts parts_of(const HostAttr& h, const List& all) {
  const auto nx = static_cast<std::size_t>(h.n_in);
  std::size_t live_x = 0;
  for (std::size_t k = 0; k < nx; ++k) live_x += is_inexact(all[k].dtype());
  return {part(all, 0, nx), part(all, nx, all.size() - live_x),
          part(all, all.size() - live_x, all.size())};
}

/// Operands x, y and the live t; results: the tangents of live y.
struct HostTangent : Hand<HostTangent> {
  static constexpr bool runs_programs = true;
  static Ordering order(const Attributes* a) { return order_of_call(a); }
  static constexpr const char* name = "host_tangent";
  static constexpr None flops{"what the host does is not counted"};
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const auto nx = static_cast<std::size_t>(tessera::get<HostAttr>(a).n_in);
    std::size_t live_x = 0;
    for (std::size_t k = 0; k < nx; ++k) live_x += is_inexact(in[k].dtype);
    Types out;
    for (std::size_t k = nx; k + live_x < in.size(); ++k)
      if (is_inexact(in[k].dtype)) out.push_back(in[k]);
    return out;
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const HostAttr& h = tessera::get<HostAttr>(a);
      const Parts p = parts_of(h, values_of(in));
      const List t = tangent(*h.f, p.x, p.y, p.t);
      for (std::size_t k = 0; k < out.size(); ++k) kernels::copy(t[k].view(), *out[k]);
    };
  }
  static void jvp(const Application& a, std::span<const Tensor> t_in, std::span<Tensor> o) {
    const HostAttr& h = a.get<HostAttr>();
    const List all(a.in.begin(), a.in.end()), moved(t_in.begin(), t_in.end());
    const Parts p = parts_of(h, all);
    const std::size_t fixed = p.x.size() + p.y.size();
    bool along_t = false, along_xy = false;
    for (std::size_t k = 0; k < all.size(); ++k)
      (k < fixed ? along_xy : along_t) |= moved[k].defined();
    if (along_t) {
      List in = part(all, 0, fixed);
      for (std::size_t k = fixed; k < all.size(); ++k)
        in.push_back(moved[k].defined() ? moved[k] : zeros_of(a.in_types[k]));
      dispatch(primitive<HostTangent>(), pointers(in), a.attr, detail::context_line(), o);
    }
    if (!along_xy) return;
    const std::size_t nx = p.x.size();
    const List along_operands =
        detail::jvp_flat(
            [&](const List& v) {
              return tangent(*h.f, part(v, 0, nx), part(v, nx, v.size()), p.t);
            },
            part(all, 0, fixed), part(moved, 0, fixed))
            .second;
    for (std::size_t k = 0; k < o.size(); ++k) o[k] = detail::add_tangents(o[k], along_operands[k]);
  }
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    const HostAttr& h = a.get<HostAttr>();
    const auto nx = static_cast<std::size_t>(h.n_in);
    std::size_t fixed = a.in.size();
    for (std::size_t k = 0; k < nx; ++k) fixed -= is_inexact(a.in_types[k].dtype);
    for (std::size_t k = 0; k < fixed; ++k)
      if (linear[k]) detail::no_rule(name, "transpose", "it is linear in the tangents alone");
    const List all(a.in.begin(), a.in.end());
    const List c = cotangent(*h.f, part(all, 0, nx), part(all, nx, fixed), {ct.begin(), ct.end()});
    for (std::size_t k = 0; k < c.size(); ++k)
      if (linear[fixed + k]) o[fixed + k] = c[k];
  }
  static void batch(const Application& a, std::span<const bool> flags, Index size,
                    std::span<Tensor> o) {
    batch_call<HostTangent>(a, flags, size, o);
  }
};

struct HostCall : Hand<HostCall> {
  static constexpr bool runs_programs = true;
  static Ordering order(const Attributes* a) { return order_of_call(a); }
  static constexpr const char* name = "host_call";
  static constexpr None flops{"what the host does is not counted"};
  static Types infer(std::span<const Type> in, const Attributes* a) {
    return tessera::get<HostAttr>(a).f->types({in.begin(), in.end()});
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const HostFunction& f = *tessera::get<HostAttr>(a).f;
      const List y = f.run(values_of(in));
      if (y.size() != out.size())
        fail(name, quoted(f) + " gave " + std::to_string(y.size()) + " results for the " +
                       std::to_string(out.size()) + " it announced");
      for (std::size_t k = 0; k < out.size(); ++k) {
        if (y[k].type() != out[k]->type())
          fail(name, quoted(f) + " gave a " + to_string(y[k].type()) + " as result " +
                         std::to_string(k) + ", it announced a " + to_string(out[k]->type()));
        kernels::copy(y[k].view(), *out[k]);
      }
    };
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    const HostAttr& h = a.get<HostAttr>();
    if (!h.f->jvp && !h.f->vjp)
      fail(name, quoted(*h.f) + " has neither jvp nor vjp: give one of them to differentiate it");
    List in = joined({a.in.begin(), a.in.end()}, {a.out.begin(), a.out.end()});
    for (std::size_t k = 0; k < a.in.size(); ++k)
      if (is_inexact(a.in_types[k].dtype))
        in.push_back(t[k].defined() ? t[k] : zeros_of(a.in_types[k]));
    List tangents(live({a.out.begin(), a.out.end()}).size());
    dispatch(primitive<HostTangent>(), pointers(in), a.attr, detail::context_line(), tangents);
    for (std::size_t k = 0, next = 0; k < o.size(); ++k)
      if (is_inexact(a.out[k].dtype())) o[k] = tangents[next++];
  }
  /// Asked for where the function is linear in some operands (as a vjp is): its derivative is
  /// itself, anywhere.
  static void transpose(const Application& a, std::span<const bool> linear,
                        std::span<const Tensor> ct, std::span<Tensor> o) {
    List x, y;
    for (std::size_t k = 0; k < a.in.size(); ++k)
      x.push_back(linear[k] ? zeros_of(a.in_types[k]) : a.in[k]);
    for (const Tensor& c : ct) y.push_back(zeros_of(c.type()));
    const List c = spread(x, cotangent(*a.get<HostAttr>().f, x, y, live({ct.begin(), ct.end()})));
    for (std::size_t k = 0; k < c.size(); ++k)
      if (linear[k]) o[k] = c[k];
  }
  static void batch(const Application& a, std::span<const bool> flags, Index size,
                    std::span<Tensor> o) {
    batch_call<HostCall>(a, flags, size, o);
  }
};
TESSERA_REGISTER(HostCall);
TESSERA_REGISTER(HostTangent);

}  // namespace

FlatFunction host_call(HostFunction f) {
  if (!f.run) fail("host_call", quoted(f) + " has no function to run");
  if (!f.types)
    f.types = [name = quoted(f)](const Types& x) {
      if (x.empty())
        fail("host_call",
             name + " has no operand to take the type of its result from; give `types`");
      return Types{x[0]};
    };
  const auto shared = std::make_shared<const HostFunction>(std::move(f));
  return [shared](const List& x) {
    List y(shared->types(detail::types_of(x)).size());
    dispatch(primitive<HostCall>(), pointers(x),
             attributes(HostAttr{shared, static_cast<int>(x.size())}), detail::context_line(), y);
    return y;
  };
}

}  // namespace tessera
