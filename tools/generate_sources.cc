// Writes the C++ sources that both builds generate from globs.
//
//   generate_sources operators OUT.cc ops/family/stem.cc ...
//     tim::ops::RegisterAllOperators: calls every Register_<stem>.  Files
//     without TIM_OPERATOR are what others share.
//   generate_sources operator_table OUT.cc ops/family/stem.cc ...
//     tim::ops::OperatorTable: the same functions by name, for tests.
//   generate_sources graph_ops OUT.cc src/graph_api/ops/stem.cc ...
//     tim::graph::RegisterAllOps: calls every RegisterOps_<stem>.  Files
//     without TIM_GRAPH_OPS are what others share.
//   generate_sources kernels OUT.cc [--root DIR] file.cl ... file.clh ...
//     tim::kernels::EmbeddedSources and EmbeddedHeaders: the text of every .cl
//     and of every .clh, each .clh that it includes written into it, with
//     #line directives.  Names are relative to DIR and to DIR/src.
//   generate_sources page OUT.cc file...
//     tim::tool::PageParts: the texts of the files, by their names without
//     folders.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// Longest raw string literal written; compilers differ in what they accept.
constexpr std::size_t kLiteralBytes = 12000;

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string Stem(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, path.find_last_of('.') - begin);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path + ": cannot be opened");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw Error(path + ": cannot be read");
  return text;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(path + ": cannot be written");
}

// --- operators -------------------------------------------------------------

// What stands between the brackets of MACRO(...) at the start of a line.
std::vector<std::string> RegisteredNames(const std::string& path,
                                         const std::string& name) {
  const std::string macro = name + "(";
  std::vector<std::string> names;
  std::istringstream text(ReadFile(path));
  for (std::string line; std::getline(text, line);)
    if (line.compare(0, macro.size(), macro) == 0)
      names.push_back(line.substr(macro.size(), line.find(')') - macro.size()));
  return names;
}

// Of the files that register something.  A family is no name space: stems
// are unique in all of them.
std::set<std::string> RegisteredStems(const std::vector<std::string>& files,
                                      const std::string& macro) {
  std::map<std::string, std::string> seen;
  std::set<std::string> stems;
  for (const std::string& file : files) {
    const std::string stem = Stem(file);
    const auto [other, is_new] = seen.emplace(stem, file);
    if (!is_new) throw Error(file + ": has the stem of " + other->second);
    const std::vector<std::string> names = RegisteredNames(file, macro);
    if (names.empty()) continue;
    if (names.size() > 1 || names[0] != stem)
      throw Error(file + ": expected one " + macro + "(" + stem + "), found " +
                  std::to_string(names.size()) + ", the first of " + names[0]);
    stems.insert(stem);
  }
  return stems;
}

std::string Declarations(const std::set<std::string>& stems) {
  std::ostringstream out;
  for (const std::string& stem : stems)
    out << "void Register_" << stem << "(ir::OpRegistry& registry);\n";
  return out.str();
}

std::string OperatorsSource(const std::vector<std::string>& files) {
  const std::set<std::string> stems = RegisteredStems(files, "TIM_OPERATOR");
  std::ostringstream out;
  out << "#include \"ir/op_registry.h\"\n#include \"ops/builtin.h\"\n\n"
      << "namespace tim::ops {\n\n"
      << Declarations(stems)
      << "\nvoid RegisterAllOperators(ir::OpRegistry& registry) {\n"
      << "  static_cast<void>(registry);\n";
  for (const std::string& stem : stems)
    out << "  Register_" << stem << "(registry);\n";
  out << "}\n\n}  // namespace tim::ops\n";
  return out.str();
}

std::string OperatorTableSource(const std::vector<std::string>& files) {
  const std::set<std::string> stems = RegisteredStems(files, "TIM_OPERATOR");
  std::ostringstream out;
  out << "#include <map>\n#include <string>\n\n#include \"ir/op_registry.h\"\n"
      << "\nnamespace tim::ops {\n\n"
      << Declarations(stems)
      << "\nstd::map<std::string, void (*)(ir::OpRegistry&)> OperatorTable() "
         "{\n  return {\n";
  for (const std::string& stem : stems)
    out << "      {\"" << stem << "\", Register_" << stem << "},\n";
  out << "  };\n}\n\n}  // namespace tim::ops\n";
  return out.str();
}

// --- kinds of tim::graph ----------------------------------------------------

