// SPDX-License-Identifier: Apache-2.0
//
// Programs as C++, complete and ready to compile: each operation is the call that run_engine.cpp
// makes.
#include "program.h"

#include <cstdio>
#include <set>

namespace nesting {
namespace {

using Strings = std::vector<std::string>;

std::string text(double v) {
  char s[40];
  for (int digits : {3, 17}) {
    std::snprintf(s, sizeof s, "%.*g", digits, v);
    if (std::stod(s) == v) break;
  }
  std::string t = s;
  return t.find_first_of(".en") == std::string::npos ? t + ".0" : t;
}
template <class T, class F>
std::string list(const std::vector<T>& items, const F& f) {
  std::string s;
  for (const T& x : items) s += (s.empty() ? "" : ", ") + f(x);
  return s;
}
std::string list(const std::vector<double>& v) { return list(v, text); }
std::string list(const std::vector<int>& v) {
  return list(v, [](int x) { return std::to_string(x); });
}
std::string name(Var v) { return "v" + std::to_string(v); }
std::string names(const std::vector<Var>& v) { return list(v, name); }
std::string tensors(const std::vector<Var>& v) { return "Tensors{" + names(v) + "}"; }
std::string literal(const std::vector<double>& numbers, const std::vector<int>& dims) {
  if (dims.empty()) return "tensor(" + text(numbers[0]) + ")";
  return "tensor({" + list(numbers) + "}" + (dims.size() > 1 ? ", {" + list(dims) + "}" : "") + ")";
}
std::string policy(int kind, int parameter) {
  const std::string p = std::to_string(parameter);
  switch (kind) {
    case 1:
      return "Checkpoint::none()";
    case 2:
      return "Checkpoint::every(" + p + ")";
    case 3:
      return "Checkpoint::revolve(" + p + ")";
    case 4:
      return "Checkpoint::online(" + p + ")";
    default:
      return "Checkpoint::all()";
  }
}
/// Printed as a function from tensor to tensor, not from list to list.
bool is_unary(const Function& f) {
  return f.params.size() == 1 && f.results.size() == 1 && !f.rows;
}

const char* const kJoined = R"(Tensors joined(Tensors a, const Tensors& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
)";
const char* const kPart =
    R"(Tensors part(const Tensors& t, std::ptrdiff_t begin, std::ptrdiff_t end) { return {t.begin() + begin, t.begin() + end}; }
)";
const char* const kRows = R"(Tensors rows_of(const Tensor& t) {
  Tensors rows;
  for (Index i = 0; i < t.dim(0); ++i) rows.push_back(select(t, 0, i));
  return rows;
}
)";
const char* const kPlanned = R"(/// f(x) by a plan that was made for other values.
template <class F>
Tensors planned(const F& f, const Tensors& x) {
  const auto g = jit(f);
  Tensors other;
  for (const Tensor& t : x) other.push_back(is_inexact(t.dtype()) ? 0.7 * t + 0.1 : t);
  g(other);
  return g(x);
}
)";
const char* const kRoot = R"(Tensor host_root(const Tensor& x) {
  return host_call({.name = "root",
                    .run = [](const Tensors& v) {
                      std::vector<double> y = v[0].to_vector();
                      for (double& e : y) {
                        if (!(e > 0)) throw std::runtime_error("the host's root was asked for " + std::to_string(e));
                        e = std::sqrt(e);
                      }
                      return Tensors{tensor(y, v[0].shape())};
                    },
                    .jvp = [](const Tensors&, const Tensors& y, const Tensors& t) { return Tensors{0.5 * t[0] / y[0]}; }})({x})[0];
}
)";

class Printer {
 public:
  std::string body(const std::vector<Let>& lets, int indent) {
    std::string s;
    for (const Let& l : lets)
      s += let(l, std::string(static_cast<std::size_t>(indent), ' '), indent);
    return s;
  }
  std::string helpers() const {
    std::string s;
    for (const char* h : {kJoined, kPart, kRows, kPlanned, kRoot})
      if (used_.count(h)) s += h;
    return s;
  }

