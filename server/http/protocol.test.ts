/** The HTTP protocol over real sockets, and internal errors. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import pino from "pino";
import { beforeAll, describe, expect, it } from "vitest";
import { siteFields, startTestServer, useTestServer } from "./testing/server.ts";

const lines: string[] = [];
const log = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
const test = useTestServer({ log });
let port: number;

beforeAll(async () => {
  port = await test.current.listen();
});

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

async function send({ method = "GET", path, headers = {}, body }: Sent) {
  const authorization = `Bearer ${test.current.company.api_key}`;
  const length =
    body === undefined || headers["transfer-encoding"] ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const options = { host: "127.0.0.1", port, method, path, headers: { authorization, ...length, ...headers } };
  const outgoing = request(options);
  outgoing.end(body);
  const [answer] = await once(outgoing, "response");
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

/** Writes bytes to a socket and returns the response up to its end. */
async function sendRaw(bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  return text(socket);
}

describe("a GET", () => {
  const json = { "content-type": "application/json" };

  it("accepts its query as a JSON body", async () => {
    const id = await test.current.addSite({ display_name: "Found by body" });
    const answer = await send({ path: "/v2/sites", headers: json, body: '{"search":"found by body"}' });
    expect(JSON.parse(answer.body).company.sites.map((site: { id: string }) => site.id)).toEqual([id]);
  });

  it("may declare JSON and have no body", async () => {
    expect((await send({ path: "/v2/validate", headers: json })).status).toBe(200);
    expect((await send({ path: "/v2/validate", headers: { ...json, "content-length": "0" } })).status).toBe(200);
    expect((await send({ path: "/v2/validate", headers: { ...json, "transfer-encoding": "chunked" } })).status).toBe(
      200,
    );
  });

  it("ends without an error if its chunked body is aborted", async () => {
    const logged: string[] = [];
    await using server = await startTestServer({
      log: pino({ level: "info" }, { write: (line) => void logged.push(line) }),
    });
    const ended = new Promise((resolve) =>
      server.server.server.once("request", (_, response) => response.once("close", resolve)),
    );
    const socket = connect(await server.listen(), "127.0.0.1");
    const head = `GET /v2/sites HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.company.api_key}`;
    socket.write(`${head}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`);
    await once(server.server.server, "request");
    socket.destroy();
    await ended;
    expect(logged.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
  });

  it("does not convert types in a body", async () => {
    const answer = await send({ path: "/v2/sites", headers: json, body: '{"search":1,"limit":"2"}' });
    expect(JSON.parse(answer.body).data.errors).toEqual([
      { path: "/limit", message: "must be an integer" },
      { path: "/search", message: "must be a string" },
    ]);
  });

  it("answers HEAD with the same headers and no body", async () => {
    const head = await send({ method: "HEAD", path: "/v2/validate" });
    expect(head.status).toBe(200);
    expect(head.body).toBe("");
    expect((await send({ method: "HEAD", path: "/v2/nothing" })).status).toBe(404);
  });

  it("accepts any case in header names and in the scheme, and spaces around the key", async () => {
    const authorization = `bEARER   ${test.current.company.api_key} `;
    expect((await send({ path: "/v2/validate", headers: { authorization } })).status).toBe(200);
  });
});

describe("a body", () => {
  it("whose declared length is too large is refused before it is sent", async () => {
    const head = [
      "POST /v2/sites HTTP/1.1",
      "Host: x",
      `Authorization: Bearer ${test.current.company.api_key}`,
      "Content-Type: application/json",
      "Content-Length: 99999999",
      "Connection: close",
    ];
    const answer = await sendRaw(`${head.join("\r\n")}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"status":413');
  });

  it("may be chunked", async () => {
    const body = JSON.stringify(siteFields(test.current.company.company_id));
    const headers = { "content-type": "application/json", "transfer-encoding": "chunked" };
    expect((await send({ method: "POST", path: "/v2/sites", headers, body })).status).toBe(202);
  });

  it("with a byte order mark or invalid UTF-8 is refused with 400", async () => {
    const { server, company } = test.current;
    const json = JSON.stringify(siteFields(company.company_id));
    for (const payload of [
      `\ufeff${json}`,
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    ]) {
      const headers = { authorization: `Bearer ${company.api_key}`, "content-type": "application/json" };
      const answer = await server.inject({ method: "POST", url: "/v2/sites", headers, payload });
      expect(answer.statusCode).toBe(400);
    }
  });

  it("with a character in another encoding is refused", async () => {
    const { server, company } = test.current;
    const payload = Buffer.from(JSON.stringify(siteFields(company.company_id, { site_title: "Café" })), "latin1");
    const headers = { authorization: `Bearer ${company.api_key}`, "content-type": "application/json" };
    const answer = await server.inject({ method: "POST", url: "/v2/sites", headers, payload });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().data.errors).toEqual([{ path: "", message: "is not valid UTF-8" }]);
  });
});

describe("an internal error", () => {
  it("is a 500 that contains the id of the log entry, but not the cause", async () => {
    const { call, database } = test.current;
    await database.schema.alterTable("sites").renameTo("sites_away").execute();
    try {
      const answer = await call("GET", "/v2/sites");
      expect(answer.status).toBe(500);
      expect(answer.body).toEqual({
        message: "Error occurred while processing your request",
        status: 500,
        data: { reference_id: answer.headers["x-request-id"] },
      });
      const entry = lines
        .map((line) => JSON.parse(line))
        .find((line) => line.reference_id === answer.body.data.reference_id);
      expect(entry.err.message).toContain("sites");
      expect(entry.err.stack).toContain(".ts:");
    } finally {
      await database.schema.alterTable("sites_away").renameTo("sites").execute();
    }
  });

  it("has the rate limit headers even if the database can't identify the key", async () => {
    const { call, database, identities } = test.current;
    await database.schema.alterTable("api_keys").renameTo("api_keys_away").execute();
    identities.forgetKeys();
    const answer = await call("GET", "/v2/validate").finally(() =>
      database.schema.alterTable("api_keys_away").renameTo("api_keys").execute(),
    );
    expect(answer.status).toBe(500);
    for (const name of ["limit", "remaining", "reset"]) {
      expect(String(answer.headers[`x-ratelimit-${name}`])).toMatch(/^\d+$/);
    }
  });

  it("is not stored under an Idempotency-Key: a repetition may succeed", async () => {
    const { call, company, database } = test.current;
    const options = { body: siteFields(company.company_id), headers: { "idempotency-key": "after-an-error" } };
    await database.schema.alterTable("domains").renameTo("domains_away").execute();
    const first = await call("POST", "/v2/sites", options);
    await database.schema.alterTable("domains_away").renameTo("domains").execute();
    expect(first.status).toBe(500);
    expect((await call("POST", "/v2/sites", options)).status).toBe(202);
  });

  it("leaves neither passwords nor keys in the log", async () => {
    const { call, company, database } = test.current;
    await database.schema.alterTable("domains").renameTo("domains_away").execute();
    await call("POST", "/v2/sites", { body: siteFields(company.company_id, { admin_password: "sekret-sekret" }) });
    await database.schema.alterTable("domains_away").renameTo("domains").execute();
    expect(lines.join("")).not.toContain("sekret-sekret");
    expect(lines.join("")).not.toContain(company.api_key);
  });
});

describe("a request with `wait`", () => {
  it("stays open for the requested time", async () => {
    const waits: number[] = [];
    await using server = await startTestServer({
      untilEnded: async (id, seconds) => {
        waits.push(seconds);
        return server.operations.waits.read(id);
      },
    });
    const { body } = await server.call("POST", "/v2/sites", { body: siteFields(server.company.company_id) });
    const answer = await server.call("GET", `/v2/operations/${body.operation_id}?wait=0.3`);
    expect(answer.status).toBe(202);
    expect(waits).toEqual([0.3]);
  });

  it("can wait for at most 30 seconds", async () => {
    const { call, company } = test.current;
    const { body } = await call("POST", "/v2/sites", { body: siteFields(company.company_id) });
    const tooLong = await send({ path: `/v2/operations/${body.operation_id}?wait=31` });
    expect(JSON.parse(tooLong.body).data.errors).toEqual([{ path: "/wait", message: "must be at most 30" }]);
  });

  it("stops waiting when the client disconnects, which is not an internal error", async () => {
    const logged: string[] = [];
    const isWaiting = Promise.withResolvers<void>();
    const isGone = Promise.withResolvers<void>();
    await using server = await startTestServer({
      log: pino({ level: "debug" }, { write: (line) => void logged.push(line) }),
      untilEnded: async (id, seconds, onGone) => {
        const ended = server.operations.waits.untilEnded(id, seconds, onGone);
        isWaiting.resolve();
        const operation = await ended;
        isGone.resolve();
        return operation;
      },
    });
    const { body } = await server.call("POST", "/v2/sites", { body: siteFields(server.company.company_id) });
    const socket = connect(await server.listen(), "127.0.0.1");
    const path = `/v2/operations/${body.operation_id}?wait=30`;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.company.api_key}\r\n\r\n`);
    await isWaiting.promise;
    socket.destroy();
    await isGone.promise;
    expect(logged.filter((line) => line.includes("A request failed"))).toEqual([]);
  });

  it("is answered at once when the server stops", async () => {
    await using server = await startTestServer();
    const { body } = await server.call("POST", "/v2/sites", { body: siteFields(server.company.company_id) });
    const listening = await server.listen();
    const path = `/v2/operations/${body.operation_id}?wait=30`;
    const headers = { authorization: `Bearer ${server.company.api_key}` };
    const outgoing = request({ host: "127.0.0.1", port: listening, path, headers }).end();
    const answered = once(outgoing, "response");
    await once(server.server.server, "request");
    await server.server.close();
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).toBe(202);
    // Shorter than the requested wait.
  }, 25_000);
});

describe("behind a proxy with TLS on this machine", () => {
  it("gives the addresses that clients use", async () => {
    const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "panel.example" };
    const { body } = await send({ path: "/v2/openapi.json", headers });
    expect(JSON.parse(body).servers[0].url).toBe("https://panel.example/v2");
    const invalid = await send({ path: "/v2/openapi.json", headers: { "x-forwarded-proto": '"' } });
    expect(JSON.parse(invalid.body).servers[0].url).toBe("/v2");
  });
});
