/**
 * Reads a backup as described in docs/archive-format.md, without product code, to prove that the page is sufficient. A change
 * that breaks this test also breaks rescues, and needs a new version of the format.
 */

import { createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { fixedKeys } from "../keyFile.ts";
import { openArchives } from "./archives.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { createMemoryIndex } from "./testing/memoryIndex.ts";

interface PieceRow {
  readonly name: Buffer;
  readonly pack: string;
  readonly start: number;
  readonly length: number;
}

interface Rescue {
  readonly archives: string;
  readonly key: Buffer;
  readonly companyId: string;
  readonly manifest: Buffer;
  readonly pieces: readonly PieceRow[];
}

/** Returns content by path; null for folders. */
async function rescue({ archives, key, companyId, manifest, pieces }: Rescue): Promise<Map<string, Buffer | null>> {
  const keyFor = (use: string) =>
    Buffer.from(hkdfSync("sha256", key, "", `sitewright archive ${use} ${companyId}`, 32));
  const [naming, sealing] = [keyFor("name"), keyFor("seal")];

  async function pieceOf(name: Buffer): Promise<Buffer> {
    const row = pieces.find((piece) => piece.name.equals(name));
    if (row === undefined) throw new Error("The table has no such piece");
    const pack = await readFile(join(archives, "packs", companyId, row.pack));
    const sealed = pack.subarray(row.start, row.start + row.length);
    const decipher = createDecipheriv("aes-256-gcm", sealing, sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(12, 28)).setAAD(name);
    const plain = Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
    const content = plain[0] === 1 ? zstdDecompressSync(plain.subarray(1)) : plain.subarray(1);
    expect(createHmac("blake2b512", naming).update(content).digest().subarray(0, 32)).toEqual(name);
    return content;
  }

  async function contentOf(names: Buffer): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let at = 0; at < names.length; at += 32) parts.push(await pieceOf(names.subarray(at, at + 32)));
    return Buffer.concat(parts);
  }

  const found = new Map<string, Buffer | null>();
  for (const line of (await contentOf(manifest)).toString("utf8").split("\n").filter(Boolean)) {
    const [path, , bytes, , , names]: [string, number, number?, string?, string?, string?] = JSON.parse(line);
    const content = names === undefined ? null : await contentOf(Buffer.from(names, "base64"));
    expect(content?.length ?? 0).toBe(bytes ?? 0);
    found.set(Buffer.from(path, "latin1").toString("utf8"), content);
  }
  return found;
}

test("a backup can be read with only the key, the rows and the page on the format", async () => {
  const root = await mkdtemp(join(tmpdir(), "swformat-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [index, key, companyId] = [createMemoryIndex(), randomBytes(32), "2f1e0a44-9d2b-4c55-8a7e-0d7f3b6c9a10"];
  const archives = openArchives({
    blobs: openFolderBlobs(join(root, "archives")),
    keys: fixedKeys(key),
    indexOf: () => index,
    work: join(root, "work"),
    removeFolder: (folder) => rm(folder, { recursive: true, force: true }),
  });
  const contents = {
    "public/index.php": Buffer.from("<?php // Silence is golden.\n"),
    "public/uploads/Zoë 🦄.jpg": randomBytes(2_500_000),
    "public/log.txt": Buffer.alloc(3_000_000, "again and again\n"),
    "public/empty": Buffer.alloc(0),
    "database/wordpress.sqlite": Buffer.from("SQLite format 3\0"),
  };
  const folder = await archives.workFolder("one");
  for (const name of ["public/uploads", "database", "public/nothing"]) {
    await mkdir(join(folder, name), { recursive: true });
  }
  for (const [name, content] of Object.entries(contents)) await writeFile(join(folder, name), content);
  const { manifest } = await archives.keep({ id: 1, companyId }, folder, null, new AbortController().signal);

  const pieces = [...index.pieces.values()];
  const found = await rescue({ archives: join(root, "archives"), key, companyId, manifest, pieces });
  const files = [...found].filter(([, content]) => content !== null);
  expect(new Map(files)).toEqual(new Map(Object.entries(contents)));
  const folders = [...found].filter(([, content]) => content === null).map(([path]) => path);
  expect(folders.toSorted()).toEqual(["database", "public", "public/nothing", "public/uploads"]);
});
