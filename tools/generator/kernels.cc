// Writes out each .cl and .clh with its includes, reads its facts once, and
// makes tables of both.
#include "tools/generator/kernels.h"

#include <cstddef>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>

#include "base/str_cat.h"
#include "kernels/text/text_facts.h"
#include "kernels/text/text_outline.h"
#include "tools/generator/files.h"

namespace tim::generator {
namespace {

// Paths by name, as in #include.
using KernelFiles = std::map<std::string, std::string>;

bool TakePrefix(std::string& text, const std::string& prefix) {
  if (text.compare(0, prefix.size(), prefix) != 0) return false;
  text.erase(0, prefix.size());
  return true;
}

std::string KernelName(std::string path, const std::string& root) {
  TakePrefix(path, "./");
  if (!root.empty() && root != ".") TakePrefix(path, root + "/");
  TakePrefix(path, "src/");
  return path;
}

// The text after #include, or nothing where the line is no #include.
std::optional<std::string> IncludeOperand(const std::string& line) {
  const char* const blank = " \t\r";
  std::size_t at = line.find_first_not_of(blank);
  if (at == std::string::npos || line[at] != '#') return std::nullopt;
  at = line.find_first_not_of(blank, at + 1);
  if (at == std::string::npos || line.compare(at, 7, "include") != 0)
    return std::nullopt;
  at = line.find_first_not_of(blank, at + 7);
  return at == std::string::npos ? "" : line.substr(at);
}

std::string IncludeName(const std::string& operand, const std::string& where) {
  const std::size_t end = operand.find('"', 1);
  if (operand.empty() || operand[0] != '"' || end == std::string::npos)
    throw Error(where + ": expected #include \"folder/file.clh\", found " +
                operand);
  return operand.substr(1, end - 1);
}

void LineDirective(std::size_t line, const std::string& name,
                   std::string& out) {
  out += "#line " + std::to_string(line) + " \"" + name + "\"\n";
}

// Appends the text of `name` with its includes. A file that `seen` holds was
// written before and leaves an empty line.
void Expand(const std::string& name, const KernelFiles& files,
            std::set<std::string>& seen, std::string& out) {
  std::istringstream text(ReadFile(files.at(name)));
  LineDirective(1, name, out);
  std::string line;
  for (std::size_t number = 1; std::getline(text, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::optional<std::string> operand = IncludeOperand(line);
    if (!operand) {
      out += line + "\n";
      continue;
    }
    const std::string where = name + ":" + std::to_string(number);
    const std::string included = IncludeName(*operand, where);
    if (files.count(included) == 0)
      throw Error(where + ": includes \"" + included +
                  "\", which is not among the kernel files");
    if (!seen.insert(included).second) {
      out += "\n";
      continue;
    }
    Expand(included, files, seen, out);
    LineDirective(number + 1, name, out);
  }
}

bool HasEnding(const std::string& name, const std::string& ending) {
  return name.size() >= ending.size() &&
         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

// The name of an array of them, "{}" where there are none.
std::string WritePlaces(const std::vector<kernels::KernelPlace>& places,
                        const std::string& array, std::ostream& out) {
  if (places.empty()) return "{}";
  out << "constexpr KernelPlace " << array << "[] = {";
  for (const kernels::KernelPlace& place : places) {
    out << "{" << place.begin << ", " << place.name << ", " << place.parameters
        << "},";
  }
  out << "};\n";
  return array;
}

// A row of the table, whose places go to `out` at once.
std::string Row(const std::string& name, const std::string& text,
                const std::string& places, std::ostream& out) {
  const kernels::TextFacts facts = kernels::FactsOf(text);
  const auto outline = kernels::OutlineOf(text);
  if (!outline.ok()) throw Error(name + ": " + outline.status().message());
  std::ostringstream row;
  const auto quoted = [](const std::string& list) {
    return "\"" + list + "\"";
  };
  row << "    {" << quoted(name) << ",\n"
      << RawLiterals(text) << "     , {"
      << WritePlaces(facts.kernels, places, out) << ", " << quoted(facts.names)
      << ",\n      " << quoted(facts.macros) << ", "
      << (facts.contracts ? "true" : "false") << ", " << quoted(facts.refusal)
      << "},\n"
      << RawLiterals(kernels::SignaturesOf(*outline)) << "     , "
      << quoted(StrJoin(kernels::OptionsOf(*outline), " ")) << "},\n";
  return row.str();
}

// An array of the files with that ending; returns how many there are.
std::size_t WriteTexts(const KernelFiles& files, const std::string& ending,
                       const std::string& array, std::ostream& out) {
  std::size_t count = 0;
  std::string rows;
  for (const auto& [name, path] : files) {
    if (!HasEnding(name, ending)) continue;
    std::set<std::string> seen{name};
    std::string text;
    Expand(name, files, seen, text);
    rows += Row(name, text, array + "Places" + std::to_string(count), out);
    ++count;
  }
  out << "constexpr KernelSource " << array << "[] = {\n"
      << rows << "    {},\n};\n\n";
  return count;
}

KernelFiles ParseKernelFiles(const std::vector<std::string>& arguments) {
  KernelFiles files;
  std::string root;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--root") {
      if (++i == arguments.size()) throw Error("--root: expected a folder");
      root = arguments[i];
      continue;
    }
    const std::string name = KernelName(arguments[i], root);
    if (!files.emplace(name, arguments[i]).second)
      throw Error(name + ": is given twice");
  }
  return files;
}

}  // namespace

std::string KernelsSource(const std::vector<std::string>& arguments) {
  const KernelFiles files = ParseKernelFiles(arguments);
  std::ostringstream out;
  out << "#include \"kernels/kernel_sources.h\"\n\nnamespace tim::kernels {\n"
      << "namespace {\n\n";
  const std::size_t sources = WriteTexts(files, ".cl", "kSources", out);
  const std::size_t headers = WriteTexts(files, ".clh", "kHeaders", out);
  out << "}  // namespace\n\n"
      << "std::span<const KernelSource> EmbeddedSources() {\n"
      << "  return {kSources, " << sources << "};\n}\n\n"
      << "std::span<const KernelSource> EmbeddedHeaders() {\n"
      << "  return {kHeaders, " << headers << "};\n}\n\n"
      << "}  // namespace tim::kernels\n";
  return out.str();
}

}  // namespace tim::generator
