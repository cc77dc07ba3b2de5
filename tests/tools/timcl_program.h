// The program timcl as users run it, and files for it.
#ifndef TIM_TESTS_TOOLS_TIMCL_PROGRAM_H_
#define TIM_TESTS_TOOLS_TIMCL_PROGRAM_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ir/dump/npy.h"
#include "tests/structure/source_tree.h"
#include "tests/support/vx/binary_graph.h"
#include "tests/support/vx/vx_graph.h"
#include "tools/timcl/npy.h"

namespace tim::tool {

using structure::CommandResult;
using structure::FreshFolder;
using structure::ReadText;
using structure::RunCommand;
using structure::WriteText;

/// Output and exit status; `variables` as "A=1 -u B".  As for users, steps may
/// be on the host.
inline CommandResult Timcl(const std::string& arguments,
                           const std::string& variables = "") {
  return RunCommand("env -u TIMCL_STRICT " + variables + " tools/timcl/timcl " +
                    arguments);
}

/// The call ends with that status, and what it prints has `message` in it.
inline void ExpectFailure(const std::string& arguments, int status,
                          const std::string& message,
                          const std::string& variables = "") {
  const CommandResult result = Timcl(arguments, variables);
  EXPECT_EQ(result.exit_status, status) << arguments << "\n" << result.output;
  EXPECT_THAT(result.output, ::testing::HasSubstr(message)) << arguments;
}

/// The JSON that a call prints, which must succeed.
inline nlohmann::json TimclJson(const std::string& arguments,
                                const std::string& variables = "") {
  const CommandResult result = Timcl(arguments + " --json", variables);
  EXPECT_EQ(result.exit_status, 0) << result.output;
  return nlohmann::json::parse(result.output, nullptr, false);
}

/// Writes the graph's binary to the path, which is returned.
inline std::string WriteGraph(vx::Graph& graph, const std::string& path) {
  const std::vector<char> binary = testing::ToBinary(graph);
  WriteText(path, {binary.begin(), binary.end()});
  return path;
}

/// A Relu of four floats that was compiled for the host.
inline std::string WriteRelu(const std::string& folder) {
  return WriteGraph(*testing::ReluGraph({4}).graph, folder + "/relu.bin");
}

inline std::string NpyHeader(ir::DataType type, std::vector<int64_t> shape) {
  return ir::NpyHeader({.type = type, .shape = std::move(shape), .data = {}});
}

inline std::string Bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(float)};
}

}  // namespace tim::tool

#endif  // TIM_TESTS_TOOLS_TIMCL_PROGRAM_H_
