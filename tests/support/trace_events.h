// Events of a trace, as tests look at them.
#ifndef TIM_TESTS_SUPPORT_TRACE_EVENTS_H_
#define TIM_TESTS_SUPPORT_TRACE_EVENTS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tim::testing {

struct TraceEvent {
  std::string phase;  ///< "X": a span, "i": a moment, "M": a row's name.
  std::string category;
  std::string name;
  int64_t row = 0;
  int64_t begin = 0;  ///< In nanoseconds, as `end`.
  int64_t end = 0;
  nlohmann::json arguments;
};

/// All events of the file, which must be JSON; what is none fails the test.
inline std::vector<TraceEvent> ReadTrace(const std::string& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  EXPECT_TRUE(json.is_array()) << path << " is no JSON array";
  if (!json.is_array()) return {};
  const auto nanoseconds = [](const nlohmann::json& microseconds) {
    return static_cast<int64_t>(std::llround(microseconds.get<double>() * 1e3));
  };
  std::vector<TraceEvent> events;
  for (const auto& one : json) {
    TraceEvent& event = events.emplace_back();
    event.phase = one.at("ph");
    event.name = one.at("name");
    event.category = one.value("cat", "");
    event.row = one.value("tid", 0);
    event.arguments = one.value("args", nlohmann::json::object());
    EXPECT_GT(one.at("pid"), 0);
    if (event.phase == "M") continue;
    event.begin = event.end = nanoseconds(one.at("ts"));
    if (event.phase != "X") continue;
    const int64_t length = nanoseconds(one.at("dur"));
    EXPECT_GE(length, 0) << one;
    event.end += length;
  }
  return events;
}

/// Nesting: of two spans of a row either one lies in the other, or they are
/// apart.
inline void ExpectNested(std::vector<TraceEvent> events) {
  std::erase_if(events, [](const auto& event) { return event.phase != "X"; });
  std::stable_sort(
      events.begin(), events.end(), [](const auto& a, const auto& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
      });
  std::map<int64_t, std::vector<const TraceEvent*>> open;
  for (const TraceEvent& event : events) {
    auto& around = open[event.row];
    while (!around.empty() && around.back()->end <= event.begin &&
           around.back()->end < event.end) {
      around.pop_back();
    }
    if (!around.empty()) {
      EXPECT_LE(event.end, around.back()->end)
          << event.name << " from " << event.begin << " to " << event.end
          << " leaves " << around.back()->name << " from "
          << around.back()->begin;
    }
    around.push_back(&event);
  }
}

inline std::vector<TraceEvent> SpansOf(const std::vector<TraceEvent>& events,
                                       const std::string& category) {
  std::vector<TraceEvent> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [&](const auto& event) { return event.category == category; });
  return found;
}

inline bool IsWithin(const TraceEvent& inner, const TraceEvent& outer) {
  return inner.row == outer.row && inner.begin >= outer.begin &&
         inner.end <= outer.end;
}

}  // namespace tim::testing

#endif  // TIM_TESTS_SUPPORT_TRACE_EVENTS_H_
