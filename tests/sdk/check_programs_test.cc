// The programs that CheckCustomOp() writes, built against the SDK outside of
// the tree: each repeats the mistake that was planted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/sdk/unpacked_sdk.h"
#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::HasSubstr;

struct Planted {
  const char* name;
  const char* message;  // a part of what the program prints
};

// A compiler takes long for each: the others in long runs only.
std::vector<Planted> PlantedFaults() {
  std::vector<Planted> faults = {
      {"WritesOutside", "writes outside of output 0"},
      {"Race", "wrong value: element 0 of output 0 is 1, expected 3"}};
  if (std::getenv("TIMCL_TEST_LONG") == nullptr) return faults;
  faults.insert(
      faults.end(),
      {{"ReadsOutside", "reads outside of input 0"},
       {"UnwrittenTail", "unwritten, the first is element 4"},
       {"SwappedAxis", "wrong value: element 1 of output 0 is 3, expected 2"},
       {"WrongScalar",
        "wrong value: element 0 of output 0 is 2.5, expected 2"}});
  return faults;
}

// `arguments` of the compiler: a source, and what it needs.
CommandResult Build(const std::string& arguments, const std::string& program) {
  return RunCommand("export PKG_CONFIG_PATH='" + UnpackedSdk() +
                    "/lib/pkgconfig' && g++ -std=c++14 -Wall -Wextra -Werror " +
                    arguments + " -o '" + program +
                    "' $(pkg-config --cflags --libs tim-cl)");
}

CommandResult RunProgram(const std::string& program) {
  return RunCommand("LD_LIBRARY_PATH=\"" + UnpackedSdk() +
                    "/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\" " + program);
}

// `text` with `from`, which it has once, changed.
std::string Changed(std::string text, const std::string& from,
                    const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

TEST(CheckPrograms, RepeatWhatWasFound) {
  const std::string folder = FreshFolder("check");
  const std::string check = folder + "/planted";
  const CommandResult built =
      Build("-Itests/support/vx tests/sdk/clients/check/planted.cc", check);
  ASSERT_EQ(built.exit_status, 0) << built.output;
  std::string names;
  for (const Planted& fault : PlantedFaults()) {
    names += std::string(" ") + fault.name;
  }
  const CommandResult checked =
      RunProgram("'" + check + "' '" + folder + "'" + names);
  ASSERT_EQ(checked.exit_status, 0) << checked.output;
  for (const Planted& fault : PlantedFaults()) {
    SCOPED_TRACE(fault.name);
    const std::string program = folder + "/" + fault.name;
    const CommandResult compiled = Build("'" + program + ".cc'", program);
    ASSERT_EQ(compiled.exit_status, 0) << compiled.output;
    const CommandResult run = RunProgram("'" + program + "'");
    EXPECT_EQ(run.exit_status, 1) << run.output;
    EXPECT_THAT(run.output, HasSubstr(fault.message));
  }
  // The first one with its mistake corrected, once it has been found.
  const std::string corrected = folder + "/corrected";
  WriteText(corrected + ".cc", Changed(ReadText(folder + "/WritesOutside.cc"),
                                       "global = {8};", "global = {1};"));
  ASSERT_EQ(Build("'" + corrected + ".cc'", corrected).exit_status, 0);
  const CommandResult run = RunProgram("'" + corrected + "'");
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("no fault"));
}

}  // namespace
}  // namespace tim::structure
