/** Files of which the first hundred are listed. */
export interface DifferentFiles {
  readonly count: number;
  readonly bytes: number;
  readonly listed: readonly { readonly path: string; readonly bytes: number }[];
}

export interface BackupDifferences {
  readonly added: DifferentFiles;
  readonly changed: DifferentFiles;
  readonly removed: DifferentFiles;
}
