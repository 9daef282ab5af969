/**
 * WordPress's core, compiled once for all environments that share its files. They see the result read-only, so none can change what
 * others run. Site's own code is compiled by each environment, in its own memory.
 *
 * - A set fits one build of PHP with its extensions and settings, one version of the shared code and one version of our settings; its
 *   record says which. Any other set is replaced.
 * - A set is used when all of its files have been compared with the record, once in each process. After that, PHP itself compares each
 *   file with its own checksum, build and script: missing and damaged files are compiled again.
 * - No environment waits for a set that is missing: it is compiled meanwhile, and environments that start later use it. A failed compilation is
 *   tried again when one starts some minutes later.
 */
import { createHash, hash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { withLock } from "../../assets/lock.ts";
import { exists, removeTree } from "../../folders.ts";
import { fileInRoot } from "../rootPath.ts";
import { compileOpcodes, compilerSettings } from "./compile.ts";
import type { OpcodeJob } from "./job.ts";
import type { Opcodes } from "./mountOpcodes.ts";
import { phpStateOf } from "./phpState.ts";

export interface OpcodeStore {
  /** Returns the compiled code, or null if there is none yet: it is then compiled in the background, for later. Never rejects. */
  find(job: OpcodeJob): Promise<Opcodes | null>;
  /** Resolves when nothing is being compiled. */
  settled(): Promise<void>;
  /** Cancels running and waiting compilations. Resolves when their files are removed. */
  close(): Promise<void>;
}

export interface OpcodeStoreOptions {
  /** Folder for all compiled code. */
  readonly folder: string;
  /** Folder for sockets, closed to others, with a short path. */
  readonly run: string;
  /** Receives the error if code could not be compiled. Environments compile it themselves. */
  readonly onFailure: (error: unknown) => void;
}

interface SetRecord {
  /** Of the compiled set. */
  readonly fingerprint: string;
  readonly build: string;
  /** Of all files. */
  readonly digest: string;
  /** Without one of these paths, the set is of no use any more. */
  readonly sources: readonly string[];
}

interface Known {
  /** Never rejects. */
  readonly opcodes: Promise<Opcodes | null>;
  /** When it is to be looked up again, as `performance.now()`. */
  readonly until: number;
}

/** After a failure, such as a full disk. */
export const retryMilliseconds = 5 * 60_000;

const recordFile = "record.json";
const compiledFolder = "compiled";
/** End of the name of a set that is being compiled. */
const unfinished = ".new";
const lockOf = (set: string): string => `${set}.lock`;

export function createOpcodeStore({ folder, run, onFailure }: OpcodeStoreOptions): OpcodeStore {
  const known = new Map<string, Known>();
  const closing = new AbortController();
  const { signal } = closing;
  let compiling: Promise<unknown> = removeUnused(folder, signal).catch(report);

  /** A cancelled compilation has not failed. */
  function report(error: unknown): void {
    if (!signal.aborted) onFailure(error);
  }

  /** Environments do without until it is tried again. */
  function fail(key: string, error: unknown): void {
    known.set(key, { opcodes: Promise.resolve(null), until: performance.now() + retryMilliseconds });
    report(error);
  }

  async function lookUp(job: OpcodeJob, key: string): Promise<Opcodes | null> {
    const set = path.join(folder, nameOf(job));
    const fingerprint = await fingerprintOf(job);
    const found = await verified(set, fingerprint);
    if (found !== null) return found;
    const work = () => make(job, set, fingerprint);
    compiling = compiling
      .then(() => withLock(lockOf(set), work, undefined, signal))
      .then(
        (made) => known.set(key, { opcodes: Promise.resolve(made), until: Number.POSITIVE_INFINITY }),
        (error: unknown) => fail(key, error),
      );
    return null;
  }

  async function make(job: OpcodeJob, set: string, fingerprint: string): Promise<Opcodes> {
    // Another process may have compiled it meanwhile.
    const found = await verified(set, fingerprint);
    if (found !== null) return found;
    const building = `${set}${unfinished}`;
    const temporary = path.join(run, `o${randomBytes(4).toString("hex")}`);
    try {
      await mkdir(run, { recursive: true, mode: 0o700 });
      await removeTree(building);
      await mkdir(path.join(building, compiledFolder), { recursive: true });
      const target = path.join(building, compiledFolder);
      await compileOpcodes(job, { target, folder: temporary, scripts: await scriptsOf(job), signal });
      await describe(building, job, fingerprint);
      await removeTree(set);
      await rename(building, set);
    } finally {
      for (const each of [building, temporary]) await removeTree(each);
    }
    const made = await verified(set, fingerprint);
    if (made === null)
      throw new Error(`The opcodes in ${set} were damaged right after PHP wrote them. Check the disk.`);
    return made;
  }

  function lookUpOnce(job: OpcodeJob, key: string): Promise<Opcodes | null> {
    const opcodes = lookUp(job, key).catch((error: unknown) => {
      fail(key, error);
      return null;
    });
    known.set(key, { opcodes, until: Number.POSITIVE_INFINITY });
    return opcodes;
  }

  async function settled(): Promise<void> {
    await Promise.allSettled([...known.values()].map(({ opcodes }) => opcodes));
    await compiling;
  }

  return {
    find: async (job) => {
      try {
        const key = JSON.stringify([nameOf(job), phpStateOf(job.php)]);
        const last = known.get(key);
        const isCurrent = last !== undefined && performance.now() < last.until;
        const found = await (isCurrent ? last.opcodes : lookUpOnce(job, key));
        if (found === null || (await exists(found.folder))) return found;
        // The operator has removed it.
        return await lookUpOnce(job, key);
      } catch (error) {
        onFailure(error);
        return null;
      }
    },
    settled,
    close: () => {
      closing.abort();
      return settled();
    },
  };
}

/** One set for each PHP and each place of shared code. */
function nameOf({ php, shared }: OpcodeJob): string {
  return hash("sha256", JSON.stringify([php.root, php.fpm, shared.map(({ from, to }) => [from, to])])).slice(0, 16);
}

/** Identifies a compilation: its code, PHP and settings. Scripts are identified as PHP does it, and by their size. */
async function fingerprintOf(job: OpcodeJob): Promise<string> {
  const digest = createHash("sha256").update(JSON.stringify([phpStateOf(job.php), compilerSettings(job.settings)]));
  for (const { from } of job.shared) {
    for (const script of await scriptsBelow(from)) {
      const { size, mtimeMs } = await stat(path.join(from, script));
      digest.update(`${script}\0${size}\0${mtimeMs}\0`);
    }
  }
  return digest.digest("hex");
}

/** Returns the paths of the scripts as PHP sees them. */
async function scriptsOf({ shared }: OpcodeJob): Promise<readonly string[]> {
  const all = await Promise.all(
    shared.map(async ({ from, to }) => (await scriptsBelow(from)).map((script) => `${to}/${script}`)),
  );
  return all.flat();
}

async function scriptsBelow(folder: string): Promise<readonly string[]> {
  return (await filesBelow(folder)).filter((file) => file.endsWith(".php"));
}

/** Paths in a folder, sorted. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name))).toSorted();
}

async function digestOf(folder: string): Promise<string> {
  const digest = createHash("sha256");
  for (const file of await filesBelow(folder)) {
    const content = await readFile(path.join(folder, file));
    digest.update(`${file}\0${content.length}\0`).update(content);
  }
  return digest.digest("hex");
}

async function describe(set: string, { php, shared }: OpcodeJob, fingerprint: string): Promise<void> {
  const [build, ...others] = await readdir(path.join(set, compiledFolder));
  if (build === undefined || others.length > 0)
    throw new Error(`PHP in ${php.root} compiled nothing in advance. Is opcache installed and enabled?`);
  const sources = [...shared.map(({ from }) => from), fileInRoot(php.root, php.fpm) ?? php.fpm];
  const record: SetRecord = { fingerprint, build, digest: await digestOf(path.join(set, compiledFolder)), sources };
  await writeFile(path.join(set, recordFile), JSON.stringify(record));
}

/** Returns the set's code if it is complete, undamaged and fits. */
async function verified(set: string, fingerprint: string): Promise<Opcodes | null> {
  const record = await recordOf(set);
  if (record === null || record.fingerprint !== fingerprint) return null;
  const compiled = path.join(set, compiledFolder);
  const digest = await digestOf(compiled).catch(() => null);
  return digest === record.digest ? { build: record.build, folder: path.join(compiled, record.build) } : null;
}

/** Null if it is missing or damaged. */
async function recordOf(set: string): Promise<SetRecord | null> {
  try {
    const record: SetRecord = JSON.parse(await readFile(path.join(set, recordFile), "utf8"));
    return record;
  } catch {
    return null;
  }
}

/** Removes sets whose PHP or WordPress is gone, and leftovers of killed processes. */
async function removeUnused(folder: string, signal: AbortSignal): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    const set = path.join(folder, name);
    const { sources } = (await recordOf(set)) ?? { sources: [] };
    const isThere = await Promise.all(sources.map(exists));
    if (isThere.includes(false)) await removeTree(set);
    if (!name.endsWith(unfinished)) continue;
    await withLock(lockOf(set.slice(0, -unfinished.length)), () => removeTree(set), undefined, signal);
  }
}
