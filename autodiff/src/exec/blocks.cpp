// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

#include "../base/scratch.h"
#include "../core/own_primitive.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

namespace tessera::blocks {
namespace {

constexpr Index kScratchBytes = Index{256}
                                << 10;  ///< of all registers of a worker: in the second-level cache
/// Elements of a block: a call costs as much as some 50 of them, and memory is read faster in long
/// stretches; an array of kMany blocks and more is cut into longer ones.
constexpr Index kLeast = 256, kMost = 4096, kLongest = 16384, kMany = 64;
constexpr Index kShort = 256;  ///< elements: kernels take longer stretches as they lie
constexpr Index kGrain =
    Index{1} << 15;  ///< elements times operations below which one thread is faster

/// Memory of the calling thread that stays for its next run.
std::byte* scratch(std::size_t bytes) {
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local std::size_t size = 0;
  if (size < bytes) {
    memory.reset(new std::byte[bytes + 64]);
    size = bytes;
  }
  return memory.get() + (64 - reinterpret_cast<std::uintptr_t>(memory.get()) % 64) % 64;
}

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

bool same(const Source& a, const Source& b) { return a.inside == b.inside && a.index == b.index; }

// ---- sums of products ----

/// An operation of the run, or a sum that took in the operations before it.
struct Node {
  Operation o;
  std::vector<Term> terms;  ///< of a sum
  bool gone = false;        ///< it is part of a sum
};

/// Elements one after the other, or one for all; other layouts are left to the kernels.
enum class Layout { packed, repeated, other };
Layout layout_of(const View& v) {
  const bool repeated =
      std::all_of(v.strides.begin(), v.strides.end(), [](Index s) { return s == 0; });
  return v.contiguous() ? Layout::packed : repeated ? Layout::repeated : Layout::other;
}

/// Sums take in the products that only they read, and the sums before them: y = x + a b, y = (a b +
/// c d) - e.
std::vector<Node> with_sums(std::vector<Operation> run, std::span<const Layout> operands) {
  std::vector<Node> nodes;
  std::vector<int> readers(run.size(), 0);
  for (Operation& o : run) {
    for (const Source& s : o.in)
      if (s.inside) ++readers[s.index];
    nodes.push_back({std::move(o), {}, false});
  }
  const auto layout = [&](const Source& s) {
    return s.inside ? Layout::packed : operands[s.index];
  };
  static const Primitive *const add = &detail::own_primitive("add"),
                                *const sub = &detail::own_primitive("sub"),
                                *const mul = &detail::own_primitive("mul");
  const auto only_here = [&](const Source& s) {
    return s.inside && readers[s.index] == 1 && nodes[s.index].o.result < 0;
  };
  const auto is_sum = [&](const Source& s) {
    return only_here(s) && !nodes[s.index].terms.empty();
  };
  const auto is_product = [&](const Source& s) {
    if (!only_here(s) || nodes[s.index].o.primitive != mul) return false;
    const Layout a = layout(nodes[s.index].o.in[0]), b = layout(nodes[s.index].o.in[1]);
    return a != Layout::other && b != Layout::other && (a == Layout::packed || b == Layout::packed);
  };
  const auto term = [&](const Source& s, bool minus) {
    if (!is_product(s))
      return Term{layout(s) == Layout::packed ? Term::Kind::value : Term::Kind::number, minus, s,
                  s};
    Node& n = nodes[s.index];
    n.gone = true;
    Source a = n.o.in[0], b = n.o.in[1];
    if (layout(a) == Layout::repeated) std::swap(a, b);
    return Term{layout(b) == Layout::repeated ? Term::Kind::scaled : Term::Kind::product, minus, a,
                b};
  };
  for (Node& n : nodes) {
    if (n.o.reduced.fold || n.o.by_row || n.o.spread) continue;
    const bool plus = n.o.primitive == add, minus = n.o.primitive == sub;
    if (!(plus || minus) || (n.o.dtype != Dtype::f64 && n.o.dtype != Dtype::f32)) continue;
    Source x = n.o.in[0], y = n.o.in[1];
    if (plus && (is_sum(y) && !is_sum(x))) std::swap(x, y);
    if (!is_sum(x) && !is_product(x) && !is_product(y)) continue;
    if (layout(x) == Layout::other || layout(y) == Layout::other || same(x, y)) continue;
    if (is_sum(x)) {
      n.terms = std::move(nodes[x.index].terms);
      nodes[x.index].gone = true;
    } else {
      n.terms = {term(x, false)};
    }
    n.terms.push_back(term(y, minus));
    n.o.kernel = nullptr;
    n.o.in.clear();
    for (const Term& t : n.terms) n.o.in.insert(n.o.in.end(), {t.a, t.b});
  }
  return nodes;
}

/// out = the terms, added up from the first; a and b of each term at the element of the block's
/// begin.
template <class T>
void add_terms(Index n, std::span<const Term> terms, const View* const* in, T* out) {
  using V [[gnu::vector_size(32), gnu::aligned(alignof(T)), gnu::may_alias]] = T;
  constexpr Index lanes = 32 / sizeof(T), wide = 8, step = wide * lanes;
  const auto at = [](const View* v, Index i) { return static_cast<const T*>(v->data) + i; };
  Index i = 0;
  for (; i + step <= n; i += step) {
    V sum[wide] = {};
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const auto put = [&](auto value) {
        if (t == 0)
          for (Index k = 0; k < wide; ++k) sum[k] = value(k);
        else if (terms[t].minus)
          for (Index k = 0; k < wide; ++k) sum[k] = sum[k] - value(k);
        else
          for (Index k = 0; k < wide; ++k) sum[k] = sum[k] + value(k);
      };
      const View *a = in[2 * t], *b = in[2 * t + 1];
      const auto load = [&](const View* v, Index k) {
        return *reinterpret_cast<const V*>(at(v, i + k * lanes));
      };
      switch (terms[t].kind) {
        case Term::Kind::value:
          put([&](Index k) { return load(a, k); });
          break;
        case Term::Kind::number:
          put([&, x = *at(a, 0)](Index) { return x - V{}; });  // x + 0 would lose the sign of -0
          break;
        case Term::Kind::product:
          put([&](Index k) { return load(a, k) * load(b, k); });
          break;
        case Term::Kind::scaled:
          put([&, x = *at(b, 0)](Index k) { return load(a, k) * x; });
          break;
      }
    }
    for (Index k = 0; k < wide; ++k) *reinterpret_cast<V*>(out + i + k * lanes) = sum[k];
  }
  for (; i < n; ++i) {
    T sum{};
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const View *a = in[2 * t], *b = in[2 * t + 1];
      T x = *at(a, terms[t].kind == Term::Kind::number ? 0 : i);
      if (terms[t].kind == Term::Kind::product) x = x * *at(b, i);
      if (terms[t].kind == Term::Kind::scaled) x = x * *at(b, 0);
      sum = t == 0 ? x : terms[t].minus ? sum - x : sum + x;
    }
    out[i] = sum;
  }
}

