// Runs what the importer makes of TFLite files.
#ifndef TIM_TESTS_MODELS_TFLITE_RUNNER_H_
#define TIM_TESTS_MODELS_TFLITE_RUNNER_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "models/build/value.h"
#include "tests/models/tflite_file.h"
#include "tim/models/tflite.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops.h"

namespace tim::testing {

/// The host computes, unless TIMCL_DEVICE says otherwise: set before the
/// library reads it.
inline const int kTfliteOnHost = setenv("TIMCL_DEVICE", "host", 0);

/// One model and its runs.
class TfliteRun {
 public:
  explicit TfliteRun(
      const std::vector<uint8_t>& file,
      const models::TfliteOptions& options = models::TfliteOptions())
      : model(models::ParseTflite(vx::Context::Create(), file.data(),
                                  file.size(), options)) {}

  /// Output 0 of a run on these inputs.
  template <typename T>
  std::vector<T> Run(const std::vector<std::vector<uint8_t>>& inputs) {
    if (!model || inputs.size() != model.inputs.size()) {
      ADD_FAILURE() << model.error;
      return {};
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const models::Port& port = model.inputs[i];
      EXPECT_EQ(static_cast<int64_t>(inputs[i].size()),
                models::ByteSizeOf(port.type, port.dims));
      EXPECT_TRUE(port.tensor->CopyDataToTensor(inputs[i].data()));
    }
    EXPECT_TRUE(model.graph->Compile()) << model.graph->ErrorMessage();
    EXPECT_TRUE(model.graph->Run()) << model.graph->ErrorMessage();
    return Output<T>(0);
  }
  std::vector<float> Floats(const std::vector<float>& input) {
    return Run<float>({BytesOf(input)});
  }
  template <typename T>
  std::vector<T> Output(size_t index) {
    const models::Port& port = model.outputs.at(index);
    std::vector<T> values(
        static_cast<size_t>(models::ByteSizeOf(port.type, port.dims)) /
        sizeof(T));
    EXPECT_TRUE(port.tensor->CopyDataFromTensor(values.data()));
    return values;
  }

  models::Model model;
};

}  // namespace tim::testing

#endif  // TIM_TESTS_MODELS_TFLITE_RUNNER_H_
