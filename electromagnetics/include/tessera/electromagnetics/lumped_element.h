// SPDX-License-Identifier: Apache-2.0
//
// Lumped R, L and C between two conductors, with or without a source: a box of edges of the grid
// whose medium is the circuit.
//
// A current density J = sigma(s) E through a box of length L along the current and cross-section W
// is the admittance sigma W / L. So the circuit of admittance Y is, on each edge of the box, the
// susceptibility
//
//   chi(s) = Y(s) L / (W eps0 s)
//
// on top of the medium there, with W the sum of the dual faces of the columns of edges, rims
// included, and L the open length of a column. Every circuit of R, L and C is a medium that the
// scheme has already, passive and implicit in time like these:
//
//   parallel   R: conductivity    C: permittivity         L: plasma without loss (double pole at 0)
//   series     R C: Debye         R L: Drude              R L C, L C: Lorentz
//
// and so restarts, slabs, cut cells, derivatives and mode solvers know it.
//
// The trapezoidal step has Y at s = i (2/dt) tan(w dt/2), exactly, between the current of a step
// and the mean of the voltages before and after it: V = V_dft cos(w dt/2). Of these two Re V I* is
// what the fields get, edge by edge. The edges of an element are circuits of their own, in series
// along the current and in parallel across; with V the mean over columns the power of the whole is
// Re V I* up to the variance of the voltage from column to column.
//
// M. Piket-May, A. Taflove, J. Baron, IEEE Trans. MTT 42 (1994) 1514 has R, L, C in single edges.
#pragma once
#include "tessera/electromagnetics/absorber.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/time_domain.h"

#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// Between two terminals; what has no value is not there. Values are positive.
struct Circuit {
  std::optional<double> resistance_ohm = {}, inductance_h = {}, capacitance_f = {};
  bool parallel = false;  ///< else in series
};
/// Y(s), 1/ohm, at complex s in rad/s; of a lossless resonance itself infinite.
std::complex<double> admittance(const Circuit& circuit, std::complex<double> s);
/// I = Y_s V_s - Y V of a circuit with a source: in series the voltage is behind all of it, Y_s =
/// Y; in parallel behind R alone, Y_s = 1/R, and L and C lie across the terminals.
std::complex<double> source_admittance(const Circuit& circuit, std::complex<double> s);
/// i (2/dt) tan(pi f dt): what the step takes for i w.
std::complex<double> stepped_frequency(double f_hz, double dt_s);
/// L and C scaled so that the step has the circuit's own admittance at f_hz: their errors, else of
/// tan(x)/x - 1 with x = pi f dt, are of the difference of f from f_hz.
Circuit exact_at(Circuit circuit, double f_hz, double dt_s);

/// A circuit over the box from `low` to `high`, both in m: the edges along `axis` between the lines
/// that are nearest to its ends, in all columns within. Its sign: V is the integral of E along the
/// axis, and I, where a source drives it, runs through the element against the axis.
///
/// A box without width lies as a wire on the lines next to it. Along an axis that is not resolved
/// it is 1 m long. It is drawn in the whole space: of one that a mirror of a symmetry halves, or of
/// a wire on it, the grid has half, and V and I are those of the whole. At other faces it ends.
struct LumpedElement {
  Circuit circuit;
  int axis = 2;
  Point low{}, high{};
};

/// The element on a grid.
struct PlacedElement {
  Circuit circuit;
  std::vector<Edge> edges;
  double length_m = 0, section_m2 = 0;  ///< L and W
  double images = 1;  ///< how often the columns are there in the whole, with those behind mirrors
  double parts = 1;   ///< the same of what lies in the grid, along the current, too
  /// [edges] V = sum of voltage times unknown e.
  std::vector<double> voltage;
  /// [edges] I = sum of share times the current through dual faces.
  std::vector<double> share;
  /// [edges] dual face times -Z0/l: the injection (Injection) of a current density of 1 A/m^2.
  std::vector<double> moment;
  /// What the element adds to the medium of its edges: susceptibility in `eps` (0 for none) and
  /// `poles`, conductivity in `sigma`.
  Medium added;
};
/// Edges for which `conductor` is true are part of the terminals. Throws Error for a circuit
/// without elements or with values that are not positive, a box without an open edge, outside of
/// the grid, across a wall or a mirror in which its field is odd, or not halved by the mirror that
/// it crosses.
PlacedElement place(const LumpedElement& element, const YeeGrid& grid,
                    const std::array<Faces, 3>& faces, const CutCellFractions& open = {},
                    const std::function<bool(const Edge&)>& conductor = {},
                    const SymmetryFaces& symmetry = {});
