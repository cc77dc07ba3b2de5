// Makes divisions, improves them, and takes the best.
#include "compiler/divisions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/partitioner.h"

namespace tim::compiler {
namespace {

// Predictions are of so many nodes in sum, which bounds the time of a Compile.
constexpr size_t kVisits = 400'000;

// The parts of a division.
std::vector<Part> PartsOf(const ScheduleModel& model, const DeviceMap& map) {
  PartitionInput input;
  for (size_t n = 0; n < model.size(); ++n) {
    input.producers.push_back(model.Producers(n));
    input.labels.push_back(map[n]);
  }
  auto parts = PartitionNodes(input, PartitionLimits());
  return parts.ok() ? *std::move(parts) : std::vector<Part>();
}

}  // namespace

int64_t DivisionSearch::Bytes(const DeviceMap& map) const {
  int64_t bytes = 0;
  for (int d = 0; d < model_.devices(); ++d) bytes += model_.Bytes(map, d);
  return bytes;
}

int64_t DivisionSearch::Limit(int device) const {
  const auto& limits = module_.memory_limits;
  const auto index = static_cast<size_t>(device);
  return index < limits.size() ? limits[index] : 0;
}

bool DivisionSearch::Fits(const DeviceMap& map) const {
  for (int d = 1; d < model_.devices(); ++d) {
    if (Limit(d) > 0 && model_.Bytes(map, d) > Limit(d)) return false;
  }
  return true;
}

void DivisionSearch::MakeRoom(DeviceMap* map) const {
  for (int d = 1; d < model_.devices(); ++d) {
    while (Limit(d) > 0 && model_.Bytes(*map, d) > Limit(d)) {
      std::optional<std::pair<size_t, int>> move;
      for (size_t n = 0; n < model_.size(); ++n) {
        if ((*map)[n] != d || model_.ConstantBytes(n) == 0) continue;
        if (move &&
            model_.ConstantBytes(n) <= model_.ConstantBytes(move->first)) {
          continue;
        }
        for (int to = model_.devices(); to-- > 0;) {
          if (to == d || !Permits(n, to)) continue;
          DeviceMap moved = *map;
          moved[n] = to;
          if (Limit(to) > 0 && model_.Bytes(moved, to) > Limit(to)) continue;
          move = {n, to};
          if (to != 0) break;
        }
      }
      if (!move) break;
      (*map)[move->first] = move->second;
    }
  }
}

void DivisionSearch::PlaceViews(DeviceMap* map) const {
  const auto follow = [&](size_t node, const std::vector<size_t>& others) {
    if (!model_.IsFree(node)) return;
    for (const size_t other : others) {
      if (!Permits(node, (*map)[other])) continue;
      (*map)[node] = (*map)[other];
      return;
    }
  };
  for (size_t n = model_.size(); n-- > 0;) follow(n, model_.Readers(n));
  for (size_t n = 0; n < model_.size(); ++n) follow(n, model_.Producers(n));
}

void DivisionSearch::Add(std::string name, DeviceMap map) {
  PlaceViews(&map);
  MakeRoom(&map);
  const Prediction predicted = model_.Predict(map);
  divisions_.push_back({std::move(name), std::move(map), predicted});
}

void DivisionSearch::AddAllOn(int device) {
  DeviceMap map(model_.size(), device);
  for (size_t n = 0; n < model_.size(); ++n) {
    if (!Permits(n, device)) map[n] = model_.Cheapest(n);
  }
  Add(StrCat("all on ", module_.device(device).Label()), std::move(map));
}

void DivisionSearch::AddImproved(std::string name, DeviceMap map) {
  PlaceViews(&map);
  MakeRoom(&map);
  MoveBorders(&map);
  Add(std::move(name), std::move(map));
}

// Nodes beside nodes of another device go there where that is better.
void DivisionSearch::MoveBorders(DeviceMap* map) const {
  if (model_.size() == 0) return;
  size_t tries = std::min(4 * model_.size(), kVisits / model_.size());
  double score = Score(*map);
  for (bool better = true; better && tries > 0;) {
    better = false;
    for (size_t n = 0; n < model_.size() && tries > 0; ++n) {
      if (model_.IsFree(n)) continue;
      for (const auto* others : {&model_.Producers(n), &model_.Readers(n)}) {
        for (const size_t other : *others) {
          const int to = (*map)[other];
          const int from = (*map)[n];
          if (to == from || !Permits(n, to) || tries == 0) continue;
          --tries;
          (*map)[n] = to;
          const double moved = Score(*map);
          if (moved < score && Fits(*map)) {
            score = moved;
            better = true;
          } else {
            (*map)[n] = from;
          }
        }
      }
    }
  }
}

// The part whose nodes gain least where they are goes to the neighbour with
// which it shares most bytes; false where all gain enough, and are not too
// many.
bool DivisionSearch::GiveAwayPart(DeviceMap* map) const {
  const Policy& policy = module_.options.policy;
  const std::vector<Part> parts = PartsOf(model_, *map);
  const auto off_host = static_cast<int>(
      std::count_if(parts.begin(), parts.end(),
                    [](const Part& part) { return part.label > 0; }));
  if (parts.size() < 2 || parts.size() * model_.size() > kVisits) return false;
  const double now = Score(*map);
  std::optional<DeviceMap> best;
  double best_score = 0;
  for (const Part& part : parts) {
    if (part.label <= 0) continue;
    std::vector<double> shared(static_cast<size_t>(model_.devices()), 0);
    for (const size_t node : part.nodes) {
      for (const size_t other : model_.Producers(node)) {
        shared[static_cast<size_t>((*map)[other])] +=
            model_.SharedBytes(other, node);
      }
      for (const size_t other : model_.Readers(node)) {
        shared[static_cast<size_t>((*map)[other])] +=
            model_.SharedBytes(node, other);
      }
    }
    shared[static_cast<size_t>(part.label)] = 0;
    const int to = static_cast<int>(
        std::max_element(shared.begin(), shared.end()) - shared.begin());
    if (to == part.label || shared[static_cast<size_t>(to)] <= 0) continue;
    if (!std::all_of(part.nodes.begin(), part.nodes.end(),
                     [&](size_t node) { return Permits(node, to); })) {
      continue;
    }
    DeviceMap moved = *map;
    for (const size_t node : part.nodes) moved[node] = to;
    if (!Fits(moved)) continue;
    const double score = Score(moved);
    if (best && score >= best_score) continue;
    best = std::move(moved);
    best_score = score;
  }
  const bool too_many = off_host > policy.max_parts;
  if (!best || (!too_many && best_score - now >= policy.min_gain_us)) {
    return false;
  }
  *map = *std::move(best);
  return true;
}

Division DivisionSearch::Best() {
  const auto better = [this](const Division& a, const Division& b) {
    return Score(a.predicted) < Score(b.predicted);
  };
  Division best =
      *std::min_element(divisions_.begin(), divisions_.end(), better);
  DeviceMap map = best.map;
  while (GiveAwayPart(&map)) {
  }
  if (map == best.map) return best;
  const Prediction predicted = model_.Predict(map);
  const std::string name = best.name + ", small parts joined";
  divisions_.push_back({name, map, predicted});
  // Joined parts may cost more, but no more than a single device.
  double single = ScheduleModel::kImpossible;
  for (const Division& division : divisions_) {
    if (!division.name.starts_with("all on ")) continue;
    single = std::min(single, Score(division.predicted));
  }
  if (Score(predicted) <= single) return divisions_.back();
  for (const Division& division : divisions_) {
    if (division.name.starts_with("all on ") &&
        Score(division.predicted) == single) {
      return division;
    }
  }
  return best;
}

Result<DeviceMap> DivisionSearch::Stages(int count) const {
  if (count >= model_.devices()) {
    return InvalidArgument("policy: pipeline=", count, " needs ", count,
                           " devices beside the host, the context has ",
                           model_.devices() - 1);
  }
  const size_t size = model_.size();
  const auto stages = static_cast<size_t>(count);
  // best[s][n]: of the first n nodes in s stages, the longest one.
  std::vector<std::vector<double>> best(
      stages + 1, std::vector<double>(size + 1, ScheduleModel::kImpossible));
  std::vector<std::vector<size_t>> begin(stages + 1,
                                         std::vector<size_t>(size + 1, 0));
  best[0][0] = 0;
  for (size_t s = 1; s <= stages; ++s) {
    const int device = static_cast<int>(s);
    for (size_t first = 0; first < size; ++first) {
      if (best[s - 1][first] == ScheduleModel::kImpossible) continue;
      double stage = 0;
      for (size_t n = first; n < size; ++n) {
        stage += Permits(n, device) ? model_.Cost(n, device)
                                    : model_.Cost(n, model_.Cheapest(n));
        for (const size_t producer : model_.Producers(n)) {
          if (producer >= first) continue;
          stage += module_.options.links.Between(device - 1, device)
                       .Microseconds(model_.SharedBytes(producer, n));
        }
        const double longest = std::max(best[s - 1][first], stage);
        if (longest >= best[s][n + 1] || !model_.MayEndStage(n)) continue;
        best[s][n + 1] = longest;
        begin[s][n + 1] = first;
      }
    }
  }
  size_t used = 1;
  for (size_t s = 1; s <= stages; ++s) {
    if (best[s][size] < best[used][size]) used = s;
  }
  DeviceMap map(size, 0);
  for (size_t s = used, end = size; s > 0; --s) {
    const size_t first = begin[s][end];
    for (size_t n = first; n < end; ++n) {
      const int device = static_cast<int>(s);
      map[n] = Permits(n, device) ? device : model_.Cheapest(n);
    }
    end = first;
  }
  return map;
}

}  // namespace tim::compiler
