/** Opens the archives of this installation as configured. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { removeTree } from "@sitewright/runtimes/folders.ts";
import type { Logger } from "pino";
import { type Archives, openArchives } from "../archives/archives.ts";
import { canCreateKey, guardBlobs } from "../archives/guardedBlobs.ts";
import { openBlobs } from "../archives/openBlobs.ts";
import { fixedKeys, openKeySource, readKeySource } from "../keyFile.ts";
import { archiveKeyFile } from "../sealedSettings.ts";
import { archiveFolderExists, describeArchiveLocation, parseArchiveUrl } from "../settings/archiveUrl.ts";
import type { Config } from "../settings/config.ts";
import { storeMemory } from "../store/backups/archiveStore.ts";
import { piecesFor } from "../store/backups/pieces.ts";
import type { Database } from "../store/database.ts";

export interface ArchiveStore {
  readonly archives: Archives;
  /** Rejects if the store is not the one that holds the backups. */
  readonly check: (signal: AbortSignal) => Promise<void>;
}

export async function openArchiveStore(config: Config, database: Database, log: Logger): Promise<ArchiveStore> {
  const place = parseArchiveUrl(config.archiveUrl, config.archives);
  const memory = storeMemory(database);
  const where = {
    // A fixed name, because the data folder may be moved.
    place: config.archiveUrl === null ? "archives in the data folder" : describeArchiveLocation(place),
    isThere: () => archiveFolderExists(place),
  };
  const keyFile = archiveKeyFile(config.data);
  const keys = (await canCreateKey(memory, where)) ? await openKeySource(keyFile) : readKeySource(keyFile);
  const onNewStore = (sentence: string) => log.warn(sentence);
  const blobs = guardBlobs({ ...where, blobs: await openBlobs(place), memory, keys, onNewStore });
  const archives = openArchives({
    blobs,
    // If the key is missing, `guardBlobs` refuses all access, so this one is never used.
    keys: keys ?? fixedKeys(randomBytes(32)),
    indexOf: (backup) => piecesFor(database, backup),
    work: join(config.data, "work"),
    removeFolder: removeTree,
  });
  return { archives, check: blobs.check };
}
