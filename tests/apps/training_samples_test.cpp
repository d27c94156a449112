// SPDX-License-Identifier: Apache-2.0
// solvers.training: samples that it cannot learn from, by their place, and ends that runs have
// passed.
#include "app_test.h"
#include "csv_columns.h"
#include "tessera/autodiff/nn/sequential.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"
#include "tessera/data/onnx.h"
#include "tessera/data/split.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace tessera::testing;
using tessera::Index;
using tessera::Tensor;
using tessera::data::write_npy;

namespace {

constexpr int kCount = 40;

class TrainingSamples : public AppTest {
 protected:
  /// Arrays of kCount samples, `changes` in the table `training`.
  static std::string arrays(const std::string& changes, const std::string& tables = "") {
    return "app = \"solvers.training\"\n"
           "data = {inputs = [\"x.npy\"], targets = [\"y.npy\"]}\n"
           "split = {validation = 0.2, test = 0.2, seed = 3}\n"
           "network = {widths = [4]}\n" +
           tables + "training = {batch = 4" + changes + "}\n";
  }
  Outcome ran(const std::string& toml, const std::string& verb = "run") {
    write("case.toml", toml);
    if (verb != "run") return tessera({verb, "case.toml"});
    return tessera({"run", "case.toml", "--output", "RUN", "--force", "-q"});
  }
  void refused(const std::string& toml, int code, const std::string& text) {
    const Outcome o = ran(toml);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_TRUE(holds(o.err, text)) << "expected: " << text << "\n" << o.err;
  }
  static tessera::data::Split split(int count = kCount) {
    return tessera::data::split_at_random(count, {0.2, 0.2}, 3);
  }
  /// 0 to 3 in turns.
  static std::vector<double> fours() {
    std::vector<double> v;
    for (int k = 0; k < kCount; ++k) v.push_back(k % 4);
    return v;
  }
};

/// A number for each of five.
struct Row {
  Tensor weight;
  TESSERA_TREE(weight)
};
struct Looked {
  Row input;
  TESSERA_TREE(input)
};

}  // namespace

TEST_F(TrainingSamples, OneHotKnowsItsClassesAlone) {
  const std::string toml = arrays(", epochs = 2", "input_transform = [{kind = \"one_hot\"}]\n");
  write_npy(here() / "y.npy", tessera::tensor(fours()));
  for (const auto& held_out : {split().test, split().validation})
    for (const double number : {4.0, 2.5}) {
      std::vector<double> v = fours();
      const auto k = held_out.back();
      v[static_cast<std::size_t>(k)] = number;
      write_npy(here() / "x.npy", tessera::tensor(v));
      refused(toml, 4,
              "x.npy: error E0672: input " + std::to_string(k) + " has " +
                  (number == 4 ? "4" : "2.5") + ": expected an integer from 0 to 3");
    }
  write_npy(here() / "x.npy", tessera::tensor(fours()));
  ASSERT_EQ(ran(toml).code, 0);
  write_npy(here() / "ask.npy", tessera::tensor(std::vector<double>{1, 9}));
  const Outcome asked = tessera({"predict", "RUN", "ask.npy", "-o", "said.npy"});
  EXPECT_EQ(asked.code, 4);
  EXPECT_TRUE(holds(asked.err, "input 1 has 9: expected an integer from 0 to 3")) << asked.err;
}

