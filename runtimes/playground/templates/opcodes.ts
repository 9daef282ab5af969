/**
 * WordPress's scripts, compiled once for all workers. A worker without them spends half of its first page on
 * compiling; with them it reads what it needs. They are used for a script with the same path and time of
 * modification, which means the same content (`assets/unpack.ts`), and by the very same build of PHP.
 */
import { chmod, mkdir, open, readdir, rename } from "node:fs/promises";
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
const compileSeconds = 120;

export interface OpcodeStore {
  /**
   * Gives the folder. Makes it on its first use, which takes seconds; safe in several processes at once. Where that
   * fails it is not tried again: workers do without.
   */
  get(phpVersion: string): Promise<string>;
  /** The folder, where `get` has given it before, or null. */
  find(phpVersion: string): string | null;
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

async function build(job: Omit<CompileJob, "opcodes">, folder: string): Promise<void> {
  const beside = `${folder}.new`;
  await removeTree(beside);
  await mkdir(beside);
  try {
    await runJob("./compile.ts", { ...job, opcodes: beside } satisfies CompileJob, compileSeconds);
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

  async function make(phpVersion: string): Promise<string> {
    const { core, wordpressVersion } = await assets.files();
    const { folder: template } = await templates.get(usualTemplate);
    const folder = path.join(assets.folder, "opcodes", `${wordpressVersion}-${layout}-${buildOf(phpVersion)}`);
    if (!(await exists(folder))) {
      await withLock(`${folder}.lock`, async () => {
        if (!(await exists(folder))) await build({ phpVersion, template, core }, folder);
      });
    }
    made.set(phpVersion, folder);
    return folder;
  }

  return {
    get: (phpVersion) => {
      const found = making.get(phpVersion) ?? make(phpVersion);
      making.set(phpVersion, found);
      return found;
    },
    find: (phpVersion) => made.get(phpVersion) ?? null,
  };
}
