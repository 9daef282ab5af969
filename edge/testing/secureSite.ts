/** An edge that serves `site.localhost` over TLS, with a self-signed certificate. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { EdgeOptions } from "../edge.ts";
import type { EdgeHost, EdgeTable } from "../tables/table.ts";
import type { CertificateSecret } from "../tls/certificates.ts";
import { putTable } from "./http.ts";
import { makeFolder, startSite, tableOf } from "./withEdge.ts";

const run = promisify(execFile);

export async function makeSecret(...names: readonly string[]): Promise<CertificateSecret> {
  const folder = await makeFolder();
  const [key, cert] = [path.join(folder, "key"), path.join(folder, "cert")];
  const alternatives = names.map((name) => `DNS:${name}`).join(",");
  const subject = ["-subj", `/CN=${names[0]}`, "-addext", `subjectAltName=${alternatives}`];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await run("openssl", ["req", "-x509", ...kind, "-keyout", key, "-out", cert, "-days", "2", ...subject]);
  return { key: await readFile(key, "utf8"), chain: await readFile(cert, "utf8") };
}

/** `tell` sends the edge a new table for the same site. */
export async function startSecureSite(
  files: Readonly<Record<string, string | Buffer>> = { "a.txt": "file" },
  others: readonly string[] = [],
  edge: Partial<EdgeOptions> = {},
) {
  const secrets = new Map([["site", await makeSecret("site.localhost", ...others)]]);
  const readCertificate = async (id: string) => {
    const secret = secrets.get(id);
    if (secret === undefined) throw new Error(`no certificate ${id}`);
    return secret;
  };
  const world = await startSite(files, { edge: { ...edge, tls: { port: 0, readCertificate } } });
  const hosts = Object.fromEntries(["site.localhost", ...others].map((name) => [name, "one"]));
  const tell = (generation: number, more: Partial<EdgeTable>, host: Partial<EdgeHost> = {}) => {
    const table = tableOf(generation, [world.environment], hosts);
    return putTable(world.edge, { ...table, hosts: table.hosts.map((each) => ({ ...each, ...host })), ...more });
  };
  const ca = secrets.get("site")?.chain ?? "";
  return { ...world, secrets, tell, tlsPort: world.edge.tlsPort ?? 0, ca };
}

export const site = { id: "site", names: ["site.localhost"], notAfter: Date.now() + 86_400_000 };
