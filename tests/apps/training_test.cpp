// SPDX-License-Identifier: Apache-2.0
// solvers.training as its users meet it.
#include "app_test.h"
#include "csv_columns.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"
#include "tessera/data/csv.h"
#include "tessera/data/onnx.h"
#include "tessera/data/random.h"
#include "tessera/data/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace tessera::testing;
namespace fs = std::filesystem;
using tessera::Index;
using tessera::Tensor;

namespace {

/// y = x_0^2 - x_1, a line for each sample.
std::string parabolas(
    int n, const std::function<std::string(int, std::string)>& line = [](int, std::string l) {
      return l;
    }) {
  std::string text = "a,b,y\n";
  for (int k = 0; k < n; ++k) {
    const auto at = static_cast<std::uint64_t>(k);
    const double a = 2 * tessera::data::uniform({5, 0}, at) - 1,
                 b = 2 * tessera::data::uniform({5, 1}, at) - 1;
    text += line(k, tessera::data::number_text(a) + "," + tessera::data::number_text(b) + "," +
                        tessera::data::number_text(a * a - b)) +
            "\n";
  }
  return text;
}

const char* const kTable = R"(app = "solvers.training"
data = {tables = ["t.csv"], input_columns = ["a", "b"], target_columns = ["y"]}
split = {validation = 0.2, test = 0.2}
network = {widths = [16], dropout = 0.1}
training = {epochs = 30, batch = 16, rate = 1e-2}
augment = [{kind = "noise", deviation = 0.01}]
)";

class Training : public AppTest {
 protected:
  /// The case, with changes, ends with `code` and says `text`.
  void refused(const std::string& toml, int code, const std::string& text) {
    write("case.toml", toml);
    const Outcome o = tessera({"run", "case.toml", "--output", "RUN", "--force", "-q"});
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_NE(o.err.find(text), std::string::npos) << "expected: " << text << "\n" << o.err;
  }
  static std::string with(std::string text, const std::string& old, const std::string& now) {
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), now);
  }
};

}  // namespace

TEST_F(Training, TheExampleMeetsWhatItExpectsAndPredicts) {
  ASSERT_EQ(tessera({"new", "solvers.training", "patch"}).code, 0);
  EXPECT_TRUE(holds(tessera({"check", "patch/patch.toml"}).out,
                    "600 samples: 420 to train on, 90 for validation, 90 for the test"));
  EXPECT_TRUE(holds(tessera({"estimate", "patch/patch.toml"}).out, "a step of 32 samples takes"));
  const Outcome run = tessera({"run", "patch/patch.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  expect_files_known("RUN");

  // The errors as one would compute them from the table of test samples.
  const std::string table = read("RUN/test.csv");
  const auto known = csv_column(table, "resonance_GHz"),
             guess = csv_column(table, "predicted resonance_GHz");
  ASSERT_EQ(known.size(), 90U);
  double relative = 0, squares = 0;
  for (std::size_t k = 0; k < known.size(); ++k) {
    relative += std::abs(guess[k] - known[k]) / known[k] / 90;
    squares += std::pow(guess[k] - known[k], 2) / 90;
  }
  const std::string errors = read("RUN/errors.csv");
  EXPECT_NEAR(csv_column(errors, "relative_l2").at(2), relative, 1e-12);
  EXPECT_NEAR(csv_column(errors, "rmse").at(2), std::sqrt(squares), 1e-12);
  EXPECT_LT(relative, 0.01);

  // Predictions for the whole table: those of the test samples among them, by their numbers.
  const Outcome asked = tessera({"predict", "RUN", "patch/patches.csv"});
  ASSERT_EQ(asked.code, 0) << asked.err;
  EXPECT_EQ(asked.out, "patches.predicted.csv\n");
  const auto all = csv_column(read("patches.predicted.csv"), "predicted resonance_GHz");
  const auto numbers = csv_column(table, "sample");
  ASSERT_EQ(all.size(), 600U);
  for (std::size_t k = 0; k < numbers.size(); ++k)
    EXPECT_EQ(all[static_cast<std::size_t>(numbers[k])], guess[k]);
  EXPECT_EQ(tessera({"predict", "RUN", "patch/patches.csv"}).code, 2);  // it exists

  const std::string picture = read("RUN/plots/parity.png");
  fs::remove(here() / "RUN/plots/parity.png");
  EXPECT_EQ(tessera({"plot", "RUN"}).code, 0);
  EXPECT_EQ(read("RUN/plots/parity.png"), picture);
}

TEST_F(Training, KilledInMidEpochItGoesOnToTheSameBytes) {
  write("t.csv", parabolas(400));
  write("case.toml",
        with(with(kTable, "epochs = 30", "epochs = 600"), "rate = 1e-2",
             "rate = 1e-2, parts = 3, clip_norm = 1.0, plateau = {patience = 5}, schedule.warmup = "
             "0.5"));
  expect_same_after_kill("1 ms");
}

TEST_F(Training, AveragedWeightsComeBackFromACheckpoint) {
  write("t.csv", parabolas(100));
  for (const char* average : {"{decay = 0.9}", "{kind = \"mean\", first_epoch = 10}"}) {
    write("case.toml",
          with(kTable, "rate = 1e-2",
               std::string("rate = 1e-2, schedule = {kind = \"constant\"}, average = ") + average));
    ASSERT_EQ(tessera({"run", "case.toml", "--output", "longer", "-q", "--force"}).code, 0);
    ASSERT_EQ(tessera({"resume", "longer", "--set", "training.epochs=40", "-q"}).code, 0);
    ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "-q", "--force", "--set",
                       "training.epochs=40", "--threads", "1"})
                  .code,
              0);
    expect_same_results("longer", "whole");
    EXPECT_NE(read("whole/weights.safetensors"), read("whole/last.safetensors"));
  }
}

