// A compiled network: pixels in, class probabilities out, with its times.
#ifndef TIM_SAMPLES_DIGITS_CLASSIFIER_H_
#define TIM_SAMPLES_DIGITS_CLASSIFIER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lenet.h"

namespace digits {

using Probabilities = std::array<float, kClasses>;

class Classifier {
 public:
  /// Builds and compiles the network for `batch` digits at a time.
  bool Create(tim::vx::Context* context, const TensorFile& model,
              std::uint32_t batch, std::string* error);

  /// Classifies `count` digits of 8 x 8 bytes each, in batches, and appends
  /// their probabilities to `result`. The last batch is filled up with zeros.
  bool Classify(const std::uint8_t* pixels, std::size_t count,
                std::vector<Probabilities>* result, std::string* error);

  std::uint32_t Batch() const { return batch_; }
  double CompileMs() const { return compile_ms_; }
  /// Of one batch: to copy the pixels in, run, and copy the result out.
  double FirstRunMs() const;
  double MedianRunMs() const;  // of all runs but the first

 private:
  bool RunBatch(const std::uint8_t* pixels, std::size_t count,
                std::vector<Probabilities>* result, std::string* error);

  Lenet net_;
  std::uint32_t batch_ = 0;
  double compile_ms_ = 0.0;
  std::vector<double> run_ms_;
};

}  // namespace digits

#endif  // TIM_SAMPLES_DIGITS_CLASSIFIER_H_
