// `timcl report`: what its page has, and how a browser shows it.
#include <gmock/gmock.h>

#include <string_view>

#include "tests/tools/timcl_program.h"
#include "tools/timcl/report_page.h"

namespace tim::tool {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kHostile[] = "</script><b>bold</b><!--<script>&amp;\"'\\";

size_t CountOf(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    ++count;
  }
  return count;
}

// The data that the page has, as its script reads them.
nlohmann::json DataIn(const std::string& page) {
  const std::string begin = "<script id=\"data\" type=\"application/json\">";
  const size_t from = page.find(begin) + begin.size();
  const size_t to = page.find("</script>", from);
  return nlohmann::json::parse(page.substr(from, to - from), nullptr, false);
}

// One document, whose elements end, and which loads nothing.
void ExpectWhole(const std::string& page) {
  EXPECT_EQ(page.substr(0, 15), "<!doctype html>");
  for (const char* name : {"script", "style", "title", "svg", "main", "body"}) {
    const std::string element = name;
    EXPECT_EQ(
        CountOf(page, "<" + element + ">") + CountOf(page, "<" + element + " "),
        CountOf(page, "</" + element + ">"))
        << name;
  }
  EXPECT_EQ(CountOf(page, "<script"), 2u);
  // Data may have addresses in the meanings of variables: texts.
  const size_t data = page.find("<script id=\"data\"");
  const std::string around =
      page.substr(0, data) + page.substr(page.find("</script>", data));
  EXPECT_EQ(CountOf(around, "://"), 1u) << "of the name space of SVG";
  EXPECT_THAT(around, HasSubstr("\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<link")), Not(HasSubstr("src=")),
                          Not(HasSubstr("{{")), HasSubstr("</html>\n")));
}

// y = softmax(relu(a + b)); `name` is that of the sum.
std::string WriteThree(const std::string& folder, const std::string& name) {
  const auto graph = testing::HostGraph();
  const auto tensor = [&](vx::TensorAttribute attribute) {
    return graph->CreateTensor(testing::Floats({4, 2}, attribute));
  };
  const auto a = tensor(vx::INPUT), b = tensor(vx::INPUT),
             relu = tensor(vx::TRANSIENT), y = tensor(vx::OUTPUT);
  const auto sum =
      graph->CreateTensor(testing::Floats({4, 2}, vx::TRANSIENT).SetName(name));
  (*graph->CreateOperation<vx::ops::Add>()).BindInputs({a, b}).BindOutput(sum);
  (*graph->CreateOperation<vx::ops::Relu>()).BindInput(sum).BindOutput(relu);
  (*graph->CreateOperation<vx::ops::Softmax>(1.0f, 0))
      .BindInput(relu)
      .BindOutput(y);
  return WriteGraph(*graph, folder + "/three.bin");
}

