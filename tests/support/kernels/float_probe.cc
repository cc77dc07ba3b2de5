#include "tests/support/kernels/float_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/kernel_sources.h"
#include "tests/support/kernels/test_launcher.h"

namespace tim::testing {
namespace {

// Zero or subnormal.
bool Tiny(float x) { return std::fabs(x) < std::numeric_limits<float>::min(); }

}  // namespace

Result<std::vector<float>> RunProbe(
    const FloatProbe& probe, const std::vector<std::vector<float>>& arguments) {
  const char* text = kernels::FindHeader(probe.source);
  if (text == nullptr) text = kernels::FindSource(probe.source);
  if (text == nullptr) return NotFound(probe.source);
  const size_t count = arguments[0].size();
  std::vector<std::vector<std::byte>> bytes(
      arguments.size() + 1, std::vector<std::byte>(count * sizeof(float)));
  ir::KernelLaunch launch;
  launch.text = StrCat(text, probe.text);
  launch.function = probe.function;
  launch.options = probe.options;
  launch.range.global = {static_cast<int64_t>(count) / probe.lanes, 1, 1};
  std::vector<LaunchOperand> operands;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool written = i == arguments.size();
    if (!written) {
      std::memcpy(bytes[i].data(), arguments[i].data(), bytes[i].size());
    }
    launch.arguments.emplace_back(
        ir::TensorArg{.operand = static_cast<int>(i)});
    operands.push_back({&bytes[i], written});
  }
  TIM_RETURN_IF_ERROR(RunLaunch(launch, operands));
  std::vector<float> y(count);
  std::memcpy(y.data(), bytes.back().data(), bytes.back().size());
  return y;
}

int64_t Differences(const std::vector<std::vector<float>>& arguments,
                    const std::vector<float>& a, const std::vector<float>& b) {
  int64_t count = 0;
  const bool subnormals = TestDeviceKeepsSubnormals();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (!subnormals && Tiny(a[i]) && Tiny(b[i])) continue;
    if (!subnormals && std::any_of(arguments.begin(), arguments.end(),
                                   [i](const auto& x) { return Tiny(x[i]); })) {
      continue;
    }
    if (std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i]))
      continue;
    if (++count > 5) continue;
    std::string at;
    for (const auto& argument : arguments) at += StrCat(" ", argument[i]);
    ADD_FAILURE() << "at" << at << ": " << a[i] << " and " << b[i];
  }
  return count;
}

std::vector<float> AnyFloats(size_t count, uint32_t seed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::mt19937 rng(seed);
  std::vector<float> x = {0.0f, -0.0f, kInfinity, -kInfinity,
                          std::numeric_limits<float>::quiet_NaN()};
  for (int n = -149; n <= 127; ++n) {
    x.push_back(std::ldexp(1.0f, n));
    x.push_back(-std::ldexp(1.0f, n));
  }
  while (x.size() < count) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(rng())));
  }
  return x;
}

double UlpError(float actual, double expected) {
  const auto nearest = static_cast<float>(expected);
  if (std::isnan(nearest) && std::isnan(actual)) return 0;
  if (!std::isfinite(actual) || !std::isfinite(nearest)) {
    return actual == nearest ? 0 : std::numeric_limits<double>::infinity();
  }
  const int exponent = nearest == 0 ? -126 : std::ilogb(nearest);
  return std::fabs(actual - expected) /
         std::ldexp(1.0, std::max(exponent, -126) - 23);
}

}  // namespace tim::testing
