// Knows structures of recorded calls again, and tells how a new one differs.
#include "values/lazy_plans.h"

#include <limits>

#include "base/str_cat.h"

namespace tim::values::internal {

std::string Structure::Key() const {
  std::string key;
  for (const auto& [label, text] : parts) {
    key += StrCat(label, text, '\n');
  }
  return key;
}

LazyPlans::Seen& LazyPlans::See(Structure structure, int max_plans,
                                bool* known) {
  const std::string key = structure.Key();
  const auto found = by_key_.find(key);
  *known = found != by_key_.end();
  if (*known) {
    seen_.splice(seen_.begin(), seen_, found->second);
  } else {
    seen_.push_front({.structure = std::move(structure)});
    by_key_[key] = seen_.begin();
    while (seen_.size() > static_cast<size_t>(max_plans) && seen_.size() > 1) {
      if (seen_.back().plan != nullptr) {
        --stats.plans;
        ++stats.evictions;
      }
      by_key_.erase(seen_.back().structure.Key());
      seen_.pop_back();
    }
  }
  ++seen_.front().times;
  return seen_.front();
}

std::string LazyPlans::DifferenceFrom(const Seen& seen) const {
  const auto& parts = seen.structure.parts;
  size_t fewest = std::numeric_limits<size_t>::max();
  std::string nearest;
  for (const Seen& other : seen_) {
    const auto& before = other.structure.parts;
    if (&other == &seen || before.size() != parts.size()) continue;
    size_t count = 0;
    std::string first;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == before[i]) continue;
      if (count++ > 0) continue;
      first = parts[i].first == before[i].first
                  ? StrCat(parts[i].first, parts[i].second, " was ",
                           before[i].second)
                  : StrCat(parts[i].first, parts[i].second, " was ",
                           before[i].first, before[i].second);
    }
    if (count == 0 || count >= fewest) continue;
    fewest = count;
    nearest = std::move(first);
  }
  return nearest;
}

}  // namespace tim::values::internal
