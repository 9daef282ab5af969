/** The API at its own name, from the edge's TLS port to the control process and back. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Edge } from "@sitewright/edge/edge.ts";
import { ask as askPlain } from "@sitewright/edge/testing/http.ts";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { createFakeServing } from "@sitewright/runtimes/fake/serving.ts";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificate } from "./certificates/testing/openssl.ts";
import { type Control, startControl } from "./control.ts";
import { startEdgeProcess } from "./edgeProcess.ts";
import { loadConfig } from "./settings/config.ts";
import { createTestDatabase, type TestDatabase } from "./testing/database.ts";
import { silentLog } from "./testing/engine.ts";
import { startPebble } from "./testing/pebble.ts";

const name = "api.example.net";
const key = "swk_api_name_test_0123456789";

let folder: string;
let own: TestDatabase;

interface Started {
  readonly edge: Edge;
  readonly control: Control;
}

/** `settingsFor` returns more settings of the control process, when the edge's HTTP port is known. */
async function start(
  more: NodeJS.ProcessEnv,
  settingsFor: (httpPort: number) => Promise<NodeJS.ProcessEnv> = async () => ({}),
): Promise<Started> {
  const settings = {
    SITEWRIGHT_DATA: join(folder, "data"),
    SITEWRIGHT_RUN: join(folder, "run"),
    SITEWRIGHT_API_NAME: name,
    SITEWRIGHT_FIRST_API_KEY: key,
    SITEWRIGHT_CONTROL_PORT: "0",
    SITEWRIGHT_EDGE_PORT: "0",
    SITEWRIGHT_EDGE_TLS_PORT: "0",
    SITEWRIGHT_WPORG_URL: "none",
    DATABASE_URL: own.url,
    ...more,
  };
  const log = silentLog;
  const edge = await startEdgeProcess({ config: loadConfig(settings), log, makeServing: () => createFakeServing() });
  onTestFinished(() => edge.close(0));
  const config = loadConfig({ ...settings, ...(await settingsFor(edge.port)) });
  const control = await startControl({
    config,
    runtimes: { playground: createFakeRuntime({ folder: join(folder, "fake") }) },
    log,
  });
  onTestFinished(() => control.stop());
  return { edge, control };
}

/** Removed after everything that a test starts later. */
async function prepare(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "swapi-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  own = await createTestDatabase();
  onTestFinished(() => own.drop());
}

type Headers = Readonly<Record<string, string>>;

async function ask({ edge }: Started, trust: { readonly ca?: string }, path: string, headers: Headers = {}) {
  const isTrusted = trust.ca !== undefined;
  const to = {
    host: "127.0.0.1",
    port: edge.tlsPort ?? 0,
    servername: name,
    agent: false,
    rejectUnauthorized: isTrusted,
  };
  const sent = request({ ...to, ...trust, path, headers: { host: `${name}:${edge.tlsPort}`, ...headers } }).end();
  const [response]: [IncomingMessage] = await once(sent, "response").then(([given]) => [given]);
  return { status: response.statusCode, body: await text(response) };
}

const withKey = { authorization: `Bearer ${key}` };

test("the API can be used over TLS with the operator's certificate", async () => {
  await prepare();
  const { cert: ca, key: pemKey } = await makeCertificate({ names: [name] });
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  await writeFile(files.cert, ca);
  await writeFile(files.key, pemKey);
  const started = await start({
    SITEWRIGHT_API_CERTIFICATE: files.cert,
    SITEWRIGHT_API_CERTIFICATE_KEY: files.key,
  });
  const { edge, control } = started;
  const get = (path: string, headers?: Headers) => ask(started, { ca }, path, headers);
  expect((await get("/v2/validate", withKey)).status).toBe(200);
  expect((await get("/v2/validate")).status).toBe(401);
  // Links in responses have the API's name and scheme.
  expect((await get("/v2/unknown", withKey)).body).toContain(`https://${name}:${edge.tlsPort}/`);
  const plain = await askPlain(edge, "/v2/validate", { host: name, headers: withKey });
  expect([plain.status, plain.body.includes("Revoke it")]).toEqual([403, true]);
  // Clients of the name are not this machine, whatever they send.
  expect((await get("/metrics")).status).toBe(404);
  expect((await get("/metrics", { "x-forwarded-for": "127.0.0.1" })).status).toBe(404);
  expect((await fetch(`${control.url}/metrics`)).status).toBe(200);
});

test("without a certificate of the operator, one is ordered through the edge", async () => {
  await prepare();
  const started = await start({}, async (httpPort) => {
    const pebble = await startPebble({ httpPort });
    onTestFinished(() => pebble[Symbol.asyncDispose]());
    const roots = join(folder, "roots.pem");
    await writeFile(roots, pebble.root);
    return { SITEWRIGHT_ACME_URL: pebble.directory, SITEWRIGHT_ACME_CA_FILE: roots };
  });
  const status = () =>
    ask(started, {}, "/v2/validate", withKey).then(
      (got) => got.status,
      () => null,
    );
  await expect.poll(status).toBe(200);
});
