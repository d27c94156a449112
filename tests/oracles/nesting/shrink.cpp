// SPDX-License-Identifier: Apache-2.0
//
// A failing program made small: the simplest stack under which it fails in the same way, then edits
// that make its text shorter, each kept if the program still fails so, until none does.
#include "judge.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

namespace nesting {
namespace {

constexpr double kSeconds = 60;

using Path = std::vector<std::pair<std::size_t, std::size_t>>;  ///< let, function of it, ... from
                                                                ///< main to a function

Function& at(Program& p, const Path& path) {
  Function* f = &p.main;
  for (const auto& [let, function] : path) f = f->body[let].functions[function].get();
  return *f;
}

void replace(Function& f, const std::map<Var, Var>& by) {
  const auto change = [&by](std::vector<Var>& vars) {
    for (Var& v : vars)
      if (const auto found = by.find(v); found != by.end()) v = found->second;
  };
  change(f.results);
  for (Let& l : f.body) {
    change(l.in);
    for (const FunctionPtr& g : l.functions) replace(*g, by);
  }
}

/// New names for all that f makes.
void rename(Program& p, Function& f, std::map<Var, Var>& by) {
  const auto renew = [&](std::vector<Var>& vars) {
    for (Var& v : vars) {
      const Var n = p.fresh(Type(p.types[static_cast<std::size_t>(v)]));
      by[v] = n;
      v = n;
    }
  };
  renew(f.params);
  for (Let& l : f.body) {
    renew(l.out);
    for (const FunctionPtr& g : l.functions) rename(p, *g, by);
  }
}

void count_uses(const Function& f, std::set<Var>& used) {
  used.insert(f.results.begin(), f.results.end());
  for (const Let& l : f.body) {
    used.insert(l.in.begin(), l.in.end());
    for (const FunctionPtr& g : l.functions) count_uses(*g, used);
  }
}
/// Variables numbered in the order in which they are made.
Program renumbered(const Program& old) {
  Program p = copy(old);
  std::map<Var, Var> by;
  p.types.clear();
  const auto number = [&](Var& v) {
    const auto [at, is_new] = by.try_emplace(v, static_cast<Var>(p.types.size()));
    if (is_new) p.types.push_back(old.types[static_cast<std::size_t>(v)]);
    v = at->second;
  };
  for (auto& [v, numbers] : p.world) number(v);
  const auto walk = [&](const auto& self, Function& f) -> void {
    for (Var& v : f.params) number(v);
    for (Let& l : f.body) {
      for (Var& v : l.in) number(v);
      for (const FunctionPtr& g : l.functions) self(self, *g);
      for (Var& v : l.out) number(v);
    }
    for (Var& v : f.results) number(v);
  };
  walk(walk, p.main);
  return p;
}

/// Without what nobody uses.
Program tidied(Program p) {
  const auto sweep = [](const auto& self, Function& f, const std::set<Var>& used) -> bool {
    const std::size_t before = f.body.size();
    std::erase_if(f.body, [&](const Let& l) {
      return std::none_of(l.out.begin(), l.out.end(), [&](Var v) { return used.count(v) > 0; });
    });
    bool changed = f.body.size() != before;
    for (Let& l : f.body)
      for (const FunctionPtr& g : l.functions) changed = self(self, *g, used) || changed;
    return changed;
  };
  for (bool changed = true; changed;) {
    std::set<Var> used;
    count_uses(p.main, used);
    changed = sweep(sweep, p.main, used);
  }
  std::set<Var> used;
  count_uses(p.main, used);
  std::erase_if(p.world, [&](const auto& w) { return !used.count(w.first); });
  return renumbered(p);
}

/// The function's body in place of the call: its arguments for its parameters, its first results
/// for those of the call.
void splice(Program& p, Function& f, std::size_t let, std::size_t function,
            const std::vector<Var>& arguments) {
  Function g = copy(*f.body[let].functions[function]);
  std::map<Var, Var> by;
  rename(p, g, by);
  replace(g, by);
  by.clear();
  for (std::size_t k = 0; k < g.params.size(); ++k) by[g.params[k]] = arguments.at(k);
  replace(g, by);
  by.clear();
  for (std::size_t k = 0; k < f.body[let].out.size(); ++k) by[f.body[let].out[k]] = g.results.at(k);
  f.body.erase(f.body.begin() + static_cast<std::ptrdiff_t>(let));
  f.body.insert(f.body.begin() + static_cast<std::ptrdiff_t>(let), g.body.begin(), g.body.end());
  replace(f, by);
}

using Edit = std::function<void(Program&)>;

/// Edits of the lets of the function at `path` and of those inside.
void collect(const Program& p, const Function& f, const Path& path, std::vector<Edit>& edits) {
  const auto type = [&p](Var v) -> const Type& { return p.types[static_cast<std::size_t>(v)]; };
  for (std::size_t n = f.body.size(); n-- > 0;) {
    const Let& l = f.body[n];
    const auto in_place = [&](auto change) {
      edits.push_back([=](Program& q) { change(q, at(q, path), at(q, path).body[n]); });
    };
    in_place([n](Program& q, Function& g, Let& m) {  // nothing, where nobody uses it
      std::set<Var> used;
      count_uses(q.main, used);
      if (std::none_of(m.out.begin(), m.out.end(), [&](Var v) { return used.count(v) > 0; }))
        g.body.erase(g.body.begin() + static_cast<std::ptrdiff_t>(n));
    });
    // Its function instead of it.
    switch (l.op) {
      case Op::call:
      case Op::jit:
      case Op::checkpointed:
      case Op::custom_jvp:
      case Op::custom_vjp:
      case Op::custom_linear:
        in_place(
            [n](Program& q, Function& g, Let& m) { splice(q, g, n, 0, std::vector<Var>(m.in)); });
        break;
      case Op::cond:
        for (std::size_t branch : {0u, 1u})
          in_place([n, branch](Program& q, Function& g, Let& m) {
            splice(q, g, n, branch, {m.in.begin() + 1, m.in.end()});
          });
        break;
      case Op::while_loop:
        in_place(
            [n](Program& q, Function& g, Let& m) { splice(q, g, n, 1, std::vector<Var>(m.in)); });
        break;
      default:
        break;
    }
    // Another value instead of each result: an operand, a parameter, an earlier value, a number.
    for (std::size_t k = 0; k < l.out.size(); ++k) {
      const Var v = l.out[k];
      std::vector<Var> others(l.in);
      others.insert(others.end(), f.params.begin(), f.params.end());
      for (std::size_t e = 0; e < n; ++e)
        others.insert(others.end(), f.body[e].out.begin(), f.body[e].out.end());
      int tried = 0;
      for (Var o : others)
        if (o != v && type(o) == type(v) && tried++ < 4)
          in_place([v, o](Program&, Function& g, Let&) { replace(g, {{v, o}}); });
      if (l.op != Op::constant && type(v).kind == Kind::real)
        in_place([v, n](Program& q, Function& g, Let&) {
          const Type t = q.types[static_cast<std::size_t>(v)];
          const Var c = q.fresh(t);
          replace(g, {{v, c}});
          g.body.insert(g.body.begin() + static_cast<std::ptrdiff_t>(n),
                        Let{{c},
                            Op::constant,
                            {},
                            std::vector<double>(static_cast<std::size_t>(t.count()), 1.0),
                            t.dims});
        });
    }
    // Not inside of functions that must fit each other, or have more types than are noted.
    if (l.op != Op::jit_shapes && l.op < Op::custom_jvp)
      for (std::size_t g = 0; g < l.functions.size(); ++g) {
        Path inner = path;
        inner.emplace_back(n, g);
        collect(p, *l.functions[g], inner, edits);
      }
    // Rounder numbers, the plainest policy.
    for (const double digits : {1.0, 10.0})
      if (!l.numbers.empty())
        in_place([digits](Program&, Function&, Let& m) {
          for (double& x : m.numbers) x = std::round(x * digits) / digits;
        });
    if (l.op == Op::while_loop || l.op == Op::scan || l.op == Op::fori)
      in_place([](Program&, Function&, Let& m) { m.sizes[m.op == Op::while_loop ? 0 : 1] = 0; });
  }
}

std::vector<Edit> edits_of(const Program& p) {
  std::vector<Edit> edits;
  for (std::size_t k = 0; p.main.results.size() > 1 && k < p.main.results.size(); ++k)
    edits.push_back([k](Program& q) { q.main.results = {q.main.results[k]}; });
  collect(p, p.main, {}, edits);
  for (std::size_t k = 0; k < p.world.size(); ++k)
    for (const double digits : {1.0, 10.0})
      edits.push_back([k, digits](Program& q) {
        for (double& x : q.world[k].second) x = std::round(x * digits) / digits;
      });
  return edits;
}

}  // namespace

std::string shrunk(const Case& c) {
  const auto begin = std::chrono::steady_clock::now();
  const auto out_of_time = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
           kSeconds;
  };
  Program best = program_of(c);
  const Verdict found = judge_apart(best);
  if (!failed(found.kind)) return "// does not fail alone\n";
  int stack = c.stack;
  for (int s = 0; s < c.stack && !out_of_time(); ++s)
    if (const Program p = program_of({c.seed, s}); judge_apart(p).kind == found.kind) {
      best = p;
      stack = s;
      break;
    }
  const auto length = [](const Program& p) { return print_cpp(p, {}, 0, "").size(); };
  std::size_t shortest = length(best);
  for (bool smaller = true; smaller && !out_of_time();) {
    smaller = false;
    std::vector<Edit> edits = edits_of(best);
    for (std::size_t k = 0; k < edits.size() && !out_of_time(); ++k) {
      for (const bool dead_goes_too : {true, false}) {  // what nobody uses may be what fails
        Program p = copy(best);
        edits[k](p);
        p = dead_goes_too ? tidied(p) : renumbered(p);
        const std::size_t n = length(p);
        if (n >= shortest || judge_apart(p).kind != found.kind) continue;
        best = std::move(p);
        shortest = n;
        smaller = true;
        edits = edits_of(best);
        break;
      }
    }
  }
  const Verdict v = judge_apart(best);
  Outputs expected;
  try {
    expected = run_taylor(best);
  } catch (const Refused&) {
  }
  return print_cpp(best, expected, tolerance(v.order),
                   "Program " + std::to_string(c.seed) + " under " + stack_name(stack) +
                       ", shrunk: " + name_of(v.kind) + ". " + v.text.substr(0, v.text.find('\n')));
}

}  // namespace nesting