TEST_F(TrainingSamples, NumbersAreThoseOfTheFiles) {
  // A training sample that has another number among those.
  const std::vector<std::int64_t> train = split().train;
  const auto k = static_cast<std::size_t>(train.back());
  ASSERT_NE(k, train.size() - 1);
  std::vector<double> v(kCount, 1.0);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] += 0.01 * static_cast<double>(i % 7);
  write_npy(here() / "x.npy", tessera::tensor(v));
  v[k] = -1;
  write_npy(here() / "y.npy", tessera::tensor(v));
  refused(arrays("", "target_transform = [{kind = \"log\"}]\n"), 5,
          "target_transform: sample " + std::to_string(k) + " has -1: the logarithm");
  v[k] = 1e30;
  write_npy(here() / "y.npy", tessera::tensor(v));
  refused(arrays(", parts = 4, clip_norm = 1e-9", "target_transform = [{kind = \"none\"}]\n"), 7,
          "the loss is not finite");
  const Outcome o =
      ran("app = \"solvers.training\"\ndata = {inputs = [\"x.npy\"], targets = [\"y.npy\"]}\n"
          "split = {validation = 0.2, test = 0.2, seed = 3}\nnetwork = {widths = [4]}\n"
          "target_transform = [{kind = \"none\"}]\ntraining = {batch = 1}\n");
  EXPECT_TRUE(holds(o.err, ", of samples " + std::to_string(k) + ":")) << o.err;
}

TEST_F(TrainingSamples, ASampleIsToldInItsOwnFile) {
  const auto of_both = tessera::data::split_at_random(2 * kCount, {0.2, 0.2}, 3);
  const std::int64_t k = of_both.test.back();
  ASSERT_GE(k, kCount);
  const auto table = [&](std::int64_t bad) {
    std::string text = "a,y\n";
    for (std::int64_t i = 0; i < kCount; ++i)
      text += i == bad ? "1e300,1\n" : std::to_string(i % 7) + "," + std::to_string(i % 5) + "\n";
    return text;
  };
  write("t.csv", table(-1)), write("u.csv", table(k - kCount));
  refused(
      "app = \"solvers.training\"\ndata = {tables = [\"t.csv\", \"u.csv\"], input_columns = "
      "[\"a\"], target_columns = [\"y\"]}\nsplit = {validation = 0.2, test = 0.2, seed = 3}\n",
      4,
      "u.csv:" + std::to_string(k - kCount + 2) +
          ": error E0672: column 'a' has 1e+300, inf once it is transformed, in f32");
  std::vector<double> labels(kCount, 0.0);
  write_npy(here() / "x.npy", tessera::ones({kCount, 1}));
  labels[1] = 1;
  write_npy(here() / "y.npy", tessera::tensor(labels));
  labels[5] = 0.5;
  write_npy(here() / "z.npy", tessera::tensor(labels));
  refused(
      "app = \"solvers.training\"\ndata = {inputs = [\"x.npy\", \"x.npy\"], targets = [\"y.npy\", "
      "\"z.npy\"]}\ntraining = {loss = \"cross_entropy\"}\n",
      4, "z.npy: error E0672: label 5 is 0.5");
  for (const double alike : {0.0, 3.0}) {
    write_npy(here() / "y.npy", tessera::tensor(std::vector<double>(kCount, alike)));
    refused(arrays(", loss = \"cross_entropy\""), 4,
            "y.npy: error E0672: all 40 labels are '" + std::to_string(static_cast<int>(alike)) +
                "': there is nothing to tell apart");
  }
}

TEST_F(TrainingSamples, RelativeErrorsAreOfTargetsThatAreNotZero) {
  std::vector<double> v(kCount, 1.0);
  const std::int64_t k = split().validation.front();
  v[static_cast<std::size_t>(k)] = 0;
  write_npy(here() / "x.npy", tessera::tensor(fours()));
  write_npy(here() / "y.npy", tessera::tensor(v));
  const std::string none = "target_transform = [{kind = \"none\"}]\n";
  refused(arrays(", epochs = 2, loss = \"relative_l2\"", none), 5,
          "E0671: target " + std::to_string(k) + " of y.npy is 0 once it is transformed, and");
  refused(arrays(", epochs = 2, loss_of = \"original\", loss = \"relative_l2\""), 5,
          "of y.npy is 0, and relative_l2 divides by");
  EXPECT_EQ(ran(arrays(", epochs = 2", none)).code, 0);
}

