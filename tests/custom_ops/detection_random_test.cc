// DetectionPostProcess of random heads beside the scalar reference in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "tests/custom_ops/random_boxes.h"
#include "tests/custom_ops/ssd_case.h"
#include "tests/support/long_tests.h"
#include "tests/support/vx/test_op.h"
#include "tests/support/vx/vx_graph.h"

namespace tim::custom_ops {
namespace {

using testing::SsdCase;
using testing::SsdOperand;
using testing::SsdOrder;

class RandomSsd : private testing::RandomBoxes {
 public:
  explicit RandomSsd(uint32_t seed) : RandomBoxes(seed) {}

  // Of 1, 64, 1917, 8400 or 25200 anchors, with what else is special in turn.
  // Batches and limits are of few kinds: kernels have as many work-items, and
  // PoCL compiles one for each number that divides differently.
  SsdCase Draw(int i) {
    static constexpr float kThresholds[] = {0.5f, 0.3f, 0.6f, 1.0f, 0.75f};
    static constexpr int32_t kMost[] = {1, 24, 150};
    static constexpr int32_t kMostPerClass[] = {1, 24, 128};
    SsdCase ssd;
    ssd.count = Count(i);
    const bool is_large = ssd.count > 2000;
    ssd.batch = ssd.count < 2000 && OneOf(3) ? 3 : 1;
    ssd.columns = OneOf(4) ? 4 + Below(4) : 4;
    ssd.order = OneOf(3) ? SsdOrder::kNnapi : SsdOrder::kTensorFlowLite;
    ssd.background_in_label = ssd.order == SsdOrder::kNnapi && OneOf(2);
    auto& p = ssd.parameters;
    p.num_classes = static_cast<int32_t>(1 + Below(is_large ? 3 : 8));
    ssd.score_columns = p.num_classes + 1;
    if (ssd.order == SsdOrder::kTensorFlowLite && OneOf(2)) --ssd.score_columns;
    p.use_regular_nms = OneOf(2);
    p.max_detections = kMost[Below(3)];
    p.max_classes_per_detection =
        p.use_regular_nms ? 1 : static_cast<int32_t>(1 + Below(4));
    p.detections_per_class = kMostPerClass[Below(3)];
    p.nms_iou_threshold = kThresholds[Below(5)];
    p.nms_score_threshold = OneOf(8) ? 2.0f : 0.1f * Below(8);
    DrawScores(&ssd);
    DrawAnchors(&ssd);
    DrawEncodings(&ssd);
    if (OneOf(4)) Quantize(&ssd);
    Settle(&ssd);
    return ssd;
  }

  int redrawn_scores() const { return redrawn_scores_; }
  int redrawn_boxes() const { return redrawn_boxes_; }
  int exact_ious() const { return exact_ious_; }

 private:
  // Steps make ties.
  void DrawScores(SsdCase* ssd) {
    const float steps = OneOf(2) ? 0.0f : OneOf(2) ? 8.0f : 100.0f;
    const bool has_special = OneOf(2);
    const float threshold = ssd->parameters.nms_score_threshold;
    for (uint32_t i = 0; i < ssd->count * ssd->score_columns * ssd->batch;
         ++i) {
      float score = Uniform(-0.1f, 1);
      if (steps > 0) score = std::round(score * steps) / steps;
      if (has_special && OneOf(20)) score = Special();
      while (IsNearly(score, threshold)) {
        ++redrawn_scores_;
        score = Uniform(0, 1);
      }
      ssd->scores.values.push_back(score);
    }
  }

  float Special() {
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();
    static constexpr float kSpecial[] = {NAN,  kInfinity, -kInfinity,
                                         0.0f, -0.0f,     1e-42f};
    return kSpecial[Below(6)];
  }

  // On a grid of cells, where IoUs hit thresholds, or anywhere, in clusters.
  void DrawAnchors(SsdCase* ssd) {
    on_grid_ = OneOf(3);
    const float places = std::sqrt(static_cast<float>(ssd->count)) * 2;
    for (uint32_t n = 0; n < ssd->count; ++n) {
      std::vector<float> anchor = {Uniform(0, 1), Uniform(0, 1),
                                   Uniform(0.05f, 0.4f), Uniform(0.05f, 0.4f)};
      if (on_grid_) {
        const auto extent = static_cast<uint32_t>(places) + 1;
        anchor = {1.0f * Below(extent), 1.0f * Below(extent),
                  2.0f * (1 + Below(4)), 2.0f * (1 + Below(4))};
      }
      ssd->anchors.values.insert(ssd->anchors.values.end(), anchor.begin(),
                                 anchor.end());
    }
  }

