// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, their values and both gradients, beside PyTorch on the same numbers, in f32 and
// f64, batch 8, on two threads; PyTorch in the faster of its two memory orders. Each of ours also
// beside our own matrix product: products a second over those of 1000^3, each the last of five
// calls in a row, without the peer, whose threads wait awake and whose numbers fill the cache.
// `convolution_bench CASE` runs one case.
#include "peers.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"

#include <cmath>

namespace {

using namespace tessera;

struct Case {
  const char* name;
  Shape x, w;
  Convolution c;
  bool counts;  ///< among those held to the rate of products: windows from 3, channels from 16
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"line", {8, 1024, 64}, {5, 64, 64}, {.low = {2}, .high = {2}}, true},
      {"image", {8, 128, 128, 16}, {3, 3, 16, 16}, {.low = {1, 1}, .high = {1, 1}}, true},
      {"stride",
       {8, 128, 128, 16},
       {3, 3, 16, 16},
       {.stride = {2, 2}, .low = {1, 1}, .high = {1, 1}},
       true},
      {"dilation",
       {8, 128, 128, 16},
       {3, 3, 16, 16},
       {.low = {2, 2}, .high = {2, 2}, .dilation = {2, 2}},
       true},
      {"pointwise", {8, 128, 128, 16}, {1, 1, 16, 16}, {}, false},
      {"depthwise",
       {8, 128, 128, 16},
       {3, 3, 1, 16},
       {.low = {1, 1}, .high = {1, 1}, .groups = 16},
       false},
      // PyTorch's stride 2, padding 1, output padding 1: to 128 x 128.
      {"transposed",
       {8, 64, 64, 16},
       {3, 3, 16, 16},
       {.low = {1, 1}, .high = {2, 2}, .input_dilation = {2, 2}},
       true},
      {"volume",
       {8, 32, 32, 32, 16},
       {3, 3, 3, 16, 32},
       {.low = {1, 1, 1}, .high = {1, 1, 1}},
       true}};
  return all;
}

Tensor numbers(const Shape& s, double step) {
  return reshape(sin(step * arange(s.count(), Dtype::f64)), s);
}
/// Products that take part in y, all borders counted as inside.
double products(const Case& k) {
  double n = static_cast<double>(k.w.count());
  for (int d = 0; d + 1 < k.x.size(); ++d) n *= static_cast<double>(k.x[d]);
  for (Index s : k.c.stride) n /= static_cast<double>(s);
  return n;
}

struct Means {
  double logs = 0, least = INFINITY;
  int count = 0;
  void add(double v) { logs += std::log(v), least = std::min(least, v), ++count; }
  double geometric() const { return std::exp(logs / count); }
};

void run(const Case& k, Dtype t, int rounds, bench::Peer& torch, Means& ratios, Means& shares) {
  const std::string name = std::string(k.name) + (t == Dtype::f32 ? "_f32" : "_f64");
  const Tensor x = cast(numbers(k.x, 0.37), t), w = cast(numbers(k.w, 0.53), t);
  const Tensor y = convolution(x, w, k.c), ct = cast(numbers(y.shape(), 0.71), t);
  const auto of_x = vjp([&](Tensor u) { return convolution(u, w, k.c); }, x).second;
  const auto of_w = vjp([&](Tensor u) { return convolution(x, u, k.c); }, w).second;
  std::vector<Tensor> gradients;
  const auto value = [&] { convolution(x, w, k.c); };
  const auto both = [&] { gradients = {of_x(ct), of_w(ct)}; };
  both();
  const std::string theirs[] = {name, name + "_last"};
  if (torch.there()) {
    for (const std::string& order : theirs)
      for (const char* what : {"_value", "_gradients"}) torch.warm(order + what);
    const double epsilon = t == Dtype::f32 ? 1e-4 : 1e-12;
    bench::must_agree((name + " value").c_str(), {y}, torch.result(name + "_value"), epsilon);
    bench::must_agree((name + " gradients").c_str(), gradients, torch.result(name + "_gradients"),
                      epsilon);
  }
  const Tensor a = cast(numbers({1000, 1000}, 0.1), t), b = cast(numbers({1000, 1000}, 0.2), t);
  const double of_gemm = products(k) / 1e9;
  std::vector<double> ours[4], gemm, ratio[2];
  const auto fifth_of = [](const auto& f) {
    for (int k = 0; k < 4; ++k) f();
    return bench::seconds_of(f);
  };
  for (int r = 0; r < rounds; ++r) {
    gemm.push_back(fifth_of([&] { matmul(a, b); }));
    ours[0].push_back(fifth_of(value));
    ours[2].push_back(fifth_of([&] { of_x(ct); }));
    ours[3].push_back(fifth_of([&] { of_w(ct); }));
  }
  if (torch.there())
    for (int r = 0; r < rounds; ++r)
      for (int i = 0; i < 2; ++i) {
        const double here = i == 0 ? bench::seconds_of(value) : bench::seconds_of(both);
        if (i == 1) ours[1].push_back(here);
        const std::string what = i == 0 ? "_value" : "_gradients";
        ratio[i].push_back(
            std::min(torch.seconds(theirs[0] + what), torch.seconds(theirs[1] + what)) / here);
      }
  const char* const parts[] = {"_value", "_gradients", "_gradient_x", "_gradient_w"};
  for (int i = 0; i < 4; ++i) {
    if (ours[i].empty()) continue;
    bench::print(name + parts[i] + "_ms", 1e3 * bench::median(ours[i]), "ms");
    if (i != 1) {
      const double share = of_gemm * bench::median(gemm) / bench::median(ours[i]);
      bench::print(name + parts[i] + "_of_gemm", share, "1");
      if (k.counts) shares.add(share);
    }
    if (i < 2 && torch.there()) {
      bench::print(name + parts[i] + "_ratio", bench::median(ratio[i]), "x");
      ratios.add(bench::median(ratio[i]));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  set_num_threads(2);
  bench::print_machine();
  std::map<std::string, Tensor> arrays;
  for (const Case& k : cases()) {
    if (!only.empty() && only != k.name) continue;
    const std::string name = k.name;
    const Tensor x = numbers(k.x, 0.37), w = numbers(k.w, 0.53), y = convolution(x, w, k.c);
    arrays[name + ".x"] = x, arrays[name + ".w"] = w,
                  arrays[name + ".c"] = numbers(y.shape(), 0.71);
  }
  bench::Peer torch("convolution_peer.py", "torch", arrays, 2);
  for (const Dtype t : {Dtype::f32, Dtype::f64}) {
    Means ratios, shares;
    for (const Case& k : cases())
      if (only.empty() || only == k.name) run(k, t, rounds, torch, ratios, shares);
    const std::string name = t == Dtype::f32 ? "convolution_f32" : "convolution_f64";
    if (ratios.count) bench::print(name + "_ratio", ratios.geometric(), "x");
    if (shares.count) {
      bench::print(name + "_of_gemm", shares.geometric(), "1");
      bench::print(name + "_of_gemm_least", shares.least, "1");
    }
  }
}