TEST_F(Training, ALongerTrainingIsTheSameAsOneGoneOn) {
  write("t.csv", parabolas(100));
  const std::string constant =
      with(kTable, "rate = 1e-2", "rate = 1e-2, schedule = {kind = \"constant\"}");
  write("case.toml", constant);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "longer", "-q"}).code, 0);
  ASSERT_EQ(tessera({"resume", "longer", "--set", "training.epochs=50", "-q"}).code, 0);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "whole", "-q", "--set", "training.epochs=50",
                     "--threads", "1"})
                .code,
            0);
  expect_same_results("longer", "whole");
  // A rate that knows its end does not take another one.
  write("case.toml", kTable);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "cosine", "-q"}).code, 0);
  const Outcome o = tessera({"resume", "cosine", "--set", "training.epochs=50"});
  EXPECT_EQ(o.code, 5);
  EXPECT_TRUE(holds(o.err, "the rate of the steps so far was made for 30 epochs")) << o.err;
}

TEST_F(Training, BatchNormsCarryWhatTheyHaveSeen) {
  using tessera::data::read_safetensors;
  write("t.csv", parabolas(60));
  const std::string normed = with(
      with(kTable, "widths = [16], dropout = 0.1",
           "kind = \"layers\", layer = [{kind = \"linear\", width = 16}, {kind = \"batch_norm\"}, "
           "{kind = \"activation\", function = \"tanh\"}, {kind = \"linear\", width = 1}]"),
      "rate = 1e-2", "rate = 1e-2, parts = 2, decay = 0.1, average = {decay = 0.9}");
  write("case.toml", with(normed, "epochs = 30", "epochs = 1000"));
  expect_same_after_kill("1 ms");
  std::map<std::string, std::vector<float>> seen;
  for (const auto& t : read_safetensors(here() / "whole/weights.safetensors").tensors)
    if (t.values.dtype() == tessera::Dtype::f32) seen[t.name] = t.values.to_vector<float>();
  EXPECT_NE(seen.at("layers.1.seen.mean")[0], 0);
  EXPECT_NE(seen.at("layers.1.seen.variance")[0], 1);
  // What is predicted of a design does not depend on those beside it.
  write("one.csv", "a,b\n0.3,-0.2\n");
  write("two.csv", "a,b\n0.3,-0.2\n5,7\n");
  for (const char* name : {"one", "two"})
    ASSERT_EQ(tessera({"predict", "whole", std::string(name) + ".csv"}).code, 0);
  EXPECT_EQ(csv_column(read("one.predicted.csv"), "predicted y")[0],
            csv_column(read("two.predicted.csv"), "predicted y")[0]);
  refused(with(normed, "batch = 16", "batch = 5"), 5,
          "E0671: of 36 samples some batch or part has one alone, and layer 1 (batch_norm)");
}

