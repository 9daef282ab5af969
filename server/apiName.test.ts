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
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeCertificate } from "./certificates/testing/openssl.ts";
import { type Control, startControl } from "./control.ts";
import { startEdgeProcess } from "./edgeProcess.ts";
import { loadConfig } from "./settings/config.ts";
import { createTestDatabase, type TestDatabase } from "./testing/database.ts";
import { silentLog } from "./testing/engine.ts";

const name = "api.example.net";
const key = "swk_api_name_test_0123456789";

let folder: string;
let own: TestDatabase;
let control: Control;
let edge: Edge;
let ca: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "swapi-"));
  own = await createTestDatabase();
  const pem = await makeCertificate({ names: [name] });
  ca = pem.cert;
  await writeFile(join(folder, "cert.pem"), pem.cert);
  await writeFile(join(folder, "key.pem"), pem.key);
  const config = loadConfig({
    SITEWRIGHT_DATA: join(folder, "data"),
    SITEWRIGHT_RUN: join(folder, "run"),
    SITEWRIGHT_API_NAME: name,
    SITEWRIGHT_API_CERTIFICATE: join(folder, "cert.pem"),
    SITEWRIGHT_API_CERTIFICATE_KEY: join(folder, "key.pem"),
    SITEWRIGHT_FIRST_API_KEY: key,
    SITEWRIGHT_CONTROL_PORT: "0",
    SITEWRIGHT_EDGE_PORT: "0",
    SITEWRIGHT_EDGE_TLS_PORT: "0",
    SITEWRIGHT_WPORG_URL: "none",
    DATABASE_URL: own.url,
  });
  edge = await startEdgeProcess({ config, log: silentLog, makeServing: () => createFakeServing() });
  control = await startControl({
    config,
    runtime: createFakeRuntime({ folder: join(folder, "fake") }),
    log: silentLog,
  });
});

afterAll(async () => {
  await control?.stop();
  await edge?.close(0);
  await own?.drop();
  await rm(folder, { recursive: true, force: true });
});

async function ask(path: string, headers: Readonly<Record<string, string>> = {}) {
  const to = { host: "127.0.0.1", port: edge.tlsPort ?? 0, servername: name, ca, agent: false };
  const sent = request({ ...to, path, headers: { host: `${name}:${edge.tlsPort}`, ...headers } }).end();
  const [response]: [IncomingMessage] = await once(sent, "response").then(([given]) => [given]);
  return { status: response.statusCode, body: await text(response) };
}

const withKey = { authorization: `Bearer ${key}` };

test("a key is valid over TLS, and refused in plain text", async () => {
  expect((await ask("/v2/validate", withKey)).status).toBe(200);
  expect((await ask("/v2/validate")).status).toBe(401);
  const plain = await askPlain(edge, "/v2/validate", { host: name, headers: withKey });
  expect([plain.status, plain.body.includes("Revoke it")]).toEqual([403, true]);
});

test("links in responses have the API's name and scheme", async () => {
  expect((await ask("/v2/unknown", withKey)).body).toContain(`https://${name}:${edge.tlsPort}/`);
});

test("clients of the name are not this machine, whatever they send", async () => {
  expect((await ask("/metrics")).status).toBe(404);
  expect((await ask("/metrics", { "x-forwarded-for": "127.0.0.1" })).status).toBe(404);
  expect((await fetch(`${control.url}/metrics`)).status).toBe(200);
});

test("while control is down, the edge says so", async () => {
  await control.stop();
  expect((await ask("/v2/validate", withKey)).status).toBe(503);
});