/// The same box with another circuit. Throws Error as `place` does for the circuit.
PlacedElement with_circuit(PlacedElement element, const Circuit& circuit);
/// A node at an end of the element that no conductor touches, neither an edge nor an outer face.
std::optional<Point> loose_end(const PlacedElement& element, const YeeGrid& grid,
                               const std::array<Faces, 3>& faces,
                               const std::function<bool(const Edge&)>& conductor);

/// `rows`, and on top of them the elements, for steps of dt_s; conductors stay what they are.
MaterialRows with_elements(MaterialRows rows, const std::vector<PlacedElement>& elements,
                           double dt_s);
/// Puts elements into a model, and takes their edges out of its tensors.
void add_elements(YeeModel& model, const std::vector<PlacedElement>& elements);

/// What drives an element with the source voltage `volts`, sampled at the middle of each step.
/// Throws Error without R.
Injection lumped_source(const PlacedElement& element, const Waveform& volts, double dt_s);

/// An element of a parallel circuit, or of R, L or C alone, whose values are arguments: its edges
/// as mixed edges, with parameters linear in 1/R, C and 1/L,
///   theta = base + conductance/R + capacitance C + reciprocal_inductance/L   [edges K].
///
///   model.mixed = free.edges;    // free = free_element(model, element); nothing is added to its
///   rows const YeeOpPtr op = yee_op(std::move(model)); auto loss = [&](Tensor r) { return
///   f(simulate(op, parameters(free, r, {}, {}), currents)); };
struct FreeElement {
  MixedEdges edges;
  Tensor base, conductance, capacitance, reciprocal_inductance;
};
/// Of the element's place; what its circuit is does not count. Throws Error where the medium there
/// has poles or is nonlinear.
FreeElement free_element(const YeeModel& model, const PlacedElement& element);
/// theta [edges K] of 0-dimensional tensors in ohm, H and F; undefined ones are not there.
Tensor parameters(const FreeElement& element, const Tensor& resistance, const Tensor& inductance,
                  const Tensor& capacitance);

/// Voltage and current of an element's terminals at one frequency, of transforms or amplitudes; the
/// current runs into the fields.
struct TerminalValues {
  std::complex<double> v, i;
};
/// From V, the sum over unknowns of whole steps (RunningDft), and the source's voltage.
TerminalValues terminal_values(const PlacedElement& element, std::complex<double> voltage,
                               std::complex<double> source, double f_hz, double dt_s);

/// The same from the fields alone, whoever drives them: the current is what passes through the
/// loops of h around the edges less what flows in the medium that they had without the element.
/// V and I are sums of weights times transforms of unknowns (RunningDft).
struct TerminalReading {
  std::vector<Edge> edges;  ///< those of the element, then h around them
  std::vector<std::vector<std::complex<double>>> voltage, current;  ///< [frequency][edge]
};
/// Of an element that is in the model. `of_wire`: it lies in the gap of a thin wire (thin_wire.h).
/// What flows in the medium there counts as the source's, so that the current is the wire's own,
/// and the capacitance of a cell, which a gap of that wire has not, is no part of what the
/// terminals see.
TerminalReading terminal_reading(const YeeModel& model, const PlacedElement& element,
                                 const std::vector<double>& frequencies_hz, bool of_wire = false);

}  // namespace tessera::electromagnetics