TEST(TimclReport, PageHasEveryNodeWithItsTimeAndMemory) {
  const std::string folder = FreshFolder("report");
  const std::string page_file = folder + "/report.html";
  const std::string command = "report '" + WriteThree(folder, "sum") +
                              "' --device host --runs 2 --out '" + page_file +
                              "'";
  const auto json = TimclJson(command);
  const std::string page = ReadText(page_file);
  ExpectWhole(page);
  EXPECT_EQ(DataIn(page), json);
  EXPECT_EQ(json["file"], "three.bin");
  EXPECT_EQ(json["time"]["runs"], 2);
  EXPECT_GT(json["time"]["run_us"], 0);
  ASSERT_THAT(json["nodes"], SizeIs(3));
  for (const auto& node : json["nodes"]) {
    EXPECT_THAT(page, HasSubstr(node["name"].dump()));
    ASSERT_THAT(node["operations"], SizeIs(1)) << node;
    const auto& operation =
        json["operations"][node["operations"][0].get<int>()];
    EXPECT_EQ(operation["name"], node["name"]);
    EXPECT_EQ(operation["kernel"], "eval");
    EXPECT_EQ(operation["clock"], "host");
    EXPECT_GT(operation["us"], 0);
    EXPECT_FALSE(operation["chosen"].get<std::string>().empty());
  }
  bool in_arena = false;
  for (const auto& slot : json["memory"]["slots"]) {
    if (slot["kind"] != "arena" || slot["name"] != "t4 'sum'") continue;
    in_arena = true;
    EXPECT_EQ(json["operations"][slot["writer"].get<int>()]["op"], "Add");
  }
  EXPECT_TRUE(in_arena) << json["memory"];
  bool strict = false;
  for (const auto& option : json["options"]) {
    strict |= option["name"] == "TIMCL_STRICT" && option["value"].is_null();
  }
  EXPECT_TRUE(strict);
  const CommandResult text = Timcl(command, "TIMCL_STRICT=0");
  EXPECT_EQ(text.exit_status, 0);
  EXPECT_THAT(text.output, AllOf(HasSubstr("3 nodes, 4 operations as run"),
                                 HasSubstr("written   " + page_file)));
  EXPECT_THAT(ReadText(page_file), HasSubstr("\"value\":\"0\""));
}

TEST(TimclReport, NodesKnowTheOperationsThatTheyWereFusedInto) {
  if (testing::ContextOn("opencl") == nullptr) GTEST_SKIP() << "no device";
  const std::string file = WriteThree(FreshFolder("report"), "sum");
  const auto json = TimclJson("report '" + file + "' --device opencl --runs 2");
  ASSERT_THAT(json["nodes"], SizeIs(3));
  for (size_t i = 0; i < 3; ++i) {
    const auto& node = json["nodes"][i];
    ASSERT_THAT(node["operations"], SizeIs(1)) << node;
    const auto& operation =
        json["operations"][node["operations"][0].get<int>()];
    EXPECT_THAT(operation["name"], HasSubstr(node["name"]));
    EXPECT_THAT(operation["nodes"], ::testing::Contains(i));
  }
  EXPECT_LT(json["operations"].size(), 3u);
  EXPECT_EQ(json["devices"].size(), 2u);
}

TEST(TimclReport, NamesEndNoElement) {
  Json data = {{"graph", kHostile},
               {"nodes", {{{"name", kHostile}, {"op", "\xff</script>"}}}}};
  const std::string page = ReportPage(data);
  ExpectWhole(page);
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;&lt;b&gt;bold"));
  EXPECT_EQ(DataIn(page)["nodes"][0]["name"], kHostile);
  EXPECT_EQ(DataIn(page)["nodes"][0]["op"], "\uFFFD</script>");
}

TEST(TimclReport, RefusesBadInput) {
  const std::string folder = FreshFolder("report");
  const std::string file = WriteRelu(folder);
  const std::string binary = ReadText(file);
  WriteText(folder + "/cut.bin", binary.substr(0, binary.size() / 2));
  const auto expect = [&](const std::string& arguments, int status,
                          const std::string& message) {
    const CommandResult result = Timcl("report --device host " + arguments);
    EXPECT_EQ(result.exit_status, status) << arguments << "\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr(message)) << arguments;
  };
  const std::string out = " --out '" + folder + "/report.html'";
  const std::string good = "'" + file + "'";
  expect(good, 2, "give --out FILE, or --json");
  expect(good + " --out " + good, 2, "is the file of the graph itself");
  EXPECT_EQ(ReadText(file), binary);
  expect(good + out + " --runs 0", 2, "--runs");
  expect(good + out + " --input x=y", 2, "x");
  expect("'" + folder + "/none.bin'" + out, 3, "cannot be read");
  expect("'" + folder + "/cut.bin'" + out, 3, "is not used");
  expect(good + " --runs 1 --out '" + folder + "/none/report.html'", 3,
         "/none/report.html");
  expect(good + " --runs 1 --out '" + folder + "'", 3, folder);
}

