// The only source that has the bodies of volk, which loads the Vulkan driver at run time.
// Declared by <volk.h>.
#define VOLK_IMPLEMENTATION
#include <volk.h>
