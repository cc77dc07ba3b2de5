// The subcommands of timcl besides `run`, its command line and its pages.
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "tests/tools/timcl_program.h"

namespace tim::tool {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Timcl, TellsWhatItCanDo) {
  for (const std::string command : {"", "run ", "explain ", "cache show "}) {
    const CommandResult help = Timcl(command + "--help");
    EXPECT_EQ(help.exit_status, 0);
    EXPECT_THAT(help.output, HasSubstr("Usage: timcl"));
  }
  EXPECT_EQ(Timcl("--version").output.substr(0, 6), "timcl ");
}

TEST(Timcl, RefusesWrongCommandLines) {
  ExpectFailure("", 2, "A subcommand is required");
  ExpectFailure("fly", 2, "there is no command 'fly'");
  ExpectFailure("run", 2, "file is required");
  ExpectFailure("run a b", 2, "b");
  ExpectFailure("devices --fast", 2, "--fast");
  ExpectFailure("cache", 2, "A subcommand is required");
  ExpectFailure("cache fill", 2, "there is no command 'fill'");
}

TEST(Timcl, NamesWhereWrongDevicesAndPoliciesAreFrom) {
  const std::string file = WriteRelu(FreshFolder("devices"));
  ExpectFailure("explain '" + file + "' --device acme:0", 2,
                "--device: 'acme:0' names no device");
  ExpectFailure("explain '" + file + "' --device opencl:0/1.7", 4,
                "timcl explain: --device opencl:0/1.7: ");
  ExpectFailure("explain '" + file + "'", 4,
                "TIMCL_DEVICE=acme:0: ", "TIMCL_DEVICE=acme:0");
  ExpectFailure("explain '" + file + "' --device host", 2,
                "TIMCL_POLICY: policy: split='often'",
                "TIMCL_POLICY=split=often");
}

TEST(TimclDevices, ListsAllAndTheHostLast) {
  const auto json = TimclJson("devices");
  ASSERT_FALSE(json.empty());
  EXPECT_EQ(json.back()["id"], "host");
  for (size_t i = 0; i + 1 < json.size(); ++i) {
    EXPECT_EQ(json[i]["id"], "opencl:" + std::to_string(i));
    EXPECT_TRUE(json[i].contains("unusable") || json[i]["compute_units"] > 0)
        << json[i];
  }
  const CommandResult text = Timcl("devices");
  EXPECT_EQ(text.exit_status, 0);
  for (const auto& device : json) {
    EXPECT_THAT(text.output, HasSubstr(device["id"].get<std::string>() + "\n"));
  }
}

TEST(TimclDevices, AreMeasuredWhereThatIsAsked) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string variables =
      "TIMCL_CACHE_DIR='" + FreshFolder("measured") + "'";
  EXPECT_EQ(TimclJson("devices", variables)[0]["measured"], nullptr);
  EXPECT_THAT(Timcl("devices", variables).output,
              HasSubstr("not measured yet; timcl devices --measure does"));
  const auto measured = TimclJson("devices --measure", variables);
  EXPECT_GT(measured[0]["measured"]["gflops"], 0.05) << measured;
  EXPECT_GT(measured[0]["measured"]["gbytes_per_second"], 0.05);
  EXPECT_GT(measured[0]["measured"]["launch_us"], 0.1);
  // Figures are kept for the next process.
  EXPECT_EQ(TimclJson("devices", variables), measured);
  const CommandResult text = Timcl("devices", variables);
  EXPECT_THAT(text.output, AllOf(HasSubstr(" GFLOP/s of float32, "),
                                 Not(HasSubstr("\033"))));
  EXPECT_EQ(TimclJson("devices").back()["measured"], nullptr);  // the host
}

TEST(TimclDevices, WorkWithoutOpenCl) {
  const CommandResult none =
      Timcl("devices", "OCL_ICD_VENDORS='" + FreshFolder("no_vendors") + "'");
  EXPECT_EQ(none.exit_status, 0);
  EXPECT_THAT(none.output, AllOf(StartsWith("host\n"),
                                 HasSubstr("No OpenCL device was found")));
}

