// DetectionPostProcess beside plain C++ on one processor; run with --help.
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/detection/scalar_nms.h"
#include "bench/timing/interleaved.h"
#include "bench/timing/json_file.h"
#include "bench/timing/program.h"
#include "custom_ops/detection_postprocess.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/tensor.h"

namespace tim::bench {
namespace {

using custom_ops::DetectionPostProcess;

// Of SSD MobileNet.
constexpr uint32_t kAnchors = 1917;
constexpr uint32_t kClasses = 91;
constexpr int32_t kDetections = 100;
constexpr float kScoreThreshold = 0.3f;
constexpr float kIouThreshold = 0.5f;

struct Head {
  std::vector<float> encodings;
  std::vector<float> scores;
  std::vector<float> anchors;
};

Head UniformHead() {
  std::mt19937 rng(20261125);
  const auto draw = [&](size_t count, float low, float high) {
    std::uniform_real_distribution<float> uniform(low, high);
    std::vector<float> values(count);
    for (float& value : values) value = uniform(rng);
    return values;
  };
  Head head = {draw(kAnchors * 4, -3, 3), draw(kAnchors * kClasses, 0, 1), {}};
  for (uint32_t n = 0; n < kAnchors; ++n) {
    for (const float value : draw(2, 0, 1)) head.anchors.push_back(value);
    for (const float value : draw(2, 0.05f, 0.4f))
      head.anchors.push_back(value);
  }
  return head;
}

ScalarHead ScalarOf(const Head& head) {
  ScalarHead scalar;
  scalar.count = kAnchors;
  scalar.score_columns = kClasses;
  scalar.encodings = head.encodings.data();
  scalar.scores = head.scores.data();
  scalar.anchors = head.anchors.data();
  scalar.score_threshold = kScoreThreshold;
  scalar.max_detections = kDetections;
  scalar.detections_per_class = kDetections;
  return scalar;
}

enum class Nms { kFast, kRegular };

struct Operator {
  std::shared_ptr<vx::Graph> graph;
  std::shared_ptr<vx::Tensor> detections;
};

Operator OperatorOf(const Head& head, Nms nms, vx::Context* context) {
  DetectionPostProcess::Parameters parameters;
  parameters.max_detections = kDetections;
  parameters.detections_per_class = kDetections;
  parameters.use_regular_nms = nms == Nms::kRegular;
  parameters.nms_score_threshold = kScoreThreshold;
  parameters.nms_iou_threshold = kIouThreshold;
  parameters.num_classes = kClasses;
  const auto graph = context->CreateGraph();
  const auto input = [&](const vx::ShapeType& shape,
                         const std::vector<float>& values) {
    return graph->CreateTensor(
        vx::TensorSpec(vx::DataType::FLOAT32, shape, vx::INPUT), values.data());
  };
  const auto output = [&] {
    return graph->CreateTensor(
        vx::TensorSpec(vx::DataType::FLOAT32, {}, vx::OUTPUT));
  };
  const auto detections = output();
  graph->CreateOperation<DetectionPostProcess>(parameters)
      ->BindInputs({input({4, kAnchors, 1}, head.encodings),
                    input({kClasses, kAnchors, 1}, head.scores),
                    input({4, kAnchors}, head.anchors)})
      .BindOutputs({output(), output(), output(), detections});
  return {graph, detections};
}

size_t FoundByScalar(const ScalarHead& head, Nms nms) {
  const IouAbove rule{kIouThreshold};
  const std::vector<ScalarBox> boxes = Decode(head);
  if (nms == Nms::kRegular) return DetectRegular(head, boxes, rule).size();
  size_t anchors = 0;
  DetectFast(head, boxes, rule, &anchors);
  return anchors;
}

Status RunGraph(const Operator& op) {
  return op.graph->Run() ? Status() : FailedPrecondition(vx::LastError());
}

// So that both did the work.
Status CheckEqual(const Operator& op, const ScalarHead& head, Nms nms) {
  TIM_RETURN_IF_ERROR(RunGraph(op));
  float found = 0;
  if (!op.detections->CopyDataFromTensor(&found)) {
    return FailedPrecondition(vx::LastError());
  }
  const size_t expected = FoundByScalar(head, nms);
  if (found == static_cast<float>(expected)) return Status();
  return FailedPrecondition("the operator found ", found,
                            " detections, plain C++ ", expected);
}

Result<nlohmann::json> Measure(Effort effort) {
  const std::shared_ptr<vx::Context> context = vx::Context::Create();
  if (context == nullptr) return FailedPrecondition(vx::LastError());
  const Head head = UniformHead();
  const ScalarHead scalar = ScalarOf(head);
  std::vector<Timed> functions;
  for (const Nms nms : {Nms::kFast, Nms::kRegular}) {
    const std::string name = nms == Nms::kFast ? "fast" : "regular";
    const Operator op = OperatorOf(head, nms, context.get());
    TIM_RETURN_IF_ERROR(CheckEqual(op, scalar, nms));
    functions.push_back({name, [op] { return RunGraph(op); }});
    functions.push_back({name + "_scalar", [&scalar, nms] {
                           return FoundByScalar(scalar, nms) > 0
                                      ? Status()
                                      : FailedPrecondition(
                                            "plain C++ found nothing");
                         }});
  }
  TIM_ASSIGN_OR_RETURN(auto seconds, MedianSeconds(functions, effort));
  nlohmann::json result = {{"device", context->DeviceName()}};
  for (const std::string name : {"fast", "regular"}) {
    const double scalar_seconds = seconds[name + "_scalar"];
    result[name + "_ms"] = 1e3 * seconds[name];
    result[name + "_scalar_ms"] = 1e3 * scalar_seconds;
    result[name + "_ratio"] = seconds[name] / scalar_seconds;
  }
  return result;
}

Status Execute(const ProgramOptions& options) {
  TIM_ASSIGN_OR_RETURN(const nlohmann::json result, Measure(options.effort));
  std::printf("%s\n", result.dump(2).c_str());
  return WriteJson(result, options.json_path);
}

}  // namespace
}  // namespace tim::bench

int main(int argc, char** argv) {
  CLI::App app(
      "detections of 1917 anchors and 91 classes, uniform scores above 0.3: "
      "the operator, and plain C++ compiled with -O3 on one processor");
  return tim::bench::RunProgram(app, argc, argv, tim::bench::Execute);
}
