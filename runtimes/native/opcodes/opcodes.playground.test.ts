/**
 * Shared code that is compiled once. The scripts here are changed without changing their size and time: PHP's output then shows
 * whether it used the compiled code.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { withLock } from "../../assets/lock.ts";
import { sharedAssets } from "../../playground/testing/world.ts";
import type { ServedEnvironment } from "../../serving.ts";
import { runPhp, type Site, visitorOf } from "../../testing/visitor.ts";
import { opcodeJobOf } from "../environmentFpm.ts";
import { type NativeWorld, openNative } from "../testing/world.ts";
import { inspectRoots, machineRoot } from "../versions/discovery.ts";
import type { OpcodeJob } from "./job.ts";
import type { Opcodes } from "./mountOpcodes.ts";
import { createOpcodeStore, type OpcodeStore, type OpcodeStoreOptions, retryMilliseconds } from "./store.ts";

let world: NativeWorld;
let site: Site;
let folder: string;
let shared: string;
let store: OpcodeStore;
let environment: ServedEnvironment;
let restarts = 0;
/** Another one for each test, so that nothing is compiled yet. */
let scriptTime = new Date("2020-02-02T00:00:00Z");

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "opcodes-"));
  shared = path.join(folder, "shared");
  await mkdir(shared);
  world = await openNative();
  site = await world.site();
  const layout = await world.runtime.layout(site.environment);
  if (layout === null) throw new Error("The environment has no layout.");
  // Where it is mounted. WordPress's own code takes longer to compile.
  await mkdir(path.join(layout.documentRoot, "shared"));
  const overlays = { shared };
  environment = { ...site.environment, ...layout, companyId: "company", phpVersion: world.phpVersion, overlays };
});
afterAll(async () => {
  await world?.close();
  await store?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  scriptTime = new Date(scriptTime.getTime() + 60_000);
  await writeScript("compiled");
  store = openStore();
});

const script = () => path.join(shared, "script.php");

/** `word` has eight letters, so that all scripts have the same size. */
async function writeScript(word: string, time = scriptTime): Promise<void> {
  await writeFile(script(), `<?php echo '${word}';`);
  await utimes(script(), time, time);
}

function openStore(changes: Partial<OpcodeStoreOptions> = {}): OpcodeStore {
  return createOpcodeStore({
    folder: path.join(sharedAssets, "opcodes"),
    run: path.join(folder, "run"),
    onFailure: (error) => {
      throw error;
    },
    ...changes,
  });
}

async function job(): Promise<OpcodeJob> {
  const { offered } = await inspectRoots([machineRoot]);
  const found = offered[0] && opcodeJobOf(environment, offered[0], { assets: sharedAssets });
  if (!found) throw new Error("There is nothing to compile.");
  return found;
}

/** Waits until the script is compiled. */
async function compiled(from = store): Promise<Opcodes> {
  await from.find(await job());
  await from.settled();
  const found = await from.find(await job());
  if (found === null) throw new Error("Nothing was compiled.");
  return found;
}

const opcodeFileOf = (found: Opcodes) => path.join(found.folder, "site", "shared", "script.php.bin");

/** The script's output in a new php-fpm. */
async function printed(): Promise<string> {
  restarts += 1;
  await world.serving.setEnvironments([{ ...environment, phpRestarts: restarts }]);
  const page = await visitorOf(world.serving, site).get("/shared/script.php");
  expect(page.status).toBe(200);
  return page.text;
}

test("environments run the compiled code, and compile none of it themselves", async () => {
  await compiled();
  await writeScript("anything");
  expect(await printed()).toBe("compiled");
});

test("compiled scripts share their strings with others", async () => {
  const file = await readFile(opcodeFileOf(await compiled()));
  // In PHP's header, after the size of what belongs to the script alone: the size of its strings that PHP looks for among those of others.
  expect(Number(file.readBigUInt64LE(48))).toBeGreaterThan(0);
});

test.each<[string, (file: string) => Promise<void>]>([
  ["is missing", (file) => rm(file)],
  ["is empty", (file) => truncate(file, 0)],
  ["ends in its header", (file) => truncate(file, 40)],
  ["ends too early", async (file) => truncate(file, (await stat(file)).size - 8)],
  ["claims another size", (file) => changeByte(file, 42)],
  ["is garbage", async (file) => writeFile(file, Buffer.alloc((await stat(file)).size, "garbage"))],
  ["has another byte at its end", (file) => changeByte(file, -1)],
  ["has another byte in the middle", (file) => changeByte(file, 600)],
  ["is of another build", (file) => changeByte(file, 10)],
])("PHP compiles a script itself if its opcode file %s", async (_, damage) => {
  const file = opcodeFileOf(await compiled());
  // The world's own store has compared it by now.
  expect(await printed()).toBe("compiled");
  await writeScript("anything");
  await damage(file);
  expect(await printed()).toBe("anything");
});

async function changeByte(file: string, at: number): Promise<void> {
  const content = await readFile(file);
  const index = at < 0 ? content.length + at : at;
  content.writeUInt8((content.readUInt8(index) + 1) % 256, index);
  await writeFile(file, content);
}

