// The table of the front's environment variables, and what they are parsed to.
#include "graph_api/options.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/fork/keep_one.h"
#include "base/log.h"

namespace tim::graph {
namespace {

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

struct Limit {
  std::string_view name;
  size_t PartitionOptions::*member;
};
constexpr Limit kLimits[] = {
    {"max_ops", &PartitionOptions::max_ops},
    {"min_ops", &PartitionOptions::min_ops},
    {"max_partitions", &PartitionOptions::max_partitions},
    {"max_anchors", &PartitionOptions::max_anchors}};

Status ParseLimit(std::string_view word, PartitionOptions* options) {
  const size_t equal = std::min(word.find('='), word.size());
  const std::string_view name = word.substr(0, equal);
  const Limit* const limit =
      std::find_if(std::begin(kLimits), std::end(kLimits),
                   [&](const Limit& known) { return known.name == name; });
  const std::string_view number =
      equal < word.size() ? word.substr(equal + 1) : std::string_view();
  const char* const end = number.data() + number.size();
  size_t value = 0;
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (limit == std::end(kLimits) || error != std::errc() || stop != end) {
    return InvalidArgument("'", word,
                           "' is not one of max_ops=N, min_ops=N, "
                           "max_partitions=N and max_anchors=N");
  }
  options->*limit->member = value;
  return OkStatus();
}

Status ParsePartition(const std::string& text, GraphOptions* options) {
  PartitionOptions parsed;
  for (const std::string_view word : Words(text)) {
    TIM_RETURN_IF_ERROR(ParseLimit(word, &parsed));
  }
  if (parsed.max_ops != 0 && parsed.min_ops > parsed.max_ops) {
    return InvalidArgument("min_ops is more than max_ops");
  }
  options->partition = parsed;
  return OkStatus();
}

struct Flag {
  std::string_view name;
  unsigned bits;
};

Result<unsigned> ParseFlags(std::string_view text, std::span<const Flag> flags,
                            const char* expected) {
  unsigned bits = 0;
  for (const std::string_view word : Words(text)) {
    const auto flag =
        std::find_if(flags.begin(), flags.end(),
                     [&](const Flag& known) { return known.name == word; });
    if (flag == flags.end()) {
      return InvalidArgument("'", word, "' is not one of ", expected);
    }
    bits |= flag->bits;
  }
  return bits;
}

Status ParseDump(const std::string& text, GraphOptions* options) {
  static constexpr Flag kFlags[] = {{"none", tim_graph_dump_mode_none},
                                    {"subgraph", tim_graph_dump_mode_subgraph},
                                    {"graph", tim_graph_dump_mode_graph}};
  TIM_ASSIGN_OR_RETURN(options->dump,
                       ParseFlags(text, kFlags, "none, subgraph and graph"));
  return OkStatus();
}

Status ParseDumpDir(const std::string& text, GraphOptions* options) {
  options->dump_dir = text;
  return OkStatus();
}

constexpr unsigned kProfile = kVerboseCompile | kVerboseExecute;

// "filter=" of oneDNN says which parts of the library print: a regular
// expression, of which the words of an alternative are taken.
bool FilterTakesGraph(std::string_view filter) {
  return filter.find("graph") != std::string_view::npos || filter == ".*";
}

Status ParseVerbose(const std::string& text, GraphOptions* options) {
  static constexpr Flag kFlags[] = {
      {"none", 0},
      {"0", 0},
      {"error", kVerboseError},
      {"check", kVerboseCheck},
      {"dispatch", kVerboseDispatch},
      {"profile_create", kVerboseCompile},
      {"profile_exec", kVerboseExecute},
      {"1", kVerboseExecute},
      {"profile", kProfile},
      {"2", kProfile},
      {"all", kProfile | kVerboseError | kVerboseCheck | kVerboseDispatch}};
  constexpr std::string_view kFilter = "filter=";
  std::string_view rest = text;
  while (rest.starts_with(kFilter)) {
    const size_t end = std::min(rest.find(','), rest.size());
    if (!FilterTakesGraph(rest.substr(kFilter.size(), end - kFilter.size()))) {
      return OkStatus();
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  TIM_ASSIGN_OR_RETURN(
      options->verbose,
      ParseFlags(rest, kFlags,
                 "none, error, check, dispatch, profile_create, profile_exec, "
                 "profile, all, 0, 1 and 2"));
  return OkStatus();
}

Status ParseFpmathMode(const std::string& text, GraphOptions* options) {
  static constexpr tim_graph_fpmath_mode_t kModes[] = {
      tim_graph_fpmath_mode_strict, tim_graph_fpmath_mode_bf16,
      tim_graph_fpmath_mode_f16, tim_graph_fpmath_mode_any,
      tim_graph_fpmath_mode_tf32};
  std::string lower = text;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const tim_graph_fpmath_mode_t mode : kModes) {
    if (lower != tim_graph_fpmath_mode2str(mode)) continue;
    options->fpmath_mode = mode;
    return OkStatus();
  }
  return InvalidArgument("expected STRICT, BF16, F16, TF32 or ANY");
}

}  // namespace

std::span<const GraphOptionSpec> GraphOptionTable() {
  using Table = std::vector<GraphOptionSpec>;
  static constinit std::atomic<const Table*> table = nullptr;
  return KeepOne(table, [] {
    return Table{
        {"TIMCL_GRAPH_PARTITION",
         {},
         "`max_ops=N`, `min_ops=N`, `max_partitions=N`, `max_anchors=N`, with "
         "commas between them",
         "no limits",
         "limits of partitions where a program gives none",
         ParsePartition},
        {"TIMCL_GRAPH_DUMP",
         {"ONEDNN_GRAPH_DUMP", "DNNL_GRAPH_DUMP"},
         "`none`, `graph`, `subgraph`, with commas between them",
         "`none`",
         "`graph`: graphs are written when they are partitioned, with their "
         "partitions; `subgraph`: partitions when they are compiled",
         ParseDump},
        {"TIMCL_GRAPH_DUMP_DIR",
         {},
         "a folder",
         "`.`",
         "where dumps are written",
         ParseDumpDir},
        {"TIMCL_GRAPH_VERBOSE",
         {"ONEDNN_VERBOSE"},
         "`none`, `error`, `check`, `dispatch`, `profile_create`, "
         "`profile_exec`, `profile`, `all`, with commas between them; `0`, "
         "`1`, "
         "`2`",
         "`none`",
         "lines on stdout about compiled and executed partitions and about "
         "what "
         "is refused",
         ParseVerbose},
        {"TIMCL_DEFAULT_FPMATH_MODE",
         {"ONEDNN_DEFAULT_FPMATH_MODE"},
         "`STRICT`, `BF16`, `F16`, `TF32`, `ANY`",
         "`STRICT`",
         "arithmetic that graphs allow which ask for none",
         ParseFpmathMode}};
  });
}

GraphOptions ParseGraphOptions(const char* (*get)(const char* name),
                               std::string* warnings) {
  GraphOptions options;
  for (const GraphOptionSpec& spec : GraphOptionTable()) {
    const char* name = spec.name;
    const char* text = get(name);
    for (const char* alias : spec.aliases) {
      if (text == nullptr || *text == '\0') text = get(name = alias);
    }
    if (text == nullptr || *text == '\0') continue;
    const Status status = spec.parse(text, &options);
    if (status.ok()) continue;
    *warnings +=
        StrCat(name, "='", text, "' is ignored: ", status.message(), "\n");
  }
  return options;
}

const GraphOptions& GetGraphOptions() {
  static constinit std::atomic<const GraphOptions*> options = nullptr;
  return KeepOne(options, [] {
    std::string warnings;
    const auto get = [](const char* name) -> const char* {
      return std::getenv(name);
    };
    GraphOptions parsed = ParseGraphOptions(get, &warnings);
    if (!warnings.empty()) TIM_LOG(kWarning, warnings);
    return parsed;
  });
}

Result<unsigned> VerboseFlagsOf(int level) {
  static constexpr unsigned kLevels[] = {0, kVerboseExecute, kProfile};
  if (level < 0 || level > 2) {
    return InvalidArgument("there is no verbose level ", level,
                           "; there are 0, 1 and 2");
  }
  return kLevels[level];
}

}  // namespace tim::graph