// What a browser makes of the page in a window of that size; empty: there is no
// browser.
std::string Shown(const std::string& page, const std::string& fragment,
                  const std::string& size) {
  if (RunCommand("command -v chromium").exit_status != 0) return "";
  const CommandResult dom = RunCommand(
      "HOME='" + FreshFolder("browser") +
      "' timeout 120 chromium --headless --no-sandbox --disable-gpu "
      "--disable-dev-shm-usage --virtual-time-budget=2000 --window-size=" +
      size + " --dump-dom 'file://" + page + "#" + fragment + "' 2>/dev/null");
  EXPECT_EQ(dom.exit_status, 0) << dom.output.substr(0, 2000);
  return dom.output;
}

// Blocks of a Relu, an Add of what went into it, and of a far one.
std::string Write500(const std::string& folder) {
  const auto graph = testing::HostGraph();
  const auto tensor = [&](vx::TensorAttribute attribute) {
    return graph->CreateTensor(testing::Floats({4, 2}, attribute));
  };
  const auto input = tensor(vx::INPUT);
  auto last = input, far = input;
  for (int i = 0; i < 250; ++i) {
    const auto relu = tensor(vx::TRANSIENT);
    const auto sum = tensor(i == 249 ? vx::OUTPUT : vx::TRANSIENT);
    (*graph->CreateOperation<vx::ops::Relu>()).BindInput(last).BindOutput(relu);
    (*graph->CreateOperation<vx::ops::Add>())
        .BindInputs({relu, i % 7 == 0 ? far : last})
        .BindOutput(sum);
    if (i % 7 == 0) far = relu;
    last = sum;
  }
  return WriteGraph(*graph, folder + "/large.bin");
}

TEST(TimclReport, BrowserShowsFiveHundredOperations) {
  const std::string folder = FreshFolder("report");
  const std::string page = folder + "/report.html";
  const auto json = TimclJson("report '" + Write500(folder) +
                              "' --device host --runs 1 --out '" + page + "'");
  ASSERT_THAT(json["nodes"], SizeIs(500));
  const std::string name = json["nodes"][321]["name"];
  std::string fragment = name;
  fragment.replace(fragment.find('#'), 1, "%23");
  for (const char* size : {"1280,800", "420,800"}) {
    const std::string dom = Shown(page, fragment, size);
    if (dom.empty()) GTEST_SKIP() << "there is no program chromium";
    EXPECT_THAT(dom, HasSubstr("data-ready=\"500 nodes\"")) << size;
    EXPECT_EQ(CountOf(dom, "<g class=\"box"), 502u) << "with input and output";
    EXPECT_EQ(CountOf(dom, "<g class=\"box selected\""), 1u);
    EXPECT_EQ(CountOf(dom, "class=\"row selected\""), 1u);
    EXPECT_GT(CountOf(dom, "class=\"slot selected"), 0u);
    EXPECT_THAT(dom, HasSubstr("<h2>" + name + "</h2>"));
  }
}

TEST(TimclReport, BrowserShowsHostileNamesAsText) {
  const std::string folder = FreshFolder("report");
  const std::string page = folder + "/report.html";
  const CommandResult written =
      Timcl("report '" + WriteThree(folder, kHostile) +
            "' --device host --runs 1 --out '" + page + "'");
  ASSERT_EQ(written.exit_status, 0) << written.output;
  ExpectWhole(ReadText(page));
  const std::string dom = Shown(page, "Add%230", "800,600");
  if (dom.empty()) GTEST_SKIP() << "there is no program chromium";
  EXPECT_THAT(dom, HasSubstr("data-ready=\"3 nodes\""));
  EXPECT_THAT(dom, HasSubstr("&lt;/script&gt;&lt;b&gt;bold"));
  EXPECT_THAT(dom, Not(HasSubstr("<b>bold")));
}

}  // namespace
}  // namespace tim::tool
