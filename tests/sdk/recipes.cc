#include "tests/sdk/recipes.h"

#include <regex>
#include <sstream>

namespace tim::structure {
namespace {

struct Block {
  std::string language;
  std::string place;
  std::string text;
};

// All of the document's, and a mistake where the last one has no end.
std::vector<Block> BlocksOf(const std::string& path,
                            const std::string& markdown, Recipes* recipes) {
  std::vector<Block> blocks;
  bool inside = false;
  int number = 0;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (!inside) continue;
      Block block;
      block.language = line.substr(3);
      block.place = path + ":" + std::to_string(number);
      blocks.push_back(block);
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  if (inside) {
    recipes->mistakes.push_back(blocks.back().place + ": has no end");
  }
  return blocks;
}

// Name and calls of `recipe`; what is wrong, or nothing.
std::string ReadTranscript(const std::string& transcript, Recipe* recipe) {
  static const std::regex call(R"(\$ (?:([A-Z_]+=\S+) )?\./(\w+))");
  std::istringstream lines(transcript);
  std::smatch parts;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, parts, call)) {
      if (!recipe->name.empty() && recipe->name != parts[2]) {
        return "calls " + parts[2].str() + " and " + recipe->name;
      }
      recipe->name = parts[2];
      recipe->calls.push_back({parts[1], ""});
    } else if (recipe->calls.empty()) {
      return "begins with no call, '$ ./name'";
    } else {
      recipe->calls.back().output += WithoutSpacesAtEnds(line + "\n");
    }
  }
  return recipe->calls.empty() ? "is empty" : "";
}

}  // namespace

std::string WithoutSpacesAtEnds(const std::string& text) {
  static const std::regex spaces(" +\n");
  return std::regex_replace(text, spaces, "\n");
}

Recipes RecipesOf(const std::string& path, const std::string& markdown) {
  Recipes recipes;
  const std::vector<Block> blocks = BlocksOf(path, markdown, &recipes);
  const Block* program = nullptr;
  const auto fail = [&](const Block& block, const std::string& what) {
    recipes.mistakes.push_back(block.place + ": " + what);
  };
  for (const Block& block : blocks) {
    if (program != nullptr && block.language != "text") {
      fail(*program, "no transcript follows");
    }
    if (block.language == "cpp") {
      program = &block;
      continue;
    }
    if (block.language == "text") {
      Recipe recipe;
      const std::string mistake = ReadTranscript(block.text, &recipe);
      if (program == nullptr) {
        fail(block, "a transcript of no program");
      } else if (!mistake.empty()) {
        fail(block, mistake);
      } else {
        recipe.document = program->place;
        recipe.text = program->text;
        recipes.found.push_back(recipe);
      }
    } else if (block.language != "sh") {
      fail(block, "a block of another kind: '" + block.language + "'");
    }
    program = nullptr;
  }
  if (program != nullptr) fail(*program, "no transcript follows");
  return recipes;
}

}  // namespace tim::structure
