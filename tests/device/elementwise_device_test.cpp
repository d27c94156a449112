// SPDX-License-Identifier: Apache-2.0
//
// The device half of the element-wise primitives: as many as the host half, and, where a device is,
// the same bits.
#include "cuda/elementwise.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/ops.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <iomanip>
#include <limits>
#include <random>
#include <sstream>

using namespace tessera;

namespace {

constexpr Dtype kAll[] = {Dtype::boolean, Dtype::u8,  Dtype::i32, Dtype::i64, Dtype::u32,
                          Dtype::f32,     Dtype::f64, Dtype::c64, Dtype::c128};

/// One element-wise primitive on operands of one type, with the parameter that the device takes.
struct Case {
  const Primitive* primitive;
  std::vector<Dtype> in;
  AttributesPtr attr;
  int parameter = 0;
  Dtype type() const { return in.back(); }
  KernelFn host() const { return primitive->kernel(in, attr.get()); }
  device::Elementwise device() const { return device::elementwise(primitive->name, type()); }
};

/// The attributes of the last equation of f, or of its last one of this name.
AttributesPtr attributes_of(const std::function<Tensor(Tensor)>& f, Dtype t,
                            std::string_view name = {}) {
  const Type type{t, {2}};
  AttributesPtr last;
  const Graph g =
      trace([&](const std::vector<Tensor>& x) { return std::vector<Tensor>{f(x[0])}; }, {&type, 1});
  for (const Graph::Equation& e : g.equations)
    if (name.empty() || name == e.primitive->name) last = e.attr;
  return last;
}

/// The derivative of x^y at y = x, so many times in x and then in y.
std::function<Tensor(Tensor)> power_along(int in_x, int in_y) {
  std::function<Tensor(Tensor, Tensor)> f = [](Tensor x, Tensor y) { return pow(x, y); };
  for (int k = 0; k < in_x + in_y; ++k)
    f = [f, along_x = k < in_x](Tensor x, Tensor y) {
      const Tensor one = ones(x.shape(), x.dtype());
      return along_x ? jvp([&](Tensor u) { return f(u, y); }, x, one).second
                     : jvp([&](Tensor u) { return f(x, u); }, y, one).second;
    };
  return [f](Tensor x) { return f(x, x); };
}

int operands(const Primitive& p) {
  if (std::string_view(p.name) == "select") return 3;
  for (int n = 1; n <= 2; ++n)
    for (Dtype t : kAll) try {
        p.infer(Types(static_cast<std::size_t>(n), Type{t, {2}}), nullptr);
        return n;
      } catch (const Error&) {
      }
  return 0;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Primitive* p : registered_primitives()) {
    if (!p->elementwise) continue;
    const std::string_view name = p->name;
    for (Dtype t : kAll) {
      const auto add = [&](std::vector<Dtype> in, AttributesPtr attr, int parameter) {
        all.push_back({p, std::move(in), std::move(attr), parameter});
      };
      if (name == "cast") {
        for (Dtype to : kAll)
          if (to != t)
            add({t}, attributes_of([&](Tensor x) { return cast(x, to); }, t), static_cast<int>(to));
      } else if (name == "pow_int") {
        for (int n : {0, 1, 5, -3})
          if (is_inexact(t) || n >= 0)
            add({t},
                t == Dtype::boolean ? AttributesPtr()
                                    : attributes_of([&](Tensor x) { return pow(x, n); }, t),
                n);
      } else if (name == "polygamma") {
        add({t},
            is_float(t) ? attributes_of([&](Tensor x) { return polygamma(2, x); }, t)
                        : AttributesPtr(),
            2);
      } else if (name == "pow_derivative") {
        for (auto [in_x, in_y] : {std::pair(1, 0), {3, 0}, {0, 2}, {2, 1}})
          add({t, t},
              is_inexact(t) ? attributes_of(power_along(in_x, in_y), t, name) : AttributesPtr(),
              in_x + 1000 * in_y);
      } else if (name == "select") {
        add({Dtype::boolean, t, t}, {}, 0);
      } else {
        add(std::vector<Dtype>(static_cast<std::size_t>(operands(*p)), t), {}, 0);
      }
    }
  }
  return all;
}

std::string name_of_case(const Case& c) {
  return std::string(c.primitive->name) + " of " + name_of(c.type()) + ", parameter " +
         std::to_string(c.parameter);
}

constexpr Index kCount = 100'003;

template <class R>
using BitsOf = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;

/// Small and large, negative, zero, infinite and not a number, and any exponent.
Tensor operand(Dtype t, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double special[] = {0.0,    -0.0,   1.0,  -1.0,
                            0.5,    inf,    -inf, std::numeric_limits<double>::quiet_NaN(),
                            1e-300, -1e300, 7.0};
  const auto draw = [&]<class R>(R) {
    const auto k = random() % 8;
    return k == 0   ? static_cast<R>(special[random() % std::size(special)])
           : k == 1 ? static_cast<R>(normal(random) * 1e4)
           : k == 2 ? static_cast<R>(normal(random) * 1e-4)
           : k == 3 ? std::bit_cast<R>(static_cast<BitsOf<R>>(random()))
                    : static_cast<R>(normal(random));
  };
  Tensor x = empty({t, {kCount}});
  visit_dtype(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = static_cast<T*>(x.view().data);
    for (Index i = 0; i < kCount; ++i) {
      if constexpr (std::is_integral_v<T>)
        p[i] = static_cast<T>(std::is_same_v<T, bool> ? random() % 2 : random() >> random() % 64);
      else if constexpr (std::is_floating_point_v<T>)
        p[i] = draw(T());
      else
        p[i] = T(draw(typename T::value_type()), draw(typename T::value_type()));
    }
  });
  return x;
}

