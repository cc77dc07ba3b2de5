// A small convolutional network for digits of 8 x 8 pixels, as a function of
// values, and the digits that it learns from.
#ifndef TIM_SAMPLES_TRAIN_DIGITS_NETWORK_H_
#define TIM_SAMPLES_TRAIN_DIGITS_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tim/values/values.h"

namespace train_digits {

constexpr std::int64_t kSide = 8;
constexpr std::int64_t kClasses = 10;

/// Pixels 0 .. 1, row by row, and a label 0 .. 9 for each digit.
struct Digits {
  std::vector<float> pixels;
  std::vector<int> labels;
};

/// Digits of a tensor file of samples/digits; empty where it cannot be read.
Digits ReadDigits(const std::string& path);

/// `count` of the digits from `first` on, as [8, 8, 1, count] and as
/// [10, count] with a 1 at the label.  Behind the last one the first follows.
struct Batch {
  tim::values::Value images;
  tim::values::Value targets;
};
Batch BatchOf(const Digits& digits, std::size_t first, std::size_t count);

/// Weights and biases of all layers, from a seed.
std::vector<tim::values::Value> FirstWeights(std::uint32_t seed);

/// Logarithms of the probabilities of the classes, [10, count].
tim::values::Value Network(const tim::values::Value& images,
                           const std::vector<tim::values::Value>& weights);

/// The mean of -log(probability of the label), of rank 0.
tim::values::Value Loss(const Batch& batch,
                        const std::vector<tim::values::Value>& weights);

}  // namespace train_digits

#endif  // TIM_SAMPLES_TRAIN_DIGITS_NETWORK_H_
