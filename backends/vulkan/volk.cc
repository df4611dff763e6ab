// The only source that has the bodies of volk, which loads the Vulkan driver at run time.
#define VOLK_IMPLEMENTATION
#include <volk.h>
