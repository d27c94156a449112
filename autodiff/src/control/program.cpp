// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include "../exec/plan_run.h"
#include "../transform/subgraph.h"

namespace tessera::detail {
namespace {

class PlanProgram : public Program {
 public:
  explicit PlanProgram(const Graph& g) : plan_(g) {}
  std::unique_ptr<Run> start() const override { return std::make_unique<PlanRun>(plan_); }

 private:
  struct PlanRun : Run {
    Plan::Run run;
    explicit PlanRun(const Plan& p) : run(p) {}
    void operator()(const std::byte* const* in, std::byte* const* out) override { run(in, out); }
  };
  Plan plan_;
};

}  // namespace

std::unique_ptr<const Program> compile(const Graph& g) {
  const Graph o = simplify(with_calls_opened(g));
  if (auto scalar = compile_scalar(o)) return scalar;
  return std::make_unique<PlanProgram>(o);
}

}  // namespace tessera::detail
