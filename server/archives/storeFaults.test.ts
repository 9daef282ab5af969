/** Stores that are full, slow, missing or damaged, and the effects on backups. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { fixedKeys } from "../keyFile.ts";
import { type KeptBackup, openArchives } from "./archives.ts";
import type { Blobs } from "./blobs.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";
import type { StoredPiece } from "./pieceIndex.ts";
import { openS3Blobs, usualPatience } from "./s3Blobs.ts";
import { createMemoryIndex } from "./testing/memoryIndex.ts";

const { signal } = new AbortController();

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "swfaults-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const calls: readonly (readonly [string, (blobs: Blobs) => Promise<unknown>])[] = [
  ["put", (blobs) => blobs.put("packs/one", Buffer.from("abc"), signal)],
  ["read", (blobs) => blobs.read("packs/one", 0, 3, signal)],
  ["list", (blobs) => blobs.list("packs", signal)],
  ["remove", (blobs) => blobs.remove("packs/one")],
];

/** A bucket at this address, and the recorded pauses. */
function openAt(endpoint: string) {
  const waited: number[] = [];
  const place = {
    endpoint,
    bucket: "b",
    prefix: "",
    region: null,
    accessKeyId: "AKIAEXAMPLE",
    secretAccessKey: "not-to-be-seen",
  };
  const pause = async (milliseconds: number) => void waited.push(milliseconds);
  return { blobs: openS3Blobs(place, { ...usualPatience, pause }), waited };
}

async function openAnswering(answer: RequestListener) {
  return openAt(`http://127.0.0.1:${await portOf(createServer(answer))}`);
}

async function failureOf(work: Promise<unknown>): Promise<ObjectStoreFailure> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ObjectStoreFailure)) throw new Error(`Not a failure of a store: ${error}`);
  return error;
}

