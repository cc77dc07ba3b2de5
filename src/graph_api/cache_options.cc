// Reads the variables of caches and checks.
#include "graph_api/cache_options.h"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/fork/keep_one.h"
#include "base/log.h"
#include "base/str_cat.h"

namespace tim::graph {
namespace {

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  Number parsed = 0;
  const char* const end = text.data() + text.size();
  const auto [last, failure] = std::from_chars(text.data(), end, parsed);
  if (failure != std::errc() || last != end || parsed < Number{0}) return false;
  *number = parsed;
  return true;
}

// "cpu:64;gpu:0": either part may be absent.
bool ParseCapacities(std::string_view text, CacheOptions* options) {
  CacheOptions parsed = *options;
  while (!text.empty()) {
    const size_t end = text.find(';');
    const std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    constexpr size_t kPrefix = 4;
    size_t* const megabytes =
        part.starts_with("cpu:")   ? &parsed.cpu_constant_megabytes
        : part.starts_with("gpu:") ? &parsed.gpu_constant_megabytes
                                   : nullptr;
    if (megabytes == nullptr || !ParseNumber(part.substr(kPrefix), megabytes)) {
      return false;
    }
  }
  *options = parsed;
  return true;
}

}  // namespace

CacheOptions ParseCacheOptions(const char* (*get)(const char* name),
                               std::string* warnings) {
  CacheOptions options;
  const auto read = [&](const char* name, const char* alias,
                        const char* expected, const auto& parse) {
    const char* text = get(name);
    if (text == nullptr && alias != nullptr) text = get(name = alias);
    if (text == nullptr || parse(std::string_view(text))) return;
    *warnings +=
        StrCat(name, "=", text, " is ignored; expected ", expected, "\n");
  };
  read("TIMCL_GRAPH_COMPILED_CACHE",
       "DNNL_GRAPH_COMPILED_PARTITION_CACHE_CAPACITY", "a number of entries",
       [&](std::string_view text) {
         return ParseNumber(text, &options.compiled_entries);
       });
  read("TIMCL_GRAPH_CONSTANT_CACHE",
       "ONEDNN_GRAPH_CONSTANT_TENSOR_CACHE_CAPACITY",
       "megabytes as in cpu:64;gpu:0",
       [&](std::string_view text) { return ParseCapacities(text, &options); });
  const auto parse_flag = [](bool* flag, std::string_view on) {
    return [flag, on](std::string_view text) {
      *flag = text == on;
      return *flag || text.empty() || text == "0";
    };
  };
  read("TIMCL_GRAPH_CHECK", nullptr, "0 or 1", parse_flag(&options.check, "1"));
  read("TIMCL_GRAPH_GPU", nullptr, "all, or nothing",
       parse_flag(&options.all_are_gpus, "all"));
  return options;
}

const CacheOptions& GetCacheOptions() {
  static constinit std::atomic<const CacheOptions*> options = nullptr;
  return KeepOne(options, [] {
    std::string warnings;
    const auto get = [](const char* name) -> const char* {
      return std::getenv(name);
    };
    const CacheOptions parsed = ParseCacheOptions(get, &warnings);
    if (!warnings.empty()) TIM_LOG(kWarning, warnings);
    return parsed;
  });
}

}  // namespace tim::graph
