// SPDX-License-Identifier: Apache-2.0
//
// Programs as data: functions of real, integer and boolean tensors of up to three axes, in single
// assignment, with functions as operands of operations. A variable is a number that is unique in
// the program; a function may use every variable that is visible where it stands, as a C++ lambda
// does. Three readers: the engine (run_engine.cpp), Taylor arithmetic (run_taylor.cpp), C++ text
// (print_cpp.cpp).
#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nesting {

enum class Kind : std::uint8_t { real, integer, boolean };
struct Type {
  Kind kind = Kind::real;
  std::vector<int> dims = {};
  bool operator==(const Type&) const = default;
  int count() const {
    int n = 1;
    for (int d : dims) n *= d;
    return n;
  }
};
using Var = int;

/// What an operation takes: `in` variables, `numbers`, `sizes` and `functions` of its Let.
enum class Op : std::uint8_t {
  // one real operand, element by element
  sin,
  cos,
  tanh,
  atan,
  logistic,
  erf,
  softplus,
  square,
  neg,
  exp,
  log,
  log1p,
  sqrt,
  reciprocal,
  stop_gradient,
  scale,          ///< x * numbers[0]
  shift,          ///< x + numbers[0]
  power,          ///< x ^ numbers[0], a real exponent
  integer_power,  ///< x ^ sizes[0]
  host_root,      ///< a square root of the host, which throws unless x > 0
  checked,        ///< x, which throws unless all x > 0
  // two real operands, which broadcast
  add,
  sub,
  mul,
  div,
  atan2,
  pow,
  hypot,
  where,  ///< bool, a, b
  // arrangement
  constant,  ///< numbers, of the result's type
  sum,
  mean_rows,  ///< mean over axis 0
  cumsum,     ///< along axis 0
  reverse,    ///< along axis 0
  select,     ///< x[sizes[0]]
  gather,     ///< x[k], k an integer variable
  stack,      ///< operands along a new axis 0
  spread,     ///< a scalar -> [sizes[0]]
  matvec,     ///< [m, n] times [n]
  dot,
  // integers and booleans
  less,
  greater,       ///< x < numbers[0], x > numbers[0]: bool scalar
  int_less,      ///< in[0] < in[1]
  count,         ///< bool -> integer
  int_constant,  ///< sizes[0]
  int_add,       ///< in[0] + in[1]
  int_shift,     ///< in[0] + sizes[0]
  to_real,       ///< integer -> real
  // control
  call,
  jit,
  checkpointed,  ///< functions[0] of in
  jit_shapes,    ///< one jitted function of one tensor, called with each operand in turn
  vmap,          ///< of the first sizes[0] operands along axis 0; the others whole
  cond,          ///< predicate, then operands of both functions
  while_loop,    ///< functions: condition, body; sizes: policy, its parameter
  scan,          ///< sizes: number of carries, policy, its parameter, reverse; carries, then xs
  fori,          ///< sizes: steps, policy, its parameter; body(counter, carry...)
  // derivatives of functions[0]
  jvp,
  linearize,  ///< x..., t... -> y..., t...
  vjp,        ///< x... (sizes[0] of them), ct... -> cotangents of x
  grad,       ///< of a scalar function
  value_and_grad,
  jet,      ///< order sizes[0]: x..., v... -> all results' coefficients 0, then 1, ...
  hessian,  ///< of a scalar function of one vector; as are the next ones, of any results
  laplacian,
  value_and_laplacian,
  biharmonic,
  directional_sum,  ///< sizes: order, m; numbers: directions [m, n], then weights [m]
  custom_jvp,       ///< functions: f, rule(x..., y..., t...) -> tangents of y
  custom_vjp,  ///< functions: forward(x...) -> y..., residuals...; backward(residuals..., ct...);
               ///< sizes: results
  custom_linear,  ///< functions: the map, its transpose
};

struct Function;
using FunctionPtr = std::shared_ptr<Function>;

struct Let {
  std::vector<Var> out;
  Op op;
  std::vector<Var> in = {};
  std::vector<double> numbers = {};
  std::vector<int> sizes = {};
  std::vector<FunctionPtr> functions = {};
};
struct Function {
  std::vector<Var> params;
  std::vector<Let> body;
  std::vector<Var> results;
  bool rows =
      false;  ///< returns the rows of its only result as a list, which is as long as its argument
};
/// `main` takes nothing; `world` are tensors of the outside, one object each.
struct Program {
  std::vector<Type> types;  ///< of each variable
  std::vector<std::pair<Var, std::vector<double>>> world;
  Function main;
  Var fresh(Type t) {
    types.push_back(std::move(t));
    return static_cast<Var>(types.size()) - 1;
  }
};

Function copy(const Function& f);
inline Program copy(const Program& p) { return {p.types, p.world, copy(p.main)}; }
/// The order of the highest derivative that a function takes: those of functions within functions
/// add.
int order(const Function& f);
/// Operations, those of functions of operations too.
std::size_t size(const Function& f);

/// One result: its elements in row-major order (those of integers and booleans as doubles).
struct Output {
  std::vector<int> dims;
  std::vector<double> elements;
};
using Outputs = std::vector<Output>;

/// Thrown by the Taylor arithmetic for programs that no generated one is: a check that fails, a
/// loop without end.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Outputs run_taylor(const Program& p);
/// The same in long double: what rounding alone does to a program shows beside it.
Outputs run_taylor_precise(const Program& p);
Outputs run_engine(const Program& p);
/// A whole C++ program that prints its largest relative error from `expected` and fails beyond
/// `tolerance`.
std::string print_cpp(const Program& p, const Outputs& expected, double tolerance,
                      const std::string& comment);

/// A function of two vectors with what it uses around it, and the stacks of transforms under which
/// it is tried.
struct Subject {
  Program program;  ///< `main`: params x, y
  Var x, y;         ///< the point, in the world; they may be the same tensor
};
Subject generate(std::uint64_t seed);
int n_stacks();
std::string stack_name(int stack);
int stack_order(int stack);
/// So many stacks, drawn by the seed; those that cost much most seldom.
std::vector<int> stacks_for(std::uint64_t seed, int count);
Program under_stack(const Subject& s, int stack, std::uint64_t seed);

}  // namespace nesting
