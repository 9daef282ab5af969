/** Reads a certificate and its key from the file that control has written for the edge. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sealer } from "./sealing.ts";

/** PEM. */
interface CertificateSecret {
  readonly key: string;
  readonly chain: string;
}

/** Rejects if the file is missing, was sealed with another key or for another certificate, or is invalid. */
export async function readEdgeCertificate(folder: string, id: string, sealer: Sealer): Promise<CertificateSecret> {
  if (!/^[0-9a-z-]+$/i.test(id)) throw new Error("A certificate's id may only contain letters, digits and hyphens");
  const content: unknown = JSON.parse(sealer.open(await readFile(join(folder, id)), `edge-certificate:${id}`));
  const key: unknown = typeof content === "object" && content !== null ? Reflect.get(content, "key") : null;
  const chain: unknown = typeof content === "object" && content !== null ? Reflect.get(content, "chain") : null;
  if (typeof key !== "string" || typeof chain !== "string") {
    throw new Error(`The certificate ${id} has no key or chain`);
  }
  return { key, chain };
}
