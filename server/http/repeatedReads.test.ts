/** Other tests use the same database server, and after each of their changes reads are made again. So tests wait for a repetition. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect, Socket } from "node:net";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeTakeRequest } from "./connections.ts";
import { makeFindEndpoint } from "./findEndpoint.ts";
import { makeRateLimits } from "./rateLimits.ts";
import { makeRepeatedReads } from "./repeatedReads.ts";
import { type TestServer, useTestServer } from "./testing/server.ts";
import { tokenFacts } from "./tokens.ts";

const test = useTestServer({ limits: { rateLimitPerMinute: 100_000 } });
const limited = useTestServer({ limits: { rateLimitPerMinute: 5 } });

type Headers = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether it was answered without Fastify. */
  readonly isRepeated: boolean;
}

type Get = (path: string, headers?: Headers & { readonly key?: string }, sent?: RequestInit) => Promise<Answer>;

const json = { "content-type": "application/json" };

let get: Get;
let getLimited: Get;

/** Injected requests reach Fastify directly, so these use connections. */
async function startClient({ server, company, listen }: TestServer): Promise<Get> {
  const passedOn = new Set<unknown>();
  server.addHook("onSend", (request, reply, _payload, done) => {
    passedOn.add(reply.getHeader("x-request-id"));
    expect(reply.getHeader("x-request-id")).toBe(request.id);
    done();
  });
  const base = `http://127.0.0.1:${await listen()}`;
  return async (path, { key = company.api_key, ...headers } = {}, sent = {}) => {
    const response = await fetch(base + path, { ...sent, headers: { authorization: `Bearer ${key}`, ...headers } });
    const text = await response.text();
    const all = Object.fromEntries(response.headers);
    return { status: response.status, headers: all, text, isRepeated: !passedOn.has(all["x-request-id"]) };
  };
}

beforeAll(async () => {
  get = await startClient(test.current);
  getLimited = await startClient(limited.current);
});

/** Reads until a response was repeated, and returns it. */
async function repeated(...given: Parameters<Get>): Promise<Answer> {
  for (;;) {
    const answer = await get(...given);
    if (answer.isRepeated) return answer;
  }
}

/** Reads until a response was made again, and returns it. */
async function made(...given: Parameters<Get>): Promise<Answer> {
  test.current.identities.forgetKeys();
  for (;;) {
    const answer = await get(...given);
    if (!answer.isRepeated) return answer;
  }
}

/** Without those that differ between any two responses. */
function stableHeaders({ headers }: Answer) {
  const { "x-request-id": _, "x-ratelimit-remaining": __, "x-ratelimit-reset": ___, date: ____, ...stable } = headers;
  return stable;
}

