// NonMaxSuppression by ONNX's node tests and by the scalar reference.
#include "custom_ops/non_max_suppression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

#include "bench/detection/scalar_nms.h"
#include "tests/custom_ops/random_boxes.h"
#include "tests/support/long_tests.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using ::testing::ElementsAre;
using testing::HostGraph;
using testing::OpenClGraph;
using vx::DataType;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct NmsCase {
  NonMaxSuppression::Parameters parameters;
  uint32_t batch = 1;
  uint32_t classes = 1;
  uint32_t count = 0;
  std::vector<float> boxes;
  std::vector<float> scores;

  uint32_t Rows() const {
    const uint32_t limit = std::min<uint32_t>(
        count, static_cast<uint32_t>(parameters.max_output_boxes_per_class));
    return std::max(batch * classes * limit, 1u);
  }
};

// Those that count; the others must be zeros.
std::vector<int32_t> Run(const NmsCase& nms, std::shared_ptr<vx::Graph> graph) {
  const auto boxes = graph->CreateTensor(
      testing::Floats({4, nms.count, nms.batch}, vx::INPUT));
  const auto scores = graph->CreateTensor(
      testing::Floats({nms.count, nms.classes, nms.batch}, vx::INPUT));
  const auto rows = graph->CreateTensor(
      vx::TensorSpec(DataType::INT32, {3, nms.Rows()}, vx::OUTPUT));
  const auto number =
      graph->CreateTensor(vx::TensorSpec(DataType::INT32, {1}, vx::OUTPUT));
  // Through a clone, which must be the same operator.
  const std::shared_ptr<vx::Graph> other = HostGraph();
  other->CreateOperation<NonMaxSuppression>(nms.parameters)
      ->Clone(graph)
      ->BindInputs({boxes, scores})
      .BindOutputs({rows, number});
  testing::Write(boxes, nms.boxes);
  testing::Write(scores, nms.scores);
  // Twice: what the first run leaves must not matter.
  EXPECT_TRUE(graph->Run() && graph->Run()) << vx::LastError();
  std::vector<int32_t> found = testing::Read<int32_t>(rows);
  const size_t used = 3u * testing::Read<int32_t>(number).at(0);
  for (size_t i = used; i < found.size(); ++i) {
    EXPECT_EQ(found[i], 0) << "unused element " << i;
  }
  found.resize(std::min(used, found.size()));
  return found;
}

bench::ScalarBox CornersOf(const float* b, bool is_centred) {
  for (int i = 0; i < 4; ++i) {
    if (std::isnan(b[i])) return {NAN, NAN, NAN, NAN};
  }
  if (!is_centred) {
    return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]),
            std::max(b[1], b[3])};
  }
  return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
}

std::vector<bench::ScalarBox> BoxesOf(const NmsCase& nms, uint32_t image) {
  std::vector<bench::ScalarBox> boxes;
  for (uint32_t n = 0; n < nms.count; ++n) {
    boxes.push_back(CornersOf(&nms.boxes[(image * nms.count + n) * 4],
                              nms.parameters.center_point_box));
  }
  return boxes;
}

template <typename Suppresses>
std::vector<int32_t> Expected(const NmsCase& nms,
                              const Suppresses& suppresses) {
  const auto& p = nms.parameters;
  std::vector<int32_t> rows;
  for (uint32_t list = 0; list < nms.batch * nms.classes; ++list) {
    const uint32_t image = list / nms.classes;
    const std::vector<bench::ScalarBox> boxes = BoxesOf(nms, image);
    const float* scores = &nms.scores[list * nms.count];
    std::vector<size_t> candidates;
    for (size_t n = 0; n < nms.count; ++n) {
      const bool passes = p.score_threshold == -kInfinity
                              ? !std::isnan(scores[n])
                              : scores[n] > p.score_threshold;
      if (passes && IsValid(boxes[n])) candidates.push_back(n);
    }
    for (const size_t n : bench::ScalarNms(
             candidates, boxes,
             static_cast<size_t>(p.max_output_boxes_per_class),
             [&](size_t i) { return scores[i]; },
             [&](const auto&all, size_t i, size_t k) {
               return suppresses(image, all, i, k);
             })) {
      rows.insert(rows.end(), {static_cast<int32_t>(image),
                               static_cast<int32_t>(list % nms.classes),
                               static_cast<int32_t>(n)});
    }
  }
  return rows;
}

void ExpectRows(const NmsCase& nms, const std::vector<int32_t>& expected,
                bool with_kernels = true) {
  if (with_kernels) {
    EXPECT_EQ(Run(nms, OpenClGraph()), expected) << "opencl";
  }
  EXPECT_EQ(Run(nms, HostGraph()), expected) << "host";
}

template <typename T>
std::vector<T> Numbers(std::istream& line) {
  return std::vector<T>(std::istream_iterator<T>(line), {});
}

