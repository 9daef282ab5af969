/**
 * How PostgreSQL reaches its folders.
 *
 * Where we are root and PostgreSQL is not, its folder may lie below one that only root may enter: `/root`,
 * or what `mktemp -d` makes. So on Linux we open the folder, hand the open folder down, and name it by
 * `/proc/self/fd/<n>`: the kernel follows that without looking at the folders above. PostgreSQL enters its
 * folder once and then uses relative names; its children inherit the open folder.
 */
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { ownFolder } from "../ownFolder.ts";
import { giveFolder, type PostgresUser } from "./postgresUser.ts";

export interface HandedFolders {
  /** What PostgreSQL calls each folder, in the order given. */
  readonly names: readonly string[];
  /** To be inherited from descriptor 4 on; empty if the folders' own paths do. */
  readonly descriptors: readonly number[];
  close(): void;
}

const firstDescriptor = 4;

/** Makes the folders where absent, for `user` alone (null: for this process's user), and hands them over. */
export function handFolders(paths: readonly string[], user: PostgresUser | null): HandedFolders {
  for (const path of paths) {
    takeFolder(path, user);
  }
  if (user === null || process.platform !== "linux") {
    return { names: paths, descriptors: [], close: () => undefined };
  }
  const descriptors = paths.map((path) => openSync(path, constants.O_RDONLY | constants.O_DIRECTORY));
  return {
    names: descriptors.map((_, index) => `/proc/self/fd/${firstDescriptor + index}`),
    descriptors,
    close: () => {
      for (const descriptor of descriptors) {
        closeSync(descriptor);
      }
    },
  };
}

function takeFolder(path: string, user: PostgresUser | null): void {
  if (user === null) {
    ownFolder(path);
    return;
  }
  mkdirSync(path, { recursive: true, mode: 0o700 });
  giveFolder(path, user);
}