test("PHP compiles a script itself if its time has changed, even to an earlier one, and so does the next process", async () => {
  await compiled();
  expect(await printed()).toBe("compiled");
  await writeScript("restored", new Date("2019-01-01T00:00:00Z"));
  expect(await printed()).toBe("restored");
  await compiled(openStore());
  await writeScript("anything", new Date("2019-01-01T00:00:00Z"));
  expect(await printed()).toBe("restored");
});

test("an environment can neither change opcodes nor add its own", async () => {
  const { build, folder: opcodes } = await compiled();
  await printed();
  const before = await contentOf(opcodes);
  const seen = `/opcodes/${build}`;
  const attempts = [
    `unlink( '${seen}/site/shared/script.php.bin' )`,
    `chmod( '${seen}/site/shared/script.php.bin', 0666 )`,
    `file_put_contents( '${seen}/site/shared/script.php.bin', 'x' )`,
    `file_put_contents( '${seen}/site/own.php.bin', 'x' )`,
    `rename( '${seen}', '/opcodes/other' )`,
    `mkdir( '${seen}/site/own' )`,
  ].map((attempt) => `@${attempt}`);
  const tried = await runPhp(world.serving, site, `echo json_encode( array( ${attempts.join(", ")} ) );`);
  expect(JSON.parse(tried)).toEqual(attempts.map(() => false));
  expect(await contentOf(opcodes)).toEqual(before);
});

/** Paths and sizes of all files. */
async function contentOf(opcodes: string): Promise<readonly string[]> {
  const names = await readdir(opcodes, { recursive: true });
  return Promise.all(names.toSorted().map(async (name) => `${name} ${(await stat(path.join(opcodes, name))).size}`));
}

test("a process that finds a damaged set compiles it again", async () => {
  const found = await compiled();
  await changeByte(opcodeFileOf(found), -1);
  await writeScript("repaired");
  const next = openStore();
  expect(await next.find(await job())).toBe(null);
  await compiled(next);
  await writeScript("anything");
  expect(await printed()).toBe("repaired");
});

test("opcodes that were compiled with other extensions are not used, neither by this process nor by the next one", async () => {
  await compiled();
  const { php, ...others } = await job();
  const changed = { ...others, php: { ...php, extensions: [...php.extensions, "zzz"] } };
  expect(await openStore().find(changed)).toBe(null);
  expect(await store.find(changed)).toBe(null);
  await store.settled();
  expect(await store.find(changed)).not.toBe(null);
});

test("sites stay available when all opcodes are removed meanwhile, and are compiled again", async () => {
  const found = await compiled();
  expect(await printed()).toBe("compiled");
  await rm(path.dirname(path.dirname(found.folder)), { recursive: true });
  await writeScript("anything");
  expect(await printed()).toBe("anything");
  await expect.poll(() => readdir(found.folder).catch(() => null), { timeout: 60_000 }).not.toBe(null);
});

test("a process that closes removes its unfinished compilation", async () => {
  const opcodes = path.join(folder, "closing");
  const closing = openStore({ folder: opcodes });
  expect(await closing.find(await job())).toBe(null);
  await closing.close();
  expect((await readdir(opcodes)).filter((name) => name.endsWith(".new"))).toEqual([]);
  expect(await readdir(path.join(folder, "run")).catch(() => [])).toEqual([]);
});

test("a process that closes does not wait for another one that compiles the same", async () => {
  const opcodes = path.join(folder, "locked");
  const failures: unknown[] = [];
  const waiting = openStore({ folder: opcodes, onFailure: (error) => failures.push(error) });
  const found = await compiled(waiting);
  const set = path.dirname(path.dirname(found.folder));
  await writeScript("anything", new Date("2018-01-01T00:00:00Z"));
  const next = openStore({ folder: opcodes, onFailure: (error) => failures.push(error) });
  await withLock(`${set}.lock`, async () => {
    expect(await next.find(await job())).toBe(null);
    await next.close();
  });
  expect(failures).toEqual([]);
  expect(await readdir(path.dirname(found.folder))).toEqual([found.build]);
});

test.each<[string, (place: string) => Promise<OpcodeJob>]>([
  ["compiled", job],
  [
    "looked up",
    async (place) => {
      const found = await job();
      return { ...found, shared: [...found.shared, { from: `${place}-code`, to: "/code", isWritable: false }] };
    },
  ],
])(
  "code that could not be %s is tried again after some minutes, and the failure is reported once until then",
  async (word, jobIn) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const place = path.join(folder, `failing-${word.replace(" ", "-")}`);
    const failures: unknown[] = [];
    const run = `${place}-run`;
    // A file where folders belong.
    await writeFile(run, "");
    const failing = openStore({ folder: place, run, onFailure: (error) => failures.push(error) });
    const wanted = await jobIn(place);
    const find = async () => {
      const found = await failing.find(wanted);
      await failing.settled();
      return found;
    };
    expect([await find(), await find()]).toEqual([null, null]);
    expect(failures).toHaveLength(1);
    await rm(run);
    await mkdir(`${place}-code`);
    expect(await find()).toBe(null);
    vi.advanceTimersByTime(retryMilliseconds);
    expect(await find()).toBe(null);
    expect(await find()).not.toBe(null);
    expect(failures).toHaveLength(1);
  },
);

test("the folder for sockets is closed to others when compiling creates it", async () => {
  const run = path.join(folder, "closed");
  await compiled(openStore({ folder: path.join(folder, "first"), run }));
  expect((await stat(run)).mode & 0o777).toBe(0o700);
});