TEST_F(Training, FrozenWeightsStayAndOthersLearn) {
  write("t.csv", parabolas(60));
  const auto weights = [&](const char* epochs) {
    write("case.toml", with(with(kTable, "epochs = 30", epochs), "rate = 1e-2",
                            "rate = 1e-2, leaf = [{names = \"*.b\", rate = 0.5, decay = 0.0}, "
                            "{names = \"layers.0.*\", frozen = true}]"));
    EXPECT_EQ(tessera({"run", "case.toml", "--output", "RUN", "--force", "-q"}).code, 0);
    std::map<std::string, std::vector<double>> all;
    for (const auto& t : tessera::data::read_safetensors(here() / "RUN/last.safetensors").tensors)
      all[t.name] = cast(t.values, tessera::Dtype::f64).to_vector();
    return all;
  };
  auto before = weights("epochs = 1"), after = weights("epochs = 5");
  EXPECT_EQ(before.at("layers.0.w"), after.at("layers.0.w"));
  EXPECT_EQ(after.at("layers.0.b"), before.at("layers.0.b"));
  EXPECT_NE(before.at("layers.3.w"), after.at("layers.3.w"));
  EXPECT_NE(before.at("layers.3.b"), after.at("layers.3.b"));
}

TEST_F(Training, StartsFromTheWeightsOfAnotherRun) {
  using tessera::data::read_safetensors;
  write("t.csv", parabolas(60));
  write("case.toml", kTable);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "FIRST", "-q"}).code, 0);
  // All of them; frozen ones come out as they went in.
  const std::string again =
      with(with(kTable, "epochs = 30", "epochs = 1"), "rate = 1e-2",
           "rate = 1e-2, start_from = \"FIRST\", leaf = [{names = \"layers.0.*\", frozen = true}]");
  write("case.toml", again);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  const std::string log = read("RUN/log.txt");
  EXPECT_TRUE(holds(log, "4 of 4 tensors of weights are those of ")) << log;
  EXPECT_FALSE(holds(log, "drawn anew")) << log;
  const auto first = read_safetensors(here() / "FIRST/weights.safetensors").tensors,
             tuned = read_safetensors(here() / "RUN/weights.safetensors").tensors;
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ(first[k].values.to_vector<float>() == tuned[k].values.to_vector<float>(),
              first[k].name.starts_with("layers.0."))
        << first[k].name;
  EXPECT_TRUE(holds(read("RUN/manifest.json"), "FIRST/weights.safetensors"));

  // One layer more: only the first fits.
  const std::string deeper = with(with(again, "widths = [16]", "widths = [16, 4]"), "\"FIRST\"",
                                  "\"FIRST/last.safetensors\"");
  write("case.toml", deeper);
  const Outcome check = tessera({"check", "case.toml"});
  EXPECT_TRUE(holds(check.out, "2 of 6 tensors of weights")) << check.out;
  EXPECT_TRUE(holds(check.out, "layers.3.w f32[16,4] (there f32[16,1])")) << check.out;
  EXPECT_TRUE(holds(check.out, "layers.6.w f32[4,1]")) << check.out;
  refused(with(again, "rate = 1e-2", "rate = 1e-2, precision = \"f64\""), 4,
          "has no weight of this network");
  refused(with(again, "\"FIRST\"", "\"NOWHERE\""), 4, "NOWHERE");
}