 private:
  const char* use(const char* helper, const char* its_name) {
    used_.insert(helper);
    return its_name;
  }
  /// The function as a lambda, of a list of tensors or of one.
  std::string function(const Function& f, bool unary, int indent) {
    const std::string in(static_cast<std::size_t>(indent + 2), ' ');
    std::string s = unary              ? "[=](const Tensor& " + name(f.params[0]) + ") {\n"
                    : f.params.empty() ? "[=](const Tensors&) {\n"
                                       : "[=](const Tensors& a) {\n";
    for (std::size_t k = 0; !unary && k < f.params.size(); ++k)
      s += (k ? ", " : in + "const Tensor ") + name(f.params[k]) + " = a[" + std::to_string(k) +
           "]" + (k + 1 == f.params.size() ? ";\n" : "");
    s += body(f.body, indent + 2) + in + "return ";
    if (f.rows)
      s += std::string(use(kRows, "rows_of")) + "(" + name(f.results[0]) + ")";
    else
      s += unary ? "Tensor(" + name(f.results[0]) + ")" : tensors(f.results);
    return s + ";\n" + std::string(static_cast<std::size_t>(indent), ' ') + "}";
  }
  std::string let(const Let& l, const std::string& pad, int indent);
  std::string element(const Let& l) const;
  /// The call with lists, or with one tensor where all functions are unary. Functions are called f
  /// and g.
  std::string with_functions(const Let& l, bool unary, const std::string& f, const std::string& g);

  std::set<const char*> used_;
};

std::string Printer::element(const Let& l) const {
  const auto x = [&] { return name(l.in.at(0)); };
  const auto y = [&] { return name(l.in.at(1)); };
  const auto of = [&](const char* function) {
    return std::string(function) + "(" + names(l.in) + ")";
  };
  const auto number = [&] { return text(l.numbers.at(0)); };
  const auto count = [&] { return std::to_string(l.sizes.at(0)); };
  switch (l.op) {
    case Op::sin:
      return of("sin");
    case Op::cos:
      return of("cos");
    case Op::tanh:
      return of("tanh");
    case Op::atan:
      return of("atan");
    case Op::logistic:
      return of("logistic");
    case Op::erf:
      return of("erf");
    case Op::softplus:
      return of("softplus");
    case Op::square:
      return of("square");
    case Op::neg:
      return "-" + x();
    case Op::exp:
      return of("exp");
    case Op::log:
      return of("log");
    case Op::log1p:
      return of("log1p");
    case Op::sqrt:
      return of("sqrt");
    case Op::reciprocal:
      return "1.0 / " + x();
    case Op::stop_gradient:
      return of("stop_gradient");
    case Op::scale:
      return x() + " * " + number();
    case Op::shift:
      return x() + " + " + number();
    case Op::power:
      return "pow(" + x() + ", " + number() + ")";
    case Op::integer_power:
      return "pow(" + x() + ", " + count() + ")";
    case Op::host_root:
      return of("host_root");
    case Op::checked:
      return "check(" + x() + ", " + x() + " > 0.0, \"not positive\")";
    case Op::add:
      return x() + " + " + y();
    case Op::sub:
      return x() + " - " + y();
    case Op::mul:
      return x() + " * " + y();
    case Op::div:
      return x() + " / " + y();
    case Op::atan2:
      return of("atan2");
    case Op::pow:
      return of("pow");
    case Op::hypot:
      return of("hypot");
    case Op::where:
      return of("where");
    case Op::constant:
      return literal(l.numbers, l.sizes);
    case Op::sum:
      return of("sum");
    case Op::mean_rows:
      return "mean(" + x() + ", {0})";
    case Op::cumsum:
      return "cumsum(" + x() + ", 0)";
    case Op::reverse:
      return "reverse(" + x() + ", {0})";
    case Op::select:
      return "select(" + x() + ", 0, " + count() + ")";
    case Op::gather:
      return of("gather");
    case Op::stack:
      return "stack({" + names(l.in) + "})";
    case Op::spread:
      return "stack(Tensors(" + count() + ", " + x() + "))";
    case Op::matvec:
      return of("matmul");
    case Op::dot:
      return "sum(" + x() + " * " + y() + ")";
    case Op::less:
      return x() + " < " + number();
    case Op::greater:
      return x() + " > " + number();
    case Op::int_less:
      return x() + " < " + y();
    case Op::count:
      return "cast(" + x() + ", Dtype::i64)";
    case Op::int_constant:
      return "scalar(" + count() + ", Dtype::i64)";
    case Op::int_add:
      return x() + " + " + y();
    case Op::int_shift:
      return x() + " + " + count();
    case Op::to_real:
      return "cast(" + x() + ", Dtype::f64)";
    default:
      throw std::logic_error("no operation on elements");
  }
}

