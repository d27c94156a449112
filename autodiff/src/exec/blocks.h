// SPDX-License-Identifier: Apache-2.0
//
// A run of element-wise steps over one shape as one step: it goes block by block through all of
// them, so that what only they need never leaves the cache nor takes memory of the plan. The
// kernels are those of the single steps, but sums of products of reals,
//
//   y = a b + c d - e + ...,
//
// as recurrences of Taylor coefficients and Cauchy products are made of, keep their sum in
// registers. Operands that lie in short stretches (slices of channels, one number for each channel)
// are copied side by side for the block first, once where they repeat, so that the kernels see long
// ones. Reductions take what passes by (kernels/running_fold.h): threads begin at multiples of 512
// elements of every reduced sequence, and the blocks' results are folded at the end. Where blocks
// are whole rows, what a row's reduction gives is there for what follows: x - max(x), exp, its sum,
// the quotient. Products of matrices are taken row by row (RowKernel), so that the bias and the
// function that follow find them in the cache. The bits are those of the single steps: element i
// depends on elements i alone, every product and sum is rounded, none reordered.
#pragma once
#include "../kernels/running_fold.h"
#include "tessera/autodiff/primitive.h"

#include <array>
#include <span>
#include <vector>

namespace tessera::blocks {

/// Where an operand comes from: operation `index` of the run, or operand `index` of the run as a
/// whole.
struct Source {
  bool inside;
  std::uint32_t index;
};
/// A reduction over the axis of n elements of an array [b, n, m].
struct Reduced {
  const kernels::RunningFold* fold = nullptr;
  Index n = 1, m = 1;
};
/// What gives the rows of an array of the run, of n elements each, from `count` operands of the
/// step, which are not taken by element: from the `first` on, behind those of the run.
struct Rows {
  const RowKernel* kernel = nullptr;
  Index n = 0;
  std::uint32_t first = 0, count = 0;
  std::size_t shared = 0;  ///< bytes
  double flops = 0;
};
struct Operation {
  const Primitive* primitive;
  KernelFn kernel;
  const Attributes* attr;
  Dtype dtype;  ///< of its result
  std::vector<Source> in;
  int result = -1;       ///< which result of the run it is; -1: nobody else needs it
  Reduced reduced = {};  ///< with a fold: the only operand, all of it seen as [b, n, m], is reduced
  bool by_row = false;   ///< its result has one element for each row of the run
  bool spread = false;   ///< repeats an operand that has one element for each row
  Rows rows = {};        ///< with a kernel: the result comes from it
};
/// What a run goes over: all elements of `shape`, in rows of `row` elements where results by row
/// are read again in the run; these are trailing axes of the shape, and a row is at most
/// kernels::kLongestRow.
struct Extent {
  Shape shape;
  Index row = 0;  ///< 0: no rows
};
/// An operand: a view of the run's shape, or, by row, of one element for each row, side by side or
/// one for all.
struct Operand {
  View view;
  bool by_row = false;
};
/// +- a or +- a b, one after the other.
struct Term {
  enum class Kind : std::uint8_t {
    value,
    number,
    product,
    scaled
  } kind;  ///< a, one a for all, a b, one b for all
  bool minus;
  Source a, b;
};

class Program {
 public:
  /// Results are contiguous. The operands of the step are those of the run, then what rows are
  /// made from; where there are such, their n divides the run's rows, or these divide n.
  Program(std::vector<Operation> run, std::span<const Operand> operands, const Extent& extent);
  void operator()(Inputs in, Outputs out) const;
  std::size_t operations() const { return calls_.size(); }
  bool gathers() const { return !gathered_.empty(); }  ///< operands in short stretches
  std::size_t workspace() const;                       ///< bytes

  /// When each operand is read for the last time, and when each result is written: a result may be
  /// kept where an operand was that nobody reads later.
  std::vector<std::uint32_t> last_read, written;

 private:
  struct Call {
    KernelFn kernel;  ///< null: a sum or a reduction
    const Attributes* attr;
    std::uint32_t in_begin, in_count, out;  ///< numbers of views: operands, results, registers
    std::uint32_t terms;                    ///< the first of a sum's in `terms_`; two inputs each
    int fold = -1;                          ///< which of `folds_`
    bool spread = false;
    int rows = -1;  ///< which of `products_`
  };
  struct Fold {
    const kernels::RunningFold* loops;
    Index batch, n, m, blocks;  ///< of 512 in a sequence
    std::uint32_t result;
    std::size_t element;          ///< bytes
    std::size_t lanes, partials;  ///< bytes before them, among those of all folds
    bool by_row;                  ///< of rows of the run
    Index unit() const { return std::min(n, kernels::kBlock) * m; }
    /// Element i of the run is the first of a block of 512 of its sequences.
    bool begins_at(Index i) const { return i % m == 0 && i / m % n % kernels::kBlock == 0; }
  };
  struct Register {
    Dtype dtype;
    std::uint32_t slot;
    bool by_row;
    auto operator<=>(const Register&) const = default;
  };
  struct Gathered {
    std::uint32_t operand, slot;
    bool repeats;  ///< the block of one place in the outer dimensions is that of the next rows, too
  };
  class Worker;

  /// Types, and which results are one number for each element of the run.
  std::vector<bool> describe(std::span<const Operation> run, std::span<const Operand> operands,
                             std::size_t n_results);
  void merge_dimensions(const Shape& shape, std::span<const Operand> operands,
                        const std::vector<bool>& in_order);
  void cut_into_blocks(Index most);
  void find_cuts();
  void add_fold(const Operation& o);
  Index first_element(Index block) const {
    return (block / pieces_ * dims_[outer_] + block % pieces_ * rows_) * inner_;
  }
  /// Of sequences b of the fold, block after block.
  std::byte* partials_of(const Fold& f, Index b, Outputs out, std::byte* partials) const;

  std::vector<Call> calls_;
  std::vector<std::uint32_t> inputs_;  ///< of the calls, one after the other
  std::vector<Term> terms_;
  std::vector<Register> registers_;  ///< blocks of scratch as one element type
  std::vector<Dtype> dtypes_;        ///< of operands and results
  std::vector<Gathered> gathered_;
  std::vector<Fold> folds_;
  std::vector<Rows> products_;  ///< `shared`: bytes before it, among those of all
  std::size_t n_operands_ = 0;
  std::size_t slots_ = 0, slot_bytes_ = 0, lane_bytes_ = 0, partial_bytes_ = 0, shared_bytes_ = 0;

  // The shape with dimensions merged where all operands allow it: `outer_` dimensions are walked
  // one by one, the next is cut into pieces of `rows_`, the rest is whole in every block.
  int n_dims_ = 0, outer_ = 0;
  Index dims_[kMaxDims] = {};
  std::vector<std::array<Index, kMaxDims>> strides_;  ///< of operands, then results, in elements
  Index rows_ = 0, inner_ = 0, pieces_ = 0, n_blocks_ = 0, elements_ = 0;
  std::vector<Index> cuts_;         ///< with reductions: the blocks at which a thread may begin
  Index row_ = 0;                   ///< elements
  Index unit_ = 0;                  ///< elements that are whole rows, also of products
  std::vector<Index> row_strides_;  ///< of operands and results by row, in elements; of others -1
  bool flat_ = false;               ///< in a block all operands are one stretch, or one number
};

}  // namespace tessera::blocks
