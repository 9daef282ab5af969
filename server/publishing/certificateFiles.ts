/**
 * Files with certificates and their keys for the edge: `edge/certificates/<id>` in the data folder. They are sealed, and
 * written before a table names them.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EdgeCertificate } from "@sitewright/edge/tables/table.ts";
import type { Logger } from "pino";
import { writeDurableFile } from "../durableFile.ts";
import type { Sealer } from "../sealing.ts";
import type { Database } from "../store/database.ts";
import { findSecrets, listCertificateIds, type PresentedCertificate } from "../store/domains/certificates.ts";

interface CertificateFiles {
  /** Writes the missing files. Returns the table's entries for all certificates that have a file. */
  write(certificates: readonly PresentedCertificate[]): Promise<readonly EdgeCertificate[]>;
  /** Removes files of certificates that no longer exist. Keeps those of `certificates`, which the table names. */
  removeOthers(certificates: readonly EdgeCertificate[]): Promise<void>;
}

interface CertificateFilesOptions {
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

  /** False if the certificate was removed in the meantime or can't be opened; the others are still published. */
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
        "A certificate's key can't be opened. Is secrets/key the key it was sealed with?",
      );
      return null;
    }
  }

  return {
    write: async (certificates) => {
      if (certificates.length === 0) return [];
      const existing = new Set(await list());
      const entries: EdgeCertificate[] = [];
      for (const { id, names, notAfter } of certificates) {
        if (existing.has(id) || (await writeOne(id))) entries.push({ id, names, notAfter: notAfter.getTime() });
      }
      return entries;
    },
    removeOthers: async (certificates) => {
      const named = new Set(certificates.map(({ id }) => id));
      const others = (await list()).filter((file) => !named.has(file));
      if (others.length === 0) return;
      // Another process may be about to publish one: rows are inserted before files, so reading them after the listing finds it.
      const kept = new Set(await listCertificateIds(database));
      for (const file of others.filter((name) => !kept.has(withoutSuffix(name))))
        await rm(join(folder, file), { force: true });
    },
  };
}

/** Temporary files have a suffix after the certificate's id. */
function withoutSuffix(file: string): string {
  return file.split(".")[0] ?? file;
}