std::string Printer::with_functions(const Let& l, bool unary, const std::string& f,
                                    const std::string& g) {
  const auto list_of = [&](std::size_t begin, std::size_t end) {
    const std::vector<Var> v(l.in.begin() + static_cast<std::ptrdiff_t>(begin),
                             l.in.begin() + static_cast<std::ptrdiff_t>(end));
    return unary ? names(v) : tensors(v);
  };
  const auto size = [&](std::size_t k) { return static_cast<std::size_t>(l.sizes.at(k)); };
  const auto count = [&](std::size_t k) { return std::to_string(l.sizes.at(k)); };
  const std::size_t n = l.in.size(), half = n / 2;
  const std::string all = list_of(0, n),
                    first_of_f = unary ? f : "[=](const Tensors& a) { return " + f + "(a)[0]; }";
  const std::string pairs = f + ", " + list_of(0, half) + ", " + list_of(half, n);
  switch (l.op) {
    case Op::call:
      return f + "(" + all + ")";
    case Op::jit:
      return std::string(use(kPlanned, "planned")) + "(" + f + ", " + all + ")";
    case Op::checkpointed:
      return "checkpointed(" + f + ")(" + all + ")";
    case Op::vmap: {
      const std::size_t b = size(0);
      if (b == n) return "vmap(" + f + ")(" + all + ")";
      return "vmap([=](const Tensors& a, const Tensors& all) { return " + f + "(" +
             use(kJoined, "joined") + "(a, all)); }, {0, not_mapped})(" + list_of(0, b) + ", " +
             list_of(b, n) + ")";
    }
    case Op::cond:
      return "cond(" + name(l.in[0]) + ", " + f + ", " + g + ", " + list_of(1, n) + ")";
    case Op::while_loop:
      return "while_loop(" + first_of_f + ", " + g + ", " + all + ", {" +
             policy(l.sizes.at(0), l.sizes.at(1)) + "})";
    case Op::scan: {
      const std::size_t c = size(0);
      use(kPart, ""), use(kJoined, "");
      return "scan([=](const Tensors& c, const Tensors& x) {\n    const Tensors y = " + f +
             "(joined(c, x));\n    return std::pair(part(y, 0, " + std::to_string(c) +
             "), part(y, " + std::to_string(c) + ", " + std::to_string(l.out.size()) +
             "));\n  }, " + list_of(0, c) + ", " + list_of(c, n) +
             ", {.reverse = " + (l.sizes.at(3) ? "true" : "false") +
             ", .checkpoint = " + policy(l.sizes.at(1), l.sizes.at(2)) + "})";
    }
    case Op::fori:
      return "fori_loop(" + count(0) + ", [=](const Tensor& i, const Tensors& c) { return " + f +
             "(" + use(kJoined, "joined") + "({i}, c)); }, " + all +
             ", {.checkpoint = " + policy(l.sizes.at(1), l.sizes.at(2)) + "})";
    case Op::jvp:
      return "jvp(" + pairs + ")";
    case Op::linearize:
      return "linearize(" + f + ", " + list_of(0, half) + ")";
    case Op::vjp:
      return "vjp(" + f + ", " + list_of(0, size(0)) + ").second(" + list_of(size(0), n) + ")";
    case Op::grad:
      return "grad(" + first_of_f + ")(" + all + ")";
    case Op::value_and_grad:
      return "value_and_grad(" + first_of_f + ")(" + all + ")";
    case Op::jet:
      return "jet(" + f + ", " + count(0) + ")(" + list_of(0, half) + ", " + list_of(half, n) + ")";
    case Op::custom_jvp:
      return "custom_jvp(" + f +
             ", [=](const Tensors& x, const Tensors& y, const Tensors& t) { return " + g + "(" +
             use(kJoined, "joined") + "(joined(x, y), t)); })(" + all + ")";
    case Op::custom_vjp:
      return "custom_vjp(" + f + ", " + count(0) +
             ", [=](const Tensors& r, const Tensors& ct) { return " + g + "(" +
             use(kJoined, "joined") + "(r, ct)); })(" + all + ")";
    case Op::custom_linear:
      return "custom_linear(" + f + ", " + g + ")(" + all + ")";
    default:
      throw std::logic_error("no operation with functions");
  }
}

