// SPDX-License-Identifier: Apache-2.0
//
// From the steps of a plan to their order and their memory.
#pragma once
#include "blocks.h"
#include "shared_list.h"
#include "tessera/autodiff/primitive.h"

#include <memory>
#include <vector>

namespace tessera::plan {

inline std::size_t bytes_of(const Type& t) {
  return static_cast<std::size_t>(t.shape.count()) * size_of(t.dtype);
}

inline constexpr std::uint32_t kNone = ~0u;

/// Memory that values are views of.
struct Root {
  enum class Kind : std::uint8_t { argument, constant, arena, result } kind;
  std::uint32_t index = 0;     ///< argument or result number, constant number
  std::size_t bytes = 0;       ///< arena, result
  std::size_t offset = 0;      ///< arena
  Type type;                   ///< argument, result
  std::uint32_t over = kNone;  ///< result: the argument that nobody reads once this is written
};
/// A value as a view of a root; `view.data` holds the byte offset.
struct Placed {
  std::uint32_t root = kNone;
  View view;
};

/// An operation of a step and what it costs; what a step reads and writes is said by its operands.
struct Part {
  const char* operation;
  SourceLine line;
  bool product;  ///< of matrices, convolutions: it runs at the rate of fused steps
  Dtype dtype;
  Cost cost;
  std::vector<std::uint32_t> makes;  ///< roots
  const char* no_flops = nullptr;
};

/// One call of a kernel, or a run of them.
struct Step {
  const Primitive* primitive = nullptr;  ///< null: none
  KernelFn kernel = nullptr;             ///< null: `program`
  const Attributes* attr = nullptr;
  SourceLine line = {};
  bool elementwise = false;    ///< runs, too
  bool in_order = false;       ///< `after` the one before it, on the thread that runs the plan
  SharedList<Placed> in = {};  ///< orders of the steps that are tried out share them
  SharedList<std::uint32_t> out_roots = {};
  /// Steps of one wave follow each other and may run at once; 0: a wave of its own.
  std::uint32_t wave = 0;
  std::shared_ptr<const blocks::Program> program = nullptr;  ///< of a run (runs.h)
  std::uint32_t after = kNone;   ///< a root that is made before, wherever the step is moved
  std::size_t workspace = 0;     ///< bytes that its kernel takes
  std::size_t workspace_at = 0;  ///< in the arena
  std::vector<Part> parts = {};  ///< where they are asked for
};

struct Layout {
  std::vector<Step> steps;
  std::vector<Root> roots;
  std::size_t arena = 0;  ///< bytes
};

/// Without the element-wise steps and packed copies whose results nobody reads: a run of them would
/// have no result.
std::vector<Step> without_unread(std::vector<Step> steps, const std::vector<Root>& roots);

/// Puts steps that do not wait for each other together, unless that takes much more memory; joins
/// element-wise ones and reductions of at least `join_from` elements (runs.h), runs light ones that
/// give at least 128 join_from bytes at once; makes cheap values again where more than 256 KiB
/// (join_from - 1) are alive (recompute.h); and gives every root of the arena and every workspace
/// its place. `keep_order`: of all steps as they are. `kept`: arguments that are results
/// themselves.
Layout lay_out(std::vector<Step> steps, std::vector<Root> roots, const std::vector<bool>& kept,
               Index join_from, bool keep_order);

}  // namespace tessera::plan
