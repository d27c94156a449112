// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/ops/flow.h"

#include "../core/rules.h"
#include "../kernels/copy.h"
#include "tessera/autodiff/ops.h"

#include <atomic>

namespace tessera {
namespace {

struct Message {
  std::shared_ptr<const std::string> text;
  TESSERA_ATTRIBUTES(text)
};
struct Check : Linear<Check> {
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "check";
  static Types infer(std::span<const Type> in, const Attributes*) {
    if (in[1].dtype != Dtype::boolean)
      fail(name, "the condition must be bool, got " + to_string(in[1]));
    return {in[0]};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const View& c = *in[1];
      const bool* holds = static_cast<const bool*>(c.data);
      const Index n = c.count();
      const Index at = std::find(holds, holds + n, false) - holds;
      if (at < n) {
        Shape position = c.shape;
        Index rest = at;
        for (int d = c.shape.size(); d-- > 0; rest /= c.shape[d]) position[d] = rest % c.shape[d];
        fail(name,
             *get<Message>(a).text + (n > 1 ? " (the condition is false at " + to_string(position) +
                                                  " of " + to_string(c.shape) + ")"
                                            : ""));
      }
      kernels::copy(*in[0], *out[0]);
    };
  }
  static void jvp(const Application&, std::span<const Tensor> t, std::span<Tensor> o) {
    o[0] = t[0];
  }
  static void transpose(const Application&, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = ct[0];
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    o[0] = apply(primitive<Check>(), a.attr, detail::context_line(),
                 detail::with_batch(a.in[0], batched[0], n), a.in[1]);
  }
};

/// A number of its own, so that no two barriers count as the same work.
struct Token {
  Index number;
  TESSERA_ATTRIBUTES(number)
};
struct Barrier : Linear<Barrier> {
  static constexpr std::uint32_t linear_in = 1u;
  static constexpr const char* name = "barrier";
  static Types infer(std::span<const Type> in, const Attributes*) { return {in[0]}; }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) { return nullptr; }
  static bool view(const View& in, const Attributes*, View& out) {
    out = in;
    return true;
  }
  static Tensor again(const Application& a, const Tensor& x) {
    std::vector<const Tensor*> in{&x};
    for (std::size_t k = 1; k < a.in.size(); ++k) in.push_back(&a.in[k]);
    return dispatch1(primitive<Barrier>(), in, a.attr, detail::context_line());
  }
  static void jvp(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
    if (t[0].defined()) o[0] = again(a, t[0]);
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = again(a, ct[0]);
  }
  static void batch(const Application& a, std::span<const bool> batched, Index n,
                    std::span<Tensor> o) {
    o[0] = again(a, detail::with_batch(a.in[0], batched[0], n));
  }
};
TESSERA_REGISTER(Check);
TESSERA_REGISTER(Barrier);

}  // namespace

Tensor check(Arg x, Arg condition, const std::string& message) {
  return apply(
      primitive<Check>(), attributes(Message{std::make_shared<const std::string>(message)}), x.line,
      detail::to_tensor("check", x), detail::to_tensor("check", condition, Dtype::boolean));
}

Tensor barrier(Arg x, const std::vector<Tensor>& after) {
  static std::atomic<Index> next{0};
  const Tensor t = detail::to_tensor("barrier", x);
  std::vector<const Tensor*> in{&t};
  for (const Tensor& a : after) in.push_back(&a);
  return dispatch1(primitive<Barrier>(), in, attributes(Token{next++}), x.line);
}

}  // namespace tessera
