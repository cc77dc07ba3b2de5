#include "kernels/chain_text.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/fork/per_process.h"
#include "kernels/kernel_sources.h"
#include "kernels/text/c_tokens.h"
#include "kernels/text/file_scope_names.h"

namespace tim::kernels {
namespace {

constexpr std::string_view kKernel = "__kernel void ";
constexpr std::string_view kLine = "#line ";
constexpr std::string_view kOnceGuard = "#ifndef TIM_ONCE_";

// The name in "#line 1 "ops/normalization/softmax.cl"".
std::string_view FileOfLine(std::string_view directive) {
  const size_t begin = directive.find('"') + 1;
  return directive.substr(begin, directive.find('"', begin) - begin);
}

// `text` without the headers that a program has once.
std::string OwnText(std::string_view text) {
  std::map<std::string_view, std::string> files;
  std::vector<std::string_view> order;
  std::string_view file;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.starts_with(kLine)) {
      file = FileOfLine(line);
    } else {
      if (!files.contains(file)) order.push_back(file);
      files[file] += line;
    }
  }
  std::string own;
  for (const std::string_view name : order) {
    const std::string& part = files[name];
    if (part.find(kOnceGuard) == std::string::npos) own += part;
  }
  return own;
}

// The parameter list that begins at `open`, with its parentheses.
std::string_view ParametersAt(std::string_view text, size_t open) {
  int depth = 0;
  size_t end = open;
  do {
    depth += (text[end] == '(') - (text[end] == ')');
    ++end;
  } while (depth > 0 && end < text.size());
  return text.substr(open, end - open);
}

// Adds the names of all kernels' twins to `twins`, where there are any.
std::string KernelsAsFunctions(std::string_view text, ChainNames names,
                               std::vector<std::string>* twins) {
  std::string out;
  size_t begin = 0;
  for (size_t at = text.find(kKernel); at != std::string_view::npos;
       at = text.find(kKernel, begin)) {
    const size_t name = at + kKernel.size();
    const size_t open = text.find('(', name);
    out += text.substr(begin, at - begin);
    if (names == ChainNames::kKept) {
      twins->push_back(NamesKernel(text.substr(name, open - name)));
      out += StrCat(kKernel, twins->back(), ParametersAt(text, open), " {}\n");
    }
    out += StrCat("static __attribute__((unused)) void ",
                  text.substr(name, open - name),
                  "(size_t tim_x, size_t tim_y, size_t tim_z, ");
    begin = open + 1;
  }
  return out + std::string(text.substr(begin));
}

// What a work-item knows of its work-group is lost in a chain.
Status CheckTokens(std::string_view text) {
  static constexpr std::string_view kForeign[] = {
      "barrier",      "get_local_id",   "get_local_size",
      "get_group_id", "get_num_groups", "get_global_size",
      "__local",      "local",          "work_group_barrier"};
  CTokens tokens(text);
  for (std::string_view token = tokens.Next(); !token.empty();
       token = tokens.Next()) {
    if (std::find(std::begin(kForeign), std::end(kForeign), token) !=
            std::end(kForeign) ||
        token.starts_with("sub_group")) {
      return Unimplemented("'", token, "' in a chain");
    }
  }
  return OkStatus();
}

// The file after the headers that stand before it.
Result<std::string> WholeText(const std::string& source,
                              const std::vector<std::string>& headers) {
  std::string out;
  for (const std::string& name : headers) {
    const char* header = kernels::FindHeader(name);
    if (header == nullptr) {
      return Unimplemented("'", name, "' is no embedded header");
    }
    out += header;
  }
  const char* text = kernels::FindSource(source);
  if (text == nullptr) {
    return Unimplemented("'", source, "' is no embedded kernel");
  }
  return out + text;
}

Result<ChainText> MakeChainText(const std::string& source,
                                const std::vector<std::string>& headers,
                                ChainNames names) {
  TIM_ASSIGN_OR_RETURN(const std::string text, WholeText(source, headers));
  TIM_RETURN_IF_ERROR(CheckTokens(text));
  const std::string own = OwnText(text);
  ChainText chain;
  TIM_ASSIGN_OR_RETURN(chain.names, FileScopeNames(own));
  chain.functions = KernelsAsFunctions(text, names, &chain.names);
  chain.macro_names = MacroNames(own);
  chain.contracts = text.find("FP_CONTRACT OFF") == std::string::npos;
  return chain;
}

// All that were made; they are kept.
struct ChainTexts {
  std::mutex mutex;
  std::map<std::tuple<std::string, std::vector<std::string>, ChainNames>,
           Result<ChainText>>
      known;
};

constinit GlobalPerProcess<ChainTexts> g_texts;

}  // namespace

std::string NamesKernel(std::string_view function) {
  return StrCat(function, "_names");
}

Result<const ChainText*> FindChainText(const std::string& source,
                                       const std::vector<std::string>& headers,
                                       ChainNames names) {
  ChainTexts& texts = g_texts.Get();
  const std::lock_guard<std::mutex> lock(texts.mutex);
  const std::tuple key(source, headers, names);
  auto found = texts.known.find(key);
  if (found == texts.known.end()) {
    found =
        texts.known.emplace(key, MakeChainText(source, headers, names)).first;
  }
  if (!found->second.ok()) return found->second.status();
  return &*found->second;
}

}  // namespace tim::kernels
