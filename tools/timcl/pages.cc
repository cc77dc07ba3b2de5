// Writes the man page and the completions of a CLI11 command line.
#include "tools/timcl/pages.h"

#include <vector>

namespace tim::tool {
namespace {

constexpr char kEnd[] =
    ".SH EXIT STATUS\n"
    ".IP 0 4\nDone.\n"
    ".IP 1 4\nWhat was compared differs, or what was checked has a fault or "
    "could "
    "not be checked.\n"
    ".IP 2 4\nThe command line is wrong: an option, a name, or an input that "
    "does not fit.\n"
    ".IP 3 4\nA file cannot be read or written, or is no binary graph, no "
    "library of operators, no model that is taken.\n"
    ".IP 4 4\nDevices, compiling or a run failed.\n"
    ".SH ENVIRONMENT\n"
    "The variables of the library hold, TIMCL_DEVICE and TIMCL_CACHE_DIR among "
    "them; its README.md lists them.\n";

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Characters that mean something to roff.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if ((c == '.' || c == '\'') && escaped.empty()) {
      escaped += std::string("\\&") + c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

bool TakesValue(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

// "--runs N", or "FILE" of a positional one.
std::string Usage(const CLI::Option& option) {
  const std::string name = option.get_name(false, true);
  if (option.get_positional() && option.nonpositional() == false) {
    std::string upper = option.get_single_name();
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return "\\fI" + Escaped(upper) + "\\fR";
  }
  std::string text = "\\fB" + Escaped(name) + "\\fR";
  if (TakesValue(option)) {
    text += " \\fI" + Escaped(option.get_type_name()) + "\\fR";
  }
  return text;
}

std::string OptionsOf(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    text +=
        ".TP\n" + Usage(*option) + "\n" + Escaped(option->get_description());
    if (!option->get_default_str().empty()) {
      text += "; default: " + Escaped(option->get_default_str());
    }
    text += "\n";
  }
  return text;
}

void AddCommands(const CLI::App& app, const std::string& words,
                 std::string* text) {
  for (const CLI::App* command : CommandsOf(app)) {
    const std::string name = words + " " + command->get_name();
    if (CommandsOf(*command).empty()) {
      *text += ".SS " + Escaped(name) + "\n" +
               Escaped(command->get_description()) + ".\n" +
               OptionsOf(*command);
    }
    AddCommands(*command, name, text);
  }
}

// The words that may follow those of the command.
std::string WordsAfter(const CLI::App& app) {
  std::string words;
  for (const CLI::App* command : CommandsOf(app)) {
    words += command->get_name() + " ";
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words += "--" + name + " ";
    }
  }
  if (!words.empty()) words.pop_back();
  return words;
}

void AddCases(const CLI::App& app, const std::string& path, std::string* text) {
  *text += "    '" + path + "') words='" + WordsAfter(app) + "' ;;\n";
  for (const CLI::App* command : CommandsOf(app)) {
    AddCases(*command, path + " " + command->get_name(), text);
  }
}

// "'timcl run'" and others that commands may stand behind.
std::string Paths(const CLI::App& app, const std::string& path) {
  std::string paths;
  for (const CLI::App* command : CommandsOf(app)) {
    const std::string words = path + " " + command->get_name();
    paths += (paths.empty() ? "" : "|") + ("'" + words + "'");
    const std::string below = Paths(*command, words);
    if (!below.empty()) paths += "|" + below;
  }
  return paths;
}

}  // namespace

std::string ManPage(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string text = ".TH TIMCL 1 \"\" \"TIM-CL " TIM_CL_VERSION "\"\n" +
                     (".SH NAME\n" + name) + " \\- " +
                     Escaped(app.get_description()) + "\n.SH SYNOPSIS\n.B " +
                     name + "\n\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n" +
                     ".SH OPTIONS\n" + OptionsOf(app) + ".SH COMMANDS\n";
  AddCommands(app, name, &text);
  return text + kEnd;
}

std::string BashCompletion(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string cases;
  AddCases(app, name, &cases);
  return "# Completions of " + name + " for bash, made of its options.\n_" +
         name +
         "() {\n"
         "  local word path=" +
         name +
         " words= current=${COMP_WORDS[COMP_CWORD]}\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$path $word\" in\n"
         "    " +
         Paths(app, name) +
         ") path=\"$path $word\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case $path in\n" +
         cases +
         "  esac\n"
         "  case $current in\n"
         "    -*) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
         "  esac\n"
         "  COMPREPLY+=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o filenames -F _" +
         name + " " + name + "\n";
}

}  // namespace tim::tool
