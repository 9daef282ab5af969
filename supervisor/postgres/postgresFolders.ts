/**
 * Gives PostgreSQL access to its folders.
 *
 * If we are root, PostgreSQL runs as another user, and its folder may be below one that only root can enter, such as
 * `/root` or the result of `mktemp -d`. So on Linux we open the folder, let PostgreSQL inherit the descriptor, and pass
 * the path `/proc/self/fd/<n>`, which the kernel resolves without checking the parent folders. PostgreSQL changes to
 * its folder once and then uses relative paths; its children inherit the descriptor.
 */
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { ensureOwnedFolder } from "../ownedFolder.ts";
import { chownFolder, type PostgresUser } from "./postgresUser.ts";

export interface InheritedFolders {
  /** Paths for PostgreSQL, in the order given. */
  readonly names: readonly string[];
  /** Descriptors to inherit, starting at number 4; empty if PostgreSQL uses the real paths. */
  readonly descriptors: readonly number[];
  close(): void;
}

const firstDescriptor = 4;

/**
 * Creates missing folders, accessible only to `user` (null: this process's user), and opens them for a child process.
 */
export function openInheritedFolders(paths: readonly string[], user: PostgresUser | null): InheritedFolders {
  for (const path of paths) {
    ensureFolder(path, user);
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

function ensureFolder(path: string, user: PostgresUser | null): void {
  if (user === null) {
    ensureOwnedFolder(path);
    return;
  }
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chownFolder(path, user);
}
