// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `lstm` (from ADBench): a recurrent network whose matrices are diagonal predicts each
// character (a vector of b bits) of a sequence from those before; mean log-likelihood of the right
// ones, with respect to all parameters. Layer by layer and step by step, all products element by
// element:
//   f = s(x w_f + b_f), i = s(h w_i + b_i), o = s(x w_o + b_o), c' = tanh(h w_c + b_c),
//   c <- c f + i c', h <- o tanh(c), s(u) = 1 / (1 + exp(-u)),
// x being the layer's input, h its last output.
//
// Whole-array: layer by layer over the whole sequence. The gates f and o depend on x alone and are
// computed for all steps at once, as is the output; what is left to the scan is one body of ten
// operations on [2, b] and [b].
#pragma once
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/loops.h"
#include "verify.h"

namespace gradbench::lstm {

struct Params {
  tessera::Tensor
      main;  ///< [2 layers, 4 b]: weights and biases of a layer in two rows, gates f i o c
  tessera::Tensor extra;  ///< [3, b]: weight of the input, weight and bias of the output
  TESSERA_TREE(main, extra)
};
struct Input {
  int layers, steps, b;
  Doubles main, extra, state,
      sequence;  ///< state [2 layers, b]: h, c of each layer; sequence [steps, b]
};
inline Input make_input(int layers, int steps, int b) {
  std::mt19937_64 rng(1);
  const auto size = [](int n, int m) {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(m);
  };
  Input in{layers, steps, b, {}, {}, {}, {}};
  in.main = uniform(size(2 * layers, 4 * b), rng, -1, 1);
  in.extra = uniform(size(3, b), rng, -1, 1);
  in.state = uniform(size(2 * layers, b), rng, -1, 1);
  for (double u : uniform(size(steps, b), rng)) in.sequence.push_back(u < 0.5 ? 0 : 1);
  return in;
}
inline Params params(const Input& in) {
  return {tessera::tensor(in.main, {2 * in.layers, 4 * in.b}),
          tessera::tensor(in.extra, {3, in.b})};
}

inline tessera::Tensor objective(const Input& in, const Params& p) {
  using namespace tessera;
  const Index b = in.b, n = in.steps - 1;
  const Tensor sequence = tensor(in.sequence, {in.steps, b}),
               state = tensor(in.state, {2 * in.layers, b});
  Tensor x = slice(sequence, 0, 0, n) * select(p.extra, 0, 0);  // [n, b]
  for (Index layer = 0; layer < in.layers; ++layer) {
    const Tensor w = reshape(select(p.main, 0, 2 * layer), {4, b}),
                 bias = reshape(select(p.main, 0, 2 * layer + 1), {4, b});
    const Tensor gates = logistic(expand_dims(x, 1) * slice(w, 0, 0, 3, 2) +
                                  slice(bias, 0, 0, 3, 2));  // [n, 2, b]: f and o
    const Tensor w_i = select(w, 0, 1), w_c = select(w, 0, 3), b_i = select(bias, 0, 1),
                 b_c = select(bias, 0, 3);
    const auto step = [&](const std::pair<Tensor, Tensor>& hc,
                          const std::pair<Tensor, Tensor>& fo) {
      const auto& [h, c] = hc;
      const Tensor next = c * fo.first + logistic(h * w_i + b_i) * tanh(h * w_c + b_c);
      const Tensor out = fo.second * tanh(next);
      return std::pair(std::pair(out, next), out);
    };
    const std::pair start(select(state, 0, 2 * layer), select(state, 0, 2 * layer + 1));
    x = scan(step, start,
             std::pair(contiguous(select(gates, 1, 0)), contiguous(select(gates, 1, 1))))
            .second;
  }
  const Tensor predicted = x * select(p.extra, 0, 1) + select(p.extra, 0, 2);
  const Tensor norm = log(2.0 + sum(exp(predicted), {1}, true));
  return -sum(slice(sequence, 0, 1, in.steps) * (predicted - norm)) / static_cast<double>(n * b);
}

/// The same step by step, in loops; `v` holds main and extra.
template <class T>
T plain_objective(const Input& in, const T* v) {
  using std::exp;
  using std::log;
  using std::tanh;
  const int b = in.b;
  const T* extra = v + 8 * in.layers * b;
  const auto gate = [](const T& u) { return T(1.0 / (1.0 + exp(-u))); };
  std::vector<T> state(in.state.begin(), in.state.end()), x(static_cast<std::size_t>(b));
  T total(0.0);
  for (int t = 0; t + 1 < in.steps; ++t) {
    const double *input = &in.sequence[static_cast<std::size_t>(t * b)], *wanted = input + b;
    for (int i = 0; i < b; ++i) x[static_cast<std::size_t>(i)] = input[i] * extra[i];
    for (int layer = 0; layer < in.layers; ++layer) {
      const T *w = v + 8 * layer * b, *bias = w + 4 * b;
      T *h = &state[static_cast<std::size_t>(2 * layer * b)], *c = h + b;
      for (int i = 0; i < b; ++i) {
        T& xi = x[static_cast<std::size_t>(i)];
        const T forget = gate(xi * w[i] + bias[i]), in_gate = gate(h[i] * w[b + i] + bias[b + i]),
                out = gate(xi * w[2 * b + i] + bias[2 * b + i]);
        const T change = tanh(h[i] * w[3 * b + i] + bias[3 * b + i]);
        c[i] = c[i] * forget + in_gate * change;
        h[i] = out * tanh(c[i]);
        xi = h[i];
      }
    }
    T sum(2.0);
    for (int i = 0; i < b; ++i) {
      T& xi = x[static_cast<std::size_t>(i)];
      xi = xi * extra[b + i] + extra[2 * b + i];
      sum += exp(xi);
    }
    const T norm = log(sum);
    for (int i = 0; i < b; ++i) total += wanted[i] * (x[static_cast<std::size_t>(i)] - norm);
  }
  return -total / double((in.steps - 1) * b);
}

}  // namespace gradbench::lstm
