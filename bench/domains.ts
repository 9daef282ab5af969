/**
 * From adding a domain that points here already to the first 200 under its name by TLS: with a certificate of the
 * customer's own, and with one of the authority `pebble`. In an installation of its own, because it has settings of its own.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { type Installation, start } from "@sitewright/e2e/installation.ts";
import { type CreatedSite, createSite, followOperation } from "@sitewright/e2e/sites.ts";
import { until } from "@sitewright/e2e/until.ts";
import { makeCertificate } from "@sitewright/server/certificates/testing/openssl.ts";
import { freePort, startPebble } from "@sitewright/server/testing/pebble.ts";
import { untilAtRest } from "./machine.ts";
import { atMost, duration, type Figure } from "./report.ts";
import { median } from "./statistics.ts";

const times = 5;
const mostOwnMilliseconds = 1_000;
const mostAcmeMilliseconds = 10_000;
/** WordPress answers it under any name; the front page leads to the primary domain. */
const page = "/wp-login.php";

interface Seen {
  readonly status: number;
  readonly names: string;
}

/** Requests a page from this machine over TLS, with any certificate. */
async function visit(port: number, name: string): Promise<Seen> {
  const { promise, resolve, reject } = Promise.withResolvers<Seen>();
  const asked = request(
    { host: "127.0.0.1", port, servername: name, path: page, headers: { host: name }, rejectUnauthorized: false },
    (response) => {
      const { socket } = response;
      const names = socket instanceof TLSSocket ? (socket.getPeerCertificate().subjectaltname ?? "") : "";
      response.resume().on("end", () => resolve({ status: response.statusCode ?? 0, names }));
    },
  );
  asked.on("error", reject).end();
  return promise;
}

interface Place {
  readonly installation: Installation;
  readonly site: CreatedSite;
  readonly tlsPort: number;
}

/** In milliseconds. */
async function measureOne({ installation, site, tlsPort }: Place, name: string, more: object): Promise<number> {
  const began = performance.now();
  const body = { domain_name: name, is_wildcardless: true, ...more };
  const answer = await installation.api("POST", `/sites/environments/${site.environmentId}/domains`, body);
  if (answer.status !== 202) throw new Error(`Adding ${name} answered ${answer.status}: ${answer.text}`);
  const taken = await until(
    async () => {
      const { status, names } = await visit(tlsPort, name);
      if (status !== 200 || !names.includes(`DNS:${name}`)) throw new Error(`${name} answered ${status}, for ${names}`);
      return performance.now() - began;
    },
    { deadlineSeconds: 60, intervalMilliseconds: 5 },
  );
  await followOperation(installation, answer.json<{ operation_id: string }>().operation_id);
  return taken;
}

async function measureAll(place: Place, names: readonly string[], moreOf: (name: string) => Promise<object>) {
  const taken: number[] = [];
  await untilAtRest();
  for (const name of names) {
    const more = await moreOf(name);
    taken.push(await measureOne(place, name, more));
  }
  return taken;
}

const absent: Figure = {
  name: "domains by TLS",
  measured: "–",
  target: "–",
  isMet: true,
  reference: "needs pebble: apt-get install pebble",
};

const numbers = Array.from({ length: times }, (_, index) => index + 1);
const slowest = (taken: readonly number[]): string => `slowest of ${times}: ${duration(Math.max(...taken))}`;

/** `clone` is a repository, `data` the folder of an installation that has its downloads already. */
export async function measureDomains(clone: string, data: string): Promise<Figure[]> {
  if (!hasPebble()) return [absent];
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
    SITEWRIGHT_SPARE_WORKERS: "1",
    SITEWRIGHT_EDGE_PORT: String(edgePort),
    SITEWRIGHT_EDGE_TLS_PORT: String(tlsPort),
    SITEWRIGHT_EDGE_ADDRESSES: "127.0.0.1",
    SITEWRIGHT_RESOLVER: pebble.resolver,
    SITEWRIGHT_ACME_URL: pebble.directory,
    SITEWRIGHT_ACME_CA_FILE: join(folder, "root.pem"),
  });
  stack.defer(() => installation.stop());
  const site = await createSite(installation, { display_name: "Domains", site_title: "Domains" });
  const place = { installation, site, tlsPort };

  const own = await measureAll(
    place,
    numbers.map((number) => `own-${number}.com`),
    async (name) => {
      const { cert, key } = await makeCertificate({ names: [name] });
      return { custom_ssl_cert: cert, custom_ssl_key: key };
    },
  );
  const ordered = await measureAll(
    place,
    numbers.map((number) => `ordered-${number}.com`),
    async () => ({}),
  );
  const what = "domain that points here added → 200 by TLS";
  return [
    atMost(`${what}, own certificate, median`, median(own), mostOwnMilliseconds, slowest(own)),
    atMost(`${what}, certificate from pebble, median`, median(ordered), mostAcmeMilliseconds, slowest(ordered)),
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