struct DeviceArray {
  void* data = nullptr;
  explicit DeviceArray(std::size_t bytes) {
    if (cudaMalloc(&data, bytes) != cudaSuccess) throw std::bad_alloc();
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
};

template <class R>
bool same(R a, R b) {
  return std::memcmp(&a, &b, sizeof(R)) == 0 || (a != a && b != b);
}

/// How many elements differ and what the first of them are, of which operands; empty where none do.
std::string differences(const Tensor& host, const Tensor& device, const std::vector<Tensor>& in) {
  const auto element = [](const Tensor& x, Index i) {
    std::ostringstream text;
    visit_dtype(x.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      text << std::setprecision(17) << static_cast<const T*>(x.view().data)[i];
    });
    return text.str();
  };
  Index n = 0;
  std::ostringstream text;
  visit_dtype(host.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = static_cast<const T*>(host.view().data);
    const T* y = static_cast<const T*>(device.view().data);
    for (Index i = 0; i < kCount; ++i) {
      if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
        if (same(x[i].real(), y[i].real()) && same(x[i].imag(), y[i].imag())) continue;
      } else if (same(x[i], y[i])) {
        continue;
      }
      if (++n > 3) continue;
      for (const Tensor& operand : in) text << element(operand, i) << " ";
      text << "gives " << element(host, i) << " on the host, " << element(device, i)
           << " on the device\n";
    }
  });
  return n ? std::to_string(n) + " of " + std::to_string(kCount) + " differ:\n" + text.str() : "";
}

}  // namespace

/// Series and continued fractions of data-dependent length in std::complex: host code
/// (docs/decisions/0041-bessel.md).
bool host_alone(std::string_view primitive) {
  return primitive.starts_with("bessel_") || primitive.starts_with("hankel");
}

TEST(Device, HasEveryElementwisePrimitiveOfTheHost) {
  int both = 0;
  for (const Case& c : cases()) {
    const bool host = c.host() != nullptr;
    EXPECT_EQ(c.device() != nullptr, host && !host_alone(c.primitive->name)) << name_of_case(c);
    both += host && c.device();
  }
  EXPECT_GT(both, 300);
}

TEST(Device, GivesTheBitsOfTheHost) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    GTEST_SKIP() << "no device: the kernels were compiled, not run";
  for (const Case& c : cases()) {
    const KernelFn host = c.host();
    const device::Elementwise launch = c.device();
    if (!host || !launch) continue;
    std::vector<Tensor> in;
    std::vector<const View*> views;
    for (std::size_t k = 0; k < c.in.size(); ++k)
      in.push_back(operand(c.in[k], static_cast<unsigned>(k + 1)));
    for (const Tensor& x : in) views.push_back(&x.view());
    const Dtype result = c.primitive->result(c.in, c.attr.get());
    const Tensor expect = empty({result, {kCount}}), got = empty({result, {kCount}});
    View out = expect.view();
    View* const outs = &out;
    host(views, {&outs, 1}, c.attr.get());

    std::vector<std::unique_ptr<DeviceArray>> memory;
    std::vector<const void*> device_in;
    for (const Tensor& x : in) {
      const std::size_t bytes = kCount * size_of(x.dtype());
      memory.push_back(std::make_unique<DeviceArray>(bytes));
      ASSERT_EQ(cudaMemcpy(memory.back()->data, x.view().data, bytes, cudaMemcpyHostToDevice),
                cudaSuccess);
      device_in.push_back(memory.back()->data);
    }
    const DeviceArray device_out(kCount * size_of(result));
    launch(kCount, device_in.data(), device_out.data, c.parameter, nullptr);
    ASSERT_EQ(cudaMemcpy(got.view().data, device_out.data, kCount * size_of(result),
                         cudaMemcpyDeviceToHost),
              cudaSuccess)
        << name_of_case(c);
    EXPECT_EQ(differences(expect, got, in), "") << name_of_case(c);
  }
}

TEST(Device, TakesNoElementsAndMoreThanAGridHasThreads) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    GTEST_SKIP() << "no device: the kernels were compiled, not run";
  const device::Elementwise negate = device::elementwise("neg", Dtype::i32);
  const void* const none[] = {nullptr};
  negate(0, none, nullptr, 0, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);

  constexpr std::size_t n = (std::size_t(1) << 24) + 5;  // 2^16 blocks of 256, and five more
  std::vector<std::int32_t> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<std::int32_t>(i);
  const DeviceArray in(4 * n), out(4 * n);
  ASSERT_EQ(cudaMemcpy(in.data, x.data(), 4 * n, cudaMemcpyHostToDevice), cudaSuccess);
  const void* const operands[] = {in.data};
  negate(static_cast<std::int64_t>(n), operands, out.data, 0, nullptr);
  ASSERT_EQ(cudaMemcpy(y.data(), out.data, 4 * n, cudaMemcpyDeviceToHost), cudaSuccess);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += y[i] != -x[i];
  EXPECT_EQ(wrong, 0U);
}
