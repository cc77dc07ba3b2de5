#include "output_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace detection {
namespace {

std::string Beside(const OutputFile& file) { return file.path + ".part"; }

bool IsOrdinary(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

// Why the file cannot be written; empty where it lies beside its place.
std::string WriteBeside(const OutputFile& file) {
  if (!IsOrdinary(file.path)) return "it is no ordinary file";
  if (file.content.empty()) return "it would be empty";
  errno = 0;
  std::ofstream stream(Beside(file), std::ios::binary);
  stream << file.content;
  stream.close();
  return stream ? "" : std::strerror(errno);
}

}  // namespace

bool WriteFiles(const std::vector<OutputFile>& files, std::string* error) {
  std::vector<std::string> written;
  std::string path, reason;
  for (const OutputFile& file : files) {
    path = file.path;
    reason = WriteBeside(file);
    if (!reason.empty()) break;
    written.push_back(Beside(file));
  }
  for (std::size_t i = 0; reason.empty() && i < files.size(); ++i) {
    path = files[i].path;
    if (std::rename(written[i].c_str(), path.c_str()) != 0) {
      reason = std::strerror(errno);
    } else {
      written[i] = path;
    }
  }
  if (reason.empty()) return true;
  for (const std::string& name : written) std::remove(name.c_str());
  std::remove((path + ".part").c_str());
  *error = path + ": cannot be written: " + reason;
  return false;
}

}  // namespace detection
