import { expect, test } from "vitest";
import { createChunks } from "./chunks.ts";

test("chunks of one byte are held in few buffers, each with its own memory only", () => {
  const chunks = createChunks();
  const sent = Buffer.alloc(100_000, "0123456789");
  for (let at = 0; at < sent.length; at += 1) chunks.add(sent.subarray(at, at + 1));
  const held = chunks.buffers();
  expect(Buffer.concat(held).equals(sent)).toBe(true);
  expect(held.length).toBe(25);
  expect(held.reduce((sum, { buffer }) => sum + buffer.byteLength, 0)).toBe(25 * 4_096);
});

test("chunks of all sizes stay in order, and small ones between large ones share blocks", () => {
  const chunks = createChunks();
  const sent = Array.from({ length: 200 }, (_, index) =>
    Buffer.alloc(index % 2 === 0 ? 10 : 4_095 + index, `${index} `),
  );
  for (const [index, chunk] of sent.entries()) {
    chunks.add(chunk);
    if (index % 50 === 0) chunks.buffers();
  }
  expect(Buffer.concat(chunks.buffers()).equals(Buffer.concat(sent))).toBe(true);
  expect(chunks.size()).toBe(Buffer.concat(sent).length);
  const memory = new Set(chunks.buffers().map(({ buffer }) => buffer));
  expect([...memory].filter(({ byteLength }) => byteLength === 4_096)).toHaveLength(2);
  chunks.clear();
  expect([chunks.size(), chunks.buffers()]).toEqual([0, []]);
});