TEST_F(Training, TheModelIsWrittenForOtherProgramsAndTrainsOn) {
  write("t.csv", parabolas(60));
  write("case.toml", kTable);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "RUN"}).code, 0);
  EXPECT_TRUE(holds(read("RUN/log.txt"), "weights.onnx takes any number of samples"));
  ASSERT_EQ(tessera({"predict", "RUN", "t.csv", "--output", "ours.csv"}).code, 0);
  const tessera::data::OnnxNetwork net = tessera::data::read_onnx(here() / "RUN/weights.onnx");
  const auto ours = csv_table(read("ours.csv"));
  const std::vector<double>&a = ours.at("a"), &b = ours.at("b");
  const Tensor x = tessera::cast(tessera::stack({tessera::tensor(a), tessera::tensor(b)}, 1),
                                 tessera::Dtype::f32);
  const std::vector<float> y = net({x})[0].to_vector<float>();
  ASSERT_EQ(y.size(), a.size());
  for (std::size_t k = 0; k < y.size(); ++k)
    EXPECT_NEAR(static_cast<double>(y[k]), ours.at("predicted y")[k], 1e-5);
  EXPECT_TRUE(holds(tessera({"info", "RUN/weights.onnx"}).out, "x: FLOAT, batch x 2"));

  // The file as a network, transforms and all.
  const std::string on =
      with(with(kTable, "network = {widths = [16], dropout = 0.1}",
                "network = {kind = \"onnx\", from = \"RUN/weights.onnx\"}\n"
                "input_transform = [{kind = \"none\"}]\ntarget_transform = [{kind = \"none\"}]"),
           "rate = 1e-2", "rate = 1e-3, leaf = [{names = \"layers.0.*\", frozen = true}]");
  write("case.toml", on);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "ON", "-q"}).code, 0);
  const auto before = tessera::data::read_safetensors(here() / "RUN/weights.safetensors").tensors,
             after = tessera::data::read_safetensors(here() / "ON/last.safetensors").tensors;
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(before[k].name, after[k].name);
    EXPECT_EQ(before[k].values.to_vector<float>() == after[k].values.to_vector<float>(),
              after[k].name.starts_with("layers.0."))
        << after[k].name;
  }
  EXPECT_TRUE(holds(read("ON/manifest.json"), "RUN/weights.onnx"));
  ASSERT_EQ(tessera({"predict", "ON", "t.csv", "--output", "on.csv"}).code, 0);
  refused(with(on, "from = \"RUN/weights.onnx\"", "from = \"t.csv\""), 4, "E0439");
  refused(with(on, ", from = \"RUN/weights.onnx\"", ""), 5, "there is no file");
  refused(with(on, "epochs = 30", "precision = \"f64\", epochs = 30"), 5, "the training is in f64");
  refused(with(on, "input_columns = [\"a\", \"b\"]", "input_columns = [\"a\"]"), 5,
          "does not take samples");
}

TEST_F(Training, LoadersDoNotChangeTheBits) {
  write("t.csv", parabolas(60));
  write("case.toml", kTable);
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "none", "-q"}).code, 0);
  ASSERT_EQ(
      tessera({"run", "case.toml", "--output", "three", "-q", "--set", "training.loaders=3"}).code,
      0);
  expect_same_results("none", "three");
}

