// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include "../ops/axes_attr.h"
#include "../ops/forms.h"

#include <algorithm>
#include <array>
#include <set>

namespace tessera::plan {
namespace {

/// Threads begin at the blocks of a reduction's sequences: `count` elements [b, n, m] have enough
/// of them to share out so much work, elements times operations.
bool has_shares(const blocks::Reduced& r, Index count, Index work) {
  constexpr Index kShares = 8, kShare = Index{1} << 14;
  const Index blocks = (r.n + kernels::kBlock - 1) / kernels::kBlock;
  return count / (r.n * r.m) * blocks >= std::min(kShares, work / kShare);
}

/// The reduction that a step is, of [b, n, m]; no fold where a run does not go on through it: of
/// fewer than `least` elements, over axes that are no neighbours, of neighbouring sequences whose
/// lanes do not fit the cache, of sequences too few to be shared among threads.
blocks::Reduced reduction_of(const Step& s, Index least) {
  constexpr Index kLaneBytes = Index{64} << 10;
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
  if (r.n == 1 || !has_shares(r, count, count) ||
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

/// Arrays of shape `coarse` are those of shape `fine` with neighbouring axes merged.
bool is_split_of(const Shape& fine, const Shape& coarse) {
  if (fine.count() != coarse.count() || fine.count() == 0) return false;
  Index n = 1, m = 1;
  for (int d = coarse.size(), k = fine.size(); d-- > 0;) {
    n *= coarse[d];
    while (m < n) m *= fine[--k];
    if (m != n) return false;
  }
  return true;
}
/// The elements in the same order, of a shape that splits that of the view.
View split(const View& v, const Shape& shape) {
  if (v.shape == shape) return v;
  View s{v.data, v.dtype, shape, row_major(shape)};
  if (v.contiguous()) return s;
  int k = shape.size();
  for (int d = v.shape.size(); d-- > 0;)
    for (Index n = 1; n < v.shape[d]; n *= shape[k]) s.strides[--k] = n * v.strides[d];
  return s;
}

/// Rows of so many elements are trailing axes of the shape.
bool are_rows_of(const Shape& shape, Index row) {
  Index n = 1;
  for (int d = shape.size(); d-- > 0 && n < row;) n *= shape[d];
  return n == row;
}

/// All of the root, one element for each row of so many, repeated along the rows.
bool is_repeated_along_rows(const Placed& p, const Root& r, Index row) {
  const View& v = p.view;
  Index inside = 1, outside = 1;
  for (int d = v.shape.size(); d-- > 0;) {
    if (v.shape[d] == 1) continue;
    const bool in_row = inside < row;
    if (v.strides[d] != (in_row ? 0 : outside)) return false;
    (in_row ? inside : outside) *= v.shape[d];
  }
  return v.data == nullptr && inside == row &&
         static_cast<std::size_t>(outside) * size_of(v.dtype) == r.bytes;
}

bool is_one_number(const View& v) {
  return std::all_of(v.strides.begin(), v.strides.end(), [](Index s) { return s == 0; });
}

/// Some operand is neither one stretch of memory nor one number.
bool has_parts(const Step& s) {
  return std::any_of(s.in.begin(), s.in.end(), [](const Placed& p) {
    return !p.view.contiguous() && !is_one_number(p.view);
  });
}

}  // namespace

GrowingRun::GrowingRun(const Step& first, const std::vector<Root>& roots, Index least)
    : roots_(roots), least_(least), extent_{run_shape(first, roots), 0} {}

/// Over all elements. `row`: of what is read by row, 0 where nothing is.
bool GrowingRun::is_element_wise(const Step& s, bool folds, Index& row) const {
  for (const Placed& p : s.in) {
    const Root& r = roots_[p.root];
    const auto it = made_.find(p.root);
    if (it == made_.end() || it->second == kElements) {
      // What a run makes itself can only be read as it is made.
      if (it != made_.end() && !is_whole(p, r)) return false;
      if (folds && !(p.view.shape == extent_.shape) &&
          !(is_whole(p, r) && p.view.shape.count() == extent_.shape.count()))
        return false;
      continue;
    }
    if (folds || it->second == kReduced || (row > 0 && it->second != row) ||
        !is_repeated_along_rows(p, r, it->second))
      return false;
    row = it->second;
  }
  return true;
}

bool GrowingRun::is_by_row(const Step& s, Index& row) const {
  for (const Placed& p : s.in)
    if (const auto it = made_.find(p.root); it != made_.end()) {
      if (it->second <= 0 || (row > 0 && it->second != row) || !is_whole(p, roots_[p.root]))
        return false;
      row = it->second;
    } else if (!p.view.contiguous() && !is_one_number(p.view)) {
      return false;
    }
  return row > 0 && roots_[s.out_roots[0]].type.shape.count() * row == extent_.shape.count();
}

bool GrowingRun::goes_on(const Step& s) {
  const blocks::Reduced r = reduction_of(s, least_);
  if (!s.elementwise && !r.fold) return false;
  const std::uint32_t root = s.out_roots[0];
  const Shape& made = roots_[root].type.shape;
  const bool finer = s.elementwise && is_split_of(made, extent_.shape);
  Index row = extent_.row;
  if ((r.fold || finer || made == extent_.shape || is_split_of(extent_.shape, made)) &&
      is_element_wise(s, r.fold, row)) {
    if (finer) extent_.shape = made;
    const bool rows = r.m == 1 && r.n <= kernels::kLongestRow && are_rows_of(extent_.shape, r.n);
    made_[root] = !r.fold ? kElements : rows ? r.n : kReduced;
  } else if (row = extent_.row; s.elementwise && is_by_row(s, row)) {
    made_[root] = row;
  } else {
    return false;
  }
  extent_.row = row;
  return true;
}

bool may_reduce_in_run(const Step& s, const std::vector<Root>& roots, Index least) {
  return reduction_of(s, least).fold && GrowingRun(s, roots, least).goes_on(s);
}

namespace {

std::vector<View> views_of(const Step& s) {
  std::vector<View> all;
  for (const Placed& p : s.in) all.push_back(p.view);
  return all;
}

/// The steps at `members` of a run as one.
class Joined {
 public:
  Joined(const GrowingRun& run, const std::vector<Root>& roots) : run_(run), roots_(roots) {}

  /// First, what gives its rows one by one.
  void add_product(const Step& s, const RowKernel& kernel, bool read_later) {
    begin(s);
    const std::uint32_t root = s.out_roots[0];
    const Type& type = roots_[root].type;
    blocks::Operation o{s.primitive, nullptr, s.attr, type.dtype, {}, -1};
    Types in;
    for (const Placed& p : s.in) in.push_back(p.view.type());
    o.rows = {.kernel = &kernel,
              .n = type.shape.back(),
              .count = static_cast<std::uint32_t>(s.in.size()),
              .shared = kernel.shared_bytes(views_of(s)),
              .flops = s.primitive->cost(in, {&type, 1}, s.attr).flops};
    if (read_later) give(o, root);
    products_.push_back({operations_.size(), s.in});
    made_.emplace(root, put(std::move(o)));
  }

  void add(const Step& s, bool read_later) {
    begin(s);
    const std::uint32_t root = s.out_roots[0];
    const Dtype dtype = roots_[root].type.dtype;
    blocks::Operation o{s.primitive, s.kernel, s.attr, dtype, {}, -1};
    o.by_row = run_.is_by_row(root);
    for (const Placed& p : s.in) o.in.push_back(source(p, s.elementwise && o.by_row));
    if (!s.elementwise) {
      if (o.in.size() == 2) {
        const Primitive& mul = detail::mul_primitive();
        const std::array<Dtype, 2> types{dtype, dtype};
        o.in = {put({&mul, mul.kernel(types, nullptr), nullptr, dtype, o.in, -1})};
      }
      o.kernel = nullptr, o.attr = nullptr;
      o.reduced = reduction_of(s, 1);
    }
    if ((!s.elementwise && !o.by_row) || read_later) give(o, root);
    made_.emplace(root, put(std::move(o)));
  }

  Step step() && {
    for (const Product& p : products_) {
      operations_[p.operation].rows.first = static_cast<std::uint32_t>(step_.in.size());
      for (const Placed& operand : p.in) step_.in.push_back(operand);
    }
    step_.program =
        std::make_shared<blocks::Program>(std::move(operations_), operands_, run_.extent());
    step_.workspace = step_.program->workspace();
    return std::move(step_);
  }

 private:
  struct Product {
    std::size_t operation;
    SharedList<Placed> in;
  };

  void begin(const Step& s) {
    if (operations_.empty()) step_.line = s.line;
    step_.parts.insert(step_.parts.end(), s.parts.begin(), s.parts.end());
  }
  /// The operation makes what others read.
  void give(blocks::Operation& o, std::uint32_t root) {
    o.result = static_cast<int>(step_.out_roots.size());
    step_.out_roots.push_back(root);
  }
  blocks::Source put(blocks::Operation o) {
    operations_.push_back(std::move(o));
    return {true, static_cast<std::uint32_t>(operations_.size() - 1)};
  }

  blocks::Source source(Placed p, bool by_row) {
    if (const auto it = made_.find(p.root); it != made_.end()) {
      if (by_row || !run_.is_by_row(p.root)) return it->second;
      const auto known = spread_.find(p.root);
      if (known != spread_.end()) return known->second;
      const blocks::Source all = put({.primitive = nullptr,
                                      .kernel = nullptr,
                                      .attr = nullptr,
                                      .dtype = p.view.dtype,
                                      .in = {it->second},
                                      .spread = true});
      spread_.emplace(p.root, all);
      return all;
    }
    if (!by_row) p.view = split(p.view, run_.extent().shape);
    std::vector<std::uint32_t>& same_root = taken_[p.root];
    const auto known = std::find_if(same_root.begin(), same_root.end(), [&](std::uint32_t k) {
      const View& v = step_.in[k].view;
      return v.data == p.view.data && v.dtype == p.view.dtype && v.strides == p.view.strides &&
             operands_[k].by_row == by_row;
    });
    if (known != same_root.end()) return {false, *known};
    const auto index = static_cast<std::uint32_t>(step_.in.size());
    same_root.push_back(index);
    step_.in.push_back(p);
    operands_.push_back({p.view, by_row});
    return {false, index};
  }

  const GrowingRun& run_;
  const std::vector<Root>& roots_;
  Step step_{.elementwise = true};
  std::vector<blocks::Operation> operations_;
  std::vector<blocks::Operand> operands_;
  std::vector<Product> products_;
  std::map<std::uint32_t, blocks::Source> made_, spread_;      // of roots
  std::map<std::uint32_t, std::vector<std::uint32_t>> taken_;  // root -> operands of the run
};

/// Steps before a run that it can take in: their rows are made where they are read.
class Products {
 public:
  struct Taken {
    std::size_t step;
    const RowKernel* kernel;
  };
  Products(const std::vector<Root>& roots, const std::vector<std::uint32_t>& first_use, Index least)
      : roots_(roots),
        first_use_(first_use),
        least_(static_cast<std::size_t>(std::max<Index>(least, 1)) * 256) {}

  /// The step, which comes at that place.
  void note(const Step& s, std::size_t at) {
    if (s.primitive && s.primitive->row_kernel && s.out_roots.size() == 1 &&
        roots_[s.out_roots[0]].bytes >= least_)
      if (const RowKernel* k = s.primitive->row_kernel(views_of(s), s.attr))
        known_[s.out_roots[0]] = {at, k};
  }

  /// Those that nobody reads before the run, and its members alone within [begin, end), each whole.
  /// None where a run has many other arrays to read and write: it waits for these.
  template <class ReadLater>
  std::vector<Taken> read_by(std::span<const Step> steps, std::size_t begin, std::size_t end,
                             std::span<const std::size_t> members, const blocks::Extent& e,
                             ReadLater read_later) {
    if (known_.empty()) return {};
    std::map<std::uint32_t, bool> read;  // of those known: all of it can be taken as it is made
    std::set<std::uint32_t> made, others;
    const auto is_array = [&](std::uint32_t root) {
      return roots_[root].type.shape.count() >= e.shape.count();
    };
    for (std::size_t n = begin, k = 0; n < end; ++n) {
      const bool member = k < members.size() && members[k] == n;
      k += member;
      for (const Placed& p : steps[n].in) {
        if (known_.contains(p.root)) {
          bool& all = read.try_emplace(p.root, true).first->second;
          all = all && member && is_whole(p, roots_[p.root]);
        } else if (member && is_array(p.root) && !made.contains(p.root)) {
          others.insert(p.root);
        }
      }
      if (!member) continue;
      made.insert(steps[n].out_roots[0]);
      if (is_array(steps[n].out_roots[0]) && read_later(steps[n].out_roots[0]))
        others.insert(steps[n].out_roots[0]);
    }
    std::vector<Taken> taken;
    Index row = 0;
    for (const auto& [root, all] : read) {
      const Shape& s = roots_[root].type.shape;
      const Index n = s.back();
      if (!all || first_use_[root] < begin || s.count() != e.shape.count() ||
          !are_rows_of(e.shape, n) || n > kWidest || (row > 0 && n != row) ||
          (e.row > 0 && e.row % n != 0 && n % e.row != 0) || others.size() > kOthers)
        continue;
      row = n;
      taken.push_back(known_.at(root));
      known_.erase(root);
    }
    return taken;
  }

 private:
  static constexpr Index kWidest = 512;      ///< columns: a block of some rows stays in the cache
  static constexpr std::size_t kOthers = 4;  ///< arrays
  const std::vector<Root>& roots_;
  const std::vector<std::uint32_t>& first_use_;
  std::size_t least_;                     ///< bytes
  std::map<std::uint32_t, Taken> known_;  ///< by what they make
};

/// Of steps [begin, end), which may be a run, those that gain from it: not reductions of what
/// nobody else there makes or reads.
std::vector<std::size_t> members_of(std::span<const Step> steps, std::size_t begin,
                                    std::size_t end) {
  std::map<std::uint32_t, int> users;
  for (std::size_t n = begin; n < end; ++n) {
    std::set<std::uint32_t> all(steps[n].out_roots.begin(), steps[n].out_roots.end());
    for (const Placed& p : steps[n].in) all.insert(p.root);
    for (const std::uint32_t r : all) ++users[r];
  }
  const auto shared = [&](std::uint32_t root) { return users[root] > 1; };
  std::vector<std::size_t> members;
  for (std::size_t n = begin; n < end; ++n)
    if (steps[n].elementwise || shared(steps[n].out_roots[0]) ||
        std::any_of(steps[n].in.begin(), steps[n].in.end(),
                    [&](const Placed& p) { return shared(p.root); }))
      members.push_back(n);
  return members;
}

/// Takes those of the members out that would keep threads from sharing the run: reductions of
/// sequences too few for all that it does. They come behind it.
std::vector<std::size_t> without_shares(std::span<const Step> steps, const GrowingRun& run,
                                        std::vector<std::size_t>& members) {
  const Index count = run.extent().shape.count();
  const Index work = count * static_cast<Index>(members.size());
  const auto few = std::stable_partition(members.begin(), members.end(), [&](std::size_t n) {
    const Step& s = steps[n];
    return s.elementwise || run.is_by_row(s.out_roots[0]) ||
           has_shares(reduction_of(s, 1), count, work);
  });
  std::vector<std::size_t> behind(few, members.end());
  members.erase(few, members.end());
  return behind;
}

}  // namespace

std::vector<Step> with_runs_joined(std::vector<Step> steps, const std::vector<Root>& roots,
                                   Index least) {
  std::vector<std::uint32_t> first_use(roots.size(), kNone), last_use(roots.size(), 0);
  for (std::uint32_t n = 0; n < steps.size(); ++n)
    for (const Placed& p : steps[n].in) {
      first_use[p.root] = std::min(first_use[p.root], n);
      last_use[p.root] = n;
    }
  Products products(roots, first_use, least);
  std::vector<Step> out;
  const auto put = [&](Step&& s) {
    products.note(s, out.size());
    out.push_back(std::move(s));
  };
  for (std::size_t begin = 0; begin < steps.size();) {
    const bool joins = steps[begin].elementwise || reduction_of(steps[begin], least).fold;
    if (!joins || run_shape(steps[begin], roots).count() < std::max<Index>(least, 1)) {
      put(std::move(steps[begin++]));
      continue;
    }
    GrowingRun run(steps[begin], roots, least);
    std::size_t end = begin;
    while (end < steps.size() && run.goes_on(steps[end])) ++end;
    std::vector<std::size_t> members = members_of(steps, begin, end);
    std::vector<std::size_t> behind = without_shares(steps, run, members);
    std::set<std::uint32_t> read_behind;
    for (const std::size_t n : behind)
      for (const Placed& p : steps[n].in) read_behind.insert(p.root);
    const auto read_later = [&](std::uint32_t root) {
      return last_use[root] >= end || roots[root].kind == Root::Kind::result ||
             read_behind.contains(root);
    };
    const std::vector<Products::Taken> taken =
        products.read_by(steps, begin, end, members, run.extent(), read_later);
    std::vector<Step> one;
    if (members.size() > 1 || !taken.empty() ||
        (members.size() == 1 && has_parts(steps[members[0]]))) {
      Joined all(run, roots);
      for (const Products::Taken& t : taken)
        all.add_product(out[t.step], *t.kernel, read_later(out[t.step].out_roots[0]));
      for (const std::size_t n : members) all.add(steps[n], read_later(steps[n].out_roots[0]));
      one.push_back(std::move(all).step());
      if (members.size() == 1 && taken.empty() && !one[0].program->gathers()) one.clear();
    }
    if (one.empty()) members.clear(), behind.clear();
    for (const Products::Taken& t : taken) out[t.step] = {};
    const std::size_t next = std::max(end, begin + 1);
    for (std::size_t n = begin; n < next; ++n)
      if (!std::ranges::binary_search(members, n) && !std::ranges::binary_search(behind, n))
        put(std::move(steps[n]));
    if (!one.empty()) out.push_back(std::move(one[0]));
    for (const std::size_t n : behind) put(std::move(steps[n]));
    begin = next;
  }
  std::erase_if(out,
                [](const Step& s) { return s.out_roots.empty() && !s.primitive && !s.kernel; });
  return out;
}

}  // namespace tessera::plan
