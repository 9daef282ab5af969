/** Connections to external services, as configured. */
import { readFile } from "node:fs/promises";
import { type Deliver, makeDeliver } from "../mail/deliver.ts";
import type { Config } from "../settings/config.ts";
import { parseSmtpUrl, SmtpUrlError } from "../settings/smtpUrl.ts";
import { CannotStart } from "../supervisedProcess.ts";

/** PEM of the roots for the certificate authority's own certificate, or null for the system's. */
export async function readAcmeRoots({ acmeCaFile }: Config): Promise<readonly string[] | null> {
  if (acmeCaFile === null) return null;
  const text = await readFile(acmeCaFile, "utf8").catch((cause: unknown) => {
    const message = `SITEWRIGHT_ACME_CA_FILE=${acmeCaFile} can't be read. Name a file with certificates in PEM.`;
    throw new CannotStart(message, { cause });
  });
  return [text];
}

/** Null if there is no mail server. */
export function makeMailDelivery({ smtpUrl, siteSuffix }: Config): Deliver | null {
  try {
    return smtpUrl === null ? null : makeDeliver({ server: parseSmtpUrl(smtpUrl), name: siteSuffix });
  } catch (error) {
    if (error instanceof SmtpUrlError) throw new CannotStart(`SITEWRIGHT_SMTP_URL: ${error.message}`);
    throw error;
  }
}