std::string Printer::let(const Let& l, const std::string& pad, int indent) {
  const std::string out = std::to_string(l.out.at(0));
  if (l.functions.empty()) {
    if (l.op == Op::host_root) use(kRoot, "");
    return pad + "const Tensor " + name(l.out[0]) + " = " + element(l) + ";\n";
  }
  const bool of_lists =
      l.op == Op::scan || l.op == Op::fori || l.op == Op::jit || l.op >= Op::custom_jvp;
  bool unary = !of_lists && (l.op != Op::vmap || l.in.size() == 1);
  for (const FunctionPtr& f : l.functions) unary = unary && is_unary(*f);
  const bool of_vector = l.op >= Op::hessian && l.op <= Op::directional_sum;
  unary = unary || of_vector || l.op == Op::jit_shapes;
  std::string s;
  const std::string letters = "fg";
  for (std::size_t k = 0; k < l.functions.size(); ++k)
    s += pad + "const auto " + letters[k] + out + " = " +
         function(*l.functions[k], unary && is_unary(*l.functions[k]), indent) + ";\n";
  const std::string f = "f" + out, g = "g" + out, r = "r" + out;
  // Results that come as a tensor each; the rest comes as a list.
  Strings each;
  std::string first;  // a line before
  if (l.op == Op::jit_shapes) {
    const bool rows = l.functions[0]->rows;
    first = "const auto " + r + " = jit([=](const Tensor& x) { return " + f +
            (rows ? "(Tensors{x})" : "(x)") + "; });";
    for (Var v : l.in)
      each.push_back((rows ? "stack(" : "") + r + "(" + name(v) + ")" + (rows ? ")" : ""));
  } else if (of_vector) {
    const Function& of = *l.functions[0];
    const std::string first_result = is_unary(of) ? f
                                                  : "[=](const Tensor& x) { return " + f +
                                                        "(Tensors{x})[0]; }",
                      all = is_unary(of) ? f
                                         : "[=](const Tensor& x) { return " + f + "(Tensors{x}); }";
    const std::string x = name(l.in[0]);
    if (l.op == Op::hessian)
      each = {"hessian(" + first_result + ")(" + x + ")"};
    else if (l.op == Op::value_and_laplacian)
      first =
          "const PointLaplacian " + r + " = value_and_laplacian(" + first_result + ", " + x + ");",
      each = {r + ".value", r + ".first", r + ".laplacian"};
    else {
      std::string call;
      if (l.op == Op::directional_sum) {
        const int m = l.sizes.at(1);
        const auto weights = l.numbers.end() - m;
        const int n = static_cast<int>(weights - l.numbers.begin()) / m;
        call = "directional_sum(" + all + ", " + x + ", " +
               literal({l.numbers.begin(), weights}, {m, n}) + ", " +
               std::to_string(l.sizes.at(0)) + ", " + literal({weights, l.numbers.end()}, {m}) +
               ")";
      } else {
        call = std::string(l.op == Op::laplacian ? "laplacian(" : "biharmonic(") + all + ")(" + x +
               ")";
      }
      first = "const auto " + r + " = " + call + ";";
      for (std::size_t k = 0; k < l.out.size(); ++k)
        each.push_back(is_unary(of) ? r : r + "[" + std::to_string(k) + "]");
    }
  } else {
    first = "const auto " + r + " = " + with_functions(l, unary, f, g) + ";";
    const std::size_t n = l.out.size(), half = n / 2;
    const auto at = [&](const std::string& from, std::size_t k) {
      return unary ? from : from + "[" + std::to_string(k) + "]";
    };
    if (l.op == Op::linearize)
      first += "\n" + pad + "const auto t" + out + " = " + r + ".second(" +
               (unary ? name(l.in[1])
                      : tensors({l.in.begin() + static_cast<std::ptrdiff_t>(l.in.size() / 2),
                                 l.in.end()})) +
               ");";
    for (std::size_t k = 0; k < n; ++k) {
      if (l.op == Op::jvp)
        each.push_back(at(r + (k < half ? ".first" : ".second"), k % half));
      else if (l.op == Op::linearize)
        each.push_back(k < half ? at(r + ".first", k) : at("t" + out, k - half));
      else if (l.op == Op::value_and_grad)
        each.push_back(k == 0 ? r + ".first" : at(r + ".second", k - 1));
      else if (l.op == Op::jet) {
        const std::size_t per = l.functions[0]->results.size();
        each.push_back(at(r + "[" + std::to_string(k / per) + "]", k % per));
      } else if (l.op == Op::scan) {
        const auto carries = static_cast<std::size_t>(l.sizes.at(0));
        each.push_back(k < carries ? at(r + ".first", k) : at(r + ".second", k - carries));
      } else {
        each.push_back(at(r, k));
      }
    }
  }
  if (!first.empty()) s += pad + first + "\n";
  for (std::size_t k = 0; k < l.out.size(); ++k)
    s += pad + "const Tensor " + name(l.out[k]) + " = " + each.at(k) + ";\n";
  return s;
}

}  // namespace

