// `timcl plugin-check`: check 14 of the plug-ins' specification.
#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/tools/timcl_program.h"

namespace tim::tool {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kBad[] = "tests/plugin_abi/libtimcl_bad.so";
constexpr char kNative[] = "tests/plugin_abi/libtimcl_native.so";

// Ids of the checks that ended so.
std::vector<std::string> Ids(const nlohmann::json& checks,
                             const std::string& outcome) {
  std::vector<std::string> ids;
  for (const auto& one : checks) {
    if (one["outcome"] == outcome) ids.push_back(one["id"]);
  }
  return ids;
}

nlohmann::json Checked(const std::string& arguments) {
  const CommandResult result =
      Timcl("plugin-check --json " + arguments + " 2>/dev/null");
  return nlohmann::json::parse(result.output, nullptr, false);
}

TEST(TimclPluginCheck, PassesTheSamples) {
  for (const char* name : {"libtimcl_demo.so", "libtimcl_demo_graph.so"}) {
    const auto checks = Checked(std::string("samples/plugins/") + name);
    EXPECT_EQ(checks.size(), 16u);
    EXPECT_THAT(Ids(checks, "FAIL"), IsEmpty()) << checks.dump(1);
    EXPECT_GE(Ids(checks, "PASS").size(), 10u) << checks.dump(1);
  }
}

TEST(TimclPluginCheck, PassesTheSampleOnOneDnn) {
  const char* const library = "samples/plugins/libtimcl_onednn.so";
  if (!std::ifstream(library).good()) {
    GTEST_SKIP() << "oneDNN (libdnnl-dev) was not there when this was built";
  }
  const auto checks = Checked(library);
  EXPECT_EQ(checks.size(), 16u);
  EXPECT_THAT(Ids(checks, "FAIL"), IsEmpty()) << checks.dump(1);
  EXPECT_THAT(Ids(checks, "PASS"), Contains("C12")) << checks.dump(1);
}

// Each planted mistake fails the check that looks for it, and no other of all
// sixteen; those that need it say so.
TEST(TimclPluginCheck, FindsPlantedMistakes) {
  struct Planted {
    const char* mode;
    const char* id;
    const char* words;
  };
  const Planted all[] = {
      {"throw_describe", "C2", "an exception left TimPlugin::describe()"},
      {"bad_alignment", "C2", "alignment is 48"},
      {"restless", "C3", "describe(0) gives other bytes the second time"},
      {"leaks_devices", "C3", "104857600 bytes do not come back"},
      {"null_buffer", "C4", "allocate() gave no buffer"},
      {"no_memory", "C4", "full"},
      {"copy_overrun", "C5", "after copy_in"},
      {"stale_host", "C5", "after copy_in"},
      {"lost_error", "C5", "after copy_in"},
      {"long_message", "C8", "allocate() writes beyond the 1024 bytes"},
      {"no_message", "C8", "allocate() fails without a message"},
      {"long_reason", "C8", "supports() writes a message that has no end"},
      {"no_reason", "C8", "supports() fails without a message"},
      {"unknown_code", "C8", "supports() gave the code 77"},
      {"throw_supports", "C8", "supports() an exception left it"},
      {"negative_cost", "C9", "TimKernel::cost() gave no number"},
      {"falling_cost", "C9", "twice the batch costs less"},
      {"bad_layouts", "C9", "gave layouts of 7 inputs, the node has 1"},
      {"wrong_value", "C10", "expected"},
      {"wrong_lane", "C10", "a lane beyond the extent is not the real value 0"},
      {"enqueue_overrun", "C10", "writes outside of its outputs"},
      {"enqueue_fails", "C10", "overheat"},
      {"null_program", "C10", "succeeded without a program"},
      {"bad_operand", "C10", "input 99 is absent"},
      {"writes_input", "C10", "writes operand 0"},
      {"random_bits", "C15", "equal inputs give other bits"},
  };
  for (const Planted& planted : all) {
    SCOPED_TRACE(planted.mode);
    const auto checks =
        Checked(std::string("--option mode=") + planted.mode + " " + kBad);
    EXPECT_EQ(checks.size(), 16u);
    EXPECT_THAT(Ids(checks, "FAIL"), ElementsAre(planted.id)) << checks.dump(1);
    EXPECT_THAT(checks.dump(), HasSubstr(planted.words));
  }
  const auto unloadable =
      Checked(std::string("--option mode=bad_alignment ") + kBad);
  EXPECT_THAT(unloadable.dump(), HasSubstr("it needs C2, which failed"));
}

// One that makes none passes: in blocks, with extents that fill them or not.
TEST(TimclPluginCheck, TriesLayoutsOfKernels) {
  const auto checks = Checked(std::string("--option mode=blocks ") + kBad);
  EXPECT_THAT(Ids(checks, "FAIL"), IsEmpty()) << checks.dump(1);
  const auto alone =
      Checked(std::string("--only C10 --option mode=stale_host ") + kBad);
  EXPECT_THAT(Ids(alone, "FAIL"), ElementsAre("C10"));
}

// The same of a device with streams, and functions that others do not offer.
TEST(TimclPluginCheck, FindsMistakesOfFillAndOnDone) {
  const auto sound = Checked(std::string("--only C4,C5,C6,C7,C8 ") + kNative);
  EXPECT_THAT(Ids(sound, "PASS"), ElementsAre("C4", "C5", "C6", "C7", "C8"))
      << sound.dump(1);
  const auto refuses =
      Checked(std::string("--only C6 --option mistake=done_fails ") + kNative);
  EXPECT_THAT(Ids(refuses, "PASS"), ElementsAre("C6")) << refuses.dump(1);
  struct Planted {
    const char* mistake;
    const char* id;
    const char* words;
  };
  const Planted all[] = {
      {"fill_nothing", "C5", "fill(): after fill of "},
      {"fill_beyond", "C5", "fill(): after fill of "},
      {"done_twice", "C6", "calls done() 2 times, expected once"},
      {"done_never", "C6", "calls done() 0 times, expected once"},
      {"done_dropped", "C6",
       "destroyed before it is reached calls done() 0 times"},
      {"done_fails_and_calls", "C6",
       "on_done() fails, and calls done() 1 times"},
  };
  for (const Planted& planted : all) {
    SCOPED_TRACE(planted.mistake);
    const auto checks = Checked(std::string("--only C5,C6 --option mistake=") +
                                planted.mistake + " " + kNative);
    EXPECT_THAT(Ids(checks, "FAIL"), ElementsAre(planted.id)) << checks.dump(1);
    EXPECT_THAT(checks.dump(), HasSubstr(planted.words));
  }
}

TEST(TimclPluginCheck, TellsHowAFailureIsRepeated) {
  const CommandResult result =
      Timcl(std::string("plugin-check --only C10 --seed 7 "
                        "--option mode=wrong_value ") +
            kBad);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output, HasSubstr("FAIL C10 kernels\n"));
  EXPECT_THAT(result.output, HasSubstr("\n  bad.relu_f32, tim.Relu float32 "));
  EXPECT_THAT(result.output,
              HasSubstr(std::string("  repeat: timcl plugin-check --only C10 "
                                    "--seed 7 --option mode=wrong_value ") +
                        kBad));
}

TEST(TimclPluginCheck, RefusesWhatIsNoPluginOrNoCheck) {
  ExpectFailure("plugin-check --probe /nowhere.so", 1, "No such file");
  ExpectFailure(std::string("plugin-check --only C17 ") + kBad, 2,
                "there is no check C17");
  ExpectFailure(std::string("plugin-check --option mode ") + kBad, 2,
                "is no KEY=VALUE");
  EXPECT_EQ(Timcl(std::string("plugin-check --probe ") + kBad).exit_status, 0);
}

}  // namespace
}  // namespace tim::tool
