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
  /** When all its content was last read instead of reused from the backup before; null if unknown. */
  readonly fullyReadAt: Date | null;
  readonly createdAt: Date;
}