TEST_F(Training, LearnsWordsAndLabels) {
  // The class is which of two words equals the sign of a number: not linear in either.
  std::string table = "x,which,side\n";
  for (int k = 0; k < 300; ++k) {
    const double x = 2 * tessera::data::uniform({3, 0}, static_cast<std::uint64_t>(k)) - 1;
    const bool up = k % 3 == 0;
    table += tessera::data::number_text(x) + "," + (up ? "up" : "\"down, left\"") + "," +
             ((x > 0) == up ? "same" : "other") + "\n";
  }
  write("t.csv", table);
  write("case.toml", R"(app = "solvers.training"
data = {tables = ["t.csv"], input_columns = ["x", "which"], target_columns = ["side"]}
network.widths = [32]
training = {loss = "cross_entropy", epochs = 150, rate = 1e-2}
expect.accuracy_min = 0.95
)");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(
      read("RUN/confusion.csv").starts_with("label,predicted other,predicted same\nother,"));
  EXPECT_TRUE(fs::exists(here() / "RUN/plots/confusion.png"));
  write("ask.csv", "which,x\nup,0.9\n\"down, left\",0.9\n");
  ASSERT_EQ(tessera({"predict", "RUN", "ask.csv"}).code, 0);
  const std::string said = read("ask.predicted.csv");
  EXPECT_TRUE(holds(said, "up,0.9,same,")) << said;
  EXPECT_TRUE(holds(said, "\"down, left\",0.9,other,")) << said;
  write("ask.csv", "which,x\nsideways,0.9\n");
  const Outcome unknown = tessera({"predict", "RUN", "ask.csv", "--force"});
  EXPECT_EQ(unknown.code, 4);
  EXPECT_TRUE(holds(unknown.err,
                    "ask.csv:2: error E0672: column 'which' has 'sideways', which was not learnt"))
      << unknown.err;
}

TEST_F(Training, LearnsArraysThroughAListOfLayers) {
  using namespace tessera;
  const Tensor x = uniform(random_key(2), {120, 3, 4}), y = cumsum(x, 2);
  const data::NamedTensor arrays[] = {{"x", cast(x, Dtype::f32)}, {"y", y}};
  data::write_npz(here() / "s.npz", arrays);
  std::vector<Index> groups(120);
  for (std::size_t k = 0; k < 120; ++k) groups[k] = static_cast<Index>(k / 4);
  data::write_npy(here() / "g.npy", tensor(groups));
  write("case.toml", R"(app = "solvers.training"
data = {inputs = ["s.npz"], targets = ["s.npz"], input_array = "x", target_array = "y", groups = "g.npy"}
split.by = "group"
input_transform = [{kind = "none"}]
target_transform = [{kind = "standardise", together = true}]
training = {epochs = 200, rate = 1e-2, precision = "f64", loss = "relative_l2", loss_of = "original"}
expect.r2_min = 0.999
[network]
kind = "layers"
layer = [{kind = "flatten"}, {kind = "linear", width = 24, name = "in"}, {kind = "activation", function = "tanh"},
         {kind = "linear", width = 24}, {kind = "add", with = "in"}, {kind = "layer_norm"},
         {kind = "linear", width = 12}, {kind = "reshape", shape = [3, 4]}]
)");
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  ASSERT_EQ(run.code, 0) << run.err;
  // Groups of four stay together.
  const auto tested = csv_column(read("RUN/test.csv"), "sample");
  ASSERT_EQ(tested.size(), 12U);
  for (std::size_t k = 0; k < tested.size(); k += 4)
    EXPECT_EQ(std::floor(tested[k] / 4), std::floor(tested[k + 3] / 4));
  data::write_npy(here() / "ask.npy", x);
  ASSERT_EQ(tessera({"predict", "RUN", "ask.npy", "-o", "said.npy"}).code, 0);
  EXPECT_EQ(data::read_npy(here() / "said.npy").shape(), y.shape());
  EXPECT_LT(max(abs(data::read_npy(here() / "said.npy") - y)).item(), 0.3);
  const Outcome table = tessera({"predict", "RUN", "ask.npy", "-o", "said.csv"});
  EXPECT_EQ(table.code, 4);
  EXPECT_TRUE(holds(table.err, "the run has learnt from arrays")) << table.err;
}