template <class T>
void side_by_side_of(const View& v, T* to) {
  const int last = v.shape.size() - 1;
  const Index n = v.shape[last], stride = v.strides[last];
  const T* from = static_cast<const T*>(v.data);
  Index at[kMaxDims] = {};
  for (Index rows = v.count() / n; rows > 0; --rows, to += n) {
    if (stride == 1)
      for (Index i = 0; i < n; ++i) to[i] = from[i];
    else
      for (Index i = 0; i < n; ++i) to[i] = from[i * stride];
    for (int d = last; d-- > 0;) {
      from += v.strides[d];
      if (++at[d] < v.shape[d]) break;
      from -= v.strides[d] * v.shape[d];
      at[d] = 0;
    }
  }
}
/// The elements of v, of which there are some, one after the other.
void side_by_side(const View& v, void* to) {
  switch (size_of(v.dtype)) {
    case 1:
      return side_by_side_of(v, static_cast<std::uint8_t*>(to));
    case 4:
      return side_by_side_of(v, static_cast<std::uint32_t*>(to));
    case 8:
      return side_by_side_of(v, static_cast<std::uint64_t*>(to));
    default:
      return side_by_side_of(v, static_cast<c128*>(to));
  }
}

/// to[k] = from[k / row].
template <class T>
void spread_of(const T* from, Index stride, Index rows, Index row, T* to) {
  for (; rows > 0; --rows, from += stride, to += row) std::fill_n(to, row, *from);
}
void spread(const View& v, Index rows, Index row, void* to) {
  const Index stride = v.strides.empty() ? 0 : v.strides[0];
  switch (size_of(v.dtype)) {
    case 1:
      return spread_of(static_cast<const std::uint8_t*>(v.data), stride, rows, row,
                       static_cast<std::uint8_t*>(to));
    case 4:
      return spread_of(static_cast<const std::uint32_t*>(v.data), stride, rows, row,
                       static_cast<std::uint32_t*>(to));
    case 8:
      return spread_of(static_cast<const std::uint64_t*>(v.data), stride, rows, row,
                       static_cast<std::uint64_t*>(to));
    default:
      return spread_of(static_cast<const c128*>(v.data), stride, rows, row, static_cast<c128*>(to));
  }
}

}  // namespace

