// SPDX-License-Identifier: Apache-2.0
//
// Data of magnetotellurics as one table, whatever they are and wherever they come from: a row is
// one real number with its error and, once there is a model, its prediction.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::inversion {

struct Response;

/// Of which response. `yx` stands for -Zyx wherever it is one number, so that all have a phase in
/// 0..90 degrees over a layered earth.
enum class Element : std::uint8_t {
  determinant,  ///< sqrt(Zxx Zyy - Zxy Zyx), the root with positive real part; free of the axes'
                ///< direction
  average,      ///< (Zxy - Zyx) / 2, free of the axes' direction
  xy,           ///< Zxy: TE if x points along strike
  yx,           ///< -Zyx: TM if x points along strike
  xx,
  yy,
  tx,  ///< tipper, Hz = Tx Hx + Ty Hy
  ty
};

/// Which number of it.
enum class Part : std::uint8_t {
  real,          ///< ohm, or 1 for the tipper
  imag,          ///< likewise
  log10_rho,     ///< log10 of the apparent resistivity in ohm m
  phase,         ///< degrees
  phase_tensor,  ///< element of Phi = X^-1 Y (phase_tensor.h), 1
};

struct DatumKind {
  Element element = Element::determinant;
  Part part = Part::real;
  friend bool operator==(const DatumKind&, const DatumKind&) = default;
};

/// "zxy_re", "zdet_im", "tx_re", "log10_rho_xy", "phase_yx", "phase_tensor_xx" and back; nothing
/// for another word. Not every element has every part: see `exists`.
std::string name_of(DatumKind kind);
std::optional<DatumKind> kind_of(std::string_view name);
/// "ohm", "deg" or "1".
std::string unit_of(DatumKind kind);
/// The tipper has real and imaginary part; the phase tensor xx, xy, yx, yy; impedances all but
/// that.
bool exists(DatumKind kind);

/// One row per datum; columns of one length. The rows of a station stand together, in the order of
/// stations; within a station frequencies fall, and of one frequency kinds stand in the order they
/// were asked for.
struct DataTable {
  std::vector<std::int64_t> station;  ///< index of its station
  std::vector<double> frequency_hz;
  std::vector<DatumKind> kind;
  std::vector<double> value;
  std::vector<double> sigma;      ///< standard deviation, > 0
  std::vector<double> predicted;  ///< NaN: there is no model yet

  std::size_t size() const { return value.size(); }
  void add(std::int64_t of_station, double at_hz, DatumKind what, double is, double give_or_take);
  /// The rows of `other` behind these, of stations `first_station` later.
  void append(const DataTable& other, std::int64_t first_station);
};
/// Throws tessera::Error where columns differ in length, a number other than the prediction is not
/// finite, a frequency or sigma is not positive, stations fall or lie outside of 0..n_stations-1.
void require_valid(const DataTable& table, std::size_t n_stations);

/// A complex response of one station, of the rows real and imag of its impedance, else of its
/// apparent resistivity and phase. One sigma serves both numbers of a pair, so it is the larger of
/// theirs: of |Z| ln(10)/2 d log10 rho_a and |Z| d phase. Empty where the station has neither at
/// any frequency; a frequency with only one of a pair is left out.
Response response_of(const DataTable& table, std::size_t station, Element element);
/// The same of the predictions; sigma is that of the data.
Response predicted_response(const DataTable& table, std::size_t station, Element element);
/// Writes predictions of such a response, frequency by frequency as response_of gives them, into
/// the rows that they come from.
void set_predicted(DataTable& table, std::size_t station, Element element,
                   const Response& predicted);

/// Residuals (value - predicted) / sigma squared, their mean's root; over all rows, those of one
/// station, those of one kind. NaN where there is none.
double rms_of(const DataTable& table);
double rms_of_station(const DataTable& table, std::size_t station);
double rms_of_kind(const DataTable& table, DatumKind kind);

}  // namespace tessera::inversion
