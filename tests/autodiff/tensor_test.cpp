// SPDX-License-Identifier: Apache-2.0
//
// What users of an array library expect: making, viewing, printing and exchanging tensors.
#include "tessera/autodiff/eigen.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/npy.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

using namespace tessera;

TEST(Tensor, ViewsMemoryOfOthersWithoutACopy) {
  std::vector<double> mine = {1, 2, 3, 4, 5, 6};
  bool released = false;
  {
    const Tensor t = from_pointer(mine.data(), {2, 3}, [&] { released = true; });
    EXPECT_EQ(t.data<double>().data(), mine.data());
    const Tensor column = select(t, 1, 2);  // strided view, keeps the memory
    EXPECT_EQ(column.to_vector(), (std::vector<double>{3, 6}));
    EXPECT_EQ(sum(t).item(), 21.0);
    EXPECT_FALSE(released);
  }
  EXPECT_TRUE(released);
}

TEST(Tensor, ExchangesMatricesWithEigen) {
  Eigen::MatrixXd m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  const Tensor t = from_eigen(m);
  EXPECT_EQ(t.to_vector(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(as_eigen<double>(t), m);
  const Tensor turned = transpose(t);
  EXPECT_EQ(as_eigen<double>(turned), m.transpose());
  EXPECT_THROW(as_eigen<float>(t), Error);
}

TEST(Tensor, PrintsTypeAndElementsAndCutsLongOnes) {
  EXPECT_EQ(to_string(tensor({1.5, -2.0})), "f64[2] [1.5, -2]");
  EXPECT_EQ(to_string(reshape(arange(4), {2, 2})), "i64[2,2]\n[[0, 1],\n [2, 3]]");
  EXPECT_EQ(to_string(scalar(c128(1, -2), Dtype::c128)), "c128[] 1-2i");
  const std::string big = to_string(zeros({5000}));
  EXPECT_EQ(big, "f64[5000] [0, 0, 0, ..., 0, 0, 0]");
  std::string seen;
  grad([&](Tensor x) { return seen = to_string(x), x * x; })(Tensor(3.0));
  EXPECT_EQ(seen, "f64[] traced by grad 3");
}

TEST(Tensor, ReadsNothingNarrowedSilently) {
  EXPECT_EQ(cast(2.0, Dtype::f32).item(), 2.0);
  EXPECT_THROW(Tensor(2.0).item<float>(), Error);
  EXPECT_THROW(Tensor(2.0).to_vector<float>(), Error);
  EXPECT_THROW(zeros({2}).item(), Error);
}

TEST(Npy, RoundTripsEveryTypeAndOrder) {
  const auto dir =
      std::filesystem::temp_directory_path() / ("tessera_npy_" + std::to_string(::getpid()));
  std::filesystem::create_directory(dir);
  for (Dtype d : {Dtype::boolean, Dtype::u8, Dtype::i32, Dtype::i64, Dtype::u32, Dtype::f32,
                  Dtype::f64, Dtype::c64, Dtype::c128}) {
    const Tensor t = transpose(reshape(cast(arange(6), d), {2, 3}));
    save_npy(dir / "a.npy", t);
    const Tensor back = load_npy(dir / "a.npy");
    EXPECT_EQ(back.type(), t.type());
    EXPECT_TRUE(all(equal(back, t)).item<bool>()) << name_of(d);
  }
  // Column-major and big-endian, by hand: [[1, 2], [3, 4]] as '>i4'.
  std::string head = "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 2), }";
  head.resize(128 - 10 - 1, ' ');
  head += '\n';
  std::ofstream out(dir / "b.npy", std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00", 8) << char(head.size()) << '\0' << head;
  for (int v : {1, 3, 2, 4}) out << '\0' << '\0' << '\0' << char(v);
  out.close();
  EXPECT_EQ(load_npy(dir / "b.npy").to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, 2, 3, 4}));
  EXPECT_THROW(load_npy(dir / "none.npy"), Error);
  EXPECT_THROW(load_npy(dir), Error);
  std::filesystem::remove_all(dir);
}

// A file that cannot take its place is an error that names it, and leaves no draft beside it.
TEST(Npy, WritesNoFileWhereAFolderStands) {
  const auto dir =
      std::filesystem::temp_directory_path() / ("tessera_npy_taken_" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir / "a.npy");
  EXPECT_THROW(save_npy(dir / "a.npy", zeros({2})), Error);
  EXPECT_THROW(save_npy(dir / "none" / "a.npy", zeros({2})), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir), {}), 1);
  std::filesystem::remove_all(dir);
}

TEST(Memory, LimitsAndCounts) {
  const std::size_t before = memory_stats().in_use;
  {
    const Tensor t = zeros({1 << 20});
    EXPECT_GE(memory_stats().in_use, before + (8u << 20));
    set_memory_limit(memory_stats().in_use + (1u << 20));
    EXPECT_THROW(zeros({1 << 20}), OutOfMemory);
    set_memory_limit(0);
  }
  EXPECT_LT(memory_stats().in_use, before + (1u << 20));
}

TEST(Threads, CallsFromSeveralHostThreadsDoNotDisturbEachOther) {
  const Tensor x = linspace(-1, 1, 1000);
  const auto f = [](Tensor x) { return sum(sin(x) * exp(x)); };
  const auto expect = grad(f)(x).to_vector();
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> pool;
  for (int t = 0; t < 4; ++t)
    pool.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) wrong[t] += grad(f)(x).to_vector() != expect;
    });
  for (auto& t : pool) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}