Program::Program(std::vector<Operation> run, std::span<const Operand> operands,
                 const Extent& extent)
    : elements_(extent.shape.count()), row_(extent.row) {
  std::size_t n_results = 0;
  for (const Operation& o : run)
    n_results = std::max(n_results, static_cast<std::size_t>(o.result + 1));
  dtypes_.resize(operands.size() + n_results);
  row_strides_.resize(dtypes_.size(), -1);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const View& v = operands[k].view;
    dtypes_[k] = v.dtype;
    if (operands[k].by_row) row_strides_[k] = layout_of(v) == Layout::packed ? 1 : 0;
  }
  last_read.resize(operands.size());
  written.resize(n_results);
  std::vector<bool> in_order(n_results, true);  // element by element of the run
  for (const Operation& o : run) {
    if (o.result < 0) continue;
    const auto k = static_cast<std::size_t>(o.result);
    in_order[k] = !o.by_row && !o.reduced.fold;
    if (o.by_row) row_strides_[operands.size() + k] = 1;
  }
  merge_dimensions(extent.shape, operands, in_order);

  std::size_t element = 1;  // bytes, of the largest in scratch
  std::vector<bool> folded(operands.size(), false);
  for (const Operation& o : run)
    if (o.reduced.fold && !o.in[0].inside) folded[o.in[0].index] = true;
  std::vector<Layout> layouts;
  const bool short_stretches = n_dims_ > 1 && dims_[n_dims_ - 1] < kShort;
  for (std::uint32_t k = 0; k < operands.size(); ++k) {
    layouts.push_back(layout_of(operands[k].view));
    if (operands[k].by_row) continue;
    const bool gather = layouts[k] == Layout::other && short_stretches;
    if (!gather && (!folded[k] || layouts[k] == Layout::packed)) continue;
    layouts[k] = Layout::packed;
    gathered_.push_back({k, static_cast<std::uint32_t>(slots_++), false});
    element = std::max(element, size_of(dtypes_[k]));
  }
  const std::vector<Node> nodes = with_sums(std::move(run), layouts);

  // Registers: each takes a free slot of scratch and gives it back after the last use.
  std::vector<std::size_t> last(nodes.size());
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    last[j] = j;
    if (nodes[j].gone) continue;
    for (const Source& s : nodes[j].o.in) {
      if (s.inside)
        last[s.index] = j;
      else
        last_read[s.index] = static_cast<std::uint32_t>(j);
    }
  }
  std::map<Register, std::uint32_t> known;
  std::vector<std::uint32_t> operand(nodes.size()), slot(nodes.size()), free;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const Operation& o = nodes[j].o;
    if (nodes[j].gone) continue;
    Call c{o.kernel,
           o.attr,
           static_cast<std::uint32_t>(inputs_.size()),
           static_cast<std::uint32_t>(o.in.size()),
           0,
           static_cast<std::uint32_t>(terms_.size())};
    terms_.insert(terms_.end(), nodes[j].terms.begin(), nodes[j].terms.end());
    c.spread = o.spread;
    if (o.reduced.fold) {
      c.fold = static_cast<int>(folds_.size());
      add_fold(o);
    }
    for (const Source& s : o.in) inputs_.push_back(s.inside ? operand[s.index] : s.index);
    // An operand that dies here gives its slot to the result, if elements of one size replace each
    // other.
    std::vector<std::uint32_t> later;
    for (std::size_t k = 0; k < o.in.size(); ++k) {
      const Source& s = o.in[k];
      const bool repeated = std::any_of(o.in.begin(), o.in.begin() + static_cast<std::ptrdiff_t>(k),
                                        [&](const Source& t) { return same(s, t); });
      if (!s.inside || nodes[s.index].o.result >= 0 || last[s.index] != j || repeated) continue;
      const Operation& from = nodes[s.index].o;
      (size_of(from.dtype) == size_of(o.dtype) && from.by_row == o.by_row ? free : later)
          .push_back(slot[s.index]);
    }
    if (o.result >= 0) {
      operand[j] =
          static_cast<std::uint32_t>(operands.size()) + static_cast<std::uint32_t>(o.result);
      dtypes_[operand[j]] = o.dtype;
      // What is not reduced by row is written at any time.
      written[static_cast<std::size_t>(o.result)] =
          o.reduced.fold && !o.by_row ? 0 : static_cast<std::uint32_t>(j);
    } else {
      if (free.empty()) free.push_back(static_cast<std::uint32_t>(slots_++));
      slot[j] = free.back();
      free.pop_back();
      if (last[j] == j) free.push_back(slot[j]);
      const Register r{o.dtype, slot[j], o.by_row};
      const auto [it, fresh] = known.emplace(r, dtypes_.size() + registers_.size());
      if (fresh) registers_.push_back(r);
      operand[j] = it->second;
      element = std::max(element, size_of(o.dtype));
    }
    free.insert(free.end(), later.begin(), later.end());
    c.out = operand[j];
    calls_.push_back(c);
  }

  const Index fit = kScratchBytes / static_cast<Index>(std::max<std::size_t>(slots_, 1) * element);
  const Index longest = std::clamp(elements_ / kMany, kMost, kLongest);
  cut_into_blocks(std::max(row_, std::clamp(fit / 64 * 64, kLeast, longest)));
  slot_bytes_ = aligned(static_cast<std::size_t>(rows_ * inner_) * element);
  find_cuts();
}

