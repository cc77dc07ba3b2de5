// A picture of any size on the square that a network sees, and the way back.
#ifndef TIM_SAMPLES_DETECTION_LETTER_BOX_H_
#define TIM_SAMPLES_DETECTION_LETTER_BOX_H_

#include "image.h"

namespace detection {

/// Where a picture lies on a square of `extent` pixels: scaled alike in both
/// directions so that its longer side fills the square, in the middle, between
/// two grey bars. x_square = x_picture * scale_x + left, y alike. The scales
/// differ only by the rounding of the scaled size to whole pixels.
struct LetterBox {
  int extent = 0;
  int width = 0;  // of the scaled picture
  int height = 0;
  int left = 0;
  int top = 0;
  float scale_x = 1.0f;
  float scale_y = 1.0f;
};

LetterBox MakeLetterBox(int picture_width, int picture_height, int extent);

/// What the network sees: the picture, scaled with a triangle filter as wide as
/// a pixel of the coarser of both grids, and grey (114) around it.
Image Apply(const LetterBox& letter_box, const Image& picture);

/// A box of the picture on the square.
Box ToSquare(const LetterBox& letter_box, const Box& box);

/// A box of the square (pixels) in the picture, clipped to it; empty, with
/// equal sides, where it lies in the bars.
Box ToPicture(const LetterBox& letter_box, const Box& box,
              const Image& picture);

}  // namespace detection

#endif  // TIM_SAMPLES_DETECTION_LETTER_BOX_H_
