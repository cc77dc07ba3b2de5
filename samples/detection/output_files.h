// Results as files: all of them, or none.
#ifndef TIM_SAMPLES_DETECTION_OUTPUT_FILES_H_
#define TIM_SAMPLES_DETECTION_OUTPUT_FILES_H_

#include <string>
#include <vector>

namespace detection {

struct OutputFile {
  std::string path;
  std::string content;
};

/// Writes the files beside their places, then moves all of them there. On
/// failure returns false, `error` names the file and says why, and no new file
/// is left. What is no ordinary file (a folder, a device) is not replaced.
bool WriteFiles(const std::vector<OutputFile>& files, std::string* error);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_OUTPUT_FILES_H_
