/** What the thread that walks through trees of files is asked for, and what it answers. */

/** `bytes`: the sizes of all files below the folder. `list`: its files and folders. */
export interface WalkOrder {
  readonly id: number;
  readonly kind: "bytes" | "list";
  readonly folder: string;
}

/** Paths are relative, with one character for each byte. `modified`: nanoseconds since 1970. */
export interface ListedFile {
  readonly path: string;
  /** Permission bits without setuid and setgid. */
  readonly mode: number;
  readonly bytes: number;
  readonly modified: bigint;
  readonly inode: bigint;
}

export type ListedFolder = Pick<ListedFile, "path" | "mode">;

/** In the order of a walk: a folder's entries sorted by name, each folder followed by its content. */
export interface ListedTree {
  readonly folders: readonly ListedFolder[];
  readonly files: readonly ListedFile[];
}

/** `path`: of the file or folder, as in a list. */
export interface WalkFailure {
  readonly message: string;
  readonly code: string | null;
  readonly path: string;
}

export type WalkAnswer =
  | { readonly id: number; readonly kind: "bytes"; readonly bytes: number }
  | { readonly id: number; readonly kind: "list"; readonly tree: ListedTree }
  | { readonly id: number; readonly kind: "failed"; readonly failure: WalkFailure };