void Program::add_fold(const Operation& o) {
  const Reduced& r = o.reduced;
  Fold f{r.fold,
         elements_ / (r.n * r.m),
         r.n,
         r.m,
         (r.n + kernels::kBlock - 1) / kernels::kBlock,
         static_cast<std::uint32_t>(std::max(o.result, 0)),
         size_of(o.dtype),
         lane_bytes_,
         partial_bytes_,
         o.by_row};
  if (!f.by_row)
    lane_bytes_ += aligned(static_cast<std::size_t>(kernels::kLanes * f.m) * f.element);
  if (!f.by_row && f.blocks > 1)
    partial_bytes_ += aligned(static_cast<std::size_t>(f.batch * f.blocks * f.m) * f.element);
  folds_.push_back(f);
}

void Program::merge_dimensions(const Shape& shape, std::span<const Operand> operands,
                               const std::vector<bool>& in_order) {
  strides_.resize(operands.size() + in_order.size());
  const Shape packed = row_major(shape);
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const auto stride = [&](std::size_t k) {
      if (k < operands.size()) return operands[k].by_row ? 0 : operands[k].view.strides[d];
      return in_order[k - operands.size()] ? packed[d] : 0;
    };
    bool merge = n_dims_ > 0;
    for (std::size_t k = 0; merge && k < strides_.size(); ++k)
      merge = strides_[k][static_cast<std::size_t>(n_dims_ - 1)] == stride(k) * shape[d];
    if (!merge) dims_[n_dims_++] = 1;
    dims_[n_dims_ - 1] *= shape[d];
    for (std::size_t k = 0; k < strides_.size(); ++k)
      strides_[k][static_cast<std::size_t>(n_dims_ - 1)] = stride(k);
  }
  if (n_dims_ == 0) dims_[n_dims_++] = 1;
}

