/**
 * WordPress's scripts, compiled once for all workers. A worker without them spends half of its first page on
 * compiling; with them it reads what it needs. They are used for a script with the same path and time of
 * modification, which means the same content (`assets/unpack.ts`), and by the very same build of PHP.
 */
import { chmod, mkdir, open, readdir, rename } from "node:fs/promises";
import { constants } from "node:os";
import path from "node:path";
import { exists, removeTree, syncFolder } from "../../folders.ts";
import { withLock } from "../assets/lock.ts";
import type { AssetStore } from "../assets/store.ts";
import { buildOf } from "../php/build.ts";
import type { CompileJob } from "./compile.ts";
import { usualTemplate } from "./folder.ts";
import { runJob } from "./job.ts";
import type { TemplateStore } from "./template.ts";

/** Raised when they are made differently from before. */
const layout = 1;

/** How readily the work leaves the processors to visitors, and how long it may last for that. */
const paces = {
  urgent: { seconds: 120, priority: undefined },
  patient: { seconds: 900, priority: constants.priority.PRIORITY_LOW },
} as const;

export type Pace = keyof typeof paces;

export interface OpcodeStore {
  /**
   * Gives the folder. Makes it on its first use, which takes seconds; safe in several processes at once. Where that
   * fails it is not tried again: workers do without. Urgent, unless told otherwise.
   */
  get(phpVersion: string, pace?: Pace): Promise<string>;
  /** From then on `find` gives the folder, where it was made at an earlier time. Makes nothing. */
  recall(phpVersion: string): Promise<void>;
  /** The folder, where `get` or `recall` has come across it, or null. */
  find(phpVersion: string): string | null;
  /** The versions for which `find` gives a folder, ascending. */
  known(): readonly string[];
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

async function build(job: Omit<CompileJob, "opcodes">, folder: string, pace: Pace): Promise<void> {
  const { seconds, priority } = paces[pace];
  const beside = `${folder}.new`;
  await removeTree(beside);
  await mkdir(beside);
  try {
    await runJob("./compile.ts", { ...job, opcodes: beside } satisfies CompileJob, seconds, priority);
    await finish(beside);
    await rename(beside, folder);
  } catch (error) {
    await removeTree(beside);
    throw error;
  }
  await syncFolder(path.dirname(folder));
}

export function createOpcodeStore(assets: AssetStore, templates: TemplateStore): OpcodeStore {
  const making = new Map<string, Promise<string>>();
  const made = new Map<string, string>();

  async function folderOf(phpVersion: string): Promise<string> {
    const { wordpressVersion } = await assets.files();
    return path.join(assets.folder, "opcodes", `${wordpressVersion}-${layout}-${buildOf(phpVersion)}`);
  }

  async function make(phpVersion: string, pace: Pace): Promise<string> {
    const { core } = await assets.files();
    const { folder: template } = await templates.get(usualTemplate);
    const folder = await folderOf(phpVersion);
    if (!(await exists(folder))) {
      await withLock(`${folder}.lock`, async () => {
        if (!(await exists(folder))) await build({ phpVersion, template, core }, folder, pace);
      });
    }
    made.set(phpVersion, folder);
    return folder;
  }

  return {
    get: (phpVersion, pace = "urgent") => {
      const found = making.get(phpVersion) ?? make(phpVersion, pace);
      making.set(phpVersion, found);
      return found;
    },
    recall: async (phpVersion) => {
      const folder = await folderOf(phpVersion);
      if (await exists(folder)) made.set(phpVersion, folder);
    },
    find: (phpVersion) => made.get(phpVersion) ?? null,
    known: () => [...made.keys()].toSorted(),
  };
}
