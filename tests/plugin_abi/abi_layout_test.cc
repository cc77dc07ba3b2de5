// Checks 1 and 2 of the specification: no member ever moves, nothing that was
// declared changes, and the headers are clean.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/str_cat.h"
#include "tests/structure/source_tree.h"
#include "tim/plugin/tim_plugin.h"

namespace tim::plugin {
namespace {

struct Member {
  std::string of;
  std::string name;
  size_t offset = 0;
  size_t bytes = 0;
  size_t alignment = 1;
};

std::vector<Member> Members() {
  return {
#define MEMBER(type, member)                    \
  {#type, #member, offsetof(type, member),      \
   sizeof(static_cast<type*>(nullptr)->member), \
   alignof(decltype(static_cast<type*>(nullptr)->member))},
#include "tests/plugin_abi/abi_members.inc"
#undef MEMBER
  };
}

std::map<std::string, size_t> Sizes() {
  return {
#define MEMBER(type, member) {#type, sizeof(type)},
#include "tests/plugin_abi/abi_members.inc"
#undef MEMBER
  };
}

std::string TextOf(const std::vector<Member>& members) {
  std::string text;
  for (const Member& one : members) {
    text +=
        StrCat(one.of, " ", one.name, " ", one.offset, " ", one.bytes, "\n");
  }
  return text;
}

// "tests/plugin_abi/abi_1_0.txt", of a version that was released.
std::string FileOf(const char* what, int minor) {
  return StrCat("tests/plugin_abi/", what, "_", TIM_ABI_MAJOR, "_", minor,
                ".txt");
}

// Lines "struct member offset bytes", by struct.
std::map<std::string, std::string> ByStruct(const std::string& table) {
  std::map<std::string, std::string> lines;
  std::istringstream text(table);
  for (std::string line; std::getline(text, line);) {
    lines[line.substr(0, line.find(' '))] += line + "\n";
  }
  return lines;
}

// Each struct of a version is the beginning of what it is now; that of this
// version is all of it.
TEST(AbiLayout, MembersAreWhereTheyWereInEachVersion) {
  const auto now = ByStruct(TextOf(Members()));
  for (int minor = 0; minor <= TIM_ABI_MINOR; ++minor) {
    const auto was = ByStruct(structure::ReadText(FileOf("abi", minor)));
    EXPECT_GE(was.size(), 19u);
    for (const auto& [name, lines] : was) {
      ASSERT_EQ(now.count(name), 1u) << name << " is missing";
      EXPECT_EQ(now.at(name).substr(0, lines.size()), lines);
    }
    if (minor < TIM_ABI_MINOR) continue;
    EXPECT_EQ(now, was);
  }
}

// ---- declarations -----------------------------------------------------------

// Without comments, and without spaces but between two words.
std::string Bare(const std::string& text) {
  std::string bare;
  bool space = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "/*") == 0) {
      i = text.find("*/", i) + 1;
      space = true;
      continue;
    }
    if (text[i] == '\n' || text[i] == ' ' || text[i] == '\\') {
      space = true;
      continue;
    }
    const bool apart = space && !bare.empty() && IsNameCharacter(bare.back());
    if (apart && IsNameCharacter(text[i])) bare += ' ';
    bare += text[i];
    space = false;
  }
  return bare;
}

// Bodies of structs by name, of enumerations by their first enumerator, and
// other typedefs, which are their own bodies.
std::map<std::string, std::string> Declarations(const std::string& header) {
  std::map<std::string, std::string> found;
  const std::string text = Bare(header);
  for (size_t at = 0; (at = text.find("typedef ", at)) != std::string::npos;) {
    const size_t end = text.find_first_of(";{", at);
    const std::string name = text.substr(at, end - at);
    const bool has_body = text[end] == '{';
    const size_t close = has_body ? text.find('}', end) : end;
    found[name] = has_body ? text.substr(end, close - end) : name;
    at = close;
  }
  for (size_t at = 0; (at = text.find("enum{", at)) != std::string::npos;) {
    const size_t close = text.find('}', at);
    const std::string body = text.substr(at, close - at) + ",";
    found[body.substr(0, body.find('='))] = body;
    at = close;
  }
  return found;
}

std::string Header() {
  return structure::ReadText("include/tim/plugin/tim_plugin_types.h") +
         structure::ReadText("include/tim/plugin/tim_plugin.h");
}

// Functions have the arguments, and enumerators the values, that they had.
TEST(AbiLayout, DeclarationsAreAsTheyWereInEachVersion) {
  const auto now = Declarations(Header());
  for (int minor = 0; minor <= TIM_ABI_MINOR; ++minor) {
    const auto was =
        Declarations(structure::ReadText(FileOf("tim_plugin", minor)));
    EXPECT_GE(was.size(), 45u);
    for (const auto& [name, body] : was) {
      ASSERT_EQ(now.count(name), 1u) << name << " is missing";
      EXPECT_EQ(now.at(name).substr(0, body.size()), body) << name;
    }
    if (minor < TIM_ABI_MINOR) continue;
    EXPECT_EQ(now, was);
  }
}

