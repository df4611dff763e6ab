// Dawn, as the package `webgpu` has it: doubles numbers twice, the second time as many groups as a
// buffer says that the first time wrote.
import { create, globals } from 'webgpu';

Object.assign(globalThis, globals);
const gpu = create([]);
const adapter = await gpu.requestAdapter();
if (!adapter) throw new Error('no adapter');
const device = await adapter.requestDevice();
const count = 256;

function buffer(size, usage) {
  return device.createBuffer({ size, usage });
}

const { STORAGE, COPY_SRC, COPY_DST, INDIRECT, MAP_READ } = GPUBufferUsage;
const numbers = buffer(4 * count, STORAGE | COPY_SRC | COPY_DST);
const groups = buffer(12, STORAGE | INDIRECT);
const back = buffer(4 * count, MAP_READ | COPY_DST);
device.queue.writeBuffer(numbers, 0, Uint32Array.from({ length: count }, (_, i) => i));

const module = device.createShaderModule({
  code: `
    @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
    @group(0) @binding(1) var<storage, read_write> groups: array<u32, 3>;
    @compute @workgroup_size(64) fn first(@builtin(global_invocation_id) id: vec3u) {
      numbers[id.x] *= 2u;
      if (id.x < 3u) { groups[id.x] = select(1u, arrayLength(&numbers) / 64u, id.x == 0u); }
    }
    @compute @workgroup_size(64) fn second(@builtin(global_invocation_id) id: vec3u) {
      numbers[id.x] *= 2u;
    }`,
});
function pipeline(entryPoint) {
  return device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint } });
}
function bound(pipeline, buffers) {
  return device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: buffers.map((each, binding) => ({ binding, resource: { buffer: each } })),
  });
}
const first = pipeline('first');
const second = pipeline('second');
const encoder = device.createCommandEncoder();
const one = encoder.beginComputePass();
one.setPipeline(first);
one.setBindGroup(0, bound(first, [numbers, groups]));
one.dispatchWorkgroups(count / 64);
one.end();
const two = encoder.beginComputePass();
two.setPipeline(second);
two.setBindGroup(0, bound(second, [numbers]));
two.dispatchWorkgroupsIndirect(groups, 0);
two.end();
encoder.copyBufferToBuffer(numbers, 0, back, 0, 4 * count);
device.queue.submit([encoder.finish()]);
await back.mapAsync(GPUMapMode.READ);
const result = new Uint32Array(back.getMappedRange());
const right = result.every((each, i) => each === 4 * i);
console.log(right ? 'right' : `wrong: ${result.slice(0, 8)}`);
device.destroy();
process.exit(right ? 0 : 1);
