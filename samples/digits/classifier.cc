#include "classifier.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "tim/vx/error.h"

namespace digits {
namespace {

class Stopwatch {
 public:
  double Ms() const {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    return std::chrono::duration<double, std::milli>(elapsed).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

// A call into tim::vx failed: the library knows the reason.
bool Fail(const std::string& what, std::string* error) {
  *error = what + ": " + tim::vx::LastError();
  return false;
}

bool SumsToOne(const Probabilities& p) {
  const float sum = std::accumulate(p.begin(), p.end(), 0.0f);
  return std::fabs(sum - 1.0f) < 1e-3f;  // false for a NaN
}

}  // namespace

bool Classifier::Create(tim::vx::Context* context, const TensorFile& model,
                        std::uint32_t batch, std::string* error) {
  if (!BuildLenet(context, model, batch, &net_, error)) return false;
  batch_ = batch;
  const Stopwatch watch;
  if (!net_.graph->Compile()) return Fail("compile", error);
  compile_ms_ = watch.Ms();
  return true;
}

bool Classifier::Classify(const std::uint8_t* pixels, std::size_t count,
                          std::vector<Probabilities>* result,
                          std::string* error) {
  for (std::size_t first = 0; first < count; first += batch_) {
    const std::size_t n = std::min<std::size_t>(batch_, count - first);
    if (!RunBatch(pixels + first * kPixels, n, result, error)) return false;
  }
  return true;
}

bool Classifier::RunBatch(const std::uint8_t* pixels, std::size_t count,
                          std::vector<Probabilities>* result,
                          std::string* error) {
  std::vector<std::uint8_t> in(pixels, pixels + count * kPixels);
  in.resize(std::size_t{batch_} * kPixels);
  std::vector<Probabilities> out(batch_);
  const Stopwatch watch;
  if (!net_.input->CopyDataToTensor(InputBytes(net_, in).data())) {
    return Fail("write the input", error);
  }
  if (!net_.graph->Run()) return Fail("run", error);
  if (!net_.output->CopyDataFromTensor(out.data())) {
    return Fail("read the output", error);
  }
  run_ms_.push_back(watch.Ms());
  if (!std::all_of(out.begin(), out.end(), SumsToOne)) {
    *error = "run: the probabilities of a digit do not add up to 1";
    return false;
  }
  result->insert(result->end(), out.begin(),
                 out.begin() + static_cast<std::ptrdiff_t>(count));
  return true;
}

double Classifier::FirstRunMs() const {
  return run_ms_.empty() ? 0.0 : run_ms_.front();
}

double Classifier::MedianRunMs() const {
  if (run_ms_.size() < 2) return FirstRunMs();
  std::vector<double> later(run_ms_.begin() + 1, run_ms_.end());
  const auto middle =
      later.begin() + static_cast<std::ptrdiff_t>(later.size() / 2);
  std::nth_element(later.begin(), middle, later.end());
  return *middle;
}

}  // namespace digits
