// llama.cpp's Vulkan backend, as node-llama-cpp brings it: one graph of a tiny model of random
// weights, which is written here. With --dry nothing is computed, so that no result is looked at.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// --- The model, as GGUF 3 ---

const kWidth = 64;
const kHidden = 128;
const kBlocks = 2;
const kHeads = 4;
const kText = 8; // Types of values. So the next.
const kUnsigned = 4;
const kFloat = 6;
const kSigned = 5;
const kArray = 9;

const parts = [];
function bytes(size, write) {
  const buffer = Buffer.alloc(size);
  write(buffer);
  parts.push(buffer);
}
const u32 = (value) => bytes(4, (to) => to.writeUInt32LE(value));
const u64 = (value) => bytes(8, (to) => to.writeBigUInt64LE(BigInt(value)));
const f32 = (value) => bytes(4, (to) => to.writeFloatLE(value));
function text(value) {
  u64(Buffer.byteLength(value));
  parts.push(Buffer.from(value));
}
const writers = { [kText]: text, [kUnsigned]: u32, [kFloat]: f32, [kSigned]: u32 };

const tokens = ['<unk>', '<s>', '</s>'];
for (let i = 0; i < 256; ++i) tokens.push(`<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`);
const kindOf = (i) => (i === 0 ? 2 : i < 3 ? 3 : 6);
const values = [
  ['general.architecture', kText, 'llama'],
  ['llama.context_length', kUnsigned, 256],
  ['llama.embedding_length', kUnsigned, kWidth],
  ['llama.block_count', kUnsigned, kBlocks],
  ['llama.feed_forward_length', kUnsigned, kHidden],
  ['llama.attention.head_count', kUnsigned, kHeads],
  ['llama.rope.dimension_count', kUnsigned, kWidth / kHeads],
  ['llama.attention.layer_norm_rms_epsilon', kFloat, 1e-5],
  ['tokenizer.ggml.model', kText, 'llama'],
  ['tokenizer.ggml.tokens', kText, tokens],
  ['tokenizer.ggml.scores', kFloat, tokens.map(() => 0)],
  ['tokenizer.ggml.token_type', kSigned, tokens.map((_, i) => kindOf(i))],
  ['tokenizer.ggml.bos_token_id', kUnsigned, 1],
  ['tokenizer.ggml.eos_token_id', kUnsigned, 2],
];

const tensors = [
  ['token_embd.weight', [kWidth, tokens.length]],
  ['output_norm.weight', [kWidth]],
  ['output.weight', [kWidth, tokens.length]],
];
for (let i = 0; i < kBlocks; ++i) {
  for (const name of ['attn_norm', 'ffn_norm']) tensors.push([`blk.${i}.${name}.weight`, [kWidth]]);
  for (const name of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) {
    tensors.push([`blk.${i}.${name}.weight`, [kWidth, kWidth]]);
  }
  tensors.push([`blk.${i}.ffn_gate.weight`, [kWidth, kHidden]]);
  tensors.push([`blk.${i}.ffn_up.weight`, [kWidth, kHidden]]);
  tensors.push([`blk.${i}.ffn_down.weight`, [kHidden, kWidth]]);
}
const countOf = (shape) => shape.reduce((a, b) => a * b);

parts.push(Buffer.from('GGUF'));
u32(3);
u64(tensors.length);
u64(values.length);
for (const [name, type, value] of values) {
  text(name);
  if (Array.isArray(value)) {
    u32(kArray);
    u32(type);
    u64(value.length);
    for (const each of value) writers[type](each);
  } else {
    u32(type);
    writers[type](value);
  }
}
let offset = 0;
const aligned = (size) => Math.ceil(size / 32) * 32;
for (const [name, shape] of tensors) {
  text(name);
  u32(shape.length);
  for (const length of shape) u64(length);
  u32(0); // Of 32-bit floating point numbers.
  u64(offset);
  offset += aligned(4 * countOf(shape));
}
const size = parts.reduce((sum, part) => sum + part.length, 0);
parts.push(Buffer.alloc(aligned(size) - size));
let seed = 1;
function random() {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 1073741824 - 1;
}
for (const [, shape] of tensors) {
  const data = Float32Array.from({ length: countOf(shape) }, () => random() / 8);
  parts.push(Buffer.from(data.buffer), Buffer.alloc(aligned(data.byteLength) - data.byteLength));
}
const file = join(tmpdir(), `tiny-${process.pid}.gguf`);
writeFileSync(file, Buffer.concat(parts));

// --- A graph of it ---

const { getLlama } = await import('node-llama-cpp');
const llama = await getLlama({ gpu: 'vulkan', build: 'never' });
const model = await llama.loadModel({ modelPath: file, gpuLayers: 'max' });
const context = await model.createContext({ contextSize: 64, batchSize: 16 });
const sequence = context.getSequence();
await sequence.evaluateWithoutGeneratingNewTokens([1, 72, 104, 111]);
console.log(`evaluated on ${llama.gpu}`);
await llama.dispose();
process.exit(0);