// y = softmax(relu(a + b)) on the host, where nothing is fused.
std::string WriteThree(const std::string& folder) {
  const auto graph = testing::HostGraph();
  const auto tensor = [&](vx::TensorAttribute attribute) {
    return graph->CreateTensor(testing::Floats({4, 2}, attribute));
  };
  const auto a = tensor(vx::INPUT), b = tensor(vx::INPUT),
             sum = tensor(vx::TRANSIENT), relu = tensor(vx::TRANSIENT),
             y = tensor(vx::OUTPUT);
  (*graph->CreateOperation<vx::ops::Add>()).BindInputs({a, b}).BindOutput(sum);
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(sum).BindOutput(relu);
  (*graph->CreateOperation<vx::ops::Softmax>(1.0f, 0))
      .BindInput(relu)
      .BindOutput(y);
  return WriteGraph(*graph, folder + "/three.bin");
}

TEST(TimclExplain, ListsNodesAndTellsOfOne) {
  const std::string file = WriteThree(FreshFolder("explain"));
  const std::string command = "explain '" + file + "' --device host";
  const auto all = TimclJson(command);
  ASSERT_EQ(all["nodes"].size(), 3u) << all;
  const CommandResult table = Timcl(command);
  for (const auto& node : all["nodes"]) {
    const std::string name = node["node"];
    EXPECT_THAT(table.output, HasSubstr(name));
    const auto one = TimclJson(command + " '" + name + "'");
    ASSERT_EQ(one["nodes"].size(), 1u);
    EXPECT_EQ(one["nodes"][0], node);
    const CommandResult text = Timcl(command + " '" + name + "'");
    EXPECT_THAT(text.output, AllOf(StartsWith(name + "\n"), HasSubstr("has ")));
  }
  ExpectFailure(command + " Conv9", 2, "the graph has no node 'Conv9'");
}

TEST(TimclExplain, TellsWhatIsOnTheHostAndWhy) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string file = WriteThree(FreshFolder("explain"));
  const auto json = TimclJson("explain '" + file + "' --device opencl");
  EXPECT_EQ(json["plan_of_file"], false);
  ASSERT_FALSE(json["nodes"].empty());
  size_t parts = 0;
  for (const auto& node : json["nodes"]) {
    EXPECT_EQ(node["on_host"], false) << node;
    EXPECT_THAT(node["chosen"], HasSubstr("opencl:"));
    // A fused node is found by each of its names.
    std::istringstream names(node["node"].get<std::string>());
    for (std::string name; std::getline(names, name, '+');) {
      ++parts;
      const auto one =
          TimclJson("explain '" + file + "' --device opencl '" + name + "'");
      EXPECT_THAT(one["nodes"], ElementsAre(node));
    }
  }
  EXPECT_EQ(parts, 3u) << json;
}

// y = x * sigmoid(x) on the host.
std::string WriteSwish(const std::string& folder) {
  const auto graph = testing::HostGraph();
  const auto tensor = [&](vx::TensorAttribute attribute) {
    return graph->CreateTensor(testing::Floats({4, 2}, attribute));
  };
  const auto x = tensor(vx::INPUT), gate = tensor(vx::TRANSIENT),
             y = tensor(vx::OUTPUT);
  (*graph->CreateOperation<vx::ops::Sigmoid>()).BindInput(x).BindOutput(gate);
  (*graph->CreateOperation<vx::ops::Multiply>())
      .BindInputs({x, gate})
      .BindOutput(y);
  return WriteGraph(*graph, folder + "/swish.bin");
}

TEST(TimclExplain, TellsWhatWasRecognized) {
  const std::string file = WriteSwish(FreshFolder("explain"));
  const std::string command = "explain '" + file + "' --device host";
  const auto json = TimclJson(command);
  ASSERT_EQ(json["nodes"].size(), 1u) << json;
  ASSERT_EQ(json["recognized"].size(), 1u) << json;
  EXPECT_EQ(json["recognized"][0]["operator"], "swish");
  const auto& nodes = json["recognized"][0]["nodes"];
  ASSERT_EQ(nodes.size(), 2u) << json;
  const std::string sigmoid = nodes[0], product = nodes[1];
  EXPECT_THAT(sigmoid, StartsWith("Sigmoid"));
  const std::string whole = sigmoid + "+" + product;
  EXPECT_EQ(json["nodes"][0]["node"], whole);
  const std::string text =
      "  recognized: swish, from " + sigmoid + ", " + product + "\n";
  EXPECT_THAT(Timcl(command).output,
              AllOf(HasSubstr("1 nodes of graph"), HasSubstr(text)));
  for (const std::string& name : {sigmoid, product, whole}) {
    EXPECT_THAT(Timcl(command + " '" + name + "'").output,
                AllOf(StartsWith(whole + "\n  has "), HasSubstr(text)));
  }
}

