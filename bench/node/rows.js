// The rows of Node.js. This process measures one case. Its requests and answers are like those of the others (../worker.mli).
'use strict';
const readline = require('node:readline');

const depth = 25;

// As in OCaml, both subtrees are the same object.
function make(height) {
  if (height === 0) return null;
  const half = make(height - 1);
  return { left: half, value: height, right: half };
}

function iterate(tree, f) {
  if (tree !== null) {
    iterate(tree.left, f);
    f(tree.value);
    iterate(tree.right, f);
  }
}

function* generate(tree) {
  if (tree !== null) {
    yield* generate(tree.left);
    yield tree.value;
    yield* generate(tree.right);
  }
}

const visitors = {
  iterator: (tree) => {
    let sum = 0;
    iterate(tree, (value) => { sum += value; });
    return sum;
  },
  generator: (tree) => {
    let sum = 0;
    for (const value of generate(tree)) sum += value;
    return sum;
  },
};

const sumOf = (height) => (height === 0 ? 0 : height + 2 * sumOf(height - 1));
const depthOf = (elements) => (elements < 2 ? 1 : 1 + depthOf(Math.floor(elements / 2)));

function visits(visit, n) {
  const height = Math.min(depth, depthOf(n));
  const tree = make(height);
  const expected = sumOf(height);
  const elements = 2 ** height - 1;
  const times = Math.ceil(n / elements);
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i++) {
    const sum = visit(tree);
    if (sum !== expected) throw new Error(`sum: expected ${expected}, got ${sum}`);
  }
  const ns = Number(process.hrtime.bigint() - start);
  return (ns / (times * elements)) * n;
}

const [group, name, , host] = process.argv.slice(2);
if (group !== 'generator' || name !== 'tree' || !(host in visitors)) {
  throw new Error(`no such row: ${process.argv.slice(2).join(' ')}`);
}

readline.createInterface({ input: process.stdin }).on('line', (request) => {
  const n = Number(request.split(' ')[0]);
  visits(visitors[host], 1 + Math.floor(n / 10));
  process.stdout.write(`${visits(visitors[host], n)}\n`);
});
