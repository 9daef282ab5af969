import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openArchives } from "../archives/archives.ts";
import { openFolderBlobs } from "../archives/folderBlobs.ts";
import { guardBlobs, type StoreMemory } from "../archives/guardedBlobs.ts";
import { createMemoryIndex } from "../archives/testing/memoryIndex.ts";
import { addKey, fixedKeys, type KeySource, openKeySource, readKeys } from "../keyFile.ts";
import { archiveKeyFile } from "../sealedSettings.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { continueArchiveRotation, rotateArchiveKey } from "./rotateArchiveKey.ts";

const { signal } = new AbortController();
const backup = { id: 1, companyId: "company" };
const all = () => true;

let data: string;
/** Of a process that runs all the time. */
let keys: KeySource;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "swarchivekey-"));
  keys = await openKeySource(archiveKeyFile(data));
});
afterEach(() => rm(data, { recursive: true, force: true }));

function openWith(keySource: KeySource, index = createMemoryIndex()) {
  const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true });
  const blobs = openFolderBlobs(join(data, "archives"));
  return openArchives({ blobs, keys: keySource, indexOf: () => index, work: join(data, "work"), removeFolder });
}

describe("archives", () => {
  test("read backups of older keys, and make new ones that need only the newest key", async () => {
    const index = createMemoryIndex();
    const archives = openWith(keys, index);
    const folder = join(data, "site");
    await mkdir(folder);
    await writeFile(join(folder, "a.txt"), "unchanged");
    const first = { ...backup, ...(await archives.keep(backup, folder, null, signal)) };
    const repeated = await archives.keep(backup, folder, first, signal);
    expect(repeated.addedBytes).toBe(0);
    await addKey(archiveKeyFile(data));
    const second = { ...backup, ...(await archives.keep(backup, folder, first, signal)) };
    expect(second.addedBytes).toBeGreaterThan(0);
    for (const [name, kept] of Object.entries({ first, second })) {
      await archives.restore(kept, join(data, name), all, signal);
      expect(await readFile(join(data, name, "a.txt"), "utf8")).toBe("unchanged");
    }
    const third = { ...backup, ...(await archives.keep(backup, folder, second, signal)) };
    expect(third.addedBytes).toBe(0);
    const onlyNewest = openWith(fixedKeys(keys.newest().bytes), index);
    await onlyNewest.restore(third, join(data, "newest"), all, signal);
    await expect(onlyNewest.restore(first, join(data, "old"), all, signal)).rejects.toThrow("can't be restored");
  });

  test("accept the newer key of a rotation, and then no longer the old one alone", async () => {
    const mark = randomUUID();
    let known: Awaited<ReturnType<StoreMemory["recall"]>> = { mark, place: null, keyCheck: null };
    const memory: StoreMemory = {
      recall: async () => known,
      remember: async (place) => {
        known = { ...known, place };
      },
      rememberKey: async (keyCheck) => {
        known = { ...known, keyCheck };
      },
      startFromScratch: async (place, keyCheck) => {
        known = { ...known, place, keyCheck };
      },
      sampleKeptPieces: async () => [],
    };
    const guard = (source: KeySource) =>
      guardBlobs({
        blobs: openFolderBlobs(join(data, "archives")),
        memory,
        keys: source,
        place: "here",
        isThere: async () => true,
        onNewStore: () => undefined,
      });
    const old = fixedKeys(keys.newest().bytes);
    await guard(keys).check(signal);
    await addKey(archiveKeyFile(data));
    await guard(keys).check(signal);
    await expect(guard(old).check(signal)).rejects.toThrow("The archive key is missing, or is not the one");
  });
});

describe("rotating the archive key", () => {
  let own: TestDatabase;
  let companyId: string;
  beforeEach(async () => {
    own = await createTestDatabase();
    ({ companyId } = await addCompany(own.database));
    await addSite(own.database, companyId);
  });
  afterEach(() => own.drop());

  const later = () => new Date(Date.now() + 8 * 86_400_000);
  const options = () => ({ database: own.database, data });
  const keyCount = () => readKeys(archiveKeyFile(data))?.length;
  const addPack = (key_id: Buffer | null) =>
    own.database
      .insertInto("packs")
      .values({ id: randomUUID(), company_id: companyId, state: "kept", bytes: 1, key_id })
      .execute();

  test("keeps the old key until no backup needs it, and for a week", async () => {
    await addPack(keys.newest().id);
    await addPack(null);
    expect(await rotateArchiveKey(options())).toEqual({ olderKeys: 1, olderPacks: 2 });
    await addPack(keys.newest().id);
    expect(await continueArchiveRotation({ ...options(), now: later })).toEqual({ olderKeys: 1, olderPacks: 2 });
    await own.database.deleteFrom("packs").where("key_id", "is distinct from", keys.newest().id).execute();
    expect(await continueArchiveRotation(options())).toEqual({ olderKeys: 1, olderPacks: 0 });
    expect(keyCount()).toBe(2);
    expect(await continueArchiveRotation({ ...options(), now: later })).toEqual({ olderKeys: 0, olderPacks: 0 });
    expect(keyCount()).toBe(1);
  });

  test("begins once, however often it is asked, unless it is forced", async () => {
    await Promise.all([rotateArchiveKey(options()), rotateArchiveKey(options())]);
    expect(keyCount()).toBe(2);
    await rotateArchiveKey(options(), { isForced: true });
    expect(keyCount()).toBe(3);
  });

  test("never makes a first key, since backups may need the missing one", async () => {
    await rm(archiveKeyFile(data));
    expect(await rotateArchiveKey(options())).toBeNull();
    expect(keyCount()).toBeUndefined();
  });
});