describe("a repeated response", () => {
  it("has the status, the headers and the body of the response that was made", async () => {
    const { siteId, id } = await test.current.addSiteWithEnvironment();
    const { company_id } = test.current.company;
    const paths = ["/validate", `/sites/${siteId}`, `/sites?company=${company_id}`, `/sites/environments/${id}/limits`];
    for (const path of paths) {
      const first = await made(`/v2${path}`);
      const again = await repeated(`/v2${path}`);
      expect([again.status, again.text]).toEqual([200, first.text]);
      expect(stableHeaders(again)).toEqual(stableHeaders(first));
      const condition = { "if-none-match": String(first.headers.etag) };
      const unchanged = await made(`/v2${path}`, condition);
      const unchangedAgain = await repeated(`/v2${path}`, condition);
      expect([unchangedAgain.status, unchangedAgain.text]).toEqual([304, ""]);
      expect(stableHeaders(unchangedAgain)).toEqual(stableHeaders(unchanged));
    }
  });

  it("has its own request id, and counts for the rate limit", async () => {
    const first = await repeated("/v2/validate");
    const second = await repeated("/v2/validate");
    expect(first.headers["x-request-id"]).toMatch(/^[\da-f-]{36}$/);
    expect(second.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
    expect(Number(second.headers["x-ratelimit-remaining"])).toBeLessThan(
      Number(first.headers["x-ratelimit-remaining"]),
    );
  });

  it("is never older than a change that was acknowledged before, by any process", async () => {
    const siteId = await test.current.addSite();
    for (let count = 0; count < 20; count += 1) {
      await repeated(`/v2/sites/${siteId}`);
      const others = Array.from({ length: 10 }, () => get(`/v2/sites/${siteId}`));
      const display_name = `Name ${count}`;
      await test.current.pool.query("update sites set display_name = $2 where id = $1", [siteId, display_name]);
      const { text } = await get(`/v2/sites/${siteId}`);
      expect(JSON.parse(text).site.display_name).toBe(display_name);
      await Promise.all(others);
    }
  });

  it("is not sent to another key, and not after the object is gone", async () => {
    const siteId = await test.current.addSite();
    await repeated(`/v2/sites/${siteId}`);
    expect((await get(`/v2/sites/${siteId}`, { key: test.current.otherCompany.api_key })).status).toBe(404);
    expect((await get(`/v2/sites/${siteId}`, { key: "sk_unknown" })).status).toBe(401);
    await test.current.deleteSite(siteId);
    expect((await get(`/v2/sites/${siteId}`)).status).toBe(404);
  });

  it("is not sent to a key that has been revoked or restricted", async () => {
    const { company, addKey, call } = test.current;
    const keys = `/v2/company/${company.company_id}/api-keys`;
    const { id, token } = await addKey({});
    for (const path of ["/v2/validate", `/v2/sites?company=${company.company_id}`])
      await repeated(path, { key: token });
    await call("PUT", `${keys}/${id}/allowed-addresses`, { body: { allowed_addresses: ["192.0.2.1"] } });
    expect((await get("/v2/validate", { key: token })).status).toBe(403);
    const other = { key: token, "x-forwarded-for": "192.0.2.1" };
    expect((await repeated("/v2/validate", other)).status).toBe(200);
    expect((await get("/v2/validate", { key: token })).status).toBe(403);
    await call("DELETE", `${keys}/${id}`);
    expect((await get("/v2/validate", other)).status).toBe(401);
  });
});

describe("a read that is not repeated", () => {
  it("has a body, which may hold its query", async () => {
    const { company } = test.current;
    const { port } = new URL((await test.current.server.listeningOrigin) ?? "");
    const send = (body: string) =>
      new Promise<string>((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${company.api_key}`,
          "content-type": "application/json",
          "content-length": String(body.length),
        };
        const sent = request({ port, path: `/v2/sites?company=${company.company_id}`, headers }, (response) => {
          response.setEncoding("utf8").once("data", resolve);
        });
        sent.once("error", reject).end(body);
      });
    await test.current.addSite({ display_name: "Wanted" });
    await repeated(`/v2/sites?company=${company.company_id}`);
    expect(JSON.parse(await send('{"search":"no such name"}')).company.sites).toEqual([]);
    const { text } = await get(`/v2/sites?company=${company.company_id}`);
    expect(text).toContain("Wanted");
  });

  it("depends on the clock or on files", async () => {
    const { company, addSiteWithEnvironment } = test.current;
    const { id } = await addSiteWithEnvironment();
    const paths = [`/company/${company.company_id}/deleted-sites`, `/sites/environments/${id}/file-list`];
    for (const path of paths) {
      for (let count = 0; count < 5; count += 1) expect(await get(`/v2${path}`)).toMatchObject({ isRepeated: false });
    }
  });
});

describe("the rate limit of repeated reads", () => {
  it("is the same, and so is the 429", async () => {
    const answers: Answer[] = [];
    for (let count = 0; count < 10; count += 1) answers.push(await getLimited("/v2/validate"));
    expect(answers.map(({ status }) => status)).toEqual([...Array(5).fill(200), ...Array(5).fill(429)]);
    const injected = await limited.current.call("GET", "/v2/validate");
    const last = answers.at(-1);
    expect(last?.isRepeated).toBe(true);
    expect([injected.status, injected.text]).toEqual([last?.status, last?.text]);
    const { "x-request-id": _, "x-ratelimit-reset": __, date: ___, connection: ____, ...expected } = injected.headers;
    for (const [name, value] of Object.entries(expected)) expect(last?.headers[name]).toBe(value);
  });

  it("refuses reads that were never made, and changes, before Fastify sees them", async () => {
    const { token: key } = await limited.current.addKey({});
    const change = { method: "PUT", body: JSON.stringify({ ip_list: ["x".repeat(10_000)] }) };
    const answers: Answer[] = [];
    for (let count = 0; count < 12; count += 1) {
      const isRead = count % 2 === 0;
      const path = isRead ? `/v2/sites/${randomUUID()}/environments?${count}` : "/v2/sites/tools/denied-ips";
      answers.push(await getLimited(path, { key, ...json }, isRead ? {} : change));
    }
    expect(answers.map(({ status }) => status)).toEqual([404, 400, 404, 400, 404, ...Array(7).fill(429)]);
    expect(answers.map(({ isRepeated }) => isRepeated)).toEqual([...Array(5).fill(false), ...Array(7).fill(true)]);
  });

  it("leaves the refusal of a long body to Fastify, which does not read it", async () => {
    const { api_key: key } = limited.current.otherCompany;
    for (let count = 0; count < 6; count += 1) await getLimited("/v2/validate", { key });
    const sent = { method: "PUT", body: JSON.stringify({ ip_list: ["x".repeat(20_000)] }) };
    const refused = await getLimited("/v2/sites/tools/denied-ips", { key, ...json }, sent);
    expect(refused).toMatchObject({ status: 429, isRepeated: false });
  });
});

describe("a repeated read whose client does not read the response", () => {
  it("counts as an open request of the client's address until the client disconnects", async () => {
    const { port, key } = await serveRepeatedly(1);
    const headers = { authorization: `Bearer ${key}` };
    const readFrom = async (address: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        headers: { ...headers, "x-forwarded-for": address },
      });
      await response.text();
      return response.status;
    };
    const [own, other] = ["192.0.2.1", "198.51.100.1"];
    expect([await readFrom(own), await readFrom(own)]).toEqual([200, 200]);
    const idle = connect(port, "127.0.0.1").pause();
    onTestFinished(() => void idle.destroy());
    const head = `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nX-Forwarded-For: ${own}\r\n\r\n`;
    let status = 200;
    // The system takes some megabytes, although nobody reads them.
    for (let count = 0; count < 1_000 && status === 200; count += 1) {
      idle.write(head);
      status = await readFrom(own);
    }
    expect(status).toBe(429);
    expect(await readFrom(other)).toBe(200);
    idle.destroy();
    await expect.poll(() => readFrom(own)).toBe(200);
  });

  /** A server that repeats one long response in an unchanged database. Reads beyond the limit of their address get a 429. */
  async function serveRepeatedly(connectionsPerAddress: number) {
    const { identities, keyUse, company } = test.current;
    const key = company.api_key;
    const headers = { authorization: `Bearer ${key}` };
    const identified = await identities.identify(tokenFacts({ headers, socket: new Socket() }, false), null, true);
    const caller = identified?.caller;
    if (caller === undefined) throw new Error("The key is not accepted");
    const reads = makeRepeatedReads({
      isTrustedProxy: () => true,
      app: {
        identities: { ...identities, known: () => caller },
        keyUse,
        snapshots: { latest: () => "1", read: (listener) => listener("1") },
      },
      count: makeRateLimits({ rateLimitPerMinute: 1_000_000, creationLimitPerMinute: 1 }),
      findEndpoint: makeFindEndpoint(),
      take: makeTakeRequest({ connectionsPerAddress }),
      stopping: new AbortController().signal,
    });
    let isKept = false;
    const server = createServer((incoming, response) =>
      reads.answer(incoming, response, () => {
        response.statusCode = isKept ? 429 : 200;
        response.end();
        if (isKept) return;
        isKept = true;
        const answer = { status: 200, headers: { etag: '"1"' }, body: "x".repeat(90_000) };
        reads.keep(incoming, { name: "getSite", row: endpoints.getSite }, { caller, snapshot: "1", answer });
      }),
    );
    onTestFinished(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("Not listening on a port");
    return { port: address.port, key };
  }
});
