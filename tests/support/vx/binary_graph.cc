#include "tests/support/vx/binary_graph.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tim/vx/error.h"

namespace tim::testing {

std::vector<char> ToBinary(vx::Graph& graph) {
  auto size = static_cast<size_t>(-1);
  EXPECT_TRUE(graph.CompileToBinary(nullptr, &size)) << vx::LastError();
  if (size == static_cast<size_t>(-1)) return {};
  std::vector<char> binary(size);
  const bool written = graph.CompileToBinary(binary.data(), &size);
  EXPECT_TRUE(written) << vx::LastError();
  EXPECT_EQ(size, binary.size());
  return written ? binary : std::vector<char>();
}

LoadedBinary::LoadedBinary(const std::vector<char>& binary, vx::Graph& source,
                           std::shared_ptr<vx::Graph> on)
    : graph(std::move(on)) {
  for (const auto& tensor : source.InputsTensor()) {
    inputs.push_back(graph->CreateTensor(tensor->GetSpec()));
  }
  for (const auto& tensor : source.OutputsTensor()) {
    outputs.push_back(graph->CreateTensor(tensor->GetSpec()));
  }
  nbg = graph->CreateOperation<vx::ops::NBG>(binary.data(), inputs.size(),
                                             outputs.size());
  (*nbg).BindInputs(inputs).BindOutputs(outputs);
}

BinaryFile::BinaryFile(const std::vector<char>& binary) {
  const char* folder = std::getenv("TEST_TMPDIR");
  path_ = std::string(folder != nullptr ? folder : "/tmp") + "/binaryXXXXXX";
  const int file = mkstemp(path_.data());
  EXPECT_GE(file, 0) << path_;
  if (file >= 0) close(file);
  std::ofstream out(path_, std::ios::binary);
  out.write(binary.data(), static_cast<std::streamsize>(binary.size()));
  out.close();
  EXPECT_TRUE(out) << path_;
}

BinaryFile::~BinaryFile() { unlink(path_.c_str()); }

std::vector<char> BinaryFile::Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tim::testing
