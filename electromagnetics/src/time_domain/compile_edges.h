// SPDX-License-Identifier: Apache-2.0
//
// Edges that have more than their row: lists, mixtures, tensors and nonlinear neighbours.
#pragma once
#include "time_domain/tables.h"

#include <cstdint>
#include <vector>

namespace tessera::electromagnetics::time_domain {

inline constexpr std::int64_t row_alignment = 16;  // elements: rows begin at cache lines
inline std::int64_t aligned(std::int64_t n) {
  return (n + row_alignment - 1) / row_alignment * row_alignment;
}

/// ds along the component's axis, 1/ds* across it (E), and with dual and primal lengths exchanged
/// (H); units of `unit`.
double metric(const YeeModel& m, int c, int axis, int i, double unit, bool periodic);
/// ds / l of an electric edge.
template <class T>
double field_unit(const Tables<T>& t, int c, int i, int j, int k);

/// What a row has besides its factors, made where there is nothing yet.
template <class T>
Special<T>& special_of(Tables<T>& t, int c, int j, int k);
/// Whether an absorbing layer has a part in the differences that an edge takes, or that are taken
/// of it.
template <class T>
bool in_layers(const Tables<T>& t, const Edge& e);
/// The terms of a run, with room in the state; `gain` is left to the caller.
template <class T>
Polarized<T> polarized_of(Tables<T>& t, const DispersiveRun& run, int first, int length);

/// Injected, recorded and traced edges.
template <class T>
void add_lists(Tables<T>& t, const YeeModel& m);
/// Mixed edges, in runs of neighbours. What their row has for them is put out of action; they keep
/// one of its factors for the mask of unknowns.
template <class T>
void add_mixed(Tables<T>& t, const YeeModel& m);
/// What the tensors couple, by the edges that take part. Across joined faces e_to e^{i phase_to} +=
/// W u_from e^{i phase_from}.
template <class T>
void add_tensors(Tables<T>& t, const YeeModel& m);
/// The neighbours of nonlinear edges, once all of these are known.
template <class T>
void find_neighbours(Tables<T>& t);

}  // namespace tessera::electromagnetics::time_domain
