// TensorFlow.js on Dawn: a step of training of two dense layers, and its loss before and after.
import { create, globals } from 'webgpu';

Object.assign(globalThis, globals);
const gpu = create([]);
Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });
const { default: tf } = await import('@tensorflow/tfjs');
await import('@tensorflow/tfjs-backend-webgpu');
if (!(await tf.setBackend('webgpu'))) throw new Error('no backend');

const x = tf.randomNormal([16, 8], 0, 1, 'float32', 1);
const y = tf.randomNormal([16, 4], 0, 1, 'float32', 2);
const w1 = tf.variable(tf.randomNormal([8, 16], 0, 0.5, 'float32', 3));
const w2 = tf.variable(tf.randomNormal([16, 4], 0, 0.5, 'float32', 4));
const loss = () =>
  tf.matMul(tf.relu(tf.matMul(x, w1)), w2).sub(y).square().mean();
const optimizer = tf.train.sgd(0.1);
const before = (await optimizer.minimize(loss, true).data())[0];
const after = (await loss().data())[0];
console.log(after < before ? 'smaller' : `not smaller: ${before}, ${after}`);
process.exit(after < before ? 0 : 1);
