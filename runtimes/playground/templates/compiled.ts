/**
 * Code that is compiled once for all workers: WordPress's scripts to opcodes, and PHP to machine code. A worker without
 * it spends two thirds of its first page on compiling. Opcodes are used for a script with the same path and
 * modification time, which means the same content (`assets/unpack.ts`), and only by the same PHP build; machine code
 * only by the same Node version on the same processor.
 */
import { hash } from "node:crypto";
import { chmod, mkdir, open, readdir, rename } from "node:fs/promises";
import { constants, cpus } from "node:os";
import path from "node:path";
import { withLock } from "../../assets/lock.ts";
import type { AssetStore } from "../../assets/store.ts";
import { exists, removeTree, syncFolder } from "../../folders.ts";
import { runJob } from "../../job.ts";
import type { TemplateStore } from "../../site/template.ts";
import { defaultTemplate } from "../../site/template.ts";
import { driverFingerprint, driverFolder } from "../../sqlite/driver.ts";
import { buildOf } from "../php/build.ts";
import { machineCodeFlags } from "../php/machineCode.ts";
import type { CompileJob } from "./compile.ts";

/** Increased when compilation changes. */
const layout = 5;

/** Deadline and CPU priority of the work: low-priority work leaves the CPU to visitors and takes longer. */
const paces = {
  urgent: { seconds: 600, priority: 5 },
  background: { seconds: 1800, priority: constants.priority.PRIORITY_LOW },
} as const;

export type Pace = keyof typeof paces;

export interface Compiled {
  /** Folder of opcode files. */
  readonly opcodes: string;
  /** Machine code file. */
  readonly machineCode: string;
}

export interface CompiledStore {
  /**
   * Returns the compiled code, and creates it on first use, which takes many seconds. Safe in several processes at
   * once. A failure is not retried: workers then run without it. The pace is urgent by default.
   */
  get(phpVersion: string, pace?: Pace): Promise<Compiled>;
  /** Looks for code that was compiled earlier, for `find`. Compiles nothing. */
  lookUp(phpVersion: string): Promise<void>;
  /** Returns the compiled code that `get` or `lookUp` has found, or null. */
  find(phpVersion: string): Compiled | null;
  /** PHP versions for which `find` has a result, in ascending order. */
  known(): readonly string[];
}

/** Identifies the properties of the machine that machine code depends on. */
function machine(): string {
  const facts = [process.version, process.arch, process.platform, cpus()[0]?.model, ...machineCodeFlags];
  return hash("sha256", facts.join("\n")).slice(0, 8);
}

function partsOf(folder: string): Compiled {
  return { opcodes: path.join(folder, "opcodes"), machineCode: path.join(folder, "machine-code") };
}

/**
 * Makes the files readable for workers, which run as other users, and flushes them to disk before the folder gets its
 * name.
 */
async function finish(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    await chmod(file, entry.isDirectory() ? 0o755 : 0o444);
    if (entry.isDirectory()) continue;
    const handle = await open(file, "r");
    await handle.sync().finally(() => handle.close());
  }
}

async function build(job: Omit<CompileJob, keyof Compiled>, folder: string, pace: Pace): Promise<void> {
  const temporary = `${folder}.new`;
  const parts = partsOf(temporary);
  await removeTree(temporary);
  await mkdir(parts.opcodes, { recursive: true });
  try {
    await runJob(new URL("./compile.ts", import.meta.url), { ...job, ...parts } satisfies CompileJob, {
      deadlineSeconds: paces[pace].seconds,
      priority: paces[pace].priority,
      flags: machineCodeFlags,
    });
    await finish(temporary);
    await rename(temporary, folder);
  } catch (error) {
    await removeTree(temporary);
    throw error;
  }
  await syncFolder(path.dirname(folder));
}

/**
 * Removes compiled code of an earlier WordPress, PHP or Node. Workers of a process that still uses it run without it
 * from then on.
 */
async function removeOutdated(folder: string, phpVersion: string): Promise<void> {
  const parent = path.dirname(folder);
  for (const name of await readdir(parent)) {
    const isOther = name !== path.basename(folder) && !name.endsWith(".lock") && !name.endsWith(".new");
    if (isOther && name.includes(`-${phpVersion}-`)) await removeTree(path.join(parent, name));
  }
}

export function createCompiledStore(assets: AssetStore, templates: TemplateStore): CompiledStore {
  const pending = new Map<string, Promise<Compiled>>();
  const known = new Map<string, Compiled>();

  async function folderOf(phpVersion: string): Promise<string> {
    const { wordpressVersion } = await assets.files();
    const versions = [wordpressVersion, layout, driverFingerprint(), machine(), buildOf(phpVersion)];
    return path.join(assets.folder, "compiled", versions.join("-"));
  }

  async function make(phpVersion: string, pace: Pace): Promise<Compiled> {
    const { core, wpCli } = await assets.files();
    const driver = driverFolder(assets.folder);
    const { folder: template } = await templates.get(defaultTemplate);
    const folder = await folderOf(phpVersion);
    if (!(await exists(folder))) {
      await withLock(`${folder}.lock`, async () => {
        if (await exists(folder)) return;
        await build({ phpVersion, template, core, driver, wpCli }, folder, pace);
        // Leftovers only take disk space.
        await removeOutdated(folder, phpVersion).catch(() => undefined);
      });
    }
    known.set(phpVersion, partsOf(folder));
    return partsOf(folder);
  }

  return {
    get: (phpVersion, pace = "urgent") => {
      const found = pending.get(phpVersion) ?? make(phpVersion, pace);
      pending.set(phpVersion, found);
      return found;
    },
    lookUp: async (phpVersion) => {
      const folder = await folderOf(phpVersion);
      if (await exists(folder)) known.set(phpVersion, partsOf(folder));
    },
    find: (phpVersion) => known.get(phpVersion) ?? null,
    known: () => [...known.keys()].toSorted(),
  };
}
