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
//     #line directives, and its facts.  Names are relative to DIR and to
//     DIR/src.
//   generate_sources page OUT.cc file...
//     tim::tool::PageParts: the texts of the files, by their names without
//     folders.

#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tools/generator/files.h"
#include "tools/generator/kernels.h"

namespace tim::generator {
namespace {

std::string Stem(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, path.find_last_of('.') - begin);
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
    WriteFile(arguments[1], KernelsSource(rest));
  } else if (command == "page") {
    WriteFile(arguments[1], PageSource(rest));
  } else {
    throw Error(command + ": unknown command");
  }
  return 0;
}

}  // namespace
}  // namespace tim::generator

int main(int argc, char** argv) {
  try {
    return tim::generator::Main({argv + 1, argv + argc});
  } catch (const tim::generator::Error& error) {
    std::fprintf(stderr, "generate_sources: %s\n", error.what());
    return 1;
  }
}