TEST_F(TrainingSamples, LabelsAreTakenByValue) {
  const auto table = [](const char* other) {
    std::string text = "x,label\n";
    for (int k = 0; k < kCount; ++k)
      text += std::to_string(k % 7) + "," + (k % 3 == 0 ? "0" : k % 3 == 1 ? "1" : other) + "\n";
    return text;
  };
  const std::string toml =
      "app = \"solvers.training\"\ndata = {tables = [\"t.csv\"], input_columns = [\"x\"], "
      "target_columns = [\"label\"]}\ntraining = {loss = \"cross_entropy\", epochs = 2, batch = "
      "4}\n";
  write("t.csv", table("1.0"));
  const Outcome check = ran(toml, "check");
  EXPECT_TRUE(holds(check.out, "the network gives [2]")) << check.out << check.err;
  write("t.csv", table("nan"));
  refused(toml, 4, "t.csv:4: error E0672: column 'label' has 'nan' among numbers");
  write("t.csv", table("none"));  // words
  EXPECT_TRUE(holds(ran(toml, "check").out, "the network gives [3]"));
  // Groups alike: all rows of a group are on one side.
  std::string text = "x,g,y\n";
  for (int k = 0; k < kCount; ++k)
    text += std::to_string(k % 7) + "," + (k % 2 ? "7" : "7.0") + "," + std::to_string(k) + "\n";
  write("t.csv", text);
  refused(
      "app = \"solvers.training\"\ndata = {tables = [\"t.csv\"], input_columns = [\"x\"], "
      "target_columns = [\"y\"], group_column = \"g\"}\nsplit.by = \"group\"\n",
      5, "in 1 groups");
}

TEST_F(TrainingSamples, AFileOfIntegersTakesIntegers) {
  const Looked net{{tessera::tensor(std::vector<float>{1, 2, 3, 4, 5}, {5, 1})}};
  tessera::data::write_onnx(here() / "net.onnx",
                            [](const Looked& n, const std::vector<Tensor>& x) {
                              return tessera::sum(tessera::gather(n.input.weight, x[0]), {1});
                            },
                            net,
                            {.inputs = {{"x", {tessera::Dtype::i64, {1, 2}}}}, .outputs = {"y"}});
  std::vector<double> x, y;
  for (int k = 0; k < kCount; ++k) {
    x.insert(x.end(), {double(k % 5), double(k % 3)});
    y.push_back(k % 5 + k % 3);
  }
  write_npy(here() / "x.npy", tessera::tensor(x, {kCount, 2}));
  write_npy(here() / "y.npy", tessera::tensor(y, {kCount, 1}));
  const auto toml = [](const std::string& transform, const std::string& more) {
    return "app = \"solvers.training\"\ndata = {inputs = [\"x.npy\"], targets = [\"y.npy\"]}\n"
           "network = {kind = \"onnx\", from = \"net.onnx\"}\ninput_transform = [{kind = \"" +
           transform + "\"}]\ntraining = {epochs = 3, batch = 4" + more + "}\n";
  };
  refused(toml("standardise", ""), 4, ": the network takes i64, whole numbers from 0 on");
  ASSERT_EQ(ran(toml("none", "")).code, 0);
  // A weight may be called as what belongs to a transform.
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "FIRST", "-q"}).code, 0);
  const Outcome on = ran(toml("none", ", start_from = \"FIRST\""), "check");
  EXPECT_TRUE(holds(on.out, "1 of 1 tensors of weights")) << on.out << on.err;
}

