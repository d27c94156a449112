// SPDX-License-Identifier: Apache-2.0
#include "recompute.h"

#include "minimum_cut.h"
#include "runs.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace tessera::plan {
namespace {

double price_of(const Step& s) {
  if (s.out_roots.size() != 1) return 0;
  return s.primitive ? price_per_byte(*s.primitive) : 1.0 / 16;  // a packed copy
}

/// When roots are made and read, and the memory of the arena over time. The steps of a run that
/// follow each other are one moment: what only they need takes no memory (runs.h).
struct Lives {
  std::vector<std::uint32_t> moment;     ///< of steps
  std::vector<std::uint32_t> maker;      ///< of roots: the step, kNone for arguments, constants
  std::vector<std::uint32_t> last_read;  ///< of roots: the step; its maker where nobody reads it
  std::size_t peak = 0;
  std::uint32_t peak_moment = 0;
  std::vector<std::size_t> after;  ///< bytes alive between each moment and the next
};

Lives lives_of(const std::vector<Step>& steps, const std::vector<Root>& roots, Index join_from) {
  Lives l{std::vector<std::uint32_t>(steps.size()),
          std::vector<std::uint32_t>(roots.size(), kNone),
          std::vector<std::uint32_t>(roots.size(), kNone),
          0,
          0,
          {}};
  std::optional<GrowingRun> run;
  for (std::uint32_t n = 0; n < steps.size(); ++n) {
    const bool in_run = n > 0 && run && run->goes_on(steps[n]);
    l.moment[n] = n == 0 ? 0 : l.moment[n - 1] + !in_run;
    if (!in_run) {
      run.reset();
      if (steps[n].elementwise || may_reduce_in_run(steps[n], roots, join_from))
        run.emplace(steps[n], roots, join_from).goes_on(steps[n]);
    }
    for (const Placed& p : steps[n].in) l.last_read[p.root] = n;
    for (std::uint32_t r : steps[n].out_roots) l.maker[r] = l.last_read[r] = n;
  }
  const std::uint32_t moments = steps.empty() ? 0 : l.moment.back() + 1;
  std::vector<std::int64_t> change(moments + 1, 0);  // of what is alive after a moment
  std::vector<std::size_t> within(moments, 0);       // what one step alone makes and nobody reads
  for (std::uint32_t r = 0; r < roots.size(); ++r) {
    if (roots[r].kind != Root::Kind::arena || l.maker[r] == kNone) continue;
    const std::uint32_t from = l.moment[l.maker[r]], to = l.moment[l.last_read[r]];
    const auto bytes = static_cast<std::int64_t>(roots[r].bytes);
    change[from] += bytes;
    change[to] -= bytes;
    if (from == to && !steps[l.maker[r]].elementwise) within[from] += roots[r].bytes;
  }
  l.after.resize(moments);
  std::int64_t alive = 0;
  std::vector<std::size_t> made(moments, 0);  // beside what is alive before
  for (std::uint32_t n = 0; n < steps.size(); ++n)
    for (std::uint32_t r : steps[n].out_roots)
      if (roots[r].kind == Root::Kind::arena && !steps[n].elementwise &&
          l.moment[l.last_read[r]] > l.moment[n])
        made[l.moment[n]] += roots[r].bytes;
  for (std::uint32_t m = 0; m < moments; ++m) {
    const auto before = static_cast<std::size_t>(alive);
    alive += change[m];
    l.after[m] = static_cast<std::size_t>(alive);
    const std::size_t during = std::max(before + made[m] + within[m], l.after[m]);
    if (during > l.peak) l.peak = during, l.peak_moment = m;
  }
  return l;
}

/// The values that are made again by the steps after a moment.
class Cut {
 public:
  Cut(const std::vector<Step>& steps, const std::vector<Root>& roots, const Lives& lives,
      std::uint32_t moment, std::size_t least)
      : steps_(steps), roots_(roots), lives_(lives), least_(least), again_(roots.size(), false) {
    late_ = static_cast<std::uint32_t>(
        std::upper_bound(lives.moment.begin(), lives.moment.end(), moment) - lives.moment.begin());
    std::vector<bool> only_kept(roots.size(), false);
    constexpr int kRounds = 4;
    for (int k = 0; k < kRounds; ++k) {
      find(only_kept);
      if (!refuse_long_lives(only_kept)) return;
    }
    find(only_kept);
  }
  std::uint32_t late() const { return late_; }  ///< the first step behind the moment
  bool is_made_again(std::uint32_t root) const { return again_[root]; }
  bool empty() const { return count_ == 0; }

