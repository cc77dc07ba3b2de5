// The files that TIMCL_PLUGINS names.
#ifndef TIM_PLUGIN_NAMED_FILES_H_
#define TIM_PLUGIN_NAMED_FILES_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "plugin/loader.h"

namespace tim::plugin {

/// A plug-in's file and the options to load it with.
struct NamedFile {
  std::string path;
  PluginOptionList options = {};
  /// kInvalidArgument where the entry is none, kFailedPrecondition where it is
  /// a folder that cannot be read.
  Status status = {};
};

/// Entries with ":" between, in their order: a file, or a folder of which
/// libtimcl_*.so are meant in the order of their names, and options behind it,
/// "path?key=value&key=value".  Paths may have "?" in them: the shortest one
/// that exists is meant, and what is before the first "?" where none does.
/// Neither paths nor options have ":" in them.
std::vector<NamedFile> NamedFiles(const std::string& list);

}  // namespace tim::plugin

#endif  // TIM_PLUGIN_NAMED_FILES_H_