TEST(TimclMemory, DrawsThePlan) {
  const std::string folder = FreshFolder("memory");
  const std::string file = WriteThree(folder);
  const std::string command = "memory '" + file + "' --device host";
  const CommandResult drawn =
      Timcl(command + " --svg '" + folder + "/memory.svg'");
  EXPECT_EQ(drawn.exit_status, 0);
  EXPECT_EQ(drawn.output, Timcl(command).output);
  const std::string svg = ReadText(folder + "/memory.svg");
  EXPECT_THAT(
      svg, AllOf(HasSubstr("<svg "), HasSubstr("<rect "), HasSubstr("</svg>")));
  ExpectFailure(command + " --svg '" + file + "/memory.svg'", 3, "memory.svg");
}

TEST(TimclMemory, AProblemIsWrittenSolvedAndChecked) {
  const std::string folder = FreshFolder("problem");
  const std::string file = WriteThree(folder);
  const std::string problem = folder + "/arena.csv";
  const std::string solved = folder + "/solved.csv";
  EXPECT_EQ(
      Timcl("memory '" + file + "' --device host --problem '" + problem + "'")
          .exit_status,
      0);
  EXPECT_THAT(ReadText(problem), StartsWith("id,lower,upper,size,offset\n"));
  EXPECT_EQ(Timcl("solve-memory '" + problem + "' --check").output, "right\n");
  for (const std::string solver :
       {"none", "by_time", "by_size", "somas", "exact", "auto"}) {
    const std::string command = "solve-memory '" + problem +
                                "' --alignment 64 " + "--solver " + solver +
                                " --out '" + solved + "'";
    EXPECT_EQ(Timcl(command).exit_status, 0) << solver;
    EXPECT_EQ(Timcl("solve-memory '" + solved + "' --check").output, "right\n")
        << solver;
    EXPECT_EQ(Timcl(command + " --capacity 1").exit_status, 1);
  }
  const auto json = TimclJson("solve-memory '" + problem + "' --solver exact");
  EXPECT_LE(json["least_possible_bytes"], json["peak_bytes"]);
}

TEST(TimclMemory, BadProblemsAreNamed) {
  const std::string folder = FreshFolder("problem");
  const std::string file = folder + "/bad.csv";
  const auto fails = [&](const std::string& text, const std::string& message,
                         const std::string& options = "") {
    structure::WriteText(file, text);
    ExpectFailure("solve-memory '" + file + "'" + options, 2, message);
  };
  const std::string head = "id,lower,upper,size\n";
  fails("", "it is empty");
  fails("id,begin,end\n", "line 1 is 'id,begin,end'");
  fails(head + "a,0,1\n", "line 2: has 3 fields, expected 4");
  fails(head + "a,0,1,4\nb,3,3,4\n", "line 3: upper is 3");
  fails(head + "a,0,1,-4\n", "line 2: size is '-4'");
  fails(head + "a,0,1,4\n", "it has no offsets", " --check");
  fails(head + "a,0,1,4\n", "'best' is no solver", " --solver best");
  structure::WriteText(file,
                       "id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,4\n");
  const CommandResult overlap = Timcl("solve-memory '" + file + "' --check");
  EXPECT_EQ(overlap.exit_status, 1);
  EXPECT_EQ(overlap.output, "a and b overlap from byte 4 on\n");
  ExpectFailure("solve-memory '" + folder + "/none.csv'", 3, "none.csv");
}

TEST(TimclMemory, PrintsSlots) {
  const std::string file = WriteThree(FreshFolder("memory"));
  const std::string command = "memory '" + file + "' --device host";
  const auto json = TimclJson(command);
  const CommandResult csv = Timcl(command);
  EXPECT_EQ(csv.exit_status, 0);
  std::istringstream lines(csv.output);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "slot,kind,device,index,offset,bytes,allocation,first_step,"
            "last_step,written_by");
  size_t count = 0;
  int64_t end = 0;
  for (const auto& slot : json["slots"]) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_THAT(line, StartsWith(std::to_string(count++) + "," +
                                 slot["kind"].get<std::string>() + ","));
    EXPECT_LE(slot["first_step"], slot["last_step"]);
    if (slot["kind"] != "arena") continue;
    end = std::max<int64_t>(
        end, slot["offset"].get<int64_t>() + slot["bytes"].get<int64_t>());
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
  EXPECT_GT(count, 3u);
  EXPECT_GT(end, 0);
  EXPECT_LE(end, json["arena_bytes"]);
  EXPECT_LE(json["least_possible_bytes"], json["arena_bytes"]);
}

