// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/check.h"

#include <functional>
#include <random>

namespace tessera::detail {

using Tensors = std::vector<Tensor>;
using Numbers = std::vector<c128>;

/// f as a function of its floating and complex leaves alone, giving its floating and complex
/// results alone.
struct Smooth {
  FlatFunction f;
  Tensors x;
  std::vector<std::size_t> leaf;  ///< number of each live leaf among all
};
Smooth smooth(const char* check, const FlatFunction& f, const Tensors& x);

/// Components uniform in [-1, 1), both parts of complex ones.
Tensors random_like(std::span<const Type> like, std::mt19937_64& rng);
Tensors random_like(const Tensors& like, std::mt19937_64& rng);

Numbers numbers(const Tensor& t);
/// Re sum conj(a) b and sum |a| |b|.
double inner(const Tensors& a, const Tensors& b);
double magnitude(const Tensors& a, const Tensors& b);
double largest(const Numbers& v);  ///< modulus, of those that are finite
Tensors moved(const Tensors& x, const Tensors& t, double h);
bool single_precision(const Tensors& x);
double epsilon(const Tensors& x);
/// `given` where the user set it, else the check's own.
inline double chosen(double given, double own) { return given > 0 ? given : own; }
/// `[1,2]` for position i of a tensor of this shape.
std::string position(const Shape& s, Index i);

/// x -> J(x) t and x -> J(x)^H c.
FlatFunction derivative_of(const FlatFunction& f, const Tensors& t);
FlatFunction pullback_of(const FlatFunction& f, const Tensors& c);

/// test(name, g) for f and then, order by order, for the derivatives of all before by jvp and by
/// vjp, along random directions. Names say what was taken of what.
void for_orders(const FlatFunction& f, const Tensors& x, int orders, std::mt19937_64& rng,
                const std::function<void(const std::string&, const FlatFunction&)>& test);

/// Keeps the worst of many comparisons.
class Comparison {
 public:
  explicit Comparison(const char* check) { report_.check = check; }
  /// One number; `where` is asked for only when this is the worst so far.
  void number(c128 got, c128 expected, double tolerance, const std::string& what,
              const std::function<std::string()>& where, const std::string& note = "");
  /// All elements of all results, to rtol of the largest modulus of each plus `atol`; integers and
  /// bool exactly.
  void tensors(const Tensors& got, const Tensors& expected, double rtol, double atol,
               const std::string& what, const std::string& along = "");
  const CheckReport& report() const { return report_; }
  CheckReport take() { return std::move(report_); }

 private:
  CheckReport report_;
  double worst_ = -1;
};

}  // namespace tessera::detail
