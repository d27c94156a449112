# SPDX-License-Identifier: Apache-2.0
"""Faults that `nesting` has to find, each planted alone: (what, file, the text as it is, the text that is wrong)."""

FAULTS = (
    ("a dropped mask: elements of a batch that are done go on",
     "autodiff/src/control/loop_batch.cpp",
     "for (std::size_t k = 0; k < s.n_carry; ++k) y[k] = choose(lanes, y[k], carry[k]);",
     "for (std::size_t k = 0; k < s.n_carry; ++k) y[k] = choose(logical_or(lanes, logical_not(lanes)), y[k], carry[k]);"),
    ("a stale capture: what a loop uses from around it has no derivative",
     "autodiff/src/control/scan.cpp",
     "  append(operands, body.captured);",
     "  for (const Tensor& t : body.captured) operands.push_back(stop_gradient(t));"),
    ("tangents swapped: a custom rule gets those of its first two arguments in the other order",
     "autodiff/src/transform/custom.cpp",
     "    const std::vector<Tensor> r = c.rule(x, y, tangents);",
     "    if (tangents.size() > 1 && tangents[0].type() == tangents[1].type()) std::swap(tangents[0], tangents[1]);\n"
     "    const std::vector<Tensor> r = c.rule(x, y, tangents);"),
    ("a plan kept for another shape: arguments are told by their number",
     "autodiff/src/exec/plan.cpp",
     "if (known.types == types && known.structure == structure)",
     "if (known.types.size() == types.size() && known.structure == structure)"),
    ("a carry numbered wrongly: those that the condition of a transposed loop reads, as if none had gone",
     "autodiff/src/control/loop_transpose.cpp",
     "turned_->condition_carry.push_back(rank(linear_carry, k, false));",
     "turned_->condition_carry.push_back(k);"),
    ("equal points joined: operands that begin at one tensor are one",
     "autodiff/src/transform/expansion.cpp",
     "const auto first = static_cast<std::size_t>(\n"
     "        std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) -\n"
     "        names.begin());",
     "std::size_t first = 0;\n"
     "    while (first < i && in[first][0].value.impl() != in[i][0].value.impl()) ++first;"),
)
