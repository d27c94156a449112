// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

#include "../base/scratch.h"
#include "stretches.h"
#include "sums.h"
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
constexpr Index kRowsAtOnce = 14;    ///< of a product, at least: its tiles have so many
constexpr Index kShort = 256;        ///< elements: kernels take longer stretches as they lie
constexpr double kFlopsAtOnce = 32;  ///< in the time of an element of an operation
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

using detail::whole_lines;

}  // namespace

Program::Program(std::vector<Operation> run, std::span<const Operand> operands,
                 const Extent& extent)
    : n_operands_(operands.size()),
      elements_(extent.shape.count()),
      row_(extent.row),
      unit_(extent.row) {
  std::size_t n_results = 0;
  Index least = row_;
  for (const Operation& o : run) {
    n_results = std::max(n_results, static_cast<std::size_t>(o.result + 1));
    unit_ = std::max(unit_, o.rows.n);
    least = std::max(least, kRowsAtOnce * o.rows.n);
  }
  const std::vector<bool> in_order = describe(run, operands, n_results);
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
    if (o.rows.kernel) {
      c.rows = static_cast<int>(products_.size());
      products_.push_back(o.rows);
      products_.back().shared = shared_bytes_;
      shared_bytes_ += whole_lines(o.rows.shared);
      last_read.resize(std::max<std::size_t>(last_read.size(), o.rows.first + o.rows.count), ~0u);
    }
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
  cut_into_blocks(std::max(least, std::clamp(fit / 64 * 64, kLeast, longest)));
  slot_bytes_ = whole_lines(static_cast<std::size_t>(rows_ * inner_) * element);
  find_cuts();
}

std::vector<bool> Program::describe(std::span<const Operation> run,
                                    std::span<const Operand> operands, std::size_t n_results) {
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
  return in_order;
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
    lane_bytes_ += whole_lines(static_cast<std::size_t>(kernels::kLanes * f.m) * f.element);
  if (!f.by_row && f.blocks > 1)
    partial_bytes_ += whole_lines(static_cast<std::size_t>(f.batch * f.blocks * f.m) * f.element);
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
  const Index step = std::max<Index>(unit_ / inner_, 1);
  rows_ -= rows_ % step;
  if (folds_.empty() && !products_.empty() && rows_ > kRowsAtOnce * step)
    rows_ -= rows_ % (kRowsAtOnce * step);
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
  /// `partials`: of the reductions, `shared`: of the products, for all threads.
  Worker(const Program& p, Inputs all, Outputs out, std::byte* partials, const std::byte* shared)
      : p_(p), all_(all), outputs_(out), partials_(partials), shared_(shared) {
    const Inputs in = all.first(p.n_operands_);
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
      else if (c.rows >= 0)
        make_rows(static_cast<std::size_t>(c.rows), first, count, out_[j]->data);
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
  void make_rows(std::size_t k, Index first, Index count, void* out) {
    const Rows& r = p_.products_[k];
    r.kernel->rows(all_.subspan(r.first, r.count), shared_ + r.shared, first / r.n,
                   (first + count) / r.n, out);
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
  Inputs all_;
  Outputs outputs_;
  std::byte *partials_, *lanes_;
  const std::byte* shared_;
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

std::size_t Program::workspace() const {
  return partial_bytes_ + shared_bytes_;  // both in whole lines
}

void Program::operator()(Inputs in, Outputs out) const {
  Index work = elements_ * static_cast<Index>(calls_.size());
  for (const Rows& r : products_) work += static_cast<Index>(r.flops / kFlopsAtOnce);
  const Index most = work < kGrain ? 1 : 4 * num_threads();
  const auto begins = folds_.empty() ? n_blocks_ : static_cast<Index>(cuts_.size());
  const Index parts = std::min(begins, most);
  const auto begin = [&](Index part) {
    const Index k = begins * part / parts;
    return folds_.empty() || part == parts ? n_blocks_ * part / parts
                                           : cuts_[static_cast<std::size_t>(k)];
  };
  detail::ScratchArray<std::byte> partials(partial_bytes_);
  detail::ScratchArray<std::byte> shared(shared_bytes_);
  for (const Rows& r : products_)
    r.kernel->prepare(in.subspan(r.first, r.count), shared.data() + r.shared);
  parallel_chunks(parts, [&](Index part) {
    Worker w(*this, in, out, partials.data(), shared.data());
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
