// The example, compiled as C++.
#include "tests/encoder/recorder_example.c"
