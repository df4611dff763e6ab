// ONNX Runtime Web with its WebGPU provider, on Dawn: relu(x w + b), twice.
import { create, globals } from 'webgpu';
import { dirname } from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

Object.assign(globalThis, globals);
const gpu = create([]);
Object.defineProperty(globalThis, 'navigator', {
  value: { gpu, userAgent: 'node', hardwareConcurrency: 1 },
  configurable: true,
});
// Dawn takes no bytes of shared memory, and those of ONNX Runtime are.
const write = GPUQueue.prototype.writeBuffer;
GPUQueue.prototype.writeBuffer = function (buffer, offset, data, ...part) {
  return write.call(this, buffer, offset, Uint8Array.from(data), ...part);
};
const folder = dirname(createRequire(import.meta.url).resolve('onnxruntime-web'));
const ort = await import(pathToFileURL(`${folder}/ort.webgpu.bundle.min.mjs`).href);

// --- A model, in the wire format of protocol buffers ---

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return [...bytes, value];
}
const number = (field, value) => [...varint(field * 8), ...varint(value)];
const block = (field, bytes) => [...varint(field * 8 + 2), ...varint(bytes.length), ...bytes];
const text = (field, value) => block(field, [...new TextEncoder().encode(value)]);

const kFloat = 1;
function node(operation, inputs, output) {
  return block(1, [
    ...inputs.flatMap((name) => text(1, name)),
    ...text(2, output),
    ...text(4, operation),
  ]);
}
function tensor(name, shape, values) {
  return block(5, [
    ...shape.flatMap((length) => number(1, length)),
    ...number(2, kFloat),
    ...text(8, name),
    ...block(9, [...new Uint8Array(Float32Array.from(values).buffer)]),
  ]);
}
function value(field, name, shape) {
  const dimensions = shape.flatMap((length) => block(1, number(1, length)));
  const type = block(1, [...number(1, kFloat), ...block(2, dimensions)]);
  return block(field, [...text(1, name), ...block(2, type)]);
}

const side = 16;
const weights = Array.from({ length: side * side }, (_, i) => ((i * 7) % 5) - 2);
const bias = Array.from({ length: side }, (_, i) => i % 3);
const graph = [
  ...node('MatMul', ['x', 'w'], 'h'),
  ...node('Add', ['h', 'b'], 's'),
  ...node('Relu', ['s'], 'r'),
  ...node('MatMul', ['r', 'w'], 'g'),
  ...node('Relu', ['g'], 'y'),
  ...text(2, 'model'),
  ...tensor('w', [side, side], weights),
  ...tensor('b', [side], bias),
  ...value(11, 'x', [side, side]),
  ...value(12, 'y', [side, side]),
];
const model = new Uint8Array([
  ...number(1, 8),
  ...block(7, graph),
  ...block(8, [...text(1, ''), ...number(2, 13)]),
]);

// --- Its results ---

const x = Float32Array.from({ length: side * side }, (_, i) => (i % 4) - 1);
function product(a, b) {
  return Float32Array.from(a, (_, i) => {
    let sum = 0;
    for (let k = 0; k < side; ++k) sum += a[i - (i % side) + k] * b[k * side + (i % side)];
    return sum;
  });
}
const relu = (values) => values.map((each) => Math.max(each, 0));
const hidden = relu(product(x, weights).map((each, i) => each + bias[i % side]));
const expected = relu(product(hidden, weights));

ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(model, { executionProviders: ['webgpu'] });
const { y } = await session.run({ x: new ort.Tensor('float32', x, [side, side]) });
const right = (await y.getData()).every((each, i) => each === expected[i]);
console.log(right ? 'right' : 'wrong');
process.exit(right ? 0 : 1);
