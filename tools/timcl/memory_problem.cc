// Reads, writes and checks memory problems and their layouts.
#include "tools/timcl/memory_problem.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

#include "base/str_cat.h"
#include "tools/timcl/slot_lives.h"
#include "tools/timcl/terminal.h"

namespace tim::tool {
namespace {

constexpr char kHead[] = "id,lower,upper,size";
constexpr char kOffset[] = ",offset";
constexpr int64_t kMostBytes = int64_t{1} << 50;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<int64_t> NumberOf(std::string_view text, const char* what,
                         int64_t most) {
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 0 &&
      number <= most) {
    return number;
  }
  return InvalidArgument(what, " is '", text,
                         "', expected an integer from 0 to ", most);
}

Status ReadLine(std::string_view line, bool has_offsets,
                NamedProblem* problem) {
  const std::vector<std::string_view> fields = Split(line, ',');
  const size_t expected = has_offsets ? 5 : 4;
  if (fields.size() != expected) {
    return InvalidArgument("has ", fields.size(), " fields, expected ",
                           expected);
  }
  constexpr int64_t kMostSteps = std::numeric_limits<int>::max() - 1;
  compiler::MemoryRange range;
  TIM_ASSIGN_OR_RETURN(const int64_t lower,
                       NumberOf(fields[1], "lower", kMostSteps));
  TIM_ASSIGN_OR_RETURN(const int64_t upper,
                       NumberOf(fields[2], "upper", kMostSteps));
  TIM_ASSIGN_OR_RETURN(range.bytes, NumberOf(fields[3], "size", kMostBytes));
  if (upper <= lower) {
    return InvalidArgument("upper is ", upper, ", expected more than lower, ",
                           lower);
  }
  range.first_step = static_cast<int>(lower);
  range.last_step = static_cast<int>(upper - 1);
  if (has_offsets) {
    TIM_ASSIGN_OR_RETURN(problem->offsets.emplace_back(),
                         NumberOf(fields[4], "offset", kMostBytes));
  }
  problem->ids.emplace_back(fields[0]);
  problem->problem.ranges.push_back(range);
  return OkStatus();
}

// A piece of an arena, which slots with one allocation share.
struct Piece {
  int64_t begin = 0;
  int64_t end = 0;
  int first = 0;
  int last = 0;
};

int LargestArena(const ir::Plan& plan) {
  const auto largest = std::max_element(
      plan.arenas.begin(), plan.arenas.end(),
      [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  return static_cast<int>(largest - plan.arenas.begin());
}

}  // namespace

NamedProblem ProblemOf(const ir::Plan& plan) {
  const int arena = LargestArena(plan);
  const std::vector<SlotLife> lives = LivesOf(plan);
  std::map<std::string, Piece> pieces;
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const ir::Slot& slot = plan.slots[i];
    if (slot.kind != ir::SlotKind::kArena || slot.index != arena ||
        lives[i].first < 0) {
      continue;
    }
    const Piece piece{slot.offset, slot.offset + slot.bytes, lives[i].first,
                      lives[i].last};
    const std::string id =
        slot.allocation < 0 ? StrCat("s", i) : StrCat("a", slot.allocation);
    const auto [known, added] = pieces.emplace(id, piece);
    if (added) continue;
    Piece& whole = known->second;
    whole = {std::min(whole.begin, piece.begin), std::max(whole.end, piece.end),
             std::min(whole.first, piece.first),
             std::max(whole.last, piece.last)};
  }
  NamedProblem problem;
  if (arena < static_cast<int>(plan.arenas.size())) {
    problem.problem.alignment =
        plan.devices[plan.arenas[arena].device].alignment;
  }
  for (const auto& [id, piece] : pieces) {
    problem.ids.push_back(id);
    problem.problem.ranges.push_back(
        {piece.end - piece.begin, piece.first, piece.last});
    problem.offsets.push_back(piece.begin);
  }
  return problem;
}

Result<NamedProblem> ReadProblem(std::string_view csv) {
  NamedProblem problem;
  bool has_head = false;
  bool has_offsets = false;
  int number = 0;
  for (std::string_view line : Split(csv, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (!has_head) {
      has_offsets = line == StrCat(kHead, kOffset);
      if (line != kHead && !has_offsets) {
        return InvalidArgument("line ", number, " is '", line, "', expected '",
                               kHead, "', perhaps with '", kOffset, "'");
      }
      has_head = true;
      continue;
    }
    const Status status = ReadLine(line, has_offsets, &problem);
    if (!status.ok()) return status.WithContext(StrCat("line ", number));
  }
  if (has_head) return problem;
  return InvalidArgument("it is empty, expected a line '", kHead, "'");
}

std::string WriteProblem(const NamedProblem& problem) {
  const bool has_offsets = !problem.offsets.empty();
  std::string text = StrCat(kHead, has_offsets ? kOffset : "", "\n");
  for (size_t i = 0; i < problem.ids.size(); ++i) {
    const compiler::MemoryRange& range = problem.problem.ranges[i];
    text += StrCat(problem.ids[i], ",", range.first_step, ",",
                   range.last_step + 1, ",", range.bytes);
    if (has_offsets) text += StrCat(",", problem.offsets[i]);
    text += "\n";
  }
  return text;
}

Status CheckOffsets(const NamedProblem& problem, int64_t capacity) {
  const auto& ranges = problem.problem.ranges;
  if (problem.offsets.size() != ranges.size()) {
    return InvalidArgument("it has no offsets");
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    const int64_t begin = problem.offsets[i];
    const int64_t end = begin + ranges[i].bytes;
    if (capacity >= 0 && end > capacity) {
      return FailedPrecondition(problem.ids[i], " ends at byte ", end,
                                ", the capacity is ", capacity);
    }
    for (size_t j = 0; j < i; ++j) {
      const int64_t other = problem.offsets[j];
      if (!problem.problem.InConflict(i, j) ||
          begin >= other + ranges[j].bytes || other >= end) {
        continue;
      }
      return FailedPrecondition(problem.ids[j], " and ", problem.ids[i],
                                " overlap from byte ", std::max(begin, other),
                                " on");
    }
  }
  return OkStatus();
}

}  // namespace tim::tool