// A line of the goldens.
void Take(std::istream& line, NmsCase* nms, std::vector<int32_t>* rows) {
  std::string word;
  line >> word;
  if (word == "shape") line >> nms->batch >> nms->classes >> nms->count;
  if (word == "boxes") nms->boxes = Numbers<float>(line);
  if (word == "scores") nms->scores = Numbers<float>(line);
  if (word == "limit") line >> nms->parameters.max_output_boxes_per_class;
  if (word == "iou") line >> nms->parameters.iou_threshold;
  if (word == "score") line >> nms->parameters.score_threshold;
  if (word == "centre") line >> nms->parameters.center_point_box;
  if (word != "rows") return;
  *rows = Numbers<int32_t>(line);
  ASSERT_EQ(rows->size(), 1u + 3u * rows->at(0));
  rows->erase(rows->begin());
  ExpectRows(*nms, *rows);
}

TEST(NonMaxSuppression, NodeTestsOfOnnx) {
  std::ifstream file("tests/goldens/custom_ops/non_max_suppression.txt");
  ASSERT_TRUE(file.is_open());
  NmsCase nms;
  std::vector<int32_t> rows;
  std::vector<std::string> names;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    if (text.rfind("case ", 0) == 0) {
      names.push_back(text.substr(5));
      nms = NmsCase();
      continue;
    }
    SCOPED_TRACE(names.empty() ? "head" : names.back());
    Take(line, &nms, &rows);
  }
  EXPECT_THAT(names,
              ::testing::UnorderedElementsAre(
                  "suppress_by_IOU", "suppress_by_IOU_and_scores",
                  "flipped_coordinates", "limit_output_size", "single_box",
                  "identical_boxes", "center_point_box_format", "two_classes",
                  "two_batches", "iou_threshold_boundary"));
}

// Three boxes in a row, of which the first two overlap by half.
NmsCase ThreeBoxes() {
  NmsCase nms;
  nms.count = 3;
  nms.boxes = {0, 0, 1, 3, 0, 1, 1, 4, 5, 5, 6, 6};
  nms.scores = {.5f, .5f, .7f};
  nms.parameters.max_output_boxes_per_class = 10;
  nms.parameters.iou_threshold = 0.5f;
  return nms;
}

TEST(NonMaxSuppression, GivesNothingByDefault) {
  NmsCase nms = ThreeBoxes();
  nms.parameters = {};
  ExpectRows(nms, {});
}

TEST(NonMaxSuppression, KeepsAnIouThatEqualsTheThreshold) {
  NmsCase nms = ThreeBoxes();
  ExpectRows(nms, {0, 0, 2, 0, 0, 0, 0, 0, 1});
  nms.parameters.iou_threshold = std::nextafter(0.5f, 0.0f);
  ExpectRows(nms, {0, 0, 2, 0, 0, 0});
}

TEST(NonMaxSuppression, DropsAScoreThatEqualsTheThreshold) {
  NmsCase nms = ThreeBoxes();
  nms.parameters.score_threshold = 0.5f;
  ExpectRows(nms, {0, 0, 2});
}

TEST(NonMaxSuppression, WithoutAThresholdEveryScoreButNaNCounts) {
  NmsCase nms = ThreeBoxes();
  nms.scores = {-kInfinity, NAN, kInfinity};
  ExpectRows(nms, {0, 0, 2, 0, 0, 0});
}

TEST(NonMaxSuppression, InvalidBoxesSuppressNothing) {
  NmsCase nms = ThreeBoxes();
  nms.boxes[8] = NAN;
  ExpectRows(nms, {0, 0, 0, 0, 0, 1});
  nms.parameters.center_point_box = true;
  nms.boxes = {1, 1, -2, 2, 1, 1, 2, 2, 1, 1, 2, NAN};
  ExpectRows(nms, {0, 0, 1});
}

// More candidates than are sorted at a time, some of them with equal scores:
// one box of each four overlaps none before it.
TEST(NonMaxSuppression, SelectsInSeveralChunks) {
  NmsCase nms;
  nms.count = 200;
  nms.parameters.max_output_boxes_per_class = 30;
  nms.parameters.iou_threshold = 0.5f;
  std::vector<int32_t> expected;
  for (uint32_t n = 0; n < nms.count; ++n) {
    const float left = static_cast<float>(n / 4);
    nms.boxes.insert(nms.boxes.end(), {0, left, 1, left + 1});
    nms.scores.push_back(0.5f - 0.01f * static_cast<float>(n / 40));
    if (n % 4 == 0 && n < 120) {
      expected.insert(expected.end(), {0, 0, static_cast<int32_t>(n)});
    }
  }
  ExpectRows(nms, expected);
}

class RandomNms : private testing::RandomBoxes {
 public:
  explicit RandomNms(uint32_t seed) : RandomBoxes(seed) {}

