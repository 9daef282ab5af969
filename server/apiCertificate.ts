/** The certificate of the API's name: the operator's, or one that control has ordered. */
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readEdgeCertificate } from "./edgeCertificate.ts";
import type { Sealer } from "./sealing.ts";
import type { Config } from "./settings/config.ts";

/** The id, and the name of the file, of the ordered certificate. */
export const apiCertificateId = "api";

export function apiCertificateFolder(data: string): string {
  return join(data, "edge", "api-certificate");
}

/** Makes the function that reads it, each time it is called. It returns null if there is no certificate yet. */
export function makeApiCertificateReader(
  { data, apiCertificate }: Pick<Config, "data" | "apiCertificate">,
  sealer: Sealer,
) {
  return async () => {
    if (apiCertificate !== null) {
      const { chain, key } = apiCertificate;
      return { chain: await readFile(chain, "utf8"), key: await readFile(key, "utf8") };
    }
    const folder = apiCertificateFolder(data);
    const isThere = await access(join(folder, apiCertificateId)).then(
      () => true,
      () => false,
    );
    return isThere ? readEdgeCertificate(folder, apiCertificateId, sealer) : null;
  };
}
