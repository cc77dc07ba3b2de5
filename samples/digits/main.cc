// Classifies real handwritten digits with a small network, in float32 and in
// uint8, and checks the accuracy over all held-out digits; then once more with
// each network as a binary, by a graph and by tim::lite.
//
//   digits [folder of the data]
//
// Exits with 0 only where both networks run and are as accurate as they were
// trained to be.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "binary.h"
#include "classifier.h"
#include "digit_set.h"
#include "tensor_file.h"
#include "tim/vx/context.h"
#include "tim/vx/error.h"

namespace digits {
namespace {

constexpr std::uint32_t kBatch = 50;
constexpr double kMinFloatPercent = 97.0;
constexpr double kMaxQuantizedLoss = 1.0;  // percentage points

struct Network {
  std::string name;
  std::string file;
  double percent;
  std::vector<Probabilities> results;  // one per held-out digit
};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// argv[1]; else where the sample lies below the working directory, or below
// the folder of run-time files that Bazel makes.
std::string FindData(int argc, char** argv) {
  if (argc > 1) return argv[1];
  const std::string data = "samples/digits/data";
  for (const std::string& folder :
       {data, Environment("RUNFILES_DIR") + "/tim_cl/" + data,
        std::string(argv[0]) + ".runfiles/tim_cl/" + data}) {
    if (std::ifstream(folder + "/heldout.bin")) return folder;
  }
  return data;
}

void PrintTimes(const std::string& name, const Classifier& classifier) {
  const double run = classifier.MedianRunMs();
  std::cout << std::left << std::setw(9) << name << std::right << std::setw(5)
            << classifier.Batch() << std::fixed << std::setprecision(3)
            << std::setw(14) << classifier.CompileMs() << std::setw(14)
            << classifier.FirstRunMs() << std::setw(14) << run << std::setw(14)
            << run / classifier.Batch() << "\n";
}

// Compiles the network for `batch` digits at a time and classifies all digits.
bool Classify(tim::vx::Context* context, const TensorFile& model,
              std::uint32_t batch, const DigitSet& set, Network* network,
              std::string* error) {
  Classifier classifier;
  network->results.clear();
  if (!classifier.Create(context, model, batch, error) ||
      !classifier.Classify(set.Digit(0), set.Size(), &network->results,
                           error)) {
    *error = network->name + ": " + *error;
    return false;
  }
  PrintTimes(network->name, classifier);
  const auto correct = static_cast<double>(CountCorrect(set, network->results));
  const double percent = 100.0 * correct / static_cast<double>(set.Size());
  network->percent = std::min(network->percent, percent);
  return true;
}

// The accuracy is the lower one of batches and of one digit at a time; the
// probabilities are those of one at a time.
bool Evaluate(tim::vx::Context* context, const std::string& data,
              const DigitSet& set, Network* network, std::string* error) {
  TensorFile model;
  return ReadTensorFile(data + "/" + network->file, &model, error) &&
         Classify(context, model, kBatch, set, network, error) &&
         Classify(context, model, 1, set, network, error);
}

bool IsClose(const Probabilities& a, const Probabilities& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::fabs(a[i] - b[i]) < 1e-5f)) return false;  // NaN is far away
  }
  return true;
}

// The network as a binary says of all digits what the graph says.
bool CheckBinary(tim::vx::Context* context, const std::string& data,
                 const DigitSet& set, const Network& network,
                 std::string* error) {
  TensorFile model;
  Lenet like;
  std::vector<char> binary;
  std::vector<Probabilities> by_graph, by_lite;
  const std::uint8_t* pixels = set.Digit(0);
  if (!ReadTensorFile(data + "/" + network.file, &model, error) ||
      !BuildLenet(context, model, 1, &like, error) ||
      !WriteBinary(context, model, &binary, error) ||
      !ClassifyByGraph(context, binary, like, pixels, set.Size(), &by_graph,
                       error) ||
      !ClassifyByLite(binary, like, pixels, set.Size(), &by_lite, error)) {
    return false;
  }
  std::size_t equal = 0;
  for (std::size_t i = 0; i < set.Size(); ++i) {
    if (IsClose(by_graph[i], network.results[i]) &&
        IsClose(by_lite[i], network.results[i])) {
      ++equal;
    }
  }
  std::cout << (equal == set.Size() ? "PASS " : "FAIL ") << network.name
            << " as a binary of " << binary.size() / 1024 << " KiB: " << equal
            << " of " << set.Size() << " digits read as by the graph\n";
  if (equal == set.Size()) return true;
  *error = network.name + ": the binary computes something else";
  return false;
}

// The first digit, the middle one, and the one that is the hardest to read.
void PrintSomeDigits(const DigitSet& set, const std::vector<Network>& nets) {
  const std::size_t hardest = LeastCertain(nets.front().results);
  for (const std::size_t i : {std::size_t{0}, set.Size() / 2, hardest}) {
    std::vector<Opinion> opinions;
    for (const Network& net : nets) {
      opinions.push_back({net.name, net.results[i]});
    }
    std::cout << "\ndigit " << i << ", meant as a " << int{set.labels[i]}
              << (i == hardest ? "; the least certain one\n" : "\n");
    PrintDigit(set.Digit(i), opinions, std::cout);
  }
}

bool Check(const Network& network, double required, const DigitSet& set) {
  // Far less than one digit: for the rounding of the percentages only.
  const bool passed = network.percent >= required - 1e-9;
  std::cout << (passed ? "PASS " : "FAIL ") << network.name << ": "
            << network.percent << " % of " << set.Size()
            << " held-out digits, at least " << required << " % required\n";
  return passed;
}

bool Run(const std::string& data, std::string* error) {
  DigitSet set;
  if (!ReadDigitSet(data + "/heldout.bin", &set, error)) return false;
  const auto context = tim::vx::Context::Create();
  if (context == nullptr) {
    *error = "no context: " + tim::vx::LastError();
    return false;
  }
  const bool custom = SoftmaxFor(*context) == SoftmaxKind::kCustom;
  std::cout << "device: " << context->DeviceName() << "\n"
            << "softmax: "
            << (custom ? "the custom operator SoftmaxCl"
                       : "built in; custom operators need an OpenCL device")
            << "\n\n"
            << "network  batch  compile [ms]  1st run [ms]  median [ms]  "
            << "per digit [ms]\n";
  std::vector<Network> networks = {{"float32", "lenet_f32.bin", 100.0, {}},
                                   {"uint8", "lenet_u8.bin", 100.0, {}}};
  for (Network& network : networks) {
    if (!Evaluate(context.get(), data, set, &network, error)) return false;
  }
  PrintSomeDigits(set, networks);
  std::cout << "\n";
  const bool float_passed = Check(networks[0], kMinFloatPercent, set);
  const bool uint8_passed =
      Check(networks[1], networks[0].percent - kMaxQuantizedLoss, set);
  for (const Network& network : networks) {
    if (!CheckBinary(context.get(), data, set, network, error)) return false;
  }
  if (float_passed && uint8_passed) return true;
  *error = "the accuracy is too low";
  return false;
}

}  // namespace
}  // namespace digits

int main(int argc, char** argv) {
  std::string error;
  if (digits::Run(digits::FindData(argc, argv), &error)) return EXIT_SUCCESS;
  std::cerr << "FAIL digits: " << error << "\n";
  return EXIT_FAILURE;
}
