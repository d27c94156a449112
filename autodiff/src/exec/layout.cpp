// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include "../ops/axes_attr.h"
#include "../ops/forms.h"
#include "recompute.h"

#include <algorithm>
#include <map>
#include <set>

namespace tessera::plan {
namespace {

constexpr std::size_t kAlign = 64;

/// The view is the whole root in its order.
bool is_whole(const Placed& p, const Root& r) {
  return p.view.data == nullptr && p.view.contiguous() && bytes_of(p.view.type()) == r.bytes;
}

/// The reduction that a step is, of [b, n, m]; no fold where a run does not go on through it: of
/// fewer than `least` elements, over axes that are no neighbours, of neighbouring sequences whose
/// lanes do not fit the cache, of sequences too few to be shared among threads.
blocks::Reduced reduction_of(const Step& s, Index least) {
  constexpr Index kLaneBytes = Index{64} << 10, kShares = 4, kShare = Index{1} << 14;
  if (!s.primitive || s.elementwise || s.in.empty()) return {};
  const View& v = s.in[0].view;
  const Index count = v.shape.count();
  if (count < std::max<Index>(least, 1)) return {};
  blocks::Reduced r{detail::running_fold(*s.primitive, v.dtype), 1, 1};
  if (!r.fold) return {};
  const Shape& axes = get<AxesAttr>(s.attr).axes;
  for (int d = 0; d < v.shape.size(); ++d) {
    if (v.shape[d] == 1) continue;
    const bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (reduced && r.m > 1) return {};
    if (reduced)
      r.n *= v.shape[d];
    else if (r.n > 1)
      r.m *= v.shape[d];
  }
  const Index units = count / (r.n * r.m) * ((r.n + kernels::kBlock - 1) / kernels::kBlock);
  if (r.n == 1 || units < std::min(kShares, count / kShare) ||
      kernels::kLanes * r.m * static_cast<Index>(size_of(v.dtype)) > kLaneBytes)
    return {};
  return r;
}

/// The shape of the runs that a step may be in: of what an element-wise one makes, of what a
/// reduction takes.
const Shape& run_shape(const Step& s, const std::vector<Root>& roots) {
  if (s.elementwise) return roots[s.out_roots[0]].type.shape;
  const Root& r = roots[s.in[0].root];
  return is_whole(s.in[0], r) ? r.type.shape : s.in[0].view.shape;
}

/// Steps at `members` as one.
Step joined(std::span<const Step> steps, std::span<const std::size_t> members,
            const std::vector<bool>& read_later, const std::vector<Root>& roots) {
  const Shape& shape = run_shape(steps[members[0]], roots);
  Step run{.line = steps[members[0]].line, .elementwise = true};
  std::vector<blocks::Operation> operations;
  std::map<std::uint32_t, std::uint32_t> made;                // root -> operation
  std::map<std::uint32_t, std::vector<std::uint32_t>> taken;  // root -> operands of the run
  std::vector<View> layouts;
  const auto source = [&](Placed p) -> blocks::Source {
    if (const auto it = made.find(p.root); it != made.end()) return {true, it->second};
    if (!(p.view.shape == shape)) p.view.shape = shape, p.view.strides = row_major(shape);
    std::vector<std::uint32_t>& same_root = taken[p.root];
    const auto known = std::find_if(same_root.begin(), same_root.end(), [&](std::uint32_t k) {
      const View& v = run.in[k].view;
      return v.data == p.view.data && v.dtype == p.view.dtype && v.strides == p.view.strides;
    });
    if (known != same_root.end()) return {false, *known};
    const auto index = static_cast<std::uint32_t>(run.in.size());
    same_root.push_back(index);
    run.in.push_back(p);
    layouts.push_back(p.view);
    return {false, index};
  };
  for (const std::size_t n : members) {
    const Step& s = steps[n];
    const std::uint32_t root = s.out_roots[0];
    const Dtype dtype = roots[root].type.dtype;
    blocks::Operation o{s.primitive, s.kernel, s.attr, dtype, {}, -1};
    for (const Placed& p : s.in) o.in.push_back(source(p));
    if (!s.elementwise) {
      if (o.in.size() == 2) {
        const Primitive& mul = detail::mul_primitive();
        const std::array<Dtype, 2> types{dtype, dtype};
        operations.push_back({&mul, mul.kernel(types, nullptr), nullptr, dtype, o.in, -1});
        o.in = {{true, static_cast<std::uint32_t>(operations.size() - 1)}};
      }
      o.kernel = nullptr, o.attr = nullptr;
      o.reduced = reduction_of(s, 1);
    }
    made.emplace(root, static_cast<std::uint32_t>(operations.size()));
    if (!s.elementwise || roots[root].kind == Root::Kind::result || read_later[root]) {
      o.result = static_cast<int>(run.out_roots.size());
      run.out_roots.push_back(root);
    }
    operations.push_back(std::move(o));
    run.parts.insert(run.parts.end(), s.parts.begin(), s.parts.end());
  }
  run.program = std::make_shared<blocks::Program>(std::move(operations), layouts);
  return run;
}

/// What a run makes itself can only be read as it is made.
bool reads_in_order(const Step& s, const std::set<std::uint32_t>& made,
                    const std::vector<Root>& roots) {
  return std::all_of(s.in.begin(), s.in.end(), [&](const Placed& p) {
    return !made.contains(p.root) || is_whole(p, roots[p.root]);
  });
}

/// Some operand is neither one stretch of memory nor one number.
bool has_parts(const Step& s) {
  return std::any_of(s.in.begin(), s.in.end(), [](const Placed& p) {
    const Shape& strides = p.view.strides;
    return !p.view.contiguous() &&
           std::any_of(strides.begin(), strides.end(), [](Index stride) { return stride != 0; });
  });
}

/// A run of `shape` that has made `made` may go on with the step. `folds`: it is a reduction.
bool goes_on(const Step& s, bool folds, const Shape& shape, const std::set<std::uint32_t>& made,
             const std::vector<Root>& roots) {
  if (!reads_in_order(s, made, roots)) return false;
  if (s.elementwise) return roots[s.out_roots[0]].type.shape == shape;
  return folds && std::all_of(s.in.begin(), s.in.end(), [&](const Placed& p) {
           return p.view.shape == shape ||
                  (is_whole(p, roots[p.root]) && p.view.shape.count() == shape.count());
         });
}

/// Of steps [begin, end), which may be a run, those that gain from it: not reductions of what
/// nobody else there makes or reads.
std::vector<std::size_t> members_of(std::span<const Step> steps, std::size_t begin,
                                    std::size_t end) {
  std::map<std::uint32_t, int> users;
  for (std::size_t n = begin; n < end; ++n) {
    std::set<std::uint32_t> all;
    for (const Placed& p : steps[n].in) all.insert(p.root);
    if (steps[n].elementwise) all.insert(steps[n].out_roots[0]);
    for (const std::uint32_t r : all) ++users[r];
  }
  std::vector<std::size_t> members;
  for (std::size_t n = begin; n < end; ++n)
    if (steps[n].elementwise || std::any_of(steps[n].in.begin(), steps[n].in.end(),
                                            [&](const Placed& p) { return users[p.root] > 1; }))
      members.push_back(n);
  return members;
}

/// Runs of element-wise steps with results of one shape, and of reductions of such, joined; alone
/// where operands lie in short stretches, which a run gathers.
std::vector<Step> join_elementwise(std::vector<Step> steps, const std::vector<Root>& roots,
                                   Index least) {
  std::vector<std::uint32_t> last_use(roots.size(), 0);
  for (std::size_t n = 0; n < steps.size(); ++n)
    for (const Placed& p : steps[n].in) last_use[p.root] = static_cast<std::uint32_t>(n);
  std::vector<Step> out;
  for (std::size_t begin = 0; begin < steps.size();) {
    const bool folds = reduction_of(steps[begin], least).fold;
    if (!steps[begin].elementwise && !folds) {
      out.push_back(std::move(steps[begin++]));
      continue;
    }
    const Shape shape = run_shape(steps[begin], roots);
    std::set<std::uint32_t> made;
    std::size_t end = begin;
    for (; end < steps.size(); ++end) {
      const Step& s = steps[end];
      if (!goes_on(s, reduction_of(s, least).fold, shape, made, roots)) break;
      made.insert(s.out_roots[0]);
    }
    std::vector<std::size_t> members;
    if (shape.count() >= std::max<Index>(least, 1)) members = members_of(steps, begin, end);
    std::vector<Step> run;
    if (members.size() > 1 || (members.size() == 1 && has_parts(steps[members[0]]))) {
      std::vector<bool> read_later(roots.size());
      for (const std::size_t n : members)
        read_later[steps[n].out_roots[0]] = last_use[steps[n].out_roots[0]] >= end;
      run.push_back(joined(steps, members, read_later, roots));
      if (members.size() == 1 && !run[0].program->gathers()) run.clear();
    }
    if (run.empty()) members.clear();
    for (std::size_t n = std::max(end, begin + 1), k = 0; begin < n; ++begin) {
      if (k < members.size() && members[k] == begin)
        ++k;
      else
        out.push_back(std::move(steps[begin]));
    }
    if (!run.empty()) out.push_back(std::move(run[0]));
  }
  return out;
}

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
  if (s.elementwise || (s.primitive && s.primitive->rule != RuleClass::linear &&
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
        steps[n].elementwise || (reduction_of(steps[n], least).fold &&
                                 goes_on(steps[n], true, run_shape(steps[n], roots), {}, roots) &&
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
    const Shape shape = run_shape(steps[*ready[1].begin()], roots);
    std::set<std::uint32_t> made;
    for (auto it = ready[1].begin(); it != ready[1].end();) {
      const std::uint32_t n = *it;
      if (!goes_on(steps[n], true, shape, made, roots)) {
        ++it;
        continue;
      }
      made.insert(steps[n].out_roots[0]);
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
      for (const Placed& p : step.in) dying.push_back(p.root);
      for (std::uint32_t root : step.out_roots) dying.push_back(root);
    }
    std::sort(dying.begin(), dying.end());
    dying.erase(std::unique(dying.begin(), dying.end()), dying.end());
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
  recompute_cheap_values(steps, roots, static_cast<std::size_t>(from - 1) << 18);
  constexpr std::size_t kMoreBytes = std::size_t{16} << 20;  // what side by side may cost
  Layout as_recorded = with_memory(join_elementwise(steps, roots, join_from), roots, kept);
  if (keep_order) return as_recorded;
  const std::size_t least_bytes = static_cast<std::size_t>(from) * 128;
  Layout side_by_side = with_memory(
      join_elementwise(in_waves(std::move(steps), roots, join_from, least_bytes), roots, join_from),
      roots, kept);
  return side_by_side.arena <= as_recorded.arena + as_recorded.arena / 8 + kMoreBytes ? side_by_side
                                                                                      : as_recorded;
}

}  // namespace tessera::plan
