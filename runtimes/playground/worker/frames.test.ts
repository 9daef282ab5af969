import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createFrameReader, type Frame, frameKinds, sendFrame } from "./frames.ts";

function bytesOf(frames: readonly (readonly [kind: number, content: string])[]): Buffer {
  const stream = new PassThrough();
  for (const [kind, content] of frames) sendFrame(stream, kind, Buffer.from(content));
  return stream.read() ?? Buffer.alloc(0);
}

test.each([1, 2, 3, 7, 1000])("reassembles frames in order from pieces of %d bytes", (size) => {
  const sent = [
    [frameKinds.begun, ""],
    [frameKinds.head, '{"status":200}'],
    [frameKinds.body, "grüße"],
    [frameKinds.body, ""],
    [frameKinds.end, "null"],
  ] as const;
  const bytes = bytesOf(sent);
  const received: Frame[] = [];
  const read = createFrameReader(({ kind, content }) => received.push({ kind, content: Buffer.from(content) }));
  for (let start = 0; start < bytes.length; start += size) read(bytes.subarray(start, start + size));
  expect(received.map(({ kind, content }) => [kind, content.toString()])).toEqual(sent);
});

test("a very large frame is not copied for each small piece", () => {
  const size = 128 << 20;
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(size);
  let received = 0;
  const read = createFrameReader(({ content }) => {
    received = content.length;
  });
  const piece = Buffer.alloc(1 << 16);
  read(prefix);
  for (let sent = 0; sent < size; sent += piece.length) read(piece);
  expect(received).toBe(size);
});