void Program::cut_into_blocks(Index most) {
  inner_ = 1;
  outer_ = n_dims_ - 1;
  while (outer_ > 0 && inner_ * dims_[outer_] <= most) inner_ *= dims_[outer_--];
  rows_ = std::clamp<Index>(most / inner_, 1, dims_[outer_]);
  // Blocks are whole rows, and end where those of the longest reduced sequences do.
  const Index step = std::max<Index>(row_ / inner_, 1);
  rows_ -= rows_ % step;
  Index unit = 1;
  for (const Fold& f : folds_)
    if (!f.by_row) unit = std::max(unit, f.unit());
  const Index rows = unit / inner_;
  if (unit % inner_ == 0 && rows % step == 0) {
    Index divisor = rows_;
    while (divisor % rows && rows % divisor) divisor -= step;
    if (4 * divisor >= rows_) rows_ = divisor;
  }
  pieces_ = (dims_[outer_] + rows_ - 1) / rows_;
  n_blocks_ = pieces_;
  for (int d = 0; d < outer_; ++d) n_blocks_ *= dims_[d];

  for (Gathered& g : gathered_)
    g.repeats = strides_[g.operand][static_cast<std::size_t>(outer_)] == 0;
  std::vector<bool> packed(strides_.size(), false);
  for (const Gathered& g : gathered_) packed[g.operand] = true;
  flat_ = true;
  for (std::size_t k = 0; flat_ && k < strides_.size(); ++k) {
    bool stretch = true, number = true;
    Index next = 1;
    for (int d = n_dims_; d-- > outer_; next *= dims_[d]) {
      const Index stride = strides_[k][static_cast<std::size_t>(d)];
      stretch = stretch && stride == next;
      number = number && stride == 0;
    }
    flat_ = packed[k] || stretch || number;
  }
}

void Program::find_cuts() {
  constexpr Index kCuts = 64, kTries = 4096;
  const auto is_cut = [&](Index block) {
    return std::ranges::all_of(
        folds_, [i = first_element(block)](const Fold& f) { return f.by_row || f.begins_at(i); });
  };
  for (Index k = 0; k < kCuts && !folds_.empty(); ++k) {
    const Index from = n_blocks_ * k / kCuts, to = n_blocks_ * (k + 1) / kCuts;
    for (Index b = from; b < std::min(to, from + kTries); ++b)
      if (is_cut(b)) {
        cuts_.push_back(b);
        break;
      }
  }
}

/// The views of one thread, moved from block to block.
class Program::Worker {
 public:
  /// `partials`: of the reductions, for all threads.
  Worker(const Program& p, Inputs in, Outputs out, std::byte* partials)
      : p_(p), outputs_(out), partials_(partials) {
    base_.resize(in.size() + out.size());
    views_.resize(base_.size() + p.registers_.size());
    sources_.assign(p.gathered_.size(), {});
    in_.clear(), out_.clear(), laid_.clear();
    std::byte* const memory = scratch(p.slots_ * p.slot_bytes_ + p.lane_bytes_);
    lanes_ = memory + p.slots_ * p.slot_bytes_;
    for (const Fold& f : p.folds_)
      if (!f.by_row) f.loops->start(f.m, lanes_ + f.lanes);
    for (std::size_t k = 0; k < base_.size(); ++k) {
      base_[k] = static_cast<std::byte*>(k < in.size() ? in[k]->data : out[k - in.size()]->data);
      views_[k].dtype = p.dtypes_[k];
      laid_.push_back(&views_[k]);
    }
    for (std::size_t k = 0; k < p.registers_.size(); ++k) {
      views_[base_.size() + k].dtype = p.registers_[k].dtype;
      views_[base_.size() + k].data = memory + p.registers_[k].slot * p.slot_bytes_;
    }
    for (std::size_t j = 0; j < p.gathered_.size(); ++j) {
      const Gathered& g = p.gathered_[j];
      views_[g.operand].data = memory + g.slot * p.slot_bytes_;
      laid_[g.operand] = &sources_[j].view;
    }
    for (std::uint32_t k : p.inputs_) in_.push_back(&views_[k]);
    for (const Call& c : p.calls_) out_.push_back(&views_[c.out]);
  }

