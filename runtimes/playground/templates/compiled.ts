/**
 * What is compiled once for all workers: WordPress's scripts, as opcodes, and PHP itself, as machine code. A worker
 * without them spends two thirds of its first page on compiling. Opcodes are used for a script with the same path and
 * time of modification, which means the same content (`assets/unpack.ts`), and by the very same build of PHP; machine
 * code by the very same Node on the same processor.
 */
import { hash } from "node:crypto";
import { chmod, mkdir, open, readdir, rename } from "node:fs/promises";
import { constants, cpus } from "node:os";
import path from "node:path";
import { exists, removeTree, syncFolder } from "../../folders.ts";
import { withLock } from "../assets/lock.ts";
import type { AssetStore } from "../assets/store.ts";
import { buildOf } from "../php/build.ts";
import { machineCodeFlags } from "../php/machineCode.ts";
import type { CompileJob } from "./compile.ts";
import { usualTemplate } from "./folder.ts";
import { runJob } from "./job.ts";
import type { TemplateStore } from "./template.ts";

/** Raised when they are made differently from before. */
const layout = 3;

/** How readily the work leaves the processors to visitors, and how long it may last for that. */
const paces = {
  urgent: { seconds: 600, priority: 5 },
  patient: { seconds: 1800, priority: constants.priority.PRIORITY_LOW },
} as const;

export type Pace = keyof typeof paces;

export interface Compiled {
  /** Folder. */
  readonly opcodes: string;
  /** File. */
  readonly machineCode: string;
}

export interface CompiledStore {
  /**
   * Makes them on their first use, which takes many seconds; safe in several processes at once. Where that fails it is
   * not tried again: workers do without. Urgent, unless told otherwise.
   */
  get(phpVersion: string, pace?: Pace): Promise<Compiled>;
  /** From then on `find` gives them, where they were made at an earlier time. Makes nothing. */
  recall(phpVersion: string): Promise<void>;
  /** They, where `get` or `recall` has come across them, or null. */
  find(phpVersion: string): Compiled | null;
  /** The versions for which `find` gives something, ascending. */
  known(): readonly string[];
}

/** What of the machine decides whether it can run machine code. */
function machine(): string {
  const facts = [process.version, process.arch, process.platform, cpus()[0]?.model, ...machineCodeFlags];
  return hash("sha256", facts.join("\n")).slice(0, 8);
}

function partsOf(folder: string): Compiled {
  return { opcodes: path.join(folder, "opcodes"), machineCode: path.join(folder, "machine-code") };
}

/** Workers run as other users; and nothing may be half-written when the folder has its name. */
async function finish(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const place = path.join(entry.parentPath, entry.name);
    await chmod(place, entry.isDirectory() ? 0o755 : 0o444);
    if (entry.isDirectory()) continue;
    const file = await open(place, "r");
    await file.sync().finally(() => file.close());
  }
}

async function build(job: Omit<CompileJob, keyof Compiled>, folder: string, pace: Pace): Promise<void> {
  const beside = `${folder}.new`;
  const parts = partsOf(beside);
  await removeTree(beside);
  await mkdir(parts.opcodes, { recursive: true });
  try {
    await runJob("./compile.ts", { ...job, ...parts } satisfies CompileJob, {
      deadlineSeconds: paces[pace].seconds,
      priority: paces[pace].priority,
      flags: machineCodeFlags,
    });
    await finish(beside);
    await rename(beside, folder);
  } catch (error) {
    await removeTree(beside);
    throw error;
  }
  await syncFolder(path.dirname(folder));
}

/** What an earlier WordPress, PHP or Node needed. Workers of a process that still uses it do without from then on. */
async function removeOutdated(folder: string, phpVersion: string): Promise<void> {
  const place = path.dirname(folder);
  for (const name of await readdir(place)) {
    const isOther = name !== path.basename(folder) && !name.endsWith(".lock") && !name.endsWith(".new");
    if (isOther && name.includes(`-${phpVersion}-`)) await removeTree(path.join(place, name));
  }
}

export function createCompiledStore(assets: AssetStore, templates: TemplateStore): CompiledStore {
  const making = new Map<string, Promise<Compiled>>();
  const made = new Map<string, Compiled>();

  async function folderOf(phpVersion: string): Promise<string> {
    const { wordpressVersion } = await assets.files();
    return path.join(assets.folder, "compiled", `${wordpressVersion}-${layout}-${machine()}-${buildOf(phpVersion)}`);
  }

  async function make(phpVersion: string, pace: Pace): Promise<Compiled> {
    const { core, wpCli } = await assets.files();
    const { folder: template } = await templates.get(usualTemplate);
    const folder = await folderOf(phpVersion);
    if (!(await exists(folder))) {
      await withLock(`${folder}.lock`, async () => {
        if (await exists(folder)) return;
        await build({ phpVersion, template, core, wpCli }, folder, pace);
        // What is left takes room and does no other harm.
        await removeOutdated(folder, phpVersion).catch(() => undefined);
      });
    }
    made.set(phpVersion, partsOf(folder));
    return partsOf(folder);
  }

  return {
    get: (phpVersion, pace = "urgent") => {
      const found = making.get(phpVersion) ?? make(phpVersion, pace);
      making.set(phpVersion, found);
      return found;
    },
    recall: async (phpVersion) => {
      const folder = await folderOf(phpVersion);
      if (await exists(folder)) made.set(phpVersion, partsOf(folder));
    },
    find: (phpVersion) => made.get(phpVersion) ?? null,
    known: () => [...made.keys()].toSorted(),
  };
}
