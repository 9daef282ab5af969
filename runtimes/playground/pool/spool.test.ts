import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { spool, type Write } from "./spool.ts";

const piece = 64 * 1024;

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "spool-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function piecesOf(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => Buffer.alloc(piece, `piece ${index} `));
}

/** Counts the writes. */
function countWrites(): { readonly write: Write; times: number } {
  const counted = {
    times: 0,
    write: (work: () => Promise<unknown>) => {
      counted.times += 1;
      return work();
    },
  };
  return counted;
}

test.each([
  { pieces: 0, isWritten: false },
  { pieces: 16, isWritten: false },
  { pieces: 17, isWritten: true },
  { pieces: 100, isWritten: true },
])("a body of $pieces pieces is complete, and only a large one goes to disk", async ({ pieces, isWritten }) => {
  const counted = countWrites();
  const sent = piecesOf(pieces);
  const body = await spool(Readable.from(sent), await makeFolder(), counted.write);
  expect((await buffer(body)).equals(Buffer.concat(sent))).toBe(true);
  expect(counted.times).toBe(isWritten ? pieces : 0);
  await body.close();
});

test("a small body is in memory once", async () => {
  const [sent = Buffer.alloc(0)] = piecesOf(1);
  const body = await spool(Readable.from([sent]), await makeFolder(), countWrites().write);
  for await (const chunk of body) expect(chunk.buffer).toBe(sent.buffer);
});

test("an incomplete body, and one on a full disk, leave no file behind", async () => {
  const folder = await makeFolder();
  const breaksOff = Readable.from(
    (function* () {
      yield* piecesOf(20);
      throw new Error("gone");
    })(),
  );
  await expect(spool(breaksOff, folder, countWrites().write)).rejects.toThrow("gone");
  const full = () => Promise.reject(new Error("no space left"));
  await expect(spool(Readable.from(piecesOf(20)), folder, full)).rejects.toThrow("no space left");
  expect(await readdir(folder)).toEqual([]);
});