TEST_F(Training, AnEmbeddingTakesNumbersOfWords) {
  using namespace tessera;
  // Sentences of three words of five; the target is the sum of what words weigh.
  const Tensor words = cast(floor(5.0 * uniform(random_key(5), {120, 3})), Dtype::i64),
               weights = tensor(std::vector<double>{0.3, -1, 0.8, 2, -0.4});
  const data::NamedTensor arrays[] = {{"x", words}, {"y", sum(take(weights, words), {1}, true)}};
  data::write_npz(here() / "s.npz", arrays);
  const std::string text = R"(app = "solvers.training"
data = {inputs = ["s.npz"], targets = ["s.npz"], input_array = "x", target_array = "y"}
input_transform = [{kind = "none"}]
training = {epochs = 120, rate = 2e-2}
expect.r2_min = 0.99
[network]
kind = "layers"
layer = [{kind = "embedding", rows = 5, width = 4}, {kind = "flatten"}, {kind = "linear", width = 1}]
)";
  write("case.toml", text);
  const Outcome run = tessera({"run", "case.toml", "--output", "RUN"});
  EXPECT_EQ(run.code, 0) << run.err;
  data::write_npy(here() / "ask.npy", tensor(std::vector<double>{0, 1, 5}, {1, 3}));
  const Outcome ask = tessera({"predict", "RUN", "ask.npy", "-o", "said.npy"});
  EXPECT_EQ(ask.code, 4);
  EXPECT_TRUE(holds(ask.err, "input 0 has 5 at 2: the embedding takes whole numbers from 0 to 4"))
      << ask.err;
  refused(with(text, "rows = 5", "rows = 4"), 4, "takes whole numbers from 0 to 3");
  refused(with(text, "\"none\"", "\"standardise\""), 4, "no input_transform that scales");
  refused(with(text, "layer = [", "layer = [{kind = \"linear\", width = 3}, "), 5,
          "layer 1 (embedding): takes whole numbers: layers before it may be flatten and reshape");
}

TEST_F(Training, ALossThatIsNotFiniteSaysWhereItWas) {
  write("t.csv", parabolas(40));
  refused(with(kTable, "rate = 1e-2", "rate = 1e38"), 7,
          "the loss is not finite (epoch 0, step 1), of samples ");
}

TEST_F(Training, TablesThatDoNotFitAreToldByLine) {
  const auto bad = [](int line, const char* instead) {
    return parabolas(40, [=](int k, std::string l) { return k == line ? instead : l; });
  };
  const std::pair<std::string, const char*> tables[] = {
      {bad(2, "1,x,3"), "t.csv:4:3: error E0672: expected a number, got 'x'"},
      {bad(2, "1,nan,3"), "t.csv:4:3: error E0672: expected a number that is finite, got 'nan'"},
      {bad(2, "1,,3"), "t.csv:4:3: error E0672: expected a number, the field is empty"},
      {bad(2, "1,2,hot"),
       "hint: words are learnt as labels, with training.loss = \"cross_entropy\""},
      {bad(2, "1e300,2,3"),
       "t.csv:4: error E0672: column 'a' has 1e+300, inf once it is transformed, in f32"},
      {"a;b;y\n1;2;3\n", "hint: fields stand between commas, here they seem to stand between semi"},
      {"a\tb\ty\n1,5\t2\t3\n",
       "hint: fields stand between commas, here they seem to stand between tabs"},
      {"a,b,y,b\n1,2,3,4\n",
       "t.csv:1:1: error E0672: two columns are called 'b', number 2 and number 4"},
      {bad(2, "1,2"), "t.csv:4:1: error E0672: expected one field for each of 3 columns, got 2"},
      {"a,b,y\n", "t.csv:1:1: error E0672: has no rows below a line of names"},
      {"a,c,y\n1,2,3\n",
       "t.csv:1:1: error E0672: there is no column 'b'; the first line names 'a', 'c', 'y'"},
  };
  for (const auto& [table, text] : tables) {
    write("t.csv", table);
    refused(kTable, 4, text);
  }
  write("t.csv", parabolas(10));
  refused(kTable, 5, "case.toml:5:26: error E0672: 16 samples, and there are 6 to train on");
}

