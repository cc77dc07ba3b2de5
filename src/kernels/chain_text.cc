// Joins texts by their facts: those of the library's are data, those of others
// are read when they come.
#include "kernels/chain_text.h"

#include <memory>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "kernels/kernel_sources.h"
#include "kernels/known_values.h"

namespace tim::kernels {
namespace {

// Facts of texts that come at run time, by their hashes.
constinit KnownValues<TextFacts> g_facts(256);

// A text and its facts; `owner` where they are of no text of the library.
struct Part {
  std::string_view text;
  KernelFacts facts;
  std::shared_ptr<const TextFacts> owner;
};

Result<Part> EmbeddedPart(const KernelSource* file, const std::string& name,
                          const char* what) {
  if (file == nullptr) {
    return Unimplemented("'", name, "' is no embedded ", what);
  }
  return Part{file->text, file->facts, nullptr};
}

// The headers of the launch, then its program.
Result<std::vector<Part>> PartsOf(const ir::KernelLaunch& launch) {
  std::vector<Part> parts;
  for (const std::string& name : launch.headers) {
    TIM_ASSIGN_OR_RETURN(parts.emplace_back(),
                         EmbeddedPart(FindKernelHeader(name), name, "header"));
  }
  if (launch.text.empty()) {
    TIM_ASSIGN_OR_RETURN(
        parts.emplace_back(),
        EmbeddedPart(FindKernelSource(launch.source), launch.source, "kernel"));
  } else {
    const auto facts = g_facts.Get(HashText(launch.text).ToString(),
                                   [&] { return FactsOf(launch.text); });
    parts.push_back({launch.text, facts->view(), facts});
  }
  for (const Part& part : parts) {
    if (part.facts.refusal.empty()) continue;
    return Unimplemented(part.facts.refusal, " in a chain");
  }
  return parts;
}

std::string KernelsAsFunctions(const Part& part) {
  std::string out;
  size_t begin = 0;
  for (const KernelPlace& kernel : part.facts.kernels) {
    out += part.text.substr(begin, kernel.begin - begin);
    out += "static __attribute__((unused)) void ";
    out += part.text.substr(kernel.name, kernel.parameters - kernel.name);
    out += "size_t tim_x, size_t tim_y, size_t tim_z, ";
    begin = kernel.parameters;
  }
  out += part.text.substr(begin);
  return out;
}

void AddNames(std::string_view names, std::string* all) {
  if (names.empty()) return;
  if (!all->empty()) *all += ' ';
  *all += names;
}

}  // namespace

Status CheckChainText(const ir::KernelLaunch& launch) {
  return PartsOf(launch).status();
}

Result<ChainText> ChainTextOf(const ir::KernelLaunch& launch) {
  TIM_ASSIGN_OR_RETURN(const std::vector<Part> parts, PartsOf(launch));
  ChainText chain;
  for (const Part& part : parts) {
    chain.functions += KernelsAsFunctions(part);
    AddNames(part.facts.names, &chain.names);
    AddNames(part.facts.macros, &chain.macros);
    chain.contracts = chain.contracts && part.facts.contracts;
  }
  return chain;
}

}  // namespace tim::kernels
