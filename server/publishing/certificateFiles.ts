/**
 * The secret part of certificates, in files that the edge reads: `edge/certificates/<id>` of the data folder. They are there
 * before a table names them, sealed like everything else that must not be read by others.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EdgeCertificate } from "@sitewright/edge/tables/table.ts";
import type { Logger } from "pino";
import { writeDurableFile } from "../durableFile.ts";
import type { Sealer } from "../sealing.ts";
import type { Database } from "../store/database.ts";
import { findSecrets, listCertificateIds, type PresentedCertificate } from "../store/domains/certificates.ts";

export interface CertificateFiles {
  /** Writes those that are absent. Returns what the table says of those that are there. */
  write(certificates: readonly PresentedCertificate[]): Promise<readonly EdgeCertificate[]>;
  /** Removes the files of certificates that are gone. These are not, as a table names them. */
  removeOthers(certificates: readonly EdgeCertificate[]): Promise<void>;
}

export interface CertificateFilesOptions {
  readonly database: Database;
  readonly dataFolder: string;
  readonly sealer: Sealer;
  readonly log: Logger;
}

export function certificateFolder(dataFolder: string): string {
  return join(dataFolder, "edge", "certificates");
}

export function makeCertificateFiles({ database, dataFolder, sealer, log }: CertificateFilesOptions): CertificateFiles {
  const folder = certificateFolder(dataFolder);

  async function list(): Promise<string[]> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return readdir(folder);
  }

  /** False if it was removed meanwhile, or can't be opened: no site waits for another's certificate. */
  async function writeOne(id: string): Promise<boolean> {
    const secrets = await findSecrets(database, id);
    if (!secrets) return false;
    const key = open(id, secrets.keySealed);
    if (key === null) return false;
    const content = JSON.stringify({ key, chain: secrets.chain });
    await writeDurableFile(join(folder, id), sealer.seal(content, `edge-certificate:${id}`));
    return true;
  }

  function open(id: string, keySealed: Buffer): string | null {
    try {
      return sealer.open(keySealed, `certificate:${id}`);
    } catch (err) {
      log.error(
        { err, certificate: id },
        "A certificate's key can't be opened: is secrets/key the one it was sealed with?",
      );
      return null;
    }
  }

  return {
    write: async (certificates) => {
      if (certificates.length === 0) return [];
      const there = new Set(await list());
      const shown: EdgeCertificate[] = [];
      for (const { id, names, notAfter } of certificates) {
        if (there.has(id) || (await writeOne(id))) shown.push({ id, names, notAfter: notAfter.getTime() });
      }
      return shown;
    },
    removeOthers: async (certificates) => {
      const named = new Set(certificates.map(({ id }) => id));
      const others = (await list()).filter((file) => !named.has(file));
      if (others.length === 0) return;
      // Another process may be about to name it: its row was there before its file, and so is found after the listing.
      const kept = new Set(await listCertificateIds(database));
      for (const file of others.filter((name) => !kept.has(withoutEnding(name))))
        await rm(join(folder, file), { force: true });
    },
  };
}

/** A file that is being written has the certificate's id and more. */
function withoutEnding(file: string): string {
  return file.split(".")[0] ?? file;
}
