// The table of the front's environment variables, and what they are parsed to.
#include "graph_api/options.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fork/keep_one.h"
#include "base/log.h"
#include "graph_api/verbose.h"
#include "graph_api/verbose_filter.h"

namespace tim::graph {
namespace {

std::vector<std::string_view> Words(std::string_view text, char between = ',') {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(between), text.size());
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
      {"all", kProfile | kVerboseError | kVerboseCheck | kVerboseDispatch},
      // Words of oneDNN for lines that are not here.
      {"warn", 0},
      {"profile_externals", 0}};
  constexpr std::string_view kFilter = "filter=";
  constexpr std::string_view kDebug = "debuginfo=";
  unsigned flags = 0;
  bool is_meant = true;
  for (const std::string_view word : Words(text)) {
    if (word.starts_with(kFilter)) {
      is_meant = FilterTakes(word.substr(kFilter.size()), "graph");
    } else if (!word.starts_with(kDebug)) {
      TIM_ASSIGN_OR_RETURN(
          const unsigned more,
          ParseFlags(word, kFlags,
                     "none, error, check, dispatch, profile_create, "
                     "profile_exec, profile, all, 0, 1, 2 and filter=..."));
      flags |= more;
    }
  }
  options->verbose = is_meant ? flags : 0;
  return OkStatus();
}

template <typename Number>
Result<Number> ParseNumber(std::string_view text, const char* expected) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < Number{0}) {
    return InvalidArgument("expected ", expected);
  }
  return number;
}

Status ParseCompiledCache(const std::string& text, GraphOptions* options) {
  TIM_ASSIGN_OR_RETURN(
      options->compiled_entries,
      ParseNumber<int>(text, "a number of entries, 0 for no cache"));
  return OkStatus();
}

// "cpu:64;gpu:0": either part may be absent.
Status ParseConstantCache(const std::string& text, GraphOptions* options) {
  static constexpr char kExpected[] =
      "megabytes for each kind of engine, as in cpu:64;gpu:0";
  constexpr std::string_view kKind = "cpu:";
  GraphOptions parsed = *options;
  for (const std::string_view word : Words(text, ';')) {
    size_t* const megabytes =
        word.starts_with("cpu:")   ? &parsed.cpu_constant_megabytes
        : word.starts_with("gpu:") ? &parsed.gpu_constant_megabytes
                                   : nullptr;
    if (megabytes == nullptr) return InvalidArgument("expected ", kExpected);
    TIM_ASSIGN_OR_RETURN(
        *megabytes, ParseNumber<size_t>(word.substr(kKind.size()), kExpected));
  }
  *options = std::move(parsed);
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

Status ParseGpu(const std::string& text, GraphOptions* options) {
  if (text != "all") return InvalidArgument("expected all");
  options->all_are_gpus = true;
  return OkStatus();
}

// The engine checks it: a device that does not exist is no default.
Status ParseOffload(const std::string& text, GraphOptions* options) {
  options->offload = text;
  return OkStatus();
}

Status ParseCheck(const std::string& text, GraphOptions* options) {
  if (text != "0" && text != "1") return InvalidArgument("expected 0 or 1");
  options->check = text == "1";
  return OkStatus();
}

constexpr GraphOptionSpec kTable[] = {
    {"TIMCL_GRAPH_PARTITION",
     {},
     "`max_ops=N`, `min_ops=N`, `max_partitions=N`, `max_anchors=N`, with `,` "
     "between",
     "no limits",
     "limits of partitions where a program gives none",
     ParsePartition},
    {"TIMCL_GRAPH_VERBOSE",
     {"ONEDNN_VERBOSE"},
     "`none`, `error`, `check`, `dispatch`, `profile_create`, `profile_exec`, "
     "`profile`, `all`, with `,` between; `0`, `1`, `2`",
     "`none`",
     "lines on stdout about compiled and executed partitions and about what is "
     "refused: [docs/frameworks.md](docs/frameworks.md#verbose-lines)",
     ParseVerbose},
    {"TIMCL_GRAPH_DUMP",
     {"ONEDNN_GRAPH_DUMP", "DNNL_GRAPH_DUMP"},
     "`none`, `graph`, `subgraph`, with `,` between",
     "`none`",
     "`graph`: graphs are written when they are partitioned, with their "
     "partitions; `subgraph`: partitions when they are compiled",
     ParseDump},
    {"TIMCL_GRAPH_DUMP_DIR",
     {},
     "a folder",
     "`.`",
     "where they are written",
     ParseDumpDir},
    {"TIMCL_GRAPH_COMPILED_CACHE",
     {"DNNL_GRAPH_COMPILED_PARTITION_CACHE_CAPACITY"},
     "a number",
     "`1024`",
     "how many compiled partitions are kept for equal calls; 0: none",
     ParseCompiledCache},
    {"TIMCL_GRAPH_CONSTANT_CACHE",
     {"ONEDNN_GRAPH_CONSTANT_TENSOR_CACHE_CAPACITY"},
     "megabytes as in `cpu:64;gpu:256`",
     "`cpu:0;gpu:0`",
     "how much of what is made of constants is kept by their addresses, for "
     "each device; 0: they may change between executes",
     ParseConstantCache},
    {"TIMCL_DEFAULT_FPMATH_MODE",
     {"ONEDNN_DEFAULT_FPMATH_MODE"},
     "`STRICT`, `BF16`, `F16`, `TF32`, `ANY`",
     "`STRICT`",
     "arithmetic of graphs that ask for none",
     ParseFpmathMode},
    {"TIMCL_GRAPH_GPU",
     {},
     "`all`",
     "GPUs and accelerators",
     "which OpenCL devices engines of kind gpu are of",
     ParseGpu},
    {"TIMCL_GRAPH_OFFLOAD",
     {},
     "`opencl`, `opencl:<n>`, `host`",
     "none",
     "partitions of engines of kind cpu run there, with tensors in host memory",
     ParseOffload},
    {"TIMCL_GRAPH_CHECK",
     {},
     "`0`, `1`",
     "`0`",
     "an execute fails where a cached constant has changed, or an output lies "
     "on an input that is not its in-place pair",
     ParseCheck}};

void LogLines(std::string_view warnings) {
  while (!warnings.empty()) {
    const size_t end = warnings.find('\n');
    TIM_LOG(kWarning, warnings.substr(0, end));
    warnings.remove_prefix(end + 1);
  }
}

}  // namespace

std::span<const GraphOptionSpec> GraphOptionTable() { return kTable; }

GraphOptions ParseGraphOptions(const char* (*get)(const char* name),
                               std::string* warnings) {
  GraphOptions options;
  for (const GraphOptionSpec& spec : kTable) {
    const char* name = spec.name;
    const char* text = get(name);
    for (const char* alias : spec.aliases) {
      if (alias == nullptr || (text != nullptr && *text != '\0')) break;
      text = get(name = alias);
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
    LogLines(warnings);
    return parsed;
  });
}

std::string GraphOptionTableMarkdown() {
  std::string out =
      "| variable | also read as | values | default | meaning |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const GraphOptionSpec& spec : kTable) {
    std::string aliases;
    for (const char* alias : spec.aliases) {
      if (alias == nullptr) break;
      aliases += StrCat(aliases.empty() ? "`" : ", `", alias, "`");
    }
    out += StrCat("| `", spec.name, "` | ", aliases, " | ", spec.values, " | ",
                  spec.default_value, " | ", spec.meaning, " |\n");
  }
  return out;
}

}  // namespace tim::graph
