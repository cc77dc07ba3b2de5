// Which verbose lines are wanted, and the lines of what is refused.
#include "graph_api/verbose.h"

#include <atomic>
#include <cstdio>

#include "graph_api/error.h"
#include "graph_api/options.h"

namespace tim::graph {
namespace {

constexpr unsigned kUnset = ~0u;
constinit std::atomic<unsigned> verbose_flags = kUnset;

}  // namespace

unsigned Verbose() {
  const unsigned flags = verbose_flags.load(std::memory_order_relaxed);
  return flags == kUnset ? GetGraphOptions().verbose : flags;
}

Status SetVerbose(int level) {
  static constexpr unsigned kLevels[] = {0, kVerboseExecute,
                                         kVerboseExecute | kVerboseCompile};
  if (level < 0 || level > 2) {
    return InvalidArgument("there is no verbose level ", level,
                           "; there are 0, 1 and 2");
  }
  verbose_flags = kLevels[level];
  return OkStatus();
}

namespace verbose {
namespace {

// Name and flag of the lines that a code belongs to.
struct Refused {
  const char* name;
  VerboseFlag flag;
};

Refused RefusedBy(tim_graph_status_t code) {
  if (code == tim_graph_unimplemented) return {"dispatch", kVerboseDispatch};
  if (code == tim_graph_out_of_memory || code == tim_graph_runtime_error) {
    return {"error", kVerboseError};
  }
  return {"check", kVerboseCheck};
}

void PrintRefusal(const Refused& refused, std::string_view reason) {
  if (Wants(refused.flag)) {
    PrintLine(StrCat(refused.name, ",", FieldOf(reason)));
  }
}

}  // namespace

void Dispatch(std::string_view reason) {
  PrintRefusal({"dispatch", kVerboseDispatch}, reason);
}

void Refusal(tim_graph_status_t code, std::string_view reason) {
  PrintRefusal(RefusedBy(code), reason);
}

std::string FieldOf(std::string_view text) {
  std::string field(text);
  for (char& c : field) {
    if (c == ',') c = ';';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return field;
}

void PrintLine(std::string_view rest) {
  const std::string line = StrCat("timcl_graph,", rest, "\n");
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace verbose
}  // namespace tim::graph

tim_graph_status_t tim_graph_set_verbose(int level) {
  return tim::graph::Answer([&] { return tim::graph::SetVerbose(level); });
}
