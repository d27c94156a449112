// SPDX-License-Identifier: Apache-2.0
//
// GradBench's problems beside ADOL-C: gradbench_peer.h.
#include "gradbench_peer.h"

#include <adolc/adolc.h>

namespace {

struct Tape {
  short tag;
  int n;
  template <class F>
  Tape(const F& f, const gradbench::Doubles& x) : n(static_cast<int>(x.size())) {
    static short tags = 0;
    tag = ++tags;
    trace_on(tag);
    std::vector<adouble> a(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) a[k] <<= x[k];
    double y;
    adouble v = f(a.data());
    v >>= y;
    trace_off();
  }
  void gradient(const gradbench::Doubles& x, gradbench::Doubles& g) const {
    ::gradient(tag, n, const_cast<double*>(x.data()), g.data());
  }
  void hessian_vector(const gradbench::Doubles& x, const gradbench::Doubles& v,
                      gradbench::Doubles& h) const {
    hess_vec(tag, n, const_cast<double*>(x.data()), const_cast<double*>(v.data()), h.data());
  }
};

}  // namespace

int main() { return gradbench::beside<Tape>("adolc"); }
