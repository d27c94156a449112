// SPDX-License-Identifier: Apache-2.0
//
// GradBench's problems beside CppAD: gradbench_peer.h.
#include <cppad/cppad.hpp>

namespace CppAD {
/// As the plain loops of kmeans call it: a choice on the tape, not a branch of the recording.
inline AD<double> fmin(const AD<double>& a, const AD<double>& b) { return CondExpLt(a, b, a, b); }
}  // namespace CppAD

#include "gradbench_peer.h"

namespace {

using Scalar = CppAD::AD<double>;

struct Tape {
  CppAD::ADFun<double> f;
  template <class F>
  Tape(const F& plain, const gradbench::Doubles& x) {
    std::vector<Scalar> a(x.begin(), x.end());
    CppAD::Independent(a);
    std::vector<Scalar> y(1, plain(a.data()));
    f.Dependent(a, y);
    f.optimize();
  }
  void gradient(const gradbench::Doubles& x, gradbench::Doubles& g) {
    f.Forward(0, x);
    g = f.Reverse(1, gradbench::Doubles{1.0});
  }
  /// A second-order sweep gives the derivatives of w f'(x) v to v and to x, in turn.
  void hessian_vector(const gradbench::Doubles& x, const gradbench::Doubles& v,
                      gradbench::Doubles& h) {
    f.Forward(0, x);
    f.Forward(1, v);
    const gradbench::Doubles d = f.Reverse(2, gradbench::Doubles{1.0});
    for (std::size_t k = 0; k < x.size(); ++k) h[k] = d[2 * k + 1];
  }
};

}  // namespace

int main() { return gradbench::beside<Tape>("cppad"); }
