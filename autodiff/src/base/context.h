// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fast_thread_local.h"
#include "tessera/autodiff/source_line.h"

#include <memory>
#include <vector>

namespace tessera {
class Recorder;
}

namespace tessera::detail {

class Workspace;

/// What this thread is doing: the transforms in force and the user's line, for error messages; the
/// branch that is being recorded, which takes all operations inside of it; the program that is
/// being recorded, which takes those of Ordering::every; the memory of its kernel.
struct Context {
  std::vector<const char*> transforms;
  SourceLine line;
  /// Of the operation whose rule is running, or of the call of what is made of operations: all that
  /// these call is of that line.
  SourceLine rule;
  const std::shared_ptr<Recorder>* branch = nullptr;
  const std::shared_ptr<Recorder>* program = nullptr;
  Workspace* workspace = nullptr;  ///< of the kernel that is running
};
/// This thread's, once it has asked.
TESSERA_FAST_THREAD_LOCAL extern Context* known_context;
Context& first_context();
inline Context& context() { return known_context ? *known_context : first_context(); }
/// The user's line of the operation whose rule is running.
SourceLine context_line();

/// While it lives, operations run: what a kernel calls is no part of the branch or the program that
/// is being recorded.
class OutsideOfBranch {
 public:
  OutsideOfBranch() { context().branch = context().program = nullptr; }
  ~OutsideOfBranch() {
    context().branch = branch_;
    context().program = program_;
  }
  OutsideOfBranch(const OutsideOfBranch&) = delete;

 private:
  const std::shared_ptr<Recorder>* branch_ = context().branch;
  const std::shared_ptr<Recorder>* program_ = context().program;
};

/// The user's line in error messages while an operation is recorded or run. Errors that come after
/// it do not name it.
class AtLine {
 public:
  AtLine(Context& c, SourceLine line) : c_(c), before_(c.line) { c.line = line; }
  ~AtLine() { c_.line = before_; }
  AtLine(const AtLine&) = delete;

 private:
  Context& c_;
  SourceLine before_;
};

/// While it lives, kernels of this thread take their memory there.
class WithWorkspace {
 public:
  WithWorkspace(Context& c, Workspace* w) : c_(c), before_(c.workspace) { c.workspace = w; }
  ~WithWorkspace() { c_.workspace = before_; }
  WithWorkspace(const WithWorkspace&) = delete;

 private:
  Context& c_;
  Workspace* before_;
};

/// While it lives, what is called is called by a rule of the operation of that line.
class InRule {
 public:
  InRule(Context& c, SourceLine line) : at_(c, line), c_(c), before_(c.rule) { c.rule = line; }
  ~InRule() { c_.rule = before_; }
  InRule(const InRule&) = delete;

 private:
  AtLine at_;
  Context& c_;
  SourceLine before_;
};

/// While it lives, what is called is called by the library's function that was called in that line;
/// the outermost counts.
class CalledAt {
 public:
  explicit CalledAt(SourceLine line) : c_(context()), outermost_(!is_known(c_.rule)) {
    if (outermost_) c_.rule = line;
  }
  ~CalledAt() {
    if (outermost_) c_.rule = {};
  }
  CalledAt(const CalledAt&) = delete;

 private:
  Context& c_;
  const bool outermost_;
};

/// A transform's name in error messages while it lives.
class InTransform {
 public:
  explicit InTransform(const char* name) { context().transforms.push_back(name); }
  ~InTransform() { context().transforms.pop_back(); }
  InTransform(const InTransform&) = delete;
};

}  // namespace tessera::detail
