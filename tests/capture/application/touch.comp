#version 450
// Touches a part of what is bound: which, the push constants say.
layout(local_size_x = 64) in;

struct Cell {
  uint id;
  uvec2 pair;
  uint rest[5];
};

layout(set = 0, binding = 0) buffer Words { uint words[]; } lists[2];
layout(set = 0, binding = 1) buffer Cells { Cell cells[]; };
layout(set = 0, binding = 2, r32ui) uniform uimage2D picture;
layout(set = 0, binding = 3) uniform Numbers { uvec4 numbers[4]; };
layout(push_constant) uniform Push { uint kind; uint first; uint count; };

void main() {
  if (gl_GlobalInvocationID.x >= count) return;
  const uint i = first + gl_GlobalInvocationID.x;
  const ivec2 texel = ivec2(i % 8, i / 8);
  switch (kind) {
    case 0: lists[0].words[i] = i + numbers[1].z; break;
    case 1: lists[1].words[i] = lists[0].words[i]; break;
    case 2: cells[i].pair = uvec2(i, 2 * i); break;
    case 3: lists[1].words[i] = cells[i].rest[i % 5] + i; break;
    case 4: lists[1].words[i] = cells[i].pair.y; break;
    case 5: atomicAdd(lists[0].words[first], 1u); break;
    case 6: imageStore(picture, texel, uvec4(i)); break;
    case 7: lists[1].words[i] = imageLoad(picture, texel).x; break;
    case 8: lists[i % 2].words[i] = i; break;
    // What is past the end is dropped.
    case 9: lists[0].words[i + 1000000] = i; break;
  }
}
