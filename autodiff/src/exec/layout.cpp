// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include "recompute.h"
#include "runs.h"

#include <algorithm>
#include <map>
#include <set>

namespace tessera::plan {
namespace {

constexpr std::size_t kAlign = 64;

/// Blocks of the arena by best fit in time: taken when a value is made, given back after its last
/// use.
class Arena {
 public:
  std::size_t take(std::size_t bytes) {
    const std::size_t need = rounded(bytes);
    const auto best = by_size_.lower_bound({need, 0});
    if (best == by_size_.end()) {
      // Grow, starting in the last free block if that touches the end.
      std::size_t begin = size_;
      if (!free_.empty()) {
        const auto [last, length] = *std::prev(free_.end());
        if (last + length == size_) {
          begin = last;
          remove(last, length);
        }
      }
      size_ = begin + need;
      return begin;
    }
    const auto [length, begin] = *best;
    remove(begin, length);
    if (length > need) add(begin + need, length - need);
    return begin;
  }
  void give(std::size_t begin, std::size_t bytes) {
    std::size_t length = rounded(bytes);
    const auto next = free_.lower_bound(begin);
    using Block = std::pair<std::size_t, std::size_t>;
    const Block after = next == free_.end() ? Block() : Block(*next);
    const Block before = next == free_.begin() ? Block() : Block(*std::prev(next));
    if (after.second && begin + length == after.first) {
      remove(after.first, after.second);
      length += after.second;
    }
    if (before.second && before.first + before.second == begin) {
      remove(before.first, before.second);
      begin = before.first;
      length += before.second;
    }
    add(begin, length);
  }
  std::size_t size() const { return size_; }