 private:
  bool is_early(std::uint32_t root) const {
    return lives_.maker[root] != kNone && lives_.maker[root] < late_;
  }
  bool is_in_hand(std::uint32_t root) const {  // argument, constant, result
    return roots_[root].kind != Root::Kind::arena;
  }

  void find(const std::vector<bool>& only_kept) {
    MinimumCut cut;
    constexpr std::uint32_t kUnknown = ~0u;
    std::vector<std::uint32_t> node(roots_.size(), kUnknown);  // v; v' is the next
    std::vector<std::uint32_t> found;
    const auto node_of = [&](std::uint32_t root) {
      if (node[root] == kUnknown) {
        node[root] = cut.add_node();
        cut.add_node();
        found.push_back(root);
      }
      return node[root];
    };
    for (std::uint32_t r = 0; r < roots_.size(); ++r)
      if (is_early(r) && !is_in_hand(r) && lives_.last_read[r] >= late_ &&
          roots_[r].bytes >= least_)
        cut.add_edge(node_of(r) + 1, MinimumCut::sink, MinimumCut::kInfinite);
    for (std::size_t k = 0; k < found.size(); ++k) {
      const std::uint32_t r = found[k];
      const bool in_hand = is_in_hand(r);
      cut.add_edge(node[r], node[r] + 1, in_hand ? 0 : static_cast<std::int64_t>(roots_[r].bytes));
      const double price = in_hand || only_kept[r] ? 0 : price_of(steps_[lives_.maker[r]]);
      if (price == 0) {
        cut.add_edge(MinimumCut::source, node[r], MinimumCut::kInfinite);
        continue;
      }
      cut.add_edge(MinimumCut::source, node[r],
                   1 + static_cast<std::int64_t>(price * static_cast<double>(roots_[r].bytes)));
      for (const Placed& p : steps_[lives_.maker[r]].in)
        cut.add_edge(node_of(p.root) + 1, node[r], MinimumCut::kInfinite);
    }
    const std::vector<bool> again = cut.on_side_of_sink();
    count_ = 0;
    std::fill(again_.begin(), again_.end(), false);
    for (const std::uint32_t r : found)
      if (again[node[r]]) again_[r] = true, ++count_;
  }

  /// A value that is wanted again soon and then waits long gains nothing: such are kept. True where
  /// there are new ones.
  bool refuse_long_lives(std::vector<bool>& only_kept) const {
    if (count_ == 0) return false;
    std::vector<std::uint32_t> first(roots_.size(), kNone), last(roots_.size(), 0);
    const auto read = [&](std::uint32_t root, std::uint32_t at) {
      first[root] = std::min(first[root], at);
      last[root] = std::max(last[root], at);
    };
    for (auto n = static_cast<std::uint32_t>(steps_.size()); n-- > 0;) {
      std::uint32_t at = n;
      if (n < late_) {  // a copy runs where it is first read
        if (steps_[n].out_roots.size() != 1) continue;
        const std::uint32_t made = steps_[n].out_roots[0];
        if (!again_[made] || first[made] == kNone) continue;
        at = first[made];
      }
      for (const Placed& p : steps_[n].in)
        if (again_[p.root]) read(p.root, at);
    }
    bool any = false;
    for (std::uint32_t r = 0; r < roots_.size(); ++r)
      if (again_[r] && first[r] != kNone && last[r] - first[r] > first[r] - late_)
        only_kept[r] = any = true;
    return any;
  }