TEST_F(Training, CasesThatContradictThemselvesAreToldByKey) {
  write("t.csv", parabolas(40));
  const auto changed = [&](const char* old, const char* now, const char* text) {
    refused(with(kTable, old, now), 5, text);
  };
  changed("target_columns = [\"y\"]", "target_columns = [\"a\"]", "'a' is an input, too");
  changed("[\"a\", \"b\"]", "[\"a\", \"b\", \"a\"]", "E0670: 'a' stands twice");
  changed("split = {", "split = {by = \"group\", ", "no group is named");
  changed("validation = 0.2, test = 0.2", "validation = 0.5, test = 0.6",
          "nothing is left to train on");
  changed("widths = [16], dropout = 0.1", "kind = \"layers\"", "there are no layers");
  changed("widths = [16], dropout = 0.1",
          "kind = \"layers\", layer = [{kind = \"linear\", width = 4}]",
          "E0671: it gives [4], targets are [1]");
  changed("widths = [16], dropout = 0.1",
          "kind = \"layers\", layer = [{kind = \"reshape\", shape = [3]}]",
          "layer 0 (reshape): [3] has 3 elements, a sample is [2]");
  changed("widths = [16], dropout = 0.1",
          "kind = \"layers\", layer = [{kind = \"add\", with = \"x\"}]",
          "no earlier layer is called 'x'");
  changed("split = ", "input_transform = [{kind = \"log\"}]\nsplit = ",
          "the logarithm is of numbers above");
  changed("split = ", "input_transform = [{kind = \"log\", columns = [\"aa\"]}]\nsplit = ",
          "there is no feature 'aa' here");
  changed("split = ", "expect.accuracy_min = 0.5\nsplit = ", "is for labels");
  changed("validation = 0.2, test = 0.2", "test = 0.0}\nexpect = {r2_min = 0.5",
          "there is no test set");
  changed("rate = 1e-2", "leaf = [{names = \"layers.0.*\", frozen = true, rate = 0.1}]",
          "frozen weights have no rate and no decay");
  changed("rate = 1e-2", "leaf = [{names = \"layers.0.v\"}]",
          "no leaf is called 'layers.0.v'; they are 'layers.0.w', 'layers.0.b', ");
  changed("rate = 1e-2", "leaf = [{names = \"layers.0.v\"}]", "did you mean 'layers.0.");
  changed("kind = \"noise\", deviation = 0.01", "kind = \"flip\", axis = 1",
          "E0671: there is no axis 1: a sample is [2]");
  changed("kind = \"noise\", deviation = 0.01", "kind = \"shift\", axes = [0], by = 2",
          "E0671: nothing may be left along axis 0: a sample is [2]");
  changed("rate = 1e-2", "average = {kind = \"mean\", first_epoch = 30}",
          "no epoch is left for the mean");
  changed("rate = 1e-2", "leaf = [{names = \"*\", frozen = true}]", "all leaves are frozen");
}

TEST_F(Training, ArraysThatDoNotFitAreToldBySample) {
  using namespace tessera;
  const std::string arrays =
      with(kTable, "tables = [\"t.csv\"], input_columns = [\"a\", \"b\"], target_columns = [\"y\"]",
           "inputs = [\"x.npy\"], targets = [\"y.npy\"]");
  const auto say = [&](const Tensor& x, const Tensor& y, const std::string& text,
                       const std::string& toml) {
    data::write_npy(here() / "x.npy", x), data::write_npy(here() / "y.npy", y);
    refused(toml, 4, text);
  };
  const std::string labels = with(arrays, "epochs = 30", "epochs = 2, loss = \"cross_entropy\"");
  std::vector<double> v(40, 1.0);
  v[7] = NAN;
  say(tensor(v, {40, 1}), ones({40}), "x.npy: error E0672: input 7 has nan at 0", arrays);
  say(ones({40, 1}), ones({39}), "y.npy: error E0672: has 39 targets, x.npy 40 inputs", arrays);
  say(ones({0, 2}), ones({0}), "x.npy: error E0672: there are no samples", arrays);
  say(ones({40, 1}), 0.5 * ones({40}), "y.npy: error E0672: label 0 is 0.5", labels);
  say(ones({40, 1}), -1 * ones({40}), "y.npy: error E0672: label 0 is -1", labels);
  say(ones({}), ones({40}), "x.npy: error E0672: holds one number", arrays);
  const Outcome gone = tessera({"predict", "RUN", "x.npy"});
  EXPECT_EQ(gone.code, 2) << gone.err;  // no run has been made here
}