 private:
  static std::size_t rounded(std::size_t bytes) {
    return std::max(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  }
  void add(std::size_t begin, std::size_t length) {
    free_.emplace(begin, length);
    by_size_.emplace(length, begin);
  }
  void remove(std::size_t begin, std::size_t length) {
    free_.erase(begin);
    by_size_.erase({length, begin});
  }

  std::map<std::size_t, std::size_t> free_;                ///< begin -> length
  std::set<std::pair<std::size_t, std::size_t>> by_size_;  ///< length, begin
  std::size_t size_ = 0;
};

/// Steps of small arrays, whose kernels would not share their work well among threads.
bool is_light(const Step& s, const std::vector<Root>& roots) {
  constexpr std::size_t kMost = std::size_t{512} << 10;
  if (s.elementwise || s.in_order ||
      (s.primitive && s.primitive->rule != RuleClass::linear &&
       s.primitive->rule != RuleClass::bilinear))
    return false;
  return std::all_of(s.in.begin(), s.in.end(),
                     [](const Placed& p) { return bytes_of(p.view.type()) <= kMost; }) &&
         std::all_of(s.out_roots.begin(), s.out_roots.end(),
                     [&](std::uint32_t r) { return roots[r].bytes <= kMost; });
}

/// In turn all steps that are ready and are not element-wise, and all element-wise ones of one
/// shape that are or become ready, with the reductions of what these make or read. The former do
/// not wait for each other: light ones make a wave. Recurrences that were recorded one after the
/// other (derivatives along several directions, coefficients of several orders) so advance side by
/// side.
std::vector<Step> in_waves(std::vector<Step> steps, const std::vector<Root>& roots, Index least,
                           std::size_t least_bytes) {
  std::vector<std::uint32_t> maker(roots.size(), kNone), waits(steps.size(), 0);
  std::vector<std::vector<std::uint32_t>> readers(steps.size());
  for (std::uint32_t n = 0; n < steps.size(); ++n) {
    std::set<std::uint32_t> makers;
    for (const Placed& p : steps[n].in)
      if (maker[p.root] != kNone) makers.insert(maker[p.root]);
    if (steps[n].after != kNone) makers.insert(maker[steps[n].after]);
    waits[n] = static_cast<std::uint32_t>(makers.size());
    for (std::uint32_t m : makers) readers[m].push_back(n);
    for (std::uint32_t r : steps[n].out_roots) maker[r] = n;
  }
  std::vector<bool> in_runs(roots.size()), joins(steps.size());
  for (const Step& s : steps) {
    if (!s.elementwise) continue;
    in_runs[s.out_roots[0]] = true;
    for (const Placed& p : s.in)
      if (is_whole(p, roots[p.root])) in_runs[p.root] = true;
  }
  for (std::uint32_t n = 0; n < steps.size(); ++n)
    joins[n] =
        steps[n].elementwise || (may_reduce_in_run(steps[n], roots, least) &&
                                 std::any_of(steps[n].in.begin(), steps[n].in.end(),
                                             [&](const Placed& p) { return in_runs[p.root]; }));
  std::set<std::uint32_t> ready[2];  // of runs: [1]; in the order of the record
  for (std::uint32_t n = 0; n < steps.size(); ++n)
    if (waits[n] == 0) ready[joins[n]].insert(n);
  std::vector<Step> out;
  out.reserve(steps.size());
  const auto take = [&](std::uint32_t n, std::uint32_t wave) {
    out.push_back(std::move(steps[n]));
    out.back().wave = wave;
    ready[joins[n]].erase(n);
    for (std::uint32_t m : readers[n])
      if (--waits[m] == 0) ready[joins[m]].insert(m);
  };
  std::uint32_t waves = 0;
  while (!ready[0].empty() || !ready[1].empty()) {
    while (!ready[0].empty()) {
      std::vector<std::uint32_t> light;
      std::size_t bytes = 0;
      for (const std::uint32_t n : std::vector<std::uint32_t>(ready[0].begin(), ready[0].end())) {
        if (!is_light(steps[n], roots)) {
          take(n, 0);
          continue;
        }
        light.push_back(n);
        for (std::uint32_t r : steps[n].out_roots) bytes += roots[r].bytes;
      }
      const bool together = light.size() > 1 && bytes >= least_bytes;
      waves += together;
      for (const std::uint32_t n : light) take(n, together ? waves : 0);
    }
    if (ready[1].empty()) continue;
    GrowingRun run(steps[*ready[1].begin()], roots, least);
    for (auto it = ready[1].begin(); it != ready[1].end();) {
      const std::uint32_t n = *it;
      if (!run.goes_on(steps[n])) {
        ++it;
        continue;
      }
      take(n, 0);
      it = ready[1].upper_bound(n);  // readers come later in the record
    }
  }
  return out;
}

/// What an element-wise step reads, as its results may be written over it.
struct Below {
  std::uint32_t root;
  bool whole;               ///< all of it, element by element
  std::size_t element;      ///< bytes
  std::uint32_t last_read;  ///< within the step
};
std::vector<Below> below(const Step& step, const std::vector<Root>& roots) {
  std::vector<Below> all;
  if (!step.elementwise) return all;
  std::map<std::uint32_t, std::size_t> known;
  for (std::uint32_t j = 0; j < step.in.size(); ++j) {
    const Placed& p = step.in[j];
    const auto [it, fresh] = known.emplace(p.root, all.size());
    if (fresh) all.push_back({p.root, true, size_of(p.view.dtype), 0});
    Below& b = all[it->second];
    b.whole = b.whole && is_whole(p, roots[p.root]) && size_of(p.view.dtype) == b.element;
    if (step.program) b.last_read = std::max(b.last_read, step.program->last_read[j]);
  }
  return all;
}
/// The step may write its k-th result there: nobody reads later what it writes over.
bool may_lie_over(const Step& step, std::uint32_t k, const Below& b,
                  const std::vector<Root>& roots) {
  const Root &in = roots[b.root], &out = roots[step.out_roots[k]];
  return in.bytes == out.bytes && b.whole && b.element == size_of(out.type.dtype) &&
         (!step.program || b.last_read <= step.program->written[k]);
}

/// Gives each result the argument of its type that it may take the place of, in the order in which
/// results are written: what one may take, all later ones may, so that as many as can find one.
void lay_over_arguments(const std::vector<Step>& steps, const std::vector<std::uint32_t>& time,
                        const std::vector<std::uint32_t>& last_use, std::vector<bool> kept,
                        std::vector<Root>& roots) {
  std::vector<bool> read(roots.size());
  for (const Step& s : steps)
    for (const Placed& p : s.in) read[p.root] = true;
  for (std::uint32_t n = 0; n < steps.size(); ++n) {
    const Step& step = steps[n];
    if (std::none_of(step.out_roots.begin(), step.out_roots.end(),
                     [&](std::uint32_t r) { return roots[r].kind == Root::Kind::result; }))
      continue;
    const std::vector<Below> operands = below(step, roots);
    std::vector<std::uint32_t> order(step.out_roots.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) order[k] = k;
    if (step.program)
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return step.program->written[a] < step.program->written[b];
      });
    for (const std::uint32_t k : order) {
      Root& out = roots[step.out_roots[k]];
      if (out.kind != Root::Kind::result) continue;
      for (std::uint32_t root = 0; root < roots.size() && out.over == kNone; ++root) {
        const Root& in = roots[root];
        if (in.kind != Root::Kind::argument || kept[in.index] || in.type != out.type) continue;
        const auto here = [&](const Below& b) {
          return b.root == root && may_lie_over(step, k, b, roots);
        };
        if (read[root] && last_use[root] >= time[n] &&
            !(last_use[root] == time[n] && step.wave == 0 &&
              std::any_of(operands.begin(), operands.end(), here)))
          continue;
        out.over = in.index;
        kept[in.index] = true;
      }
    }
  }
}

Layout with_memory(std::vector<Step> steps, std::vector<Root> roots,
                   const std::vector<bool>& kept) {
  // Time goes from wave to wave; within one everything is alive.
  std::vector<std::uint32_t> time(steps.size(), 0), last_use(roots.size(), 0);
  for (std::uint32_t n = 0; n < steps.size(); ++n) {
    time[n] = n == 0 ? 0 : time[n - 1] + (steps[n].wave == 0 || steps[n].wave != steps[n - 1].wave);
    for (const Placed& p : steps[n].in) last_use[p.root] = time[n];
    for (std::uint32_t root : steps[n].out_roots)
      last_use[root] = std::max(last_use[root], time[n]);
  }
  Arena arena;
  std::vector<bool> reused(roots.size(), false);
  for (std::uint32_t begin = 0, end = 0; begin < steps.size(); begin = end) {
    std::vector<std::uint32_t> dying;
    for (; end < steps.size() && time[end] == time[begin]; ++end) {
      const Step& step = steps[end];
      // Results of element-wise steps lie over operands that die here, each over one that is not
      // read after.
      std::vector<Below> free = below(step, roots);
      std::erase_if(free, [&](const Below& b) {
        return roots[b.root].kind != Root::Kind::arena || last_use[b.root] != time[end] ||
               reused[b.root];
      });
      for (std::uint32_t k = 0; k < step.out_roots.size(); ++k) {
        Root& out = roots[step.out_roots[k]];
        if (out.kind != Root::Kind::arena) continue;
        const auto found = std::find_if(free.begin(), free.end(), [&](const Below& b) {
          return may_lie_over(step, k, b, roots);
        });
        if (found != free.end()) {
          reused[found->root] = true;
          out.offset = roots[found->root].offset;
          free.erase(found);
        } else {
          out.offset = arena.take(out.bytes);
        }
      }
      if (step.workspace) steps[end].workspace_at = arena.take(step.workspace);
      for (const Placed& p : step.in) dying.push_back(p.root);
      for (std::uint32_t root : step.out_roots) dying.push_back(root);
    }
    std::sort(dying.begin(), dying.end());
    dying.erase(std::unique(dying.begin(), dying.end()), dying.end());
    for (std::uint32_t n = begin; n < end; ++n)
      if (steps[n].workspace) arena.give(steps[n].workspace_at, steps[n].workspace);
    for (std::uint32_t root : dying) {
      const Root& r = roots[root];
      if (r.kind == Root::Kind::arena && last_use[root] == time[begin] && !reused[root])
        arena.give(r.offset, r.bytes);
    }
  }
  lay_over_arguments(steps, time, last_use, kept, roots);
  return {std::move(steps), std::move(roots), arena.size()};
}

}  // namespace

