// Trains a small network on handwritten digits by gradients of a function of
// values, and prints the loss as it falls.
//
//   train_digits [FILE [STEPS]]    FILE: samples/digits/data/heldout.bin
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "network.h"
#include "tim/values/gradient.h"
#include "tim/values/values.h"

using namespace tim::values;

int main(int argc, char** argv) {
  const std::string path =
      argc > 1 ? argv[1] : "samples/digits/data/heldout.bin";
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  constexpr std::size_t kBatch = 50;
  constexpr float kRate = 0.2f;
  const train_digits::Digits digits = train_digits::ReadDigits(path);
  if (digits.labels.empty()) {
    std::fprintf(stderr, "%s: no digits\n", path.c_str());
    return 1;
  }
  std::vector<Variable> weights;
  for (const Value& value : train_digits::FirstWeights(1)) {
    weights.emplace_back(value);
  }
  std::vector<int> all;
  for (size_t i = 0; i < weights.size(); ++i)
    all.push_back(static_cast<int>(i));
  for (int step = 0; step < steps; ++step) {
    const train_digits::Batch batch = train_digits::BatchOf(
        digits, static_cast<std::size_t>(step) * kBatch, kBatch);
    const Function loss = [&](const std::vector<Value>& w) {
      return std::vector<Value>{train_digits::Loss(batch, w)};
    };
    std::vector<Value> now;
    for (const Variable& weight : weights) now.push_back(weight.Read());
    const Gradients found = ValueAndGrad(loss, all)(now);
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i].Assign(now[i] - found.gradients[i] * kRate);
    }
    if (step % 10 != 0 && step + 1 != steps) continue;
    const std::vector<float> value = found.value.ToVector<float>();
    if (value.empty()) {
      std::fprintf(stderr, "%s\n", found.value.error().c_str());
      return 1;
    }
    std::printf("step %3d  loss %.4f\n", step, static_cast<double>(value[0]));
  }
  return 0;
}