TEST(TimclCache, ShowsAndClears) {
  const std::string folder = FreshFolder("cache") + "/programs";
  const std::string variables = "TIMCL_CACHE_DIR='" + folder + "'";
  auto json = TimclJson("cache show", variables);
  EXPECT_EQ(json["folder"], folder);
  EXPECT_EQ(json["files"], 0);
  EXPECT_FALSE(fs::exists(folder)) << "to look does not make it";
  WriteText(folder + "/a.bin", "12345");
  WriteText(folder + "/b.bin", "678");
  fs::permissions(folder, fs::perms::owner_all);
  json = TimclJson("cache show", variables);
  EXPECT_EQ(json["files"], 2);
  EXPECT_EQ(json["bytes"], 8);
  EXPECT_LE(json["least_recently_used"], json["last_used"]);
  EXPECT_THAT(Timcl("cache show", variables).output,
              HasSubstr("2 files, 8 bytes of at most 512.0 MiB"));
  EXPECT_THAT(Timcl("cache clear", variables).output,
              HasSubstr("removed 2 files, 8 bytes, from " + folder));
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(TimclJson("cache clear", variables)["removed_files"], 0);
}

TEST(TimclCache, TellsWhereThereIsNoneAndWhoseItIs) {
  const CommandResult off = Timcl("cache show", "TIMCL_CACHE_DIR=off");
  EXPECT_EQ(off.exit_status, 0);
  EXPECT_THAT(off.output, StartsWith("No folder keeps built programs"));
  const std::string none = "-u TIMCL_CACHE_DIR -u XDG_CACHE_HOME -u HOME";
  EXPECT_THAT(Timcl("cache clear", none).output,
              StartsWith("No folder keeps built programs"));
  const std::string folder = FreshFolder("cache");
  WriteText(folder + "/precious", "");
  const std::string variables = "TIMCL_CACHE_DIR='" + folder + "'";
  fs::permissions(folder, fs::perms::all);
  for (const char* command : {"cache show", "cache clear"}) {
    ExpectFailure(command, 4, "is writable by its group or by others",
                  variables);
  }
  EXPECT_TRUE(fs::exists(folder + "/precious"));
  const std::string file = "TIMCL_CACHE_DIR='" + folder + "/precious'";
  ExpectFailure("cache show", 4, "as a folder", file);
}

TEST(TimclPages, ManPageHasEveryCommandAndOption) {
  const CommandResult page = Timcl("pages man");
  EXPECT_EQ(page.exit_status, 0);
  EXPECT_THAT(page.output, StartsWith(".TH TIMCL 1"));
  for (const char* text :
       {".SS timcl devices\n", ".SS timcl run\n", ".SS timcl explain\n",
        ".SS timcl memory\n", ".SS timcl compile\n", ".SS timcl import\n",
        ".SS timcl check\n", ".SS timcl cache show\n",
        ".SS timcl cache clear\n", "\\fB\\-\\-warm\\-up\\fR \\fI",
        "\\fB\\-\\-compile\\-times\\fR\n", "\\fIFILE\\fR\n",
        ".SH EXIT STATUS\n"}) {
    EXPECT_THAT(page.output, HasSubstr(text));
  }
}

// The words that bash offers for the last one of a command line.
std::string Completed(const std::string& words, int last) {
  const CommandResult result = RunCommand(
      "bash -c 'eval \"$(tools/timcl/timcl pages bash)\"; COMP_WORDS=(" +
      words + "); COMP_CWORD=" + std::to_string(last) +
      "; _timcl; echo \"${COMPREPLY[@]}\"'");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  return result.output;
}

TEST(TimclPages, BashCompletesCommandsAndOptions) {
  EXPECT_EQ(Completed("timcl dev", 1), "devices\n");
  EXPECT_EQ(Completed("timcl run --ru", 2), "--runs\n");
  EXPECT_EQ(Completed("timcl run x.bin --js", 3), "--json\n");
  EXPECT_THAT(Completed("timcl cache \"\"", 2),
              AllOf(HasSubstr("show"), HasSubstr("clear")));
  EXPECT_EQ(Completed("timcl cache clear --j", 3), "--json\n");
  EXPECT_THAT(Completed("timcl memory --ru", 2), Not(HasSubstr("--runs")));
}

}  // namespace
}  // namespace tim::tool