  void run(Index block) {
    const Index start = block % p_.pieces_ * p_.rows_;
    set_rows(std::min(p_.rows_, p_.dims_[p_.outer_] - start));
    const Index first = p_.first_element(block), count = rows_ * p_.inner_;
    for (std::size_t k = 0; k < base_.size(); ++k) {
      const auto bytes = static_cast<Index>(size_of(p_.dtypes_[k]));
      if (p_.row_strides_[k] >= 0) {
        views_[k].data = base_[k] + first / p_.row_ * p_.row_strides_[k] * bytes;
        continue;
      }
      const auto& stride = p_.strides_[k];
      Index at = start * stride[static_cast<std::size_t>(p_.outer_)], rest = block / p_.pieces_;
      for (int d = p_.outer_ - 1; d >= 0; --d) {
        at += rest % p_.dims_[d] * stride[static_cast<std::size_t>(d)];
        rest /= p_.dims_[d];
      }
      laid_[k]->data = base_[k] + at * bytes;
    }
    for (std::size_t j = 0; j < p_.gathered_.size(); ++j) gather(p_.gathered_[j], sources_[j]);
    for (std::size_t j = 0; j < p_.calls_.size(); ++j) {
      const Call& c = p_.calls_[j];
      if (c.fold >= 0)
        fold(p_.folds_[static_cast<std::size_t>(c.fold)], *in_[c.in_begin], *out_[j], first, count);
      else if (c.spread)
        spread(*in_[c.in_begin], count / p_.row_, p_.row_, out_[j]->data);
      else if (c.kernel)
        c.kernel({in_.data() + c.in_begin, c.in_count}, {out_.data() + j, 1}, c.attr);
      else if (out_[j]->dtype == Dtype::f64)
        sum<double>(c, *out_[j]);
      else
        sum<float>(c, *out_[j]);
    }
  }

 private:
  /// Elements i, i + 1, ... of the run.
  void fold(const Fold& f, const View& from, const View& to, Index i, Index count) {
    if (f.by_row) return f.loops->rows(from.data, count / f.n, f.n, to.data);
    auto x = static_cast<const std::byte*>(from.data);
    const auto bytes = static_cast<Index>(f.element);
    std::byte* const lanes = lanes_ + f.lanes;
    Index c = i % f.m, k = i / f.m % f.n, b = i / (f.m * f.n);
    while (count > 0) {
      const Index end = std::min(f.n, (k / kernels::kBlock + 1) * kernels::kBlock);
      Index taken = 0;
      if (const Index row = std::min(f.n, kernels::kBlock);
          f.m == 1 && k % kernels::kBlock == 0 && end - k == row && count >= row) {
        // Blocks side by side, of one sequence or of short ones.
        const Index whole = (row == f.n ? count : std::min(count, f.n - k)) / row;
        f.loops->rows(x, whole, row, partial_of(f, b, k));
        taken = whole * row;
        x += taken * bytes, count -= taken;
        b += (k + taken) / f.n, k = (k + taken) % f.n;
        continue;
      }
      if (c == 0 && count >= f.m) {
        const Index rows = std::min(end - k, count / f.m);
        f.loops->add(x, k, rows, f.m, lanes);
        k += rows, taken = rows * f.m;
      } else {  // of one row
        taken = std::min(count, f.m - c);
        f.loops->add(x, 0, 1, taken, lanes + (k % kernels::kLanes * f.m + c) * bytes);
        c += taken;
        if (c == f.m) c = 0, ++k;
      }
      x += taken * bytes, count -= taken;
      if (k < end) continue;
      f.loops->close(f.m, lanes, partial_of(f, b, k - 1));
      f.loops->start(f.m, lanes);
      if (k == f.n) k = 0, ++b;
    }
  }
  /// Of the block that element k of sequences b is in.
  std::byte* partial_of(const Fold& f, Index b, Index k) const {
    return p_.partials_of(f, b, outputs_, partials_) +
           k / kernels::kBlock * f.m * static_cast<Index>(f.element);
  }
  template <class T>
  void sum(const Call& c, const View& out) {
    add_terms<T>(out.count(), {p_.terms_.data() + c.terms, c.in_count / 2}, in_.data() + c.in_begin,
                 static_cast<T*>(out.data));
  }
  /// An operand where it lies, and what of it was gathered last.
  struct Source {
    View view;
    const void* at = nullptr;
    Index rows = 0;
  };
  void gather(const Gathered& g, Source& s) {
    if (g.repeats && s.at == s.view.data && s.rows >= rows_) return;
    s.at = s.view.data, s.rows = rows_;
    std::byte* const to = static_cast<std::byte*>(views_[g.operand].data);
    View piece = s.view;
    if (g.repeats) piece.shape[0] = 1;
    side_by_side(piece, to);
    const auto bytes = static_cast<std::size_t>(s.view.count()) * size_of(piece.dtype);
    for (auto have = static_cast<std::size_t>(piece.count()) * size_of(piece.dtype);
         have < bytes;) {
      const std::size_t more = std::min(have, bytes - have);
      std::memcpy(to + have, to, more);
      have += more;
    }
  }

