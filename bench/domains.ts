/**
 * Time from adding a domain that already points here to its first 200 over TLS, with a custom certificate and with one
 * issued by the test authority Pebble. Uses a separate installation, because it needs special settings.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { freePort } from "@sitewright/dns/testing/freePort.ts";
import { type Installation, start } from "@sitewright/e2e/installation.ts";
import { type CreatedSite, createSite, followOperation } from "@sitewright/e2e/sites.ts";
import { until } from "@sitewright/e2e/until.ts";
import { makeCertificate } from "@sitewright/server/certificates/testing/openssl.ts";
import { startPebble } from "@sitewright/server/testing/pebble.ts";
import { untilIdle } from "./machine.ts";
import { atMost, duration, type Figure } from "./report.ts";
import { median } from "./statistics.ts";

const times = 5;
const maxOwnMilliseconds = 1_000;
const maxAcmeMilliseconds = 10_000;
/** WordPress serves this page under any domain, but redirects the front page to the primary domain. */
const page = "/wp-login.php";

interface Visit {
  readonly status: number;
  readonly names: string;
}

/** Requests a page from this machine over TLS. Accepts any certificate. */
async function visit(port: number, name: string): Promise<Visit> {
  const { promise, resolve, reject } = Promise.withResolvers<Visit>();
  const sent = request(
    { host: "127.0.0.1", port, servername: name, path: page, headers: { host: name }, rejectUnauthorized: false },
    (response) => {
      const { socket } = response;
      const names = socket instanceof TLSSocket ? (socket.getPeerCertificate().subjectaltname ?? "") : "";
      response.resume().on("end", () => resolve({ status: response.statusCode ?? 0, names }));
    },
  );
  sent.on("error", reject).end();
  return promise;
}

interface Target {
  readonly installation: Installation;
  readonly site: CreatedSite;
  readonly tlsPort: number;
}

/** Returns milliseconds. */
async function measureOne({ installation, site, tlsPort }: Target, name: string, fields: object): Promise<number> {
  const startedAt = performance.now();
  const body = { domain_name: name, is_wildcardless: true, ...fields };
  const answer = await installation.api("POST", `/sites/environments/${site.environmentId}/domains`, body);
  if (answer.status !== 202) throw new Error(`Adding ${name} answered ${answer.status}: ${answer.text}`);
  const milliseconds = await until(
    async () => {
      const { status, names } = await visit(tlsPort, name);
      if (status !== 200 || !names.includes(`DNS:${name}`)) throw new Error(`${name} answered ${status}, for ${names}`);
      return performance.now() - startedAt;
    },
    { deadlineSeconds: 60, intervalMilliseconds: 5 },
  );
  await followOperation(installation, answer.json<{ operation_id: string }>().operation_id);
  return milliseconds;
}

async function measureAll(target: Target, names: readonly string[], fieldsFor: (name: string) => Promise<object>) {
  const measured: number[] = [];
  await untilIdle();
  for (const name of names) {
    const fields = await fieldsFor(name);
    measured.push(await measureOne(target, name, fields));
  }
  return measured;
}

const skipped: Figure = {
  name: "domains over TLS",
  measured: "–",
  target: "–",
  isMet: true,
  reference: "needs pebble: apt-get install pebble",
};

const numbers = Array.from({ length: times }, (_, index) => index + 1);
const slowest = (measured: readonly number[]): string => `slowest of ${times}: ${duration(Math.max(...measured))}`;

/** `clone` is a clone of the repository, `data` the data folder of an installation whose downloads are reused. */
export async function measureDomains(clone: string, data: string): Promise<Figure[]> {
  if (!hasPebble()) return [skipped];
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "sw-domains-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const [edgePort, tlsPort] = [await freePort(), await freePort()];
  const pebble = stack.use(await startPebble({ httpPort: edgePort }));
  await writeFile(join(folder, "root.pem"), pebble.root);
  const installation = await start(clone, {
    SITEWRIGHT_DATA: join(folder, "data"),
    SITEWRIGHT_RUN: join(folder, "run"),
    SITEWRIGHT_ASSETS: join(data, "assets"),
    SITEWRIGHT_PREPARED_WORKERS: "1",
    SITEWRIGHT_EDGE_PORT: String(edgePort),
    SITEWRIGHT_EDGE_TLS_PORT: String(tlsPort),
    SITEWRIGHT_EDGE_ADDRESSES: "127.0.0.1",
    SITEWRIGHT_RESOLVER: pebble.resolver,
    SITEWRIGHT_ACME_URL: pebble.directory,
    SITEWRIGHT_ACME_CA_FILE: join(folder, "root.pem"),
  });
  stack.defer(() => installation.stop());
  const site = await createSite(installation, { display_name: "Domains", site_title: "Domains" });
  const target = { installation, site, tlsPort };

  const own = await measureAll(
    target,
    numbers.map((number) => `own-${number}.com`),
    async (name) => {
      const { cert, key } = await makeCertificate({ names: [name] });
      return { custom_ssl_cert: cert, custom_ssl_key: key };
    },
  );
  const ordered = await measureAll(
    target,
    numbers.map((number) => `ordered-${number}.com`),
    async () => ({}),
  );
  const name = "domain that points here added → first 200 over TLS";
  return [
    atMost(`${name}, custom certificate, median`, median(own), maxOwnMilliseconds, slowest(own)),
    atMost(`${name}, certificate from Pebble, median`, median(ordered), maxAcmeMilliseconds, slowest(ordered)),
  ];
}

function hasPebble(): boolean {
  try {
    execFileSync("pebble", ["-version"], { stdio: "ignore" });
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ENOENT");
  }
}
