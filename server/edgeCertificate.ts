/** The secret part of a certificate, as control has left it for the edge. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sealer } from "./sealing.ts";

/** PEM. */
export interface CertificateSecret {
  readonly key: string;
  readonly chain: string;
}

/** Rejects if there is none, where it was sealed with another key or for another certificate, or is no such thing. */
export async function readEdgeCertificate(folder: string, id: string, sealer: Sealer): Promise<CertificateSecret> {
  if (!/^[0-9a-z-]+$/i.test(id)) throw new Error("A certificate's id has letters, digits and hyphens only");
  const content: unknown = JSON.parse(sealer.open(await readFile(join(folder, id)), `edge-certificate:${id}`));
  const key: unknown = typeof content === "object" && content !== null ? Reflect.get(content, "key") : null;
  const chain: unknown = typeof content === "object" && content !== null ? Reflect.get(content, "chain") : null;
  if (typeof key !== "string" || typeof chain !== "string") {
    throw new Error(`The certificate ${id} has no key or chain`);
  }
  return { key, chain };
}
