// The example, compiled as C++.
#include "tests/encoder/recorder_streams_example.c"
