// SPDX-License-Identifier: Apache-2.0
#include "time_domain/wire_currents.h"

#include <Eigen/Dense>

namespace tessera::electromagnetics {
namespace time_domain {
namespace {

Eigen::MatrixXd matrix_of(const std::vector<double>& symmetric, Eigen::Index n) {
  return Eigen::Map<const Eigen::MatrixXd>(symmetric.data(), n, n);
}

}  // namespace

struct WireCurrents::Impl {
  double dt;
  Eigen::MatrixXd elastance, inductance, answer;  ///< answer: (M/dt + R/2)^-1
  Eigen::VectorXd current, charge;
  std::vector<double> stored;           ///< [elements] charges of capacitors
  std::vector<double> through, across;  ///< [elements] I and V of the last step
};

WireCurrents::WireCurrents(std::shared_ptr<const WireNetwork> network, double dt_s)
    : network_(std::move(network)), impl_(std::make_unique<Impl>()) {
  const auto n = static_cast<Eigen::Index>(network_->shares.size());
  Impl& s = *impl_;
  s.dt = dt_s;
  s.inductance = matrix_of(network_->inductance, n);
  s.elastance = matrix_of(network_->elastance, network_->n_nodes);
  Eigen::MatrixXd system = s.inductance / dt_s;
  for (const WireNetwork::Element& e : network_->elements)
    for (const WireNetwork::Share& a : e.shares)
      for (const WireNetwork::Share& b : e.shares)
        system(a.of, b.of) += e.values.resistance_ohm / 2 * a.weight * b.weight;
  s.answer = system.llt().solve(Eigen::MatrixXd::Identity(n, n));
  s.current = Eigen::VectorXd::Zero(n);
  s.charge = Eigen::VectorXd::Zero(network_->n_nodes);
  s.stored.assign(network_->elements.size(), 0.0);
  s.through = s.across = s.stored;
}
WireCurrents::~WireCurrents() = default;
WireCurrents::WireCurrents(WireCurrents&&) noexcept = default;
WireCurrents& WireCurrents::operator=(WireCurrents&&) noexcept = default;

void WireCurrents::step(std::span<const double> volts, std::span<const double> sources) {
  Impl& s = *impl_;
  const WireNetwork& n = *network_;
  const auto through = [&](const WireNetwork::Element& e) {
    double sum = 0;
    for (const WireNetwork::Share& x : e.shares) sum += x.weight * s.current[x.of];
    return sum;
  };
  const Eigen::VectorXd potential = s.elastance * s.charge;
  const auto at = [&](std::int32_t node) { return node < 0 ? 0.0 : potential[node]; };
  Eigen::VectorXd drive(s.current.size());
  for (Eigen::Index k = 0; k < drive.size(); ++k) {
    const auto u = static_cast<std::size_t>(k);
    double sum = at(n.ends[u][0]) - at(n.ends[u][1]);
    for (const WireNetwork::Share& x : n.shares[u])
      sum += x.weight * volts[static_cast<std::size_t>(x.of)];
    drive[k] = sum;
  }
  std::vector<double> before(n.elements.size());
  for (std::size_t e = 0; e < n.elements.size(); ++e) {
    const WireElement& values = n.elements[e].values;
    before[e] = through(n.elements[e]);
    double own = sources[e] - values.resistance_ohm * before[e];
    if (values.capacitance_f) own -= s.stored[e] / *values.capacitance_f;
    for (const WireNetwork::Share& x : n.elements[e].shares) drive[x.of] += own * x.weight;
  }
  s.current += s.answer * drive;
  for (std::size_t k = 0; k < n.ends.size(); ++k) {
    const double moved = s.dt * s.current[static_cast<Eigen::Index>(k)];
    if (n.ends[k][0] >= 0) s.charge[n.ends[k][0]] -= moved;
    if (n.ends[k][1] >= 0) s.charge[n.ends[k][1]] += moved;
  }
  for (std::size_t e = 0; e < n.elements.size(); ++e) {
    const WireElement& values = n.elements[e].values;
    const double now = through(n.elements[e]);
    double across = sources[e] - values.resistance_ohm * (now + before[e]) / 2 -
                    values.inductance_h * (now - before[e]) / s.dt;
    if (values.capacitance_f) {
      across -= s.stored[e] / *values.capacitance_f;
      s.stored[e] += s.dt * now;
    }
    s.through[e] = now, s.across[e] = across;
  }
}

void WireCurrents::currents(std::span<double> edges) const {
  std::fill(edges.begin(), edges.end(), 0.0);
  for (std::size_t k = 0; k < network_->shares.size(); ++k)
    for (const WireNetwork::Share& x : network_->shares[k])
      edges[static_cast<std::size_t>(x.of)] +=
          x.weight * impl_->current[static_cast<Eigen::Index>(k)];
}
double WireCurrents::current(std::size_t element) const { return impl_->through[element]; }
double WireCurrents::voltage(std::size_t element) const { return impl_->across[element]; }

double WireCurrents::energy_j() const {
  const Impl& s = *impl_;
  double sum = s.current.dot(s.inductance * s.current) + s.charge.dot(s.elastance * s.charge);
  for (std::size_t e = 0; e < s.stored.size(); ++e)
    if (const auto& c = network_->elements[e].values.capacitance_f)
      sum += s.stored[e] * s.stored[e] / *c;
  return sum / 2;
}

std::vector<double> WireCurrents::state() const {
  const Impl& s = *impl_;
  std::vector<double> out(s.current.begin(), s.current.end());
  out.insert(out.end(), s.charge.begin(), s.charge.end());
  out.insert(out.end(), s.stored.begin(), s.stored.end());
  return out;
}
void WireCurrents::restore(const std::vector<double>& state) {
  Impl& s = *impl_;
  const auto n = static_cast<std::size_t>(s.current.size()),
             m = static_cast<std::size_t>(s.charge.size());
  if (state.size() != n + m + s.stored.size())
    throw Error("[WireCurrents] the state to go on from is that of other wires");
  std::copy_n(state.begin(), n, s.current.begin());
  std::copy_n(state.begin() + static_cast<std::ptrdiff_t>(n), m, s.charge.begin());
  std::copy_n(state.begin() + static_cast<std::ptrdiff_t>(n + m), s.stored.size(),
              s.stored.begin());
}

}  // namespace time_domain

Injection wire_source(std::size_t element, const Waveform& volts, double dt_s) {
  Injection out;
  out.edges = {{wire_current, static_cast<int>(element), 0, 0}};
  out.end_s = volts.end_s;
  out.fill = [at = volts.at, dt_s](std::int64_t first, std::int64_t n_steps, double* to) {
    for (std::int64_t n = 0; n < n_steps; ++n) to[n] = at(static_cast<double>(first + n) * dt_s);
  };
  return out;
}

}  // namespace tessera::electromagnetics
