// Layers of the network, its first weights, and batches of digits.
#include "network.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

namespace train_digits {

using tim::values::Conv2dOptions;
using tim::values::Shape;
using tim::values::Value;

namespace {

constexpr std::size_t kPixels = kSide * kSide;

// Extents of weights and how many inputs each output has; {} is a bias.
struct Layer {
  std::vector<std::int64_t> weights;
  std::int64_t inputs;
};
const Layer kLayers[] = {
    {{3, 3, 1, 8}, 9},
    {{3, 3, 8, 16}, 72},
    {{64, 32}, 64},
    {{32, kClasses}, 32},
};

std::int64_t CountOf(const std::vector<std::int64_t>& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

Value Convolved(const Value& x, const Value& weights, const Value& bias) {
  Conv2dOptions options;
  options.padding = "same";
  return MaxPool2d(Relu(Conv2d(x, weights, bias, options)));
}

}  // namespace

// A text header, one line per tensor, "data", then the bytes in this order.
Digits ReadDigits(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::size_t> sizes;
  for (std::string line; std::getline(file, line) && line != "data";) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != "tensor") continue;
    words >> word >> word >> word >> word;  // name, type, quantization
    std::size_t size = 1;
    for (std::size_t extent; words >> extent;) size *= extent;
    sizes.push_back(size);
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  Digits digits;
  if (sizes.size() != 2 || sizes[0] != sizes[1] * kPixels ||
      bytes.size() != sizes[0] + sizes[1]) {
    return digits;
  }
  for (std::size_t i = 0; i < sizes[0]; ++i) {
    digits.pixels.push_back(static_cast<float>(bytes[i]) / 16);
  }
  for (std::size_t i = sizes[0]; i < bytes.size(); ++i) {
    digits.labels.push_back(bytes[i]);
  }
  return digits;
}

Batch BatchOf(const Digits& digits, std::size_t first, std::size_t count) {
  std::vector<float> images;
  std::vector<float> targets(count * kClasses);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t digit = (first + i) % digits.labels.size();
    const float* const pixels = digits.pixels.data() + digit * kPixels;
    images.insert(images.end(), pixels, pixels + kPixels);
    targets[i * kClasses + static_cast<std::size_t>(digits.labels[digit])] = 1;
  }
  const auto number = static_cast<std::int64_t>(count);
  return {Value::Of(Shape{kSide, kSide, 1, number}, images),
          Value::Of(Shape{kClasses, number}, targets)};
}

std::vector<Value> FirstWeights(std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<Value> out;
  for (const Layer& layer : kLayers) {
    // Uniform, so that the variance of what a layer makes is that of its input.
    const float most = std::sqrt(6.0f / static_cast<float>(layer.inputs));
    std::vector<float> weights;
    for (std::int64_t i = 0; i < CountOf(layer.weights); ++i) {
      const auto part = static_cast<float>(random()) /
                        static_cast<float>(std::minstd_rand::max());
      weights.push_back(most * (2 * part - 1));
    }
    out.push_back(Value::Of(Shape(layer.weights), weights));
    const std::int64_t outputs = layer.weights.back();
    out.push_back(Value::Of(
        Shape{outputs}, std::vector<float>(static_cast<std::size_t>(outputs))));
  }
  return out;
}

Value Network(const Value& images, const std::vector<Value>& weights) {
  Value x = Convolved(images, weights[0], weights[1]);
  x = Convolved(x, weights[2], weights[3]);
  x = Reshape(x, {64, -1});
  x = Relu(FullyConnected(x, weights[4], weights[5]));
  return LogSoftmax(FullyConnected(x, weights[6], weights[7]));
}

Value Loss(const Batch& batch, const std::vector<Value>& weights) {
  const Value likely = Network(batch.images, weights) * batch.targets;
  return -(ReduceSum(ReduceMean(likely, {1}), {0}));
}

}  // namespace train_digits
