// Compares names with patterns.
#include "vx/dump/name_filter.h"

#include <algorithm>

#include "base/ascii.h"

namespace tim::vx {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kAsciiSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kAsciiSpace) + 1 - first);
}

// Goes back to the last star where the rest does not fit.
bool Fits(std::string_view pattern, std::string_view name) {
  size_t p = 0;
  size_t n = 0;
  size_t star = std::string_view::npos;
  size_t begin = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      begin = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++begin;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

NameFilter::NameFilter(std::string_view names) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(','), names.size());
    const std::string_view pattern = Trimmed(names.substr(0, end));
    if (!pattern.empty()) patterns_.emplace_back(pattern);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

bool NameFilter::Matches(std::string_view name) const {
  if (empty()) return true;
  const size_t quote = name.find(" '");
  std::string_view id = name;
  std::string_view given = name;
  if (quote != std::string_view::npos) {
    id = name.substr(0, quote);
    given = name.substr(quote + 2);
    given = given.substr(0, given.find('\''));
  }
  return std::any_of(
      patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
        return Fits(pattern, name) || Fits(pattern, id) || Fits(pattern, given);
      });
}

bool NameFilter::MatchesAnyOf(const ir::Plan& plan) const {
  const auto matches = [this](const auto& range, auto member) {
    return std::any_of(range.begin(), range.end(), [&](const auto& element) {
      return Matches(element.*member);
    });
  };
  return matches(plan.notes.values, &ir::PlanNotes::Value::name) ||
         matches(plan.inputs, &ir::PlanTensor::name) ||
         matches(plan.outputs, &ir::PlanTensor::name) ||
         matches(plan.steps, &ir::Step::label);
}

}  // namespace tim::vx
