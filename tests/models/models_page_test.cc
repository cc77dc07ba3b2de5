// docs/models.md lists the operators that the importers take, and shows C++
// that compiles and runs here.  To write the lists anew:
//   bazel run -c opt //tests:models/models_page_test
#include <gmock/gmock.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "models/onnx/early_opsets.h"
#include "models/onnx/operator_families.h"
#include "models/tflite/node.h"
#include "tests/structure/source_tree.h"
#include "tim/models/onnx.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/tensor.h"

namespace tim::models {
namespace {

using structure::FreshFolder;
using structure::ReadText;
using structure::WriteText;
using ::testing::ElementsAre;

constexpr char kPage[] = "docs/models.md";

// Operators with a function that only says why they are not taken.
bool IsRefused(const std::string& op) {
  static const std::set<std::string> refused = {
      ".Bernoulli",        ".Multinomial",      ".NonMaxSuppression",
      ".RandomNormal",     ".RandomNormalLike", ".RandomUniform",
      ".RandomUniformLike"};
  return refused.count(op) != 0;
}

// The first opset of a model whose operator is read right.
int FirstOpset(const std::string& domain, const std::string& op, int entry) {
  if (!domain.empty()) return entry;
  for (int opset = 1; opset < onnx::kFirstOpset; ++opset) {
    if (onnx::OpsetOf(op, opset).ok()) return std::max(opset, entry);
  }
  return std::max(static_cast<int>(onnx::kFirstOpset), entry);
}

std::string OnnxOperators() {
  std::map<std::string, std::map<int, std::vector<std::string>>> by_opset;
  for (const auto& [key, entry] : onnx::Operators().entries()) {
    // Operators of newer opsets wait for a newer last one.
    if (IsRefused(key) || entry.first > onnx::kLastOpset) continue;
    const size_t dot = key.rfind('.');
    const std::string domain = key.substr(0, dot);
    const std::string op = key.substr(dot + 1);
    by_opset[domain][FirstOpset(domain, op, entry.first)].push_back("`" + op +
                                                                    "`");
  }
  std::string text = "| of | from | operators |\n| --- | --- | --- |\n";
  for (const auto& [domain, opsets] : by_opset) {
    for (const auto& [first, operators] : opsets) {
      text += StrCat("| ", domain.empty() ? "ai.onnx" : domain, " | ", first,
                     " | ", StrJoin(operators, ", "), " |\n");
    }
  }
  return text;
}

std::string TfliteOperators() {
  std::string text;
  size_t line = 0;
  for (const auto& [op, function] : tflite::Operators()) {
    if (IsRefused(op)) continue;
    const bool fits = line + op.size() < 80;
    if (!text.empty()) text += fits ? ", " : ",\n";
    line = fits ? line + op.size() + 4 : op.size() + 3;
    text += StrCat("`", op, "`");
  }
  return text + "\n";
}

// The page with the list behind the mark of this title.
std::string WithList(const std::string& page, const std::string& title,
                     const std::string& list) {
  const std::string mark = "<!-- " + title + " -->\n";
  const size_t begin = page.find(mark);
  const size_t end = page.find("<!-- end -->", begin);
  if (begin == std::string::npos || end == std::string::npos) {
    ADD_FAILURE() << "the page has no list of " << title;
    return page;
  }
  return page.substr(0, begin) + mark + "\n" + list + "\n" + page.substr(end);
}

TEST(ModelsPage, ListsTheOperatorsThatAreTaken) {
  const char* const tree = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::string path = tree != nullptr ? StrCat(tree, "/", kPage) : kPage;
  const std::string page = ReadText(path);
  const std::string expected =
      WithList(WithList(page, "operators of ONNX", OnnxOperators()),
               "operators of TFLite", TfliteOperators());
  if (tree != nullptr) {
    WriteText(path, expected);
    return;
  }
  std::istringstream expected_lines(expected);
  std::istringstream found_lines(page);
  for (std::string line, other; std::getline(expected_lines, line);) {
    std::getline(found_lines, other);
    ASSERT_EQ(other, line) << "write the lists anew, see " << __FILE__;
  }
  EXPECT_EQ(page.size(), expected.size());
}

// A model whose only node is of an operator that nobody knows.
std::string WriteTwice() {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  auto* const graph = model.mutable_graph();
  graph->set_name("twice");
  auto* const node = graph->add_node();
  node->set_op_type("Twice");
  node->set_domain("org.example");
  node->add_input("x");
  node->add_output("y");
  for (auto* const port : {graph->add_input(), graph->add_output()}) {
    auto* const tensor = port->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(::onnx::TensorProto::FLOAT);
    tensor->mutable_shape()->add_dim()->set_dim_param("batch");
    tensor->mutable_shape()->add_dim()->set_dim_value(2);
  }
  graph->mutable_input(0)->set_name("x");
  graph->mutable_output(0)->set_name("y");
  std::string path = FreshFolder("models_page") + "/twice.onnx";
  WriteText(path, model.SerializeAsString());
  return path;
}

void Supply(tim::models::OnnxOptions& options) {
  options.supplier = [](tim::vx::Graph& graph,
                        const tim::models::SuppliedNode& node) {
    std::vector<std::shared_ptr<tim::vx::Tensor>> made;
    if (node.op != "org.example.Twice") return made;
    const auto x = node.inputs[0];
    made.push_back(graph.CreateTensor(tim::vx::TensorSpec(
        x->GetDataType(), x->GetShape(), tim::vx::TRANSIENT)));
    graph.CreateOperation<tim::vx::ops::Add>()->BindInputs({x, x}).BindOutput(
        made[0]);
    return made;
  };
}

// The function around the page's lines; with a supplier where `supplied`.
bool Load(const std::string& path, bool supplied,
          const std::vector<float>& pixels, std::vector<float>* scores) {
  const auto context = tim::vx::Context::Create();
  tim::models::OnnxOptions options;
  options.dimensions["batch"] = 1;
  if (supplied) Supply(options);
  const tim::models::Model model =
      tim::models::LoadOnnx(context, path, options);
  if (!model) {
    std::cerr << model.error << "\n";
    return false;
  }
  model.inputs[0].tensor->CopyDataToTensor(pixels.data());
  if (!model.graph->Run()) return false;
  return model.outputs[0].tensor->CopyDataFromTensor(scores->data());
}

TEST(ModelsPage, ShowsLinesThatRun) {
  setenv("TIMCL_DEVICE", "host", 0);
  const std::string path = WriteTwice();
  std::vector<float> scores(2);
  EXPECT_FALSE(Load(path, false, {1, 2}, &scores));
  ASSERT_TRUE(Load(path, true, {1, 2}, &scores));
  EXPECT_THAT(scores, ElementsAre(2, 4));
}

std::string Trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first);
}

TEST(ModelsPage, ShowsLinesOfThisTestOnly) {
  std::set<std::string> known;
  std::istringstream source(ReadText("tests/models/models_page_test.cc"));
  for (std::string line; std::getline(source, line);) {
    known.insert(Trimmed(line));
  }
  std::istringstream page(ReadText(kPage));
  bool in_code = false;
  int shown = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("```", 0) == 0) {
      in_code = line == "```cpp";
    } else if (in_code && !line.empty()) {
      ++shown;
      EXPECT_TRUE(known.count(Trimmed(line)) != 0) << line;
    }
  }
  EXPECT_GT(shown, 20);
}

}  // namespace
}  // namespace tim::models