describe("a bucket's store", () => {
  test.each([
    [507, "The archive store is full. Free up space in it."],
    [500, "The archive store is temporarily unavailable."],
    [503, "The archive store is temporarily unavailable."],
  ])("that answers %i is retried at our own pace, and then given up on", async (status, summary) => {
    for (const retryAfter of [null, "1", "86400", "Wed, 21 Oct 2099 07:28:00 GMT", "soon"]) {
      for (const [, call] of calls) {
        const { blobs, waited } = await openAnswering((_request, answer) => {
          answer.writeHead(status, retryAfter === null ? {} : { "retry-after": retryAfter }).end();
        });
        expect(await failureOf(call(blobs))).toMatchObject({ summary, isTransient: true });
        expect(waited).toEqual(usualPatience.pauses);
      }
    }
  });

  test("whose name does not exist can't be reached", async () => {
    // A label of this length is invalid, so no DNS query is sent.
    for (const [, call] of calls) {
      const error = await failureOf(call(openAt(`http://${"a".repeat(64)}.invalid`).blobs));
      expect(error.message).toMatch(/can't be reached: getaddrinfo /);
      expect(error.summary).toBe("The archive store can't be reached.");
    }
  });

  test("that has no certificate can't be reached", async () => {
    const port = await portOf(createTlsServer({}));
    for (const [, call] of calls) {
      const error = await failureOf(call(openAt(`https://127.0.0.1:${port}`).blobs));
      expect(error.summary).toBe("The archive store can't be reached.");
      expect(error.message).toContain("ERR_SSL_");
    }
  });

  test("that closes the connection during a put gets the whole content in a retry", async () => {
    const received: Buffer[] = [];
    let times = 0;
    const { blobs } = await openAnswering((asked, answer) => {
      times += 1;
      if (times === 1) {
        asked.once("data", () => asked.socket.destroy());
        return;
      }
      asked.on("data", (some: Buffer) => received.push(some)).on("end", () => answer.end());
    });
    const content = randomBytes(3_000_000);
    await blobs.put("packs/one", content, signal);
    expect(Buffer.concat(received).equals(content)).toBe(true);
  });
});

async function makeArchive() {
  const root = await freshFolder();
  const [index, place] = [createMemoryIndex(), join(root, "archives")];
  const archives = openArchives({
    blobs: openFolderBlobs(place),
    keys: fixedKeys(randomBytes(32)),
    indexOf: () => index,
    work: join(root, "work"),
    removeFolder: (folder) => rm(folder, { recursive: true, force: true }),
  });
  const backup = { id: 1, companyId: "company" };
  const folder = join(root, "site");
  await mkdir(folder);
  let restored = 0;
  return {
    folder,
    index,
    packOf: ({ pack }: Pick<StoredPiece, "pack">) => join(place, "packs", "company", pack),
    keep: async (before: KeptBackup | null): Promise<KeptBackup> => ({
      ...backup,
      ...(await archives.keep(backup, folder, before, signal)),
    }),
    /** Content by file. */
    restore: async (kept: KeptBackup) => {
      restored += 1;
      const target = join(root, `restored-${restored}`);
      await archives.restore(kept, target, () => true, signal);
      return Promise.all(["a.bin", "b.bin", "c.bin"].map((name) => readFile(join(target, name))));
    },
  };
}

/** Offsets of the flipped bit in a piece: 12 bytes of nonce, 16 of tag, then the data. */
const parts = { nonce: 5, tag: 20, data: 40 };

describe("a backup with one flipped bit", () => {
  const damages = Object.entries(parts).flatMap(([part, at]) =>
    ["a.bin", "b.bin", "c.bin", "its list of files"].map((what) => [part, what, at] as const),
  );

  test.each(damages)("in the %s of a piece of %s reports it, and the next backup is intact", async (_, what, at) => {
    const { folder, index, keep, packOf, restore } = await makeArchive();
    const contents = [randomBytes(50_000), randomBytes(1_500_000), randomBytes(100)];
    for (const [number, name] of ["a.bin", "b.bin", "c.bin"].entries()) {
      await writeFile(join(folder, name), "other");
      await writeFile(join(folder, name), `other ${number}`);
    }
    const other = await keep(null);
    const before = new Set(index.pieces.keys());
    for (const [number, name] of ["a.bin", "b.bin", "c.bin"].entries()) {
      await writeFile(join(folder, name), contents[number] ?? "");
    }
    const kept = await keep(null);
    // In the order of storing: the files', of which the second has two pieces, and the list's.
    const pieces = [...index.pieces].filter(([name]) => !before.has(name)).map(([, piece]) => piece);
    const damaged = pieces[{ "a.bin": 0, "b.bin": 2, "c.bin": 3, "its list of files": 4 }[what] ?? -1];
    if (damaged === undefined) throw new Error(`There is no piece of ${what}`);
    const content = await readFile(packOf(damaged));
    content.writeUInt8(content.readUInt8(damaged.start + at) ^ 8, damaged.start + at);
    await writeFile(packOf(damaged), content);

    await expect(restore(kept)).rejects.toMatchObject({
      name: "BackupDamaged",
      message: `This backup can't be restored: what it needs for ${what} is missing or damaged.`,
    });
    expect((await restore(other)).map(String)).toEqual(["other 0", "other 1", "other 2"]);
    const next = await keep(kept);
    expect(await restore(next)).toEqual(contents);
  });
});

test("swapped packs are reported", async () => {
  const { folder, index, keep, packOf, restore } = await makeArchive();
  for (const name of ["a.bin", "b.bin", "c.bin"]) await writeFile(join(folder, name), randomBytes(1000));
  const first = await keep(null);
  for (const name of ["a.bin", "b.bin", "c.bin"]) await writeFile(join(folder, name), randomBytes(1000));
  const second = await keep(first);
  const [one, two] = [...new Map([...index.pieces.values()].map((piece) => [piece.pack, piece])).values()];
  if (one === undefined || two === undefined) throw new Error("There are no two packs");
  const [ours, theirs] = [await readFile(packOf(one)), await readFile(packOf(two))];
  await writeFile(packOf(one), theirs);
  await writeFile(packOf(two), ours);
  for (const kept of [first, second]) await expect(restore(kept)).rejects.toThrow("This backup can't be restored");
});
