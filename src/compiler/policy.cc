// Reads and writes policies: a row per key.
#include "compiler/policy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "base/str_cat.h"

namespace tim::compiler {
namespace {

// One of several words.
template <auto kMember>
bool ReadWord(std::string_view text, std::span<const char* const> words,
              Policy* policy) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return false;
  policy->*kMember = static_cast<std::decay_t<decltype(policy->*kMember)>>(
      found - words.begin());
  return true;
}

template <auto kMember>
std::string WriteWord(const Policy& policy,
                      std::span<const char* const> words) {
  return words[static_cast<size_t>(policy.*kMember)];
}

// A whole number from kLeast to kMost, or the only word, which stands for 0.
template <auto kMember, int kLeast, int kMost>
bool ReadNumber(std::string_view text, std::span<const char* const> words,
                Policy* policy) {
  int number = 0;
  if (words.empty() || text != words[0]) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end || number < kLeast ||
        number > kMost) {
      return false;
    }
  }
  policy->*kMember = number;
  return true;
}

template <auto kMember>
std::string WriteNumber(const Policy& policy,
                        std::span<const char* const> words) {
  const int number = policy.*kMember;
  return number == 0 && !words.empty() ? words[0] : StrCat(number);
}

bool ReadGain(std::string_view text, std::span<const char* const>,
              Policy* policy) {
  double us = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, us);
  if (error != std::errc() || stop != end || !std::isfinite(us) || us < 0) {
    return false;
  }
  policy->min_gain_us = us;
  return true;
}

std::string WriteGain(const Policy& policy, std::span<const char* const>) {
  return StrCat(policy.min_gain_us);
}

// Words by the number of the value.
constexpr const char* kObjectives[] = {"latency", "throughput", "serial"};
constexpr const char* kFallbacks[] = {"error", "host"};
constexpr const char* kGraphParts[] = {"auto", "off", "prefer"};
constexpr const char* kSplits[] = {"off", "batch", "auto"};
constexpr const char* kOff[] = {"off"};
constexpr const char* kAuto[] = {"auto"};
constexpr const char* kLinks[] = {"auto", "measure", "assume"};
constexpr const char* kCalibrating[] = {"auto", "0", "1"};

bool ReadSolver(std::string_view text, std::span<const char* const>,
                Policy* policy) {
  const auto solver = MemorySolverOf(text);
  if (solver) policy->memory = *solver;
  return solver.has_value();
}

std::string WriteSolver(const Policy& policy, std::span<const char* const>) {
  return ToString(policy.memory);
}

struct Key {
  const char* name;
  const char* values;  // for messages
  std::span<const char* const> words;
  bool (*read)(std::string_view text, std::span<const char* const> words,
               Policy* policy);
  std::string (*write)(const Policy& policy,
                       std::span<const char* const> words);
};

constexpr Key kKeys[] = {
    {"objective", "latency, throughput or serial", kObjectives,
     ReadWord<&Policy::objective>, WriteWord<&Policy::objective>},
    {"fallback", "host or error", kFallbacks, ReadWord<&Policy::host_fallback>,
     WriteWord<&Policy::host_fallback>},
    {"max_parts",
     "a whole number from 1 to 1000",
     {},
     ReadNumber<&Policy::max_parts, 1, 1000>,
     WriteNumber<&Policy::max_parts>},
    {"min_gain_us", "a number of microseconds from 0", {}, ReadGain, WriteGain},
    {"graph_parts", "auto, off or prefer", kGraphParts,
     ReadWord<&Policy::graph_parts>, WriteWord<&Policy::graph_parts>},
    {"split", "off, batch or auto", kSplits, ReadWord<&Policy::split>,
     WriteWord<&Policy::split>},
    {"pipeline", "off, or a whole number from 2 to 16", kOff,
     ReadNumber<&Policy::pipeline, 2, 16>, WriteNumber<&Policy::pipeline>},
    {"streams", "a whole number from 1 to 8, or auto", kAuto,
     ReadNumber<&Policy::streams, 1, 8>, WriteNumber<&Policy::streams>},
    {"links", "auto, measure or assume", kLinks, ReadWord<&Policy::links>,
     WriteWord<&Policy::links>},
    {"calibrate", "auto, 0 or 1", kCalibrating, ReadWord<&Policy::calibrate>,
     WriteWord<&Policy::calibrate>},
    {"memory", kMemorySolverNames, {}, ReadSolver, WriteSolver},
};

std::string KeyNames() {
  std::string names;
  for (const Key& key : kKeys) {
    names += StrCat(names.empty() ? "" : ", ", key.name);
  }
  return names;
}

// `given` has a bit per key that was read.
Status ReadEntry(std::string_view entry, Policy* policy, uint32_t* given) {
  const size_t equals = entry.find('=');
  const std::string_view name = entry.substr(0, equals);
  const auto* key =
      std::find_if(std::begin(kKeys), std::end(kKeys),
                   [&](const Key& one) { return one.name == name; });
  if (key == std::end(kKeys) || equals == std::string_view::npos) {
    return InvalidArgument("policy: '", entry,
                           "' is no key=value; the keys are ", KeyNames());
  }
  const uint32_t bit = uint32_t{1} << (key - kKeys);
  if ((*given & bit) != 0) {
    return InvalidArgument("policy: ", name, " is given twice");
  }
  *given |= bit;
  const std::string_view value = entry.substr(equals + 1);
  if (key->read(value, key->words, policy)) return OkStatus();
  return InvalidArgument("policy: ", name, "='", value, "'; expected ",
                         key->values);
}

}  // namespace

Result<Policy> ParsePolicy(std::string_view text) {
  Policy policy;
  uint32_t given = 0;
  while (!text.empty()) {
    const size_t end = text.find(';');
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!entry.empty()) TIM_RETURN_IF_ERROR(ReadEntry(entry, &policy, &given));
  }
  return policy;
}

std::string ToString(const Policy& policy) {
  std::string text;
  const Policy standard;
  for (const Key& key : kKeys) {
    const std::string value = key.write(policy, key.words);
    if (value == key.write(standard, key.words)) continue;
    text += StrCat(text.empty() ? "" : ";", key.name, "=", value);
  }
  return text;
}

}  // namespace tim::compiler