std::vector<Step> without_unread(std::vector<Step> steps, const std::vector<Root>& roots) {
  std::vector<bool> read(roots.size()), gone(steps.size());
  for (std::size_t k = 0; k < roots.size(); ++k) read[k] = roots[k].kind == Root::Kind::result;
  for (std::size_t n = steps.size(); n-- > 0;) {
    const Step& s = steps[n];
    const bool pure = s.elementwise || !s.primitive;
    gone[n] = pure && std::none_of(s.out_roots.begin(), s.out_roots.end(),
                                   [&](std::uint32_t r) { return read[r]; });
    if (!gone[n])
      for (const Placed& p : s.in) read[p.root] = true;
  }
  std::size_t kept = 0;
  for (std::size_t n = 0; n < steps.size(); ++n)
    if (!gone[n]) {
      if (kept != n) steps[kept] = std::move(steps[n]);
      ++kept;
    }
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(kept), steps.end());
  return steps;
}

Layout lay_out(std::vector<Step> all_steps, std::vector<Root> roots, const std::vector<bool>& kept,
               Index join_from, bool keep_order) {
  const Index from = std::clamp<Index>(join_from, 1, Index{1} << 30);
  std::vector<Step> steps = without_unread(std::move(all_steps), roots);
  const std::size_t peak = recompute_cheap_values(steps, roots, from);
  const auto laid_out = [&](std::vector<Step> in_order) {
    return with_memory(with_runs_joined(std::move(in_order), roots, join_from), roots, kept);
  };
  if (keep_order) return laid_out(std::move(steps));
  const std::size_t least_bytes = static_cast<std::size_t>(from) * 128;
  Layout side_by_side = laid_out(in_waves(steps, roots, join_from, least_bytes));
  constexpr std::size_t kMoreBytes = std::size_t{16} << 20;  // what side by side may cost
  const auto costs_little = [&](std::size_t recorded) {
    return side_by_side.arena <= recorded + recorded / 8 + kMoreBytes;
  };
  if (costs_little(peak)) return side_by_side;
  Layout as_recorded = laid_out(std::move(steps));
  return costs_little(as_recorded.arena) ? std::move(side_by_side) : std::move(as_recorded);
}

}  // namespace tessera::plan
