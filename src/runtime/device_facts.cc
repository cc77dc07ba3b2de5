// Asks all devices what they are, and ranks them.
#include "runtime/device_facts.h"

#include <utility>

#include "base/str_cat.h"
#include "device/device_sources.h"
#include "runtime/device_pool.h"

namespace tim::runtime {
namespace {

constexpr int kHostScore = 10;

int ScoreOf(ir::DeviceClass device_class) {
  static constexpr int kScores[] = {50, 100, 80};  // cpu, gpu, accelerator
  return kScores[static_cast<int>(device_class)];
}

}  // namespace

std::vector<DeviceFacts> AllDeviceFacts(const DeviceOptions& options) {
  std::vector<DeviceFacts> all;
  const int count = device::CountOpenClDevices();
  for (int i = 0; i < count; ++i) {
    DeviceFacts& facts = all.emplace_back();
    facts.spec = StrCat("opencl:", i);
    facts.info.kind = "opencl";
    const auto opened = ShareOpenCl(i, options);
    if (opened.ok()) {
      facts.info = (*opened)->info();
      facts.score = ScoreOf(facts.info.device_class);
    } else {
      facts.reason = opened.status().message();
    }
  }
  DeviceFacts& host = all.emplace_back();
  host.spec = "host";
  const auto opened = ShareHost(options);
  if (opened.ok()) {
    host.info = (*opened)->info();
    host.score = kHostScore;
  } else {
    host.reason = opened.status().message();
  }
  for (const device::DeviceSource& source : device::DeviceSources()) {
    int number = 0;
    for (device::SourceDevice& offered : source.list()) {
      all.push_back({.spec = StrCat(source.kind, ":", number++),
                     .info = std::move(offered.info),
                     .score = offered.score,
                     .reason = std::move(offered.reason)});
    }
  }
  return all;
}

std::string BestDevice() {
  std::string best = "host";
  int score = 0;
  for (const DeviceFacts& facts : AllDeviceFacts()) {
    if (facts.score <= score) continue;
    score = facts.score;
    best = facts.spec;
  }
  return best;
}

std::vector<std::string> UsableDevices() {
  std::vector<std::string> usable;
  for (const DeviceFacts& facts : AllDeviceFacts()) {
    if (facts.score > 0) usable.push_back(facts.spec);
  }
  return usable;
}

}  // namespace tim::runtime