TEST_F(TrainingSamples, BatchNormsCountPlaces) {
  // 41 samples, 25 to train on: one is left of batches of 8, with one place behind the pooling.
  write_npy(here() / "x.npy", tessera::uniform(tessera::random_key(1), {41, 4, 4, 1}));
  write_npy(here() / "y.npy", tessera::uniform(tessera::random_key(2), {41, 1}));
  const auto toml = [](const char* pool) {
    return std::string(
               "app = \"solvers.training\"\ndata = {inputs = [\"x.npy\"], targets = [\"y.npy\"]}\n"
               "split = {validation = 0.2, test = 0.2}\nnetwork = {kind = \"layers\", layer = "
               "[{kind = \"conv\", width = 8, size = [3, 3]}, {kind = \"max_pool\", size = ") +
           pool +
           "}, {kind = \"batch_norm\"}, {kind = \"flatten\"}, {kind = \"linear\", width = 1}]}\n"
           "training = {epochs = 2, batch = 8}\n";
  };
  refused(toml("[4, 4]"), 5,
          "E0671: of 25 samples some batch or part has one alone, and layer 2 (batch_norm)");
  EXPECT_EQ(ran(toml("[2, 4]")).code, 0);
}

TEST_F(TrainingSamples, ARowThatAModelDoesNotTakeIsToldByItsLineAndColumn) {
  std::string table = "length,glue,y\n";
  for (int k = 0; k < kCount; ++k)
    table +=
        std::to_string(1 + k % 7) + (k % 2 ? ",epoxy," : ",none,") + std::to_string(k % 5) + "\n";
  write("t.csv", table);
  ASSERT_EQ(ran("app = \"solvers.training\"\ndata = {tables = [\"t.csv\"], input_columns = "
                "[\"glue\", \"length\"], target_columns = [\"y\"]}\n"
                "input_transform = [{kind = \"log\", columns = [\"length\"]}]\n"
                "network = {widths = [4]}\ntraining = {batch = 4, epochs = 1}\n")
                .code,
            0);
  const std::pair<const char*, const char*> rows[] = {{"-5", "nan"}, {"0", "-inf"}};
  for (const auto& [length, made] : rows) {
    write("ask.csv", std::string("glue,length\n\nepoxy,3\nnone,") + length + "\n");
    const Outcome o = tessera({"predict", "RUN", "ask.csv"});
    EXPECT_EQ(o.code, 4) << o.err;
    EXPECT_TRUE(holds(o.err, std::string("ask.csv:4: error E0672: column 'length' has ") + length +
                                 ", " + made +
                                 " once it is transformed, in f32: expected finite numbers") &&
                holds(o.err, "hint: leave the row out: the model does not take it"))
        << o.err;
  }
}

TEST_F(TrainingSamples, EarlyStoppingIsThatOfARunFromTheBeginning) {
  std::vector<double> v;
  for (int k = 0; k < kCount; ++k) v.push_back(std::sin(7.0 * k * k));
  write_npy(here() / "x.npy", tessera::tensor(fours()));
  write_npy(here() / "y.npy", tessera::tensor(v));
  const std::string constant = ", rate = 3e-2, schedule = {kind = \"constant\"}, epochs = ";
  const auto run = [&](const std::string& name, const std::string& more) {
    write("case.toml", arrays(constant + more));
    const Outcome o = tessera({"run", "case.toml", "--output", name, "-q"});
    EXPECT_EQ(o.code, 0) << o.err;
    return csv_column(read(name + "/metrics.csv"), "epoch").size();
  };
  const std::size_t first = run("patient1", "60, early_stopping = {patience = 1}");
  ASSERT_LT(first, 50U);
  const std::size_t later = run("patient6", "60, early_stopping = {patience = 6}");
  ASSERT_GT(later, first);
  // More patience goes on; less, which it has passed, is refused.
  EXPECT_EQ(
      tessera({"resume", "patient1", "--set", "training.early_stopping.patience=6", "-q"}).code, 0);
  expect_same_results("patient1", "patient6");
  run("all", "60");
  const Outcome o =
      tessera({"resume", "all", "--set", "training.early_stopping={patience=1}", "-q"});
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_TRUE(holds(o.err, "E0436")) << o.err;
  EXPECT_TRUE(holds(o.err, "a run with it ends with epoch " + std::to_string(first) +
                               ", and the training is at epoch 60 already"))
      << o.err;
}
