// Keeps registries of operators that come while the process runs.
//
// A registry that others read never changes, so that each registration makes a
// new one over those before.  Smaller ones below become part of it: a name is
// looked up in few registries, however many operators there are.
#include "ops/registered.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ops/builtin.h"

namespace tim::ops {
namespace {

struct Registration {
  std::string name;
  std::function<void(ir::OpRegistry&)> add;
};

struct Level {
  std::vector<Registration> registrations = {};
  const ir::OpRegistry* registry = nullptr;

  bool Has(const std::string& name) const {
    return std::any_of(
        registrations.begin(), registrations.end(),
        [&](const Registration& one) { return one.name == name; });
  }
};

class Levels {
 public:
  void Register(Registration registration) const;
  void SetTop(std::function<void(ir::OpRegistry&)> add) const;

 private:
  void Publish() const;

  mutable std::mutex mutex_;
  mutable std::vector<Level> levels_;  // each over the one before
  mutable std::function<void(ir::OpRegistry&)> top_;  // over all; or null
  mutable std::vector<std::unique_ptr<const ir::OpRegistry>> all_;
};

constinit std::atomic<const ir::OpRegistry*> newest = nullptr;

const Levels& AllLevels() {
  static constinit std::atomic<const Levels*> levels = nullptr;
  const Levels* kept = levels.load(std::memory_order_acquire);
  if (kept != nullptr) return *kept;
  auto made = std::make_unique<const Levels>();
  if (levels.compare_exchange_strong(kept, made.get())) return *made.release();
  return *kept;
}

// The newest version is found where all versions are in one registry.
void Levels::Register(Registration registration) const {
  const std::lock_guard lock(mutex_);
  const auto first = std::find_if(
      levels_.begin(), levels_.end(),
      [&](const Level& level) { return level.Has(registration.name); });
  const auto versions = static_cast<size_t>(first - levels_.begin());
  Level made;
  made.registrations.push_back(std::move(registration));
  while (!levels_.empty() &&
         (levels_.size() > versions ||
          levels_.back().registrations.size() <= made.registrations.size())) {
    std::vector<Registration>& below = levels_.back().registrations;
    std::move(made.registrations.begin(), made.registrations.end(),
              std::back_inserter(below));
    made.registrations = std::move(below);
    levels_.pop_back();
  }
  auto registry = std::make_unique<ir::OpRegistry>(
      levels_.empty() ? &BuiltinOperators() : levels_.back().registry);
  for (const Registration& one : made.registrations) one.add(*registry);
  made.registry = registry.get();
  all_.push_back(std::move(registry));
  levels_.push_back(std::move(made));
  Publish();
}

void Levels::SetTop(std::function<void(ir::OpRegistry&)> add) const {
  const std::lock_guard lock(mutex_);
  top_ = std::move(add);
  Publish();
}

// The caller holds the mutex.
void Levels::Publish() const {
  const ir::OpRegistry* const below =
      levels_.empty() ? &BuiltinOperators() : levels_.back().registry;
  if (!top_) return newest.store(below, std::memory_order_release);
  auto registry = std::make_unique<ir::OpRegistry>(below);
  top_(*registry);
  newest.store(registry.get(), std::memory_order_release);
  all_.push_back(std::move(registry));
}

}  // namespace

const ir::OpRegistry& KnownOperators() {
  const ir::OpRegistry* registered = newest.load(std::memory_order_acquire);
  return registered != nullptr ? *registered : BuiltinOperators();
}

void RegisterOperators(const std::string& name,
                       const std::function<void(ir::OpRegistry&)>& add) {
  AllLevels().Register({name, add});
}

void SetTopOperators(std::function<void(ir::OpRegistry&)> add) {
  AllLevels().SetTop(std::move(add));
}

}  // namespace tim::ops
