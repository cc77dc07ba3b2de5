// A block of a transformer reads tokens one after the other, each of which is
// what it made of the one before: at once, later, as a captured graph, and
// frozen in a program.  Prints the time per token of each, the time of the
// first one, which compiles, and how far its last token is from the first
// mode's.  attention_numpy.py does the same with NumPy.
//
//   attention [TOKENS]    64
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "block.h"
#include "tim/values/values.h"

using namespace tim::values;

namespace {

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin)
      .count();
}

/// Results and times of a mode that read the tokens.
struct Reading {
  std::vector<float> last;  ///< Empty after a failure: see LastError().
  double first_us = 0;
  double token_us = 0;  ///< Of those behind the first.
};

Reading Read(attention::Block& block, const Function& step, int tokens) {
  Reading reading;
  // Plans are made in the first pass, and measured in the second.
  for (int pass = 0; pass < 2; ++pass) {
    block.Start();
    Value token = block.FirstToken();
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < tokens; ++i) {
      token = step({token, attention::Block::Position(i)})[0];
      if (!token.Wait()) return reading;
      if (pass == 0 && i == 0) reading.first_us = MicrosecondsSince(begin);
    }
    reading.token_us = MicrosecondsSince(begin) / tokens;
    reading.last = token.ToVector<float>();
  }
  return reading;
}

void Print(const char* mode, const Reading& reading,
           const std::vector<float>& expected) {
  double distance = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double one = std::abs(reading.last[i] - expected[i]);
    distance = std::max(distance, one);
  }
  std::printf("%-10s %12.1f %16.0f %12.2g\n", mode, reading.token_us,
              reading.first_us, distance);
}

}  // namespace

int main(int argc, char** argv) {
  attention::Sizes sizes;
  if (argc > 1) sizes.tokens = std::max(1, std::atoi(argv[1]));
  const int tokens = static_cast<int>(sizes.tokens);
  attention::Block block(sizes);
  const Function step = [&block](const std::vector<Value>& in) {
    return block.Step(in);
  };
  const Graph graph = Graph::Capture(step, {Spec(), Spec()}, "block");
  const Program program = graph.Compile();
  const struct {
    const char* name;
    Mode mode;
    Function step;
  } modes[] = {
      {"eager", Mode::kEager, step},
      {"lazy", Mode::kLazy, step},
      {"captured", Mode::kEager,
       [&](const std::vector<Value>& in) {
         return std::vector<Value>{Value(graph.Call(in))};
       }},
      {"frozen", Mode::kEager,
       [&](const std::vector<Value>& in) { return program.Run(in); }},
  };
  std::printf("%d tokens of %d elements on %s\n\n", tokens,
              static_cast<int>(sizes.width), Device().spec().c_str());
  std::printf("%-10s %12s %16s %12s\n", "mode", "us per token",
              "us of the first", "distance");
  std::vector<float> expected;
  for (const auto& mode : modes) {
    const ModeScope scope(mode.mode);
    const Reading reading = Read(block, mode.step, tokens);
    if (reading.last.empty()) {
      std::fprintf(stderr, "%s: %s\n", mode.name, LastError().c_str());
      return 1;
    }
    if (expected.empty()) expected = reading.last;
    Print(mode.name, reading, expected);
  }
  return 0;
}
