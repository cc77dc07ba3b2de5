// The blocks of code of docs/kernels.md are text of the files that they name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/structure/source_tree.h"

namespace tim::structure {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

struct Block {
  std::string file;  // the last `code` before it
  std::string text;
};

std::vector<Block> BlocksOf(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream lines(page);
  std::string last_code;
  bool in_block = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("```", 0) == 0) {
      in_block = !in_block;
      if (in_block) blocks.push_back({last_code, ""});
    } else if (in_block) {
      blocks.back().text += line + "\n";
    } else if (const size_t end = line.rfind('`');
               end != std::string::npos && end > 0) {
      const size_t begin = line.rfind('`', end - 1);
      if (begin != std::string::npos) {
        last_code = line.substr(begin + 1, end - begin - 1);
      }
    }
  }
  return blocks;
}

TEST(KernelsPage, BlocksOfCodeAreOfFiles) {
  const std::vector<Block> blocks = BlocksOf(ReadText("docs/kernels.md"));
  EXPECT_THAT(blocks, SizeIs(3));
  for (const Block& block : blocks) {
    EXPECT_NE(ReadText(block.file).find(block.text), std::string::npos)
        << "docs/kernels.md shows another text of " << block.file;
  }
}

TEST(KernelsPage, BlocksAreOfTheFileNamedBefore) {
  EXPECT_THAT(BlocksOf("`a` and `b.cc`:\n\n```cpp\n`c`\n\nd\n```\nno `\n"
                       "```c\n```\n"),
              ElementsAre(AllOf(Field(&Block::file, "b.cc"),
                                Field(&Block::text, "`c`\n\nd\n")),
                          Field(&Block::text, "")));
}

}  // namespace
}  // namespace tim::structure