std::string GraphOpsSource(const std::vector<std::string>& files) {
  const std::set<std::string> stems = RegisteredStems(files, "TIM_GRAPH_OPS");
  std::ostringstream out;
  out << "#include \"graph_api/op_def.h\"\n\nnamespace tim::graph {\n\n";
  for (const std::string& stem : stems)
    out << "void RegisterOps_" << stem << "(OpTable& table);\n";
  out << "\nvoid RegisterAllOps(OpTable& table) {\n"
      << "  static_cast<void>(table);\n";
  for (const std::string& stem : stems)
    out << "  RegisterOps_" << stem << "(table);\n";
  out << "}\n\n}  // namespace tim::graph\n";
  return out.str();
}

// --- kernels ---------------------------------------------------------------

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

std::string Delimiter(const std::string& text) {
  std::string delimiter = "CL";
  while (text.find(")" + delimiter + "\"") != std::string::npos)
    delimiter += "_";
  return delimiter;
}

// `text` as adjacent raw string literals, cut behind a line where possible.
std::string RawLiterals(const std::string& text) {
  const std::string delimiter = Delimiter(text);
  std::string out;
  std::size_t begin = 0;
  do {
    std::size_t end = std::min(begin + kLiteralBytes, text.size());
    if (end < text.size()) {
      const std::size_t newline = text.rfind('\n', end - 1);
      if (newline != std::string::npos && newline >= begin) end = newline + 1;
    }
    out += "     R\"" + delimiter + "(" + text.substr(begin, end - begin) +
           ")" + delimiter + "\"\n";
    begin = end;
  } while (begin < text.size());
  return out;
}

bool HasEnding(const std::string& name, const std::string& ending) {
  return name.size() >= ending.size() &&
         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

// An array of the files with that ending; returns how many there are.
std::size_t WriteTexts(const KernelFiles& files, const std::string& ending,
                       const std::string& array, std::ostream& out) {
  std::size_t count = 0;
  out << "constexpr KernelSource " << array << "[] = {\n";
  for (const auto& [name, path] : files) {
    if (!HasEnding(name, ending)) continue;
    std::set<std::string> seen{name};
    std::string text;
    Expand(name, files, seen, text);
    out << "    {\"" << name << "\",\n" << RawLiterals(text) << "    },\n";
    ++count;
  }
  out << "    {nullptr, nullptr},\n};\n\n";
  return count;
}

std::string KernelsSource(const KernelFiles& files) {
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

// --- parts of a page -------------------------------------------------------

std::string PageSource(const std::vector<std::string>& files) {
  std::map<std::string, std::string> paths;
  for (const std::string& file : files) {
    const std::string name = file.substr(file.find_last_of('/') + 1);
    if (!paths.emplace(name, file).second)
      throw Error(file + ": has the name of " + paths[name]);
  }
  std::ostringstream out;
  out << "#include \"tools/timcl/page_parts.h\"\n\nnamespace tim::tool {\n"
      << "namespace {\n\nconstexpr PagePart kParts[] = {\n";
  for (const auto& [name, path] : paths)
    out << "    {\"" << name << "\",\n"
        << RawLiterals(ReadFile(path)) << "    },\n";
  out << "};\n\n}  // namespace\n\n"
      << "std::span<const PagePart> PageParts() { return kParts; }\n\n"
      << "}  // namespace tim::tool\n";
  return out.str();
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2)
    throw Error(
        "usage: generate_sources "
        "operators|operator_table|graph_ops|kernels|page OUT.cc FILE...");
  const std::string& command = arguments[0];
  const std::vector<std::string> rest(arguments.begin() + 2, arguments.end());
  if (command == "operators") {
    WriteFile(arguments[1], OperatorsSource(rest));
  } else if (command == "operator_table") {
    WriteFile(arguments[1], OperatorTableSource(rest));
  } else if (command == "graph_ops") {
    WriteFile(arguments[1], GraphOpsSource(rest));
  } else if (command == "kernels") {
    WriteFile(arguments[1], KernelsSource(ParseKernelFiles(rest)));
  } else if (command == "page") {
    WriteFile(arguments[1], PageSource(rest));
  } else {
    throw Error(command + ": unknown command");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main({argv + 1, argv + argc});
  } catch (const Error& error) {
    std::fprintf(stderr, "generate_sources: %s\n", error.what());
    return 1;
  }
}