std::string print_cpp(const Program& p, const Outputs& expected, double tolerance,
                      const std::string& comment) {
  Printer printer;
  const std::string body = printer.body(p.main.body, 2);
  std::set<Var> needed;
  std::string world;
  for (const auto& [v, numbers] : p.world)
    if (body.find(name(v)) != std::string::npos)
      world += "  const Tensor " + name(v) + " = " +
               literal(numbers, p.types[static_cast<std::size_t>(v)].dims) + ";\n";
  std::string s = "// " + comment + R"(
#include <cmath>
#include <cstdio>

#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/cumulative.h"
#include "tessera/autodiff/ops/flow.h"

using namespace tessera;
using Tensors = std::vector<Tensor>;

)";
  s += printer.helpers() + "\nint main() {\n" + world + body;
  s += "  const Tensors results = {" + names(p.main.results) +
       "};\n  const std::vector<std::vector<double>> expected = {" +
       list(expected, [](const Output& o) { return "{" + list(o.elements) + "}"; }) + "};\n";
  s += R"(  bool right = true;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const std::vector<double> y = results[k].to_vector();
    double scale = 1;
    for (double e : expected[k]) scale = std::max(scale, std::abs(e));
    for (std::size_t i = 0; i < y.size(); ++i) {
      std::printf("result %zu [%zu]: %.17g, expected %.17g\n", k, i, y[i], expected[k][i]);
      right = right && std::abs(y[i] - expected[k][i]) <= )" +
       text(tolerance) + R"( * scale;
    }
  }
  return right ? 0 : 1;
}
)";
  return s;
}

}  // namespace nesting