  NmsCase Draw(int i) {
    static constexpr float kThresholds[] = {0.5f, 0.3f, 0.6f, 1.0f, 0.0f};
    NmsCase nms;
    nms.count = Count(i);
    nms.batch = nms.count < 2000 ? 1 + Below(3) : 1;
    nms.classes = 1 + Below(nms.count < 2000 ? 6 : 2);
    auto& p = nms.parameters;
    p.center_point_box = OneOf(3);
    p.max_output_boxes_per_class =
        OneOf(8) ? 0x7fffffff : static_cast<int32_t>(1 + Below(200));
    p.iou_threshold = kThresholds[Below(5)];
    if (nms.count > 2000 && p.max_output_boxes_per_class > 200) {
      p.max_output_boxes_per_class = 1000;
    }
    if (!OneOf(4)) p.score_threshold = OneOf(8) ? 2.0f : 0.1f * Below(9);
    DrawScores(&nms);
    on_grid_ = OneOf(3);
    for (uint32_t n = 0; n < nms.count * nms.batch; ++n) DrawBox(&nms, n);
    AddSpecial(&nms);
    expected_ = Settled(&nms);
    return nms;
  }

  const std::vector<int32_t>& expected() const { return expected_; }
  int redrawn_scores = 0;
  int redrawn_boxes = 0;
  int exact_ious = 0;

 private:
  void DrawScores(NmsCase* nms) {
    const float steps = OneOf(2) ? 0.0f : 10.0f;
    for (uint32_t i = 0; i < nms->count * nms->classes * nms->batch; ++i) {
      float score = Uniform(-0.1f, 1);
      if (steps > 0) score = std::round(score * steps) / steps;
      while (IsNearly(score, nms->parameters.score_threshold)) {
        ++redrawn_scores;
        score = Uniform(0, 1);
      }
      nms->scores.push_back(score);
    }
  }

  // Two corners of any diagonal, or centre and size.
  void DrawBox(NmsCase* nms, uint32_t n) {
    const float extent = 2 * std::sqrt(static_cast<float>(nms->count)) + 1;
    float x = Uniform(0, 1);
    float y = Uniform(0, 1);
    float w = Uniform(0.05f, 0.4f);
    float h = Uniform(0.05f, 0.4f);
    if (on_grid_) {
      x = std::floor(x * extent);
      y = std::floor(y * extent);
      w = static_cast<float>(2 * Below(4));
      h = static_cast<float>(2 * Below(4));
    }
    std::array<float, 4> box = {y, x, y + h, x + w};
    if (OneOf(2)) std::swap(box[0], box[2]);
    if (OneOf(2)) std::swap(box[1], box[3]);
    if (nms->parameters.center_point_box) box = {x, y, w, h};
    nms->boxes.resize(nms->count * nms->batch * 4);
    std::copy(box.begin(), box.end(), &nms->boxes[n * 4]);
  }

  void AddSpecial(NmsCase* nms) {
    if (OneOf(2)) return;
    const float special[] = {NAN, kInfinity, -kInfinity, -1, -0.0f};
    for (float& value : nms->scores) {
      if (OneOf(20)) value = special[Below(5)];
    }
    for (float& value : nms->boxes) {
      if (OneOf(60)) value = special[Below(5)];
    }
  }

  std::vector<int32_t> Settled(NmsCase* nms) {
    const float threshold = nms->parameters.iou_threshold;
    for (;;) {
      std::set<uint32_t> near;
      std::vector<int32_t> rows = Expected(
          *nms, [&](uint32_t image, const auto& boxes, size_t i, size_t k) {
            const auto iou = static_cast<float>(Iou(boxes[i], boxes[k]));
            if (IsNearly(iou, threshold)) {
              near.insert(image * nms->count + static_cast<uint32_t>(i));
            }
            exact_ious += iou == threshold && iou > 0;
            return iou > threshold;
          });
      if (near.empty()) return rows;
      redrawn_boxes += static_cast<int>(near.size());
      for (const uint32_t n : near) DrawBox(nms, n);
    }
  }

  bool on_grid_ = false;
  std::vector<int32_t> expected_;
};

TEST(RandomNonMaxSuppression, EqualsTheScalarReferenceOnBothDevices) {
  const uint32_t seed = 20261125;
  const int cases = testing::RunsLongTests() ? 1000 : 100;
  RandomNms random(seed);
  testing::Sample sample(3);
  size_t rows = 0;
  int empty = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", case " +
                 std::to_string(i));
    const NmsCase nms = random.Draw(i);
    ExpectRows(nms, random.expected(), sample.Takes());
    rows += random.expected().size() / 3;
    empty += random.expected().empty();
  }
  std::printf(
      "seed %u, %d cases: %zu rows, %d cases without any, %d IoUs at a "
      "threshold; drawn again: %d scores, %d boxes\n",
      seed, cases, rows, empty, random.exact_ious, random.redrawn_scores,
      random.redrawn_boxes);
  EXPECT_GT(rows, static_cast<size_t>(10 * cases));
  EXPECT_GT(empty, 0);
  EXPECT_GT(random.exact_ious, 0);
}

}  // namespace
}  // namespace tim::custom_ops