  void DrawEncodings(SsdCase* ssd) {
    const bool has_special = OneOf(2);
    ssd->encodings.values.resize(ssd->count * ssd->columns * ssd->batch);
    for (uint32_t n = 0; n < ssd->count * ssd->batch; ++n) {
      DrawEncoding(ssd, n);
      float* encoding = &ssd->encodings.values[n * ssd->columns];
      if (has_special && OneOf(15)) encoding[Below(4)] = Special();
      // Without area, or above float32's range.
      if (has_special && OneOf(15)) encoding[2 + Below(2)] = -1000;
      if (has_special && OneOf(15)) encoding[2 + Below(2)] = 1000;
    }
  }

  void DrawEncoding(SsdCase* ssd, uint32_t n) {
    float* encoding = &ssd->encodings.values[n * ssd->columns];
    for (uint32_t i = 0; i < ssd->columns; ++i) {
      encoding[i] = on_grid_ ? 0 : Uniform(-3, 3);
    }
    if (ssd->encodings.codes.empty()) return;
    for (uint32_t i = 0; i < ssd->columns; ++i) {
      const size_t at = n * ssd->columns + i;
      ssd->encodings.codes[at] = static_cast<uint8_t>(Below(256));
      ssd->encodings.values[at] =
          static_cast<float>(ssd->encodings.codes[at] -
                             ssd->encodings.zero_point) *
          ssd->encodings.scale;
    }
  }

  // Codes have no NaN.
  void Quantize(SsdCase* ssd) {
    const auto draw = [&](size_t count, float scale, int32_t zero_point) {
      std::vector<uint8_t> codes(count);
      for (uint8_t& code : codes) code = static_cast<uint8_t>(Below(256));
      return SsdOperand::OfCodes(std::move(codes), scale, zero_point);
    };
    on_grid_ = false;
    ssd->encodings = draw(ssd->encodings.values.size(), 0.031f, 120);
    ssd->scores = draw(ssd->scores.values.size(), 1 / 256.0f, 3);
    ssd->anchors = draw(ssd->anchors.values.size(), 0.0041f, 0);
    float& threshold = ssd->parameters.nms_score_threshold;
    while (
        std::any_of(ssd->scores.values.begin(), ssd->scores.values.end(),
                    [&](float score) { return IsNearly(score, threshold); })) {
      ++redrawn_scores_;
      threshold = Uniform(0, 1);
    }
  }

  // Draws boxes again until no IoU that counts is near the threshold.
  void Settle(SsdCase* ssd) {
    for (uint32_t b = 0; b < ssd->batch; ++b) {
      for (;;) {
        const std::set<size_t> near = Near(*ssd, b);
        if (near.empty()) break;
        redrawn_boxes_ += static_cast<int>(near.size());
        for (const size_t n : near) {
          DrawEncoding(ssd, static_cast<uint32_t>(b * ssd->count + n));
        }
      }
    }
  }

  std::set<size_t> Near(const SsdCase& ssd, uint32_t image) {
    const bench::ScalarHead head = ScalarHeadOf(ssd, image);
    const float threshold = ssd.parameters.nms_iou_threshold;
    std::set<size_t> near;
    const auto judge = [&](const std::vector<bench::ScalarBox>& boxes,
                           size_t candidate, size_t kept) {
      const auto iou = static_cast<float>(Iou(boxes[candidate], boxes[kept]));
      if (IsNearly(iou, threshold)) near.insert(candidate);
      exact_ious_ += iou == threshold;
      return iou > threshold;
    };
    size_t number = 0;
    if (ssd.parameters.use_regular_nms) {
      DetectRegular(head, Decode(head), judge);
    } else {
      DetectFast(head, Decode(head), judge, &number);
    }
    return near;
  }

  bool on_grid_ = false;
  int redrawn_scores_ = 0;
  int redrawn_boxes_ = 0;
  int exact_ious_ = 0;
};

TEST(RandomDetections, EqualTheScalarReferenceOnBothDevices) {
  const uint32_t seed = 20261125;
  const int cases = testing::RunsLongTests() ? 1000 : 60;
  RandomSsd random(seed);
  testing::Sample sample(3);  // Cases whose kernels run.
  int detections = 0;
  int empty = 0;
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", case " +
                 std::to_string(i));
    const SsdCase ssd = random.Draw(i);
    const testing::SsdDetections expected = testing::ExpectedSsd(ssd);
    for (const float number : expected.numbers) {
      detections += static_cast<int>(number);
      empty += number == 0;
    }
    if (sample.Takes()) {
      SCOPED_TRACE("opencl");
      ExpectSsd(expected, RunSsd(ssd, testing::OpenClGraph()));
    }
    SCOPED_TRACE("host");
    ExpectSsd(expected, RunSsd(ssd, testing::HostGraph()));
  }
  std::printf(
      "seed %u, %d cases: %d detections, %d images with none, %d IoUs at a "
      "threshold; drawn again: %d scores, %d boxes\n",
      seed, cases, detections, empty, random.exact_ious(),
      random.redrawn_scores(), random.redrawn_boxes());
  EXPECT_GT(detections, 10 * cases);
  EXPECT_GT(empty, 0);
  EXPECT_GT(random.exact_ious(), 0);
}

}  // namespace
}  // namespace tim::custom_ops