  const std::vector<Step>& steps_;
  const std::vector<Root>& roots_;
  const Lives& lives_;
  std::size_t least_;  ///< bytes of a value that is made again for itself
  std::uint32_t late_ = 0;
  std::vector<bool> again_;
  std::size_t count_ = 0;
};

/// The steps with copies of those that are made again, each before its first late reader.
std::vector<Step> with_copies(const std::vector<Step>& steps, std::vector<Root>& roots,
                              const Lives& lives, const Cut& cut) {
  std::vector<Step> out(steps.begin(), steps.begin() + cut.late());
  std::vector<std::uint32_t> copy(lives.maker.size(), kNone);
  std::uint32_t heavy = kNone;  // what the last step made that stays
  const auto replace = [&](Step& s) {
    for (std::size_t k = 0; k < s.in.size(); ++k)
      if (const std::uint32_t r = s.in[k].root; r < copy.size() && copy[r] != kNone)
        s.in.edit()[k].root = copy[r];
  };
  std::vector<std::uint32_t> open, wanted;
  for (std::uint32_t n = cut.late(); n < steps.size(); ++n) {
    wanted.clear();
    const auto want = [&](const Step& s) {
      for (const Placed& p : s.in)
        if (cut.is_made_again(p.root) && copy[p.root] == kNone) {
          copy[p.root] = static_cast<std::uint32_t>(roots.size());
          Root again = roots[p.root];
          again.kind = Root::Kind::arena;
          roots.push_back(again);
          open.push_back(lives.maker[p.root]);
        }
    };
    want(steps[n]);
    while (!open.empty()) {
      wanted.push_back(open.back());
      open.pop_back();
      want(steps[wanted.back()]);
    }
    std::sort(wanted.begin(), wanted.end());
    for (const std::uint32_t m : wanted) {
      Step s = steps[m];
      s.out_roots.edit()[0] = copy[s.out_roots[0]];
      s.line.reverse = true;
      for (Part& part : s.parts) part.line.reverse = true, part.makes = {s.out_roots[0]};
      replace(s);
      s.after = heavy;
      out.push_back(std::move(s));
    }
    out.push_back(steps[n]);
    replace(out.back());
    if (steps[n].primitive && !steps[n].elementwise && !steps[n].out_roots.empty())
      heavy = steps[n].out_roots[0];
  }
  return out;
}

}  // namespace

double price_per_byte(const Primitive& p) {
  if (!p.elementwise || p.runs_programs) return 0;
  static constexpr std::string_view kDear[] = {"lgamma", "digamma", "polygamma", "bessel",
                                               "erfinv", "pow",     "check"};
  if (std::find(std::begin(kDear), std::end(kDear), p.name) != std::end(kDear)) return 0;
  return p.rule == RuleClass::elementwise ? 1.0 / 8 : 1.0 / 64;
}

std::size_t recompute_cheap_values(std::vector<Step>& steps, std::vector<Root>& roots,
                                   Index join_from) {
  const std::size_t least_bytes = static_cast<std::size_t>(join_from - 1) << 18;
  constexpr int kPeaks = 16, kPatience = 2;
  std::vector<Step> more;  // beyond `steps`, while that gains nothing
  std::vector<Root> more_roots;
  Lives lives = lives_of(steps, roots, join_from);
  std::size_t best = lives.peak;
  for (int k = 0, last = 0; k < kPeaks && k <= last + kPatience && lives.peak >= least_bytes; ++k) {
    const bool beyond = !more.empty();
    std::vector<Root> now_roots = beyond ? std::move(more_roots) : roots;
    const std::vector<Step>& before = beyond ? more : steps;
    const Cut cut(before, now_roots, lives, lives.peak_moment, least_bytes / 8192);
    if (cut.empty()) return best;
    std::vector<Step> now = without_unread(with_copies(before, now_roots, lives, cut), now_roots);
    lives = lives_of(now, now_roots, join_from);
    if (lives.peak >= best - best / 32) {  // a second peak may be as high
      more = std::move(now), more_roots = std::move(now_roots);
      continue;
    }
    best = lives.peak;
    last = k;
    steps = std::move(now), roots = std::move(now_roots);
    more.clear();
  }
  return best;
}

}  // namespace tessera::plan
