// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

#include "../core/own_primitive.h"
#include "tessera/autodiff/forall.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

namespace tessera::blocks {
namespace {

constexpr Index kScratchBytes = Index{128}
                                << 10;  ///< of all registers of a worker: in the second-level cache
constexpr Index kLeast = 256,
                kMost = 4096;  ///< elements of a block: a call costs as much as some 50 of them
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

}  // namespace

Program::Program(std::vector<Operation> run, std::span<const View> operands) {
  std::size_t n_results = 0;
  for (const Operation& o : run)
    n_results = std::max(n_results, static_cast<std::size_t>(o.result + 1));
  dtypes_.resize(operands.size() + n_results);
  for (std::size_t k = 0; k < operands.size(); ++k) dtypes_[k] = operands[k].dtype;
  last_read.resize(operands.size());
  written.resize(n_results);
  merge_dimensions(operands[0].shape, operands, n_results);

  std::size_t element = 1;  // bytes, of the largest in scratch
  std::vector<Layout> layouts;
  const bool short_stretches = n_dims_ > 1 && dims_[n_dims_ - 1] < kShort;
  for (std::uint32_t k = 0; k < operands.size(); ++k) {
    layouts.push_back(layout_of(operands[k]));
    if (layouts[k] != Layout::other || !short_stretches) continue;
    layouts[k] = Layout::packed;
    gathered_.push_back({k, static_cast<std::uint32_t>(slots_++), false});
    element = std::max(element, size_of(operands[k].dtype));
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
  std::map<std::pair<std::uint32_t, Dtype>, std::uint32_t> known;
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
    for (const Source& s : o.in) inputs_.push_back(s.inside ? operand[s.index] : s.index);
    // An operand that dies here gives its slot to the result, if elements of one size replace each
    // other.
    std::vector<std::uint32_t> later;
    for (std::size_t k = 0; k < o.in.size(); ++k) {
      const Source& s = o.in[k];
      const bool repeated = std::any_of(o.in.begin(), o.in.begin() + static_cast<std::ptrdiff_t>(k),
                                        [&](const Source& t) { return same(s, t); });
      if (!s.inside || nodes[s.index].o.result >= 0 || last[s.index] != j || repeated) continue;
      (size_of(nodes[s.index].o.dtype) == size_of(o.dtype) ? free : later).push_back(slot[s.index]);
    }
    if (o.result >= 0) {
      operand[j] =
          static_cast<std::uint32_t>(operands.size()) + static_cast<std::uint32_t>(o.result);
      dtypes_[operand[j]] = o.dtype;
      written[static_cast<std::size_t>(o.result)] = static_cast<std::uint32_t>(j);
    } else {
      if (free.empty()) free.push_back(static_cast<std::uint32_t>(slots_++));
      slot[j] = free.back();
      free.pop_back();
      if (last[j] == j) free.push_back(slot[j]);
      const auto [it, fresh] =
          known.emplace(std::pair(slot[j], o.dtype), dtypes_.size() + registers_.size());
      if (fresh) registers_.push_back({o.dtype, slot[j]});
      operand[j] = it->second;
      element = std::max(element, size_of(o.dtype));
    }
    free.insert(free.end(), later.begin(), later.end());
    c.out = operand[j];
    calls_.push_back(c);
  }

  const Index fit = kScratchBytes / static_cast<Index>(std::max<std::size_t>(slots_, 1) * element);
  cut_into_blocks(std::clamp(fit / 64 * 64, kLeast, kMost));
  Index inner = 1;
  for (int d = outer_ + 1; d < n_dims_; ++d) inner *= dims_[d];
  slot_bytes_ = (static_cast<std::size_t>(rows_ * inner) * element + 63) / 64 * 64;
}

void Program::merge_dimensions(const Shape& shape, std::span<const View> operands,
                               std::size_t results) {
  strides_.resize(operands.size() + results);
  const Shape packed = row_major(shape);
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const auto stride = [&](std::size_t k) {
      return k < operands.size() ? operands[k].strides[d] : packed[d];
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
  Index inner = 1;
  outer_ = n_dims_ - 1;
  while (outer_ > 0 && inner * dims_[outer_] <= most) inner *= dims_[outer_--];
  rows_ = std::clamp<Index>(most / inner, 1, dims_[outer_]);
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

/// The views of one thread, moved from block to block.
class Program::Worker {
 public:
  Worker(const Program& p, Inputs in, Outputs out) : p_(p) {
    base_.resize(in.size() + out.size());
    views_.resize(base_.size() + p.registers_.size());
    sources_.assign(p.gathered_.size(), {});
    in_.clear(), out_.clear(), laid_.clear();
    std::byte* const memory = scratch(p.slots_ * p.slot_bytes_);
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
    for (std::size_t k = 0; k < base_.size(); ++k) {
      const auto& stride = p_.strides_[k];
      Index at = start * stride[static_cast<std::size_t>(p_.outer_)], rest = block / p_.pieces_;
      for (int d = p_.outer_ - 1; d >= 0; --d) {
        at += rest % p_.dims_[d] * stride[static_cast<std::size_t>(d)];
        rest /= p_.dims_[d];
      }
      laid_[k]->data = base_[k] + at * static_cast<Index>(size_of(p_.dtypes_[k]));
    }
    for (std::size_t j = 0; j < p_.gathered_.size(); ++j) gather(p_.gathered_[j], sources_[j]);
    for (std::size_t j = 0; j < p_.calls_.size(); ++j) {
      const Call& c = p_.calls_[j];
      if (c.kernel)
        c.kernel({in_.data() + c.in_begin, c.in_count}, {out_.data() + j, 1}, c.attr);
      else if (out_[j]->dtype == Dtype::f64)
        sum<double>(c, *out_[j]);
      else
        sum<float>(c, *out_[j]);
    }
  }

 private:
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
      views_[k].shape = p_.flat_ ? one : shape;
      views_[k].strides = row_major(views_[k].shape);
    }
    for (std::size_t k = 0; k < base_.size(); ++k) {
      View& v = *laid_[k];
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
  Lists& lists_ = lists();
  std::vector<std::byte*>& base_ = lists_.base;
  std::vector<View>& views_ = lists_.views;
  std::vector<Source>& sources_ = lists_.sources;
  std::vector<View*>& laid_ = lists_.laid;
  std::vector<const View*>& in_ = lists_.in;
  std::vector<View*>& out_ = lists_.out;
  Index rows_ = 0;
};

void Program::operator()(Inputs in, Outputs out) const {
  const Index work = out[0]->count() * static_cast<Index>(calls_.size());
  const Index parts = work < kGrain ? 1 : std::min<Index>(n_blocks_, 4 * num_threads());
  parallel_chunks(parts, [&](Index part) {
    Worker w(*this, in, out);
    for (Index b = n_blocks_ * part / parts; b < n_blocks_ * (part + 1) / parts; ++b) w.run(b);
  });
}

}  // namespace tessera::blocks
