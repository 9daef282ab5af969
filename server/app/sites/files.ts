/** The files of an environment, with the paths that a push accepts. */
import { type EnvironmentRef, type FileEntry, RuntimeFailure } from "@sitewright/runtimes/runtime.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";

/** Lists the files below `path` in the environment's web root, three levels deep. Throws `NotFound` if there is no such folder. */
export async function list(context: Context, environmentId: string, path: string) {
  const environment = await environmentForOperation(context.database, environmentId);
  const entries = environment && (await readAll(context, environment));
  const found =
    entries &&
    below(
      entries,
      path.split("/").filter((name) => name !== ""),
    );
  if (!environment || !found) throw new NotFound();
  return { id: environment.id, file_list: found.map((entry) => view(entry, (child) => view(child, leaf))) };
}

async function readAll(context: Context, { id, number }: EnvironmentRef): Promise<readonly FileEntry[] | null> {
  return context
    .readInTurn(() => context.listFiles({ id, number }))
    .catch((error: unknown) => {
      if (error instanceof RuntimeFailure) throw new Refused("too_many_files", error.message);
      throw error;
    });
}

/** Null if there is no such folder. */
function below(entries: readonly FileEntry[], [name, ...rest]: readonly string[]): readonly FileEntry[] | null {
  if (name === undefined) return entries;
  const children = entries.find((entry) => entry.name === name)?.children;
  return children === undefined ? null : below(children, rest);
}

function leaf({ name, path, children }: FileEntry) {
  return { name, path, is_folder: children !== undefined };
}

function view<T>(entry: FileEntry, viewChild: (child: FileEntry) => T) {
  return { ...leaf(entry), children: (entry.children ?? []).map(viewChild) };
}
