// The example, compiled as C++.
#include "tests/encoder/recorder_frame_example.c"
