export interface BackupRef {
  readonly id: number;
  readonly companyId: string;
}

/** A backup that can be restored. */
export interface FinishedBackup extends BackupRef {
  readonly environmentId: string;
  readonly manifest: Buffer;
  readonly bytes: number;
  readonly address: string;
  /** When everything in it was last read, and not taken over from the backup before. Null: unknown. */
  readonly fullyReadAt: Date | null;
  readonly createdAt: Date;
}
