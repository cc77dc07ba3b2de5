// Pictures of files as inputs of networks.
#ifndef TIM_TOOLS_TIMCL_PICTURE_H_
#define TIM_TOOLS_TIMCL_PICTURE_H_

#include <cstddef>
#include <string>

#include "base/status.h"
#include "binary/blob.h"
#include "tools/timcl/arguments.h"

namespace tim::tool {

/// Whether the name ends as those of pictures do: .png, .jpg, .jpeg, .bmp,
/// .ppm, .pgm, in either case.
bool IsPictureName(const std::string& path);

/// Fills an input with the picture, resized to its extents.  The channels, 1 or
/// 3, are before or behind height and width, as `arguments` or the extents say;
/// an element is (pixel - mean) * scale, see docs/timcl.md for the defaults.
/// kInvalidArgument where the input takes no picture, or the file is none,
/// kNotFound where it cannot be read.
Status StorePicture(const binary::Port& port, const std::string& path,
                    const PictureArguments& arguments, std::byte* memory);

}  // namespace tim::tool

#endif  // TIM_TOOLS_TIMCL_PICTURE_H_
