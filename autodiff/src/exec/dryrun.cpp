// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/dryrun.h"

#include "../core/graph_passes.h"
#include "../transform/subgraph.h"
#include "lower.h"
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <map>
#include <set>

namespace tessera {
namespace {

constexpr double kCall = 0.5e-6;  ///< s, of a kernel that has nothing to do

double distinct_bytes(const View& v) {
  double n = static_cast<double>(size_of(v.dtype));
  for (int d = 0; d < v.shape.size(); ++d)
    if (v.strides[d] != 0 || v.shape[d] == 0) n *= static_cast<double>(v.shape[d]);
  return n;
}

double arithmetic_seconds(const plan::Part& p, const MachineRates& r) {
  const Dtype real = real_of(p.dtype);
  const double rate = !p.product           ? r.functions
                      : real == Dtype::f32 ? r.products_f32
                                           : r.products_f64;
  return p.cost.flops / rate;
}

/// What the values of a root are for the program as a whole.
enum class Use { temporary, kept, gradient };

class Report {
 public:
  Report(const plan::Lowered& low, const std::vector<detail::DryArgument>& arguments)
      : low_(low), arguments_(arguments), use_(low.roots.size(), Use::temporary) {
    read_uses();
    for (const plan::Step& s : low.steps) add(s);
    memory();
    std::stable_sort(d.lines.begin(), d.lines.end(),
                     [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  }
  DryRun d;

 private:
  bool is_in_place(const plan::Root& r) const {
    return r.over != plan::kNone && arguments_[r.over].given;
  }

  void read_uses() {
    std::vector<SourceLine> maker(low_.roots.size());
    std::vector<bool> made(low_.roots.size(), false);
    const auto reads = [&](std::uint32_t root, bool backwards) {
      if (!made[root] || maker[root].reverse == backwards) return;
      use_[root] = backwards ? Use::kept : Use::gradient;
    };
    for (const plan::Step& s : low_.steps) {
      // A run that goes on into the reverse sweep keeps nothing for it.
      const bool backwards =
          std::ranges::all_of(s.parts, [](const plan::Part& part) { return part.line.reverse; });
      for (const plan::Placed& p : s.in) reads(p.root, backwards);
      for (const plan::Part& part : s.parts)
        for (const std::uint32_t root : part.makes) made[root] = true, maker[root] = part.line;
    }
    for (const plan::Placed& p : low_.outputs) reads(p.root, false);
    maker_ = std::move(maker);
  }

  DryRun::Line& line_of(SourceLine line) {
    const std::string text = to_string(line);
    const auto [it, fresh] = known_.try_emplace(text, d.lines.size());
    if (fresh) d.lines.push_back({text, "", 0, 0, 0, 0, 0, 0});
    return d.lines[it->second];
  }

  void add(const plan::Step& s) {
    const MachineRates& rates = machine_rates();
    double moved = 0, arithmetic = 0;
    for (const plan::Placed& p : s.in) moved += distinct_bytes(p.view);
    for (const std::uint32_t root : s.out_roots)
      moved += static_cast<double>(low_.roots[root].bytes);
    // Loops and sub-graphs go over what lies within them, too.
    if (s.parts.size() == 1) moved = std::max(moved, s.parts[0].cost.bytes);
    for (const plan::Part& p : s.parts) arithmetic += arithmetic_seconds(p, rates);
    const double seconds = kCall + std::max(arithmetic, moved / rates.bytes);
    for (const plan::Part& p : s.parts) {
      DryRun::Line& l = line_of(p.line);
      const double share = arithmetic > 0 ? arithmetic_seconds(p, rates) / arithmetic
                                          : 1.0 / static_cast<double>(s.parts.size());
      if ((" " + l.operations + " ").find(" " + std::string(p.operation) + " ") ==
          l.operations.npos)
        l.operations += (l.operations.empty() ? "" : " ") + std::string(p.operation);
      ++l.calls, l.flops += p.cost.flops, l.bytes += share * moved, l.seconds += share * seconds;
      if (p.line.reverse) l.backward += share * seconds;
      d.flops += p.cost.flops;
      if (p.product) d.products += p.cost.flops;
      if (p.no_flops) notes_.insert(std::string(p.operation) + ": " + p.no_flops);
    }
    for (const std::uint32_t root : s.out_roots)
      if (use_[root] == Use::kept)
        line_of(maker_[root]).kept += static_cast<double>(low_.roots[root].bytes);
    d.bytes += moved, d.seconds += seconds, ++d.steps;
    d.over_time.push_back(
        {s.parts.empty() ? "" : s.parts.back().operation, to_string(s.line), d.seconds, 0});
  }

  void memory() {
    const std::size_t n = low_.steps.size();
    std::vector<std::size_t> last(low_.roots.size(), 0), first(low_.roots.size(), n);
    std::vector<double> workspace(n, 0), beside(n, 0);  // of the arena; what loops take
    for (std::size_t k = 0; k < n; ++k) {
      for (const plan::Placed& p : low_.steps[k].in) last[p.root] = k;
      for (const std::uint32_t root : low_.steps[k].out_roots)
        first[root] = std::min(first[root], k), last[root] = std::max(last[root], k);
      workspace[k] = static_cast<double>(low_.steps[k].workspace);
      if (const Primitive* p = low_.steps[k].primitive; p && !p->workspace)
        beside[k] = low_.steps[k].parts[0].cost.workspace;
    }
    // A step that may write over what it reads for the last time holds one of both.
    std::vector<std::size_t> from = first;
    for (std::size_t root = 0; root < low_.roots.size(); ++root) {
      const plan::Root& r = low_.roots[root];
      if (r.kind != plan::Root::Kind::arena || first[root] == n) continue;
      for (const plan::Placed& p : low_.steps[first[root]].in) {
        const plan::Root& in = low_.roots[p.root];
        if (in.kind == plan::Root::Kind::arena && in.offset == r.offset &&
            last[p.root] == first[root])
          from[root] = first[root] + 1;
      }
    }
    // Results are there from the start: in arguments that are given away, or beside them.
    double always = 0, results = 0;
    for (const detail::DryArgument& a : arguments_) {
      const double bytes = static_cast<double>(plan::bytes_of(a.type));
      item(a.name) += bytes, always += bytes;
    }
    for (const Tensor& t : low_.constants) item("constants") += distinct_bytes(t.view());
    for (const plan::Root& r : low_.roots)
      if (r.kind == plan::Root::Kind::result && !is_in_place(r))
        results += static_cast<double>(r.bytes);
    if (results > 0) item("results") += results;
    always += results;

    std::vector<double> change(n + 2, 0);
    for (std::size_t root = 0; root < low_.roots.size(); ++root) {
      const plan::Root& r = low_.roots[root];
      if (r.kind != plan::Root::Kind::arena || first[root] == n) continue;
      change[from[root]] += static_cast<double>(r.bytes);
      change[std::max(last[root], from[root]) + 1] -= static_cast<double>(r.bytes);
    }
    std::size_t fullest = 0;
    double alive = 0, most = -1, most_beside = 0;
    for (std::size_t k = 0; k < n; ++k) {
      alive += change[k];
      d.over_time[k].bytes = always + alive + workspace[k] + beside[k];
      most_beside = std::max(most_beside, beside[k]);
      if (alive + workspace[k] > most) most = alive + workspace[k], fullest = k;
    }
    std::map<Use, double> at;
    double held = n > 0 ? workspace[fullest] : 0;
    if (const double bytes = held + most_beside; bytes > 0) item("workspace") += bytes;
    for (std::size_t root = 0; root < low_.roots.size(); ++root) {
      const plan::Root& r = low_.roots[root];
      if (r.kind != plan::Root::Kind::arena || first[root] == n) continue;
      if (from[root] > fullest || std::max(last[root], from[root]) < fullest) continue;
      at[use_[root]] += static_cast<double>(r.bytes), held += static_cast<double>(r.bytes);
    }
    for (const auto& [use, what] :
         {std::pair(Use::kept, "kept values"), std::pair(Use::gradient, "gradients"),
          std::pair(Use::temporary, "temporaries")})
      if (at[use] > 0) item(what) += at[use];
    if (const double gaps = static_cast<double>(low_.arena) - held; gaps > 0) item("gaps") += gaps;
    for (const DryRun::Item& i : d.memory) d.peak += i.bytes;
    d.notes.assign(notes_.begin(), notes_.end());
  }

  double& item(const std::string& what) {
    for (DryRun::Item& i : d.memory)
      if (i.what == what) return i.bytes;
    d.memory.push_back({what, 0});
    return d.memory.back().bytes;
  }

  const plan::Lowered& low_;
  const std::vector<detail::DryArgument>& arguments_;
  std::vector<Use> use_;
  std::vector<SourceLine> maker_;
  std::map<std::string, std::size_t> known_;
  std::set<std::string> notes_;
};

}  // namespace

Tensor stand_in(const Type& t) { return broadcast_to(scalar(0.0, t.dtype), t.shape); }

DryRun detail::dryrun_flat(const FlatFunction& f, const std::vector<DryArgument>& arguments) {
  std::vector<Type> types;
  for (const DryArgument& a : arguments) types.push_back(a.type);
  const Recording r = record_program("dryrun", f, types);
  for (const auto& [id, t] : r.graph.captures)
    if (t.is_traced()) fail("dryrun", "the function captures a value of a transform around it");
  return Report(plan::lower(simplify(with_calls_opened(r.graph)), 1024, true), arguments).d;
}

}  // namespace tessera
