/**
 * A file of host names for each environment, which its PHP sees as `/etc/hosts`: the names of its own sites lead to this machine, and
 * so to the edge, wherever visitors find them. Wildcards can't be in such a file.
 */
import { chmod, mkdir, open, rm } from "node:fs/promises";
import path from "node:path";

/** A name that leads to an environment. */
export interface HostName {
  readonly name: string;
  readonly environmentId: string;
}

const localLine = "127.0.0.1 localhost\n";
const isHostName = (name: string) => /^[a-z0-9._-]+$/i.test(name) && name.toLowerCase() !== "localhost";

export class HostFiles {
  readonly #folder: string;
  #names: ReadonlyMap<string, readonly string[]> = new Map();
  /** The content of each file, by environment. */
  readonly #contents = new Map<string, string>();
  #changes: Promise<unknown> = Promise.resolve();

  /** `folder`: for these files only. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the path of the environment's file, which exists from now on and follows `setNames`. */
  fileOf(environmentId: string): Promise<string> {
    return this.#inOrder(async () => {
      await this.#write(environmentId);
      return this.#pathOf(environmentId);
    });
  }

  /** Replaces the names of all environments. Resolves when the files have them. */
  setNames(names: readonly HostName[]): Promise<void> {
    const byEnvironment = Map.groupBy(names, ({ environmentId }) => environmentId);
    this.#names = new Map([...byEnvironment].map(([id, list]) => [id, list.map(({ name }) => name)]));
    return this.#inOrder(async () => {
      for (const environmentId of this.#contents.keys()) await this.#write(environmentId);
    });
  }

  /** Removes the files of all other environments. */
  retain(environmentIds: ReadonlySet<string>): Promise<void> {
    return this.#inOrder(async () => {
      for (const id of [...this.#contents.keys()].filter((each) => !environmentIds.has(each))) {
        this.#contents.delete(id);
        await rm(this.#pathOf(id), { force: true });
      }
    });
  }

  #pathOf(environmentId: string): string {
    return path.join(this.#folder, environmentId);
  }

  #contentOf(environmentId: string): string {
    const names = this.#names.get(environmentId) ?? [];
    return (
      localLine +
      names
        .filter(isHostName)
        .map((name) => `127.0.0.1 ${name}\n`)
        .join("")
    );
  }

  /** Changes the file itself, because sandboxes have mounted it. A reader may see old names behind the new ones for a moment. */
  async #write(environmentId: string): Promise<void> {
    const content = this.#contentOf(environmentId);
    if (this.#contents.get(environmentId) === content) return;
    await mkdir(this.#folder, { recursive: true });
    const file = this.#pathOf(environmentId);
    const handle = await open(file, this.#contents.has(environmentId) ? "r+" : "w");
    try {
      await handle.write(content, 0);
      await handle.truncate(Buffer.byteLength(content));
    } finally {
      await handle.close();
    }
    await chmod(file, 0o644);
    this.#contents.set(environmentId, content);
  }

  #inOrder<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#changes.then(change);
    this.#changes = result.catch(() => undefined);
    return result;
  }
}
