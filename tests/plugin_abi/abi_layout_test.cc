// Check 1 of the specification: no member ever moves.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

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

// The table of a version that was released is a prefix, struct by struct.
TEST(AbiLayout, MembersAreWhereTheyWereInVersion1) {
  std::istringstream lines(structure::ReadText("tests/plugin_abi/abi_1_0.txt"));
  std::map<std::string, Member> now;
  for (const Member& one : Members()) now[one.of + " " + one.name] = one;
  Member was;
  int count = 0;
  while (lines >> was.of >> was.name >> was.offset >> was.bytes) {
    ++count;
    const auto found = now.find(was.of + " " + was.name);
    ASSERT_NE(found, now.end()) << was.of << "::" << was.name << " is missing";
    EXPECT_EQ(found->second.offset, was.offset) << was.of << "::" << was.name;
    EXPECT_EQ(found->second.bytes, was.bytes) << was.of << "::" << was.name;
  }
  EXPECT_GT(count, 200);
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

// clang lays structs out as g++ does, in C as in C++.
TEST(AbiLayout, OtherCompilersAgree) {
  if (structure::RunCommand("command -v clang").exit_status != 0) {
    GTEST_SKIP() << "clang is not installed";
  }
  const std::string folder = structure::FreshFolder("abi");
  std::string text =
      "#include <stdio.h>\n#include \"tim/plugin/tim_plugin.h\"\n"
      "int main(void) {\n";
  for (const Member& one : Members()) {
    text += StrCat("  printf(\"", one.of, " ", one.name,
                   " %zu %zu\\n\", offsetof(", one.of, ", ", one.name,
                   "), sizeof(((", one.of, "*)0)->", one.name, "));\n");
  }
  structure::WriteText(folder + "/layout.c", text + "  return 0;\n}\n");
  const std::string program = folder + "/layout";
  const auto built = structure::RunCommand("clang -std=c11 -iquote include " +
                                           folder + "/layout.c -o " + program);
  ASSERT_EQ(built.exit_status, 0) << built.output;
  EXPECT_EQ(structure::RunCommand(program).output, TextOf(Members()));
}

// Check 2: what vendors include is clean in both languages.
TEST(AbiLayout, TheHeaderIsCleanInCAndCxx) {
  const std::string folder = structure::FreshFolder("clean");
  for (const char* name : {"/header.c", "/header.cc"}) {
    structure::WriteText(folder + name,
                         "#include \"tim/plugin/tim_plugin.h\"\n"
                         "int unused_symbol;\n");
  }
  for (const char* compiler :
       {"gcc -std=c11 FILE.c", "g++ -std=c++14 FILE.cc",
        "clang -std=c11 FILE.c", "clang++ -std=c++14 FILE.cc"}) {
    std::string command = compiler;
    if (structure::RunCommand("command -v " +
                              command.substr(0, command.find(' ')))
            .exit_status != 0) {
      continue;  // g++ is always there
    }
    command.replace(command.find("FILE"), 4, folder + "/header");
    const auto result = structure::RunCommand(
        command +
        " -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror "
        "-fsyntax-only -iquote include");
    EXPECT_EQ(result.exit_status, 0) << compiler << "\n" << result.output;
  }
}

}  // namespace
}  // namespace tim::plugin