TEST(AbiLayout, PlantedChangesAreSeen) {
  const auto of = [](const char* text) { return Declarations(text); };
  const auto was =
      of("typedef int X;  typedef struct A {\n int a;} A; enum { "
         "P = 1, /* one */ Q = 2 };");
  EXPECT_EQ(was.size(), 3u);
  EXPECT_EQ(was,
            of("typedef int X; typedef struct A{int a ;}A;enum{P=1,Q=2};"));
  EXPECT_NE(was,
            of("typedef int X; typedef struct A{long a;}A;enum{P=1,Q=2};"));
  EXPECT_NE(was, of("typedef int X; typedef struct A{int a;}A;enum{P=1,Q=3};"));
  EXPECT_NE(was,
            of("typedef long X; typedef struct A{int a;}A;enum{P=1,Q=2};"));
}

TEST(AbiLayout, TheListHasEveryMember) {
  const std::map<std::string, size_t> sizes = Sizes();
  const std::vector<Member> members = Members();
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& one = members[i];
    const bool last = i + 1 == members.size() || members[i + 1].of != one.of;
    const size_t end = one.offset + one.bytes;
    const size_t next = last ? sizes.at(one.of) : members[i + 1].offset;
    const size_t alignment =
        last ? alignof(std::max_align_t) : members[i + 1].alignment;
    EXPECT_LT(next - end, last ? sizeof(void*) : alignment)
        << "a member is missing behind " << one.of << "::" << one.name;
  }
}

// Commands of compilers that are installed, with "FILE" for a source's name
// without its end.
std::vector<std::string> Compilers() {
  std::vector<std::string> installed;
  for (const std::string command :
       {"gcc -std=c11 FILE.c", "g++ -std=c++14 FILE.cc",
        "clang -std=c11 FILE.c", "clang++ -std=c++14 FILE.cc"}) {
    const std::string program = command.substr(0, command.find(' '));
    if (structure::RunCommand("command -v " + program).exit_status == 0) {
      installed.push_back(command);
    }
  }
  return installed;
}

std::string With(std::string command, const std::string& file) {
  return command.replace(command.find("FILE"), 4, file);
}

// Lays a struct out, with the header in a folder "include".
std::string LayoutBy(const std::string& compiler, const std::string& include,
                     const std::vector<std::string>& members) {
  const std::string folder = structure::FreshFolder("layout");
  std::string text =
      "#include <stdio.h>\n#include \"tim/plugin/tim_plugin.h\"\n"
      "int main(void) {\n";
  for (const std::string& one : members) {
    const size_t space = one.find(' ');
    const std::string type = one.substr(0, space);
    const std::string member = one.substr(space + 1);
    text += StrCat("  printf(\"", one, " %zu %zu\\n\", offsetof(", type, ", ",
                   member, "), sizeof(((", type, "*)0)->", member, "));\n");
  }
  for (const char* end : {".c", ".cc"}) {
    structure::WriteText(folder + "/layout" + end, text + "  return 0;\n}\n");
  }
  const std::string program = folder + "/layout.out";
  const auto built =
      structure::RunCommand(With(compiler, folder + "/layout") + " -iquote " +
                            include + " -o " + program);
  EXPECT_EQ(built.exit_status, 0) << built.output;
  return structure::RunCommand(program).output;
}

// All compilers lay structs out alike, in C as in C++: those of this header,
// and those of each version's as it was released.
TEST(AbiLayout, CompilersAgree) {
  const std::vector<std::string> compilers = Compilers();
  ASSERT_GE(compilers.size(), 1u);
  for (const std::string& compiler : compilers) {
    SCOPED_TRACE(compiler);
    std::vector<std::string> members;
    for (const Member& one : Members()) {
      members.push_back(one.of + " " + one.name);
    }
    EXPECT_EQ(LayoutBy(compiler, "include", members), TextOf(Members()));
    for (int minor = 0; minor <= TIM_ABI_MINOR; ++minor) {
      const std::string include = structure::FreshFolder("released");
      structure::WriteText(include + "/tim/plugin/tim_plugin.h",
                           structure::ReadText(FileOf("tim_plugin", minor)));
      const std::string table = structure::ReadText(FileOf("abi", minor));
      members.clear();
      std::istringstream lines(table);
      for (std::string line; std::getline(lines, line);) {
        const size_t end = line.find(' ', line.find(' ') + 1);
        members.push_back(line.substr(0, end));
      }
      EXPECT_EQ(LayoutBy(compiler, include, members), table);
    }
  }
}

// Check 2: what vendors include is clean in both languages.
TEST(AbiLayout, TheHeadersAreCleanInCAndCxx) {
  const std::string folder = structure::FreshFolder("clean");
  const std::string text =
      "#include \"tim/plugin/tim_plugin.h\"\nint unused_symbol;\n";
  structure::WriteText(folder + "/header.c", text);
  structure::WriteText(folder + "/header.cc",
                       "#include \"tim/plugin/plugin.h\"\n" + text);
  for (const std::string& compiler : Compilers()) {
    const auto result = structure::RunCommand(
        With(compiler, folder + "/header") +
        " -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror "
        "-fsyntax-only -iquote include");
    EXPECT_EQ(result.exit_status, 0) << compiler << "\n" << result.output;
  }
}

}  // namespace
}  // namespace tim::plugin
