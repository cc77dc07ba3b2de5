// Texts of custom operators' kernels in a folder, which may change while the
// program runs: TIMCL_KERNEL_OVERRIDE.
#ifndef TIM_VX_CORE_KERNEL_FILES_H_
#define TIM_VX_CORE_KERNEL_FILES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tim::vx {

/// The files that one graph has asked for.  One thread at a time.
///
/// A text is new from when it was read until Accept() or Reject().  A rejected
/// one is not used until its file changes again: what was accepted before is,
/// or the operator's own text.
class KernelFiles {
 public:
  explicit KernelFiles(std::string folder) : folder_(std::move(folder)) {}

  /// Text of the operator "user.Gate": <folder>/Gate.cl, nothing where there is
  /// no such file, or the name has a '/'.  From then on the file is watched,
  /// there or not.  A file that cannot be read is a warning, and none.
  std::optional<std::string> TextOf(const std::string& operator_name);

  /// Reads again what has changed; whether a text has.
  bool Refresh();

  /// Whether a text in use was never built.
  bool HasNew() const;
  /// New texts were built.
  void Accept();
  /// New texts do not build.
  void Reject();
  /// The paths of what is new, for messages.
  std::string NewPaths() const;

 private:
  using Text = std::optional<std::string>;
  /// Stamp that tells whether a file is the one that was read.
  struct Stamp {
    bool exists = false;
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t modified = 0;  ///< Nanoseconds.
    bool operator==(const Stamp&) const = default;
  };
  struct File {
    std::string path;
    Stamp stamp;
    /// The file changed so shortly before it was read that one more change
    /// might leave the same stamp.
    bool fresh = false;
    Text read;      ///< What the file holds.
    Text text;      ///< What is used.
    Text accepted;  ///< What was built.
  };

  static Stamp StampOf(const std::string& path);
  static void Read(File* file);
  static bool Changed(const File& file);

  const std::string folder_;
  std::map<std::string, File> files_;
};

}  // namespace tim::vx

#endif  // TIM_VX_CORE_KERNEL_FILES_H_
