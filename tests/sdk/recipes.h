#ifndef TIM_TESTS_SDK_RECIPES_H_
#define TIM_TESTS_SDK_RECIPES_H_

#include <string>
#include <vector>

namespace tim::structure {

/// `text` without the spaces at the ends of its lines.
std::string WithoutSpacesAtEnds(const std::string& text);

/// One line of a transcript, "$ TIMCL_DEVICE=host ./square", and what it
/// prints to the standard output, but for spaces at the ends of lines.
struct Call {
  std::string environment;  // "TIMCL_DEVICE=host", or empty
  std::string output;
};

/// A program of a document.
struct Recipe {
  std::string name;      // of the program
  std::string document;  // path:line of its fence
  std::string text;
  std::vector<Call> calls;
};

struct Recipes {
  std::vector<Recipe> found;
  std::vector<std::string> mistakes;  // "path:line: what is wrong"
};

/// The recipes of the Markdown text of `path`.  Every ```cpp block is a whole
/// program, and the next one a ```text block: the transcript of its calls.
/// ```sh blocks are tools/check_commands.py's; there are no others.
Recipes RecipesOf(const std::string& path, const std::string& markdown);

}  // namespace tim::structure

#endif  // TIM_TESTS_SDK_RECIPES_H_
