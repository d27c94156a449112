// SPDX-License-Identifier: Apache-2.0
//
// The one door through which every operation goes: run it now, or record it.
#include "../base/context.h"
#include "../base/small_array.h"
#include "../kernels/copy.h"
#include "own_primitive.h"
#include "tensor_internal.h"
#include "tessera/autodiff/graph.h"

#include <mutex>

namespace tessera {
namespace detail {

namespace {

/// Results of `p` on concrete inputs.
void run(const Primitive& p, std::span<const Tensor* const> in, const Attributes* attr,
         std::span<Tensor> out) {
  const std::size_t n = in.size();
  SmallArray<Dtype> dtypes(n);
  SmallArray<const View*> views(n);
  for (std::size_t k = 0; k < n; ++k) {
    views[k] = &in[k]->view();
    dtypes[k] = views[k]->dtype;
  }
  if (p.elementwise) {
    const KernelFn kernel = p.kernel(dtypes.span(), attr);
    bool same = kernel != nullptr;
    for (std::size_t k = 1; same && k < n; ++k) same = views[k]->shape == views[0]->shape;
    if (!same) {
      Types t;
      for (const View* v : views.span()) t.push_back(v->type());
      p.infer(t, attr);
      fail(p.name, "no kernel for these types");
    }
    out[0] = empty_result(p.result(dtypes.span(), attr), views[0]->shape);
    View* o = &out[0].impl()->view;
    kernel(views.span(), {&o, 1}, attr);
    return;
  }
  Types types;
  types.reserve(n);
  for (const View* v : views.span()) types.push_back(v->type());
  const Types results = p.infer(types, attr);
  if (p.view) {
    View v;
    if (p.view(*views[0], attr, v)) {
      out[0] = view_result(*in[0], v);
      return;
    }
    const Tensor packed = contiguous_copy(*views[0]);
    if (p.view(packed.view(), attr, v)) {
      out[0] = view_result(packed, v);
      return;
    }
  }
  const KernelFn kernel = p.kernel(dtypes.span(), attr);
  if (!kernel) fail(p.name, "not defined for " + to_string(types[0]));
  std::vector<Tensor> packed;
  if (!p.takes_strides)
    for (std::size_t k = 0; k < n; ++k)
      if (!views[k]->contiguous()) {
        packed.push_back(contiguous_copy(*views[k]));
        views[k] = &packed.back().impl()->view;
      }
  SmallArray<View*> outs(results.size());
  for (std::size_t k = 0; k < results.size(); ++k) {
    out[k] = empty_result(results[k].dtype, results[k].shape);
    outs[k] = &out[k].impl()->view;
  }
  kernel(views.span(), outs.span(), attr);
}

/// Runs `p` while a branch is recorded; false where it fails, which is the branch's matter, if it
/// is taken.
bool runs_at_once(const Primitive& p, std::span<const Tensor* const> in, const Attributes* attr,
                  std::span<Tensor> out) {
  const OutsideOfBranch scope;
  try {
    run(p, in, attr, out);
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace
}  // namespace detail

void dispatch(const Primitive& p, std::span<const Tensor* const> in, AttributesPtr attr,
              SourceLine line, std::span<Tensor> out) {
  detail::Context& c = detail::context();
  if (is_known(c.rule)) line = c.rule;
  const detail::AtLine at(c, line);
  const std::shared_ptr<Recorder>* innermost = nullptr;
  for (const Tensor* t : in) {
    if (!t->defined()) fail(p.name, "an operand is undefined", line);
    if (!t->is_traced()) continue;
    const std::shared_ptr<Recorder>& r = t->impl()->recorder;
    if (!r->open())
      fail(p.name,
           std::string("an operand escaped from `") + r->transform() +
               "`: it names a value inside a transform that has ended; return it from the function "
               "instead",
           line);
    if (!innermost || r->depth() > (*innermost)->depth()) innermost = &r;
  }
  const bool every = (c.branch || c.program) && p.order(attr.get()) == Ordering::every;
  if (c.branch) {
    if (innermost ? (*c.branch)->depth() > (*innermost)->depth()
                  : p.runs_programs || every || !detail::runs_at_once(p, in, attr.get(), out))
      innermost = c.branch;
    else if (!innermost)
      return;
  }
  if (every && c.program && (!innermost || (*c.program)->depth() > (*innermost)->depth()))
    innermost = c.program;
  if (innermost) {
    const std::shared_ptr<Recorder> self = *innermost;
    Recorder::record(self, p, in, std::move(attr), line, out);
  } else if (c.program) {
    const detail::OutsideOfBranch scope;
    detail::run(p, in, attr.get(), out);
  } else {
    detail::run(p, in, attr.get(), out);
  }
}

Tensor dispatch1(const Primitive& p, std::span<const Tensor* const> in, AttributesPtr attr,
                 SourceLine line) {
  Tensor out;
  dispatch(p, in, std::move(attr), line, {&out, 1});
  return out;
}

namespace {
struct Registry {
  std::mutex mutex;
  std::vector<const Primitive*> all;
};
Registry& registry() {
  static Registry r;
  return r;
}
}  // namespace

std::vector<const Primitive*> registered_primitives() {
  std::lock_guard lock(registry().mutex);
  return registry().all;
}
const Primitive& detail::own_primitive(std::string_view name) {
  std::lock_guard lock(registry().mutex);
  for (const Primitive* p : registry().all)
    if (name == p->name) return *p;
  throw Error("the engine has no primitive " + std::string(name));
}
bool detail::register_primitive(const Primitive& p) {
  std::lock_guard lock(registry().mutex);
  registry().all.push_back(&p);
  return true;
}

}  // namespace tessera
