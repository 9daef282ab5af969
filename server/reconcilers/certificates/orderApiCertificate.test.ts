/** The certificate of the API's name, ordered from a real authority through a real edge. */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeApiCertificateReader } from "../../apiCertificate.ts";
import { makeSealer } from "../../sealing.ts";
import { createTestDatabase, type TestDatabase } from "../../testing/database.ts";
import { type Pebble, startPebble } from "../../testing/pebble.ts";
import { makeApiCertificateOrder } from "./orderApiCertificate.ts";

const name = "api.example.net";
const sealer = makeSealer(Buffer.alloc(32));
const challenges = new Map<string, string>();
const hour = 3_600_000;

const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.headers.host?.replace(/:\d+$/, "")}${request.url}`);
  const content = challenges.get(request.url?.split("/").at(-1) ?? "");
  response.writeHead(content === undefined ? 404 : 200).end(content);
});
let pebble: Pebble;
let own: TestDatabase;
let data: string;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  pebble = await startPebble({ httpPort: typeof address === "object" && address ? address.port : 0 });
  own = await createTestDatabase();
});
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "swapicert-"));
  asked.length = 0;
});
afterAll(async () => {
  await pebble?.[Symbol.asyncDispose]();
  await own?.drop();
  server.close();
  await rm(data, { recursive: true, force: true });
});

function open(changes: { readonly name?: string; readonly challenges?: Map<string, string>; isReady?: boolean } = {}) {
  let time = Date.now();
  const order = makeApiCertificateOrder({
    database: own.database,
    sealer,
    directory: pebble.directory,
    roots: [pebble.root],
    email: null,
    binding: null,
    signal: new AbortController().signal,
    name: changes.name ?? name,
    data,
    challenges: changes.challenges ?? challenges,
    isEdgeReady: async () => changes.isReady ?? true,
    now: () => new Date(time),
  });
  return { order, advance: (milliseconds: number) => (time += milliseconds) };
}

async function current(): Promise<X509Certificate | null> {
  const secret = await makeApiCertificateReader({ data, apiCertificate: null }, sealer)();
  return secret === null ? null : new X509Certificate(secret.chain);
}

test("is ordered once, and again before it expires", async () => {
  const { order, advance } = open();
  expect(await current()).toBeNull();
  await order();
  const first = await current();
  expect(first?.checkHost(name)).toBe(name);
  expect(asked.every((url) => url.startsWith(`${name}/.well-known/acme-challenge/`))).toBe(true);
  expect(challenges.size).toBe(0);
  await order();
  expect((await current())?.serialNumber).toBe(first?.serialNumber);
  advance((first?.validToDate.getTime() ?? 0) - Date.now() - hour);
  await order();
  expect((await current())?.serialNumber).not.toBe(first?.serialNumber);
});

test("is ordered again for another name", async () => {
  await open().order();
  await open({ name: "other.example.net" }).order();
  expect((await current())?.checkHost("other.example.net")).toBe("other.example.net");
});

test("that is refused is not ordered again for a quarter of an hour", async () => {
  // A name that the authority has never validated: it may skip the challenge for others.
  const { order, advance } = open({ name: "refused.example.net", challenges: new Map() });
  await expect(order()).rejects.toThrow("The certificate authority refused it");
  const before = asked.length;
  advance(14 * 60_000);
  await order();
  expect(asked.length).toBe(before);
  advance(60_000);
  await expect(order()).rejects.toThrow("refused");
  expect(await current()).toBeNull();
});

test("is not ordered while the edge is down, because the authority could not reach the API", async () => {
  await open({ isReady: false }).order();
  expect([await current(), asked]).toEqual([null, []]);
});