  void set_rows(Index n) {
    if (n == rows_) return;
    rows_ = n;
    Shape shape;
    for (int d = p_.outer_; d < p_.n_dims_; ++d) shape.push_back(d == p_.outer_ ? n : p_.dims_[d]);
    const Shape one{shape.count()};
    for (std::size_t k = 0; k < views_.size(); ++k) {
      const bool by_row =
          k < base_.size() ? p_.row_strides_[k] >= 0 : p_.registers_[k - base_.size()].by_row;
      views_[k].shape = by_row ? Shape{shape.count() / p_.row_} : p_.flat_ ? one : shape;
      views_[k].strides = row_major(views_[k].shape);
    }
    for (std::size_t k = 0; k < base_.size(); ++k) {
      View& v = *laid_[k];
      if (p_.row_strides_[k] >= 0) {
        v.strides[0] = p_.row_strides_[k];
        continue;
      }
      const auto stride = [&](int d) { return p_.strides_[k][static_cast<std::size_t>(d)]; };
      if (p_.flat_ && &v == &views_[k]) {
        v.strides[0] = stride(p_.n_dims_ - 1);
        continue;
      }
      v.dtype = p_.dtypes_[k];
      v.shape = v.strides = shape;
      for (int d = p_.outer_; d < p_.n_dims_; ++d) v.strides[d - p_.outer_] = stride(d);
    }
  }

  /// Lists of the calling thread that keep their memory for its next worker; one works at a time.
  struct Lists {
    std::vector<std::byte*> base;
    std::vector<View> views;
    std::vector<Source> sources;
    std::vector<View*> laid;  ///< of operands and results where they lie in memory
    std::vector<const View*> in;
    std::vector<View*> out;
  };
  static Lists& lists() {
    thread_local Lists l;
    return l;
  }

  const Program& p_;
  Outputs outputs_;
  std::byte *partials_, *lanes_;
  Lists& lists_ = lists();
  std::vector<std::byte*>& base_ = lists_.base;
  std::vector<View>& views_ = lists_.views;
  std::vector<Source>& sources_ = lists_.sources;
  std::vector<View*>& laid_ = lists_.laid;
  std::vector<const View*>& in_ = lists_.in;
  std::vector<View*>& out_ = lists_.out;
  Index rows_ = 0;
};

std::byte* Program::partials_of(const Fold& f, Index b, Outputs out, std::byte* partials) const {
  std::byte* const first =
      f.blocks == 1 ? static_cast<std::byte*>(out[f.result]->data) : partials + f.partials;
  return first + b * f.blocks * f.m * static_cast<Index>(f.element);
}

void Program::operator()(Inputs in, Outputs out) const {
  const Index work = elements_ * static_cast<Index>(calls_.size());
  const Index most = work < kGrain ? 1 : 4 * num_threads();
  const auto begins = folds_.empty() ? n_blocks_ : static_cast<Index>(cuts_.size());
  const Index parts = std::min(begins, most);
  const auto begin = [&](Index part) {
    const Index k = begins * part / parts;
    return folds_.empty() || part == parts ? n_blocks_ * part / parts
                                           : cuts_[static_cast<std::size_t>(k)];
  };
  detail::ScratchArray<std::byte> partials(partial_bytes_);
  parallel_chunks(parts, [&](Index part) {
    Worker w(*this, in, out, partials.data());
    for (Index b = begin(part); b < begin(part + 1); ++b) w.run(b);
  });
  for (const Fold& f : folds_) {
    if (f.by_row || f.blocks == 1) continue;
    const auto bytes = static_cast<std::size_t>(f.m) * f.element;
    for (Index b = 0; b < f.batch; ++b) {
      std::byte* const x = partials_of(f, b, out, partials.data());
      f.loops->pairs(f.blocks, f.m, x);
      std::memcpy(
          static_cast<std::byte*>(out[f.result]->data) + static_cast<std::size_t>(b) * bytes, x,
          bytes);
    }
  }
}

}  // namespace tessera::blocks
