import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { request as secureRequest } from "node:https";
import path from "node:path";
import { buffer, text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import type { EdgeOptions } from "../edge.ts";
import { eventually } from "../testing/eventually.ts";
import { ask, putTable, type Sending } from "../testing/http.ts";
import { ask2, visit } from "../testing/http2.ts";
import { makeSecret, site } from "../testing/secureSite.ts";
import { makeFolder, startSite, tableOf } from "../testing/withEdge.ts";
import type { CertificateSecret } from "../tls/certificates.ts";
import type { ApiName } from "./apiName.ts";

const name = "api.example.net";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An edge with the API's name, and a control process that answers as the test says. */
async function startApi(edge: Partial<EdgeOptions> = {}, patience: Pick<ApiName, "patienceMs"> = {}) {
  const socket = path.join(await makeFolder(), "api.sock");
  const secrets: { api: CertificateSecret | null; readonly site: CertificateSecret } = {
    api: await makeSecret(name),
    site: await makeSecret("site.localhost", "*.example.net"),
  };
  const world = await startSite(
    { "a.txt": "file" },
    {
      edge: {
        ...edge,
        tls: { port: 0, readCertificate: async () => secrets.site },
        api: { name, socket, readCertificate: async () => secrets.api, ...patience },
      },
    },
  );
  const certificates = [{ ...site, names: ["site.localhost", "*.example.net"] }];
  const hosts = { "site.localhost": "one", "*.example.net": "one" };
  await putTable(world.edge, { ...tableOf(2, [world.environment], hosts), certificates });
  const control: { answer: Answer; readonly asked: IncomingMessage[] } = {
    asked: [],
    answer: (_, response) => response.end("from the API"),
  };
  const server = createServer((request, response) => {
    control.asked.push(request);
    control.answer(request, response);
  });
  await listen(server, socket);
  const tlsPort = world.edge.tlsPort ?? 0;
  return { ...world, secrets, control, server, socket, tlsPort, origin: `https://${name}:${tlsPort}` };
}

async function listen(server: Server, socket: string): Promise<void> {
  server.listen(socket);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
}

const chainOf = ({ secrets }: World) => secrets.api?.chain ?? "";

type World = Awaited<ReturnType<typeof startApi>>;

async function askApi(
  { tlsPort, secrets }: World,
  url: string,
  sending: Sending & { readonly servername?: string } = {},
) {
  const { method = "GET", headers = {}, host = name, servername = name, body } = sending;
  const ca = [secrets.api?.chain ?? "", secrets.site.chain];
  const to = { host: "127.0.0.1", port: tlsPort, servername, ca, agent: false };
  const sent = secureRequest({ ...to, path: url, method, headers: { ...headers, host } }).end(body);
  const [response]: [IncomingMessage] = await once(sent, "response").then(([given]) => [given]);
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

test("the API answers at its own name, over HTTP/1.1 and HTTP/2, with its own certificate", async () => {
  const world = await startApi();
  const got = await askApi(world, "/v2/validate?a=b", { headers: { authorization: "Bearer secret" } });
  expect(got).toMatchObject({ status: 200, body: "from the API" });
  expect(got.headers["strict-transport-security"]).toBe("max-age=31536000");
  const { url, headers } = world.control.asked[0] ?? {};
  expect([url, headers?.authorization]).toEqual(["/v2/validate?a=b", "Bearer secret"]);
  const session = visit(world.tlsPort, chainOf(world), name);
  const again = await ask2(session, "/v2/sites", { ":authority": name, ":method": "POST" }, "{}");
  expect(again).toMatchObject({ status: 200, body: "from the API" });
  expect(world.control.asked[1]).toMatchObject({ method: "POST", url: "/v2/sites" });
});

test("the API gets the client's real address, scheme and name, whatever the client says", async () => {
  const world = await startApi();
  const forged = {
    "X-Forwarded-For": "203.0.113.7",
    "X-Forwarded-Proto": "http",
    "X-Forwarded-Host": "evil.example",
    Forwarded: "for=203.0.113.7",
    "X-Real-IP": "203.0.113.7",
    Via: "1.1 evil",
    Connection: "keep-alive, x-secret",
  };
  await askApi(world, "/", { headers: forged });
  const { headers } = world.control.asked[0] ?? {};
  expect(headers).toMatchObject({
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-proto": "https",
    "x-forwarded-host": `${name}:${world.tlsPort}`,
    host: `${name}:${world.tlsPort}`,
  });
  expect([headers?.forwarded, headers?.["x-real-ip"]]).toEqual([undefined, undefined]);
});

test("by way of a trusted proxy, the API gets the client's address, whatever name the proxy's connection is for", async () => {
  const world = await startApi({ trustedProxies: ["127.0.0.1"] });
  const headers = { "X-Forwarded-For": "192.0.2.1, 203.0.113.7", "X-Forwarded-Proto": "https" };
  await askApi(world, "/", { headers, servername: "site.localhost" });
  expect((await ask(world.edge, "/", { host: name, headers })).status).toBe(200);
  const seen = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
  expect(world.control.asked.map((asked) => asked.headers)).toEqual([
    expect.objectContaining(seen),
    expect.objectContaining(seen),
  ]);
});

test("over plain HTTP, a key is refused with advice to revoke it, and never reaches the API", async () => {
  const world = await startApi();
  for (const method of ["GET", "POST"]) {
    const body = method === "POST" ? { body: "{}" } : {};
    const sending = { host: name, method, headers: { authorization: "Bearer secret" }, ...body };
    const got = await ask(world.edge, "/v2/validate", sending);
    expect(got.status).toBe(403);
    expect(JSON.parse(got.body).message).toContain(`Revoke it, and use ${world.origin}/`);
    expect(got.body).not.toContain("secret");
  }
  expect(world.control.asked).toEqual([]);
});

test("over plain HTTP, pages are redirected, other requests refused, and ACME challenges answered", async () => {
  const world = await startApi();
  const read = await ask(world.edge, "/v2/openapi.json?a=b", { host: `${name}:80` });
  expect([read.status, read.headers.location]).toEqual([301, `${world.origin}/v2/openapi.json?a=b`]);
  expect((await ask(world.edge, "/v2/sites", { host: name, method: "POST", body: "{}" })).status).toBe(403);
  expect((await ask(world.edge, `http://${name}/v2/sites`, { method: "POST", body: "{}" })).status).toBe(403);
  expect(world.control.asked).toEqual([]);
  expect((await ask(world.edge, "/.well-known/acme-challenge/x", { host: name })).body).toBe("from the API");
});

test("sites are not affected, and can't be confused with the API", async () => {
  const world = await startApi();
  expect((await ask(world.edge, "/a.txt")).body).toBe("file");
  const asSite = { host: "site.localhost", servername: "site.localhost" };
  expect((await askApi(world, "/a.txt", asSite)).body).toBe("file");
  expect((await askApi(world, "/", { host: "site.localhost" })).status).toBe(421);
  // A site's certificate covers the name, too.
  expect((await askApi(world, "/", { servername: "x.example.net" })).status).toBe(421);
  expect(world.control.asked).toEqual([]);
});

test("PHP of sites can't use the API through the edge's socket for PHP", async () => {
  const world = await startApi();
  await ask(world.edge, "/v2/validate", { host: name, php: world.edge.loopbackSocket });
  expect(world.control.asked).toEqual([]);
});

test("while control is started again, requests wait for it, with their bodies", async () => {
  const world = await startApi();
  const { server, socket, control } = world;
  server.close();
  await once(server, "close");
  const body = "x".repeat(200_000);
  const session = visit(world.tlsPort, chainOf(world), name);
  const waiting = [
    ask2(session, "/v2/sites", { ":authority": name }),
    ask2(session, "/v2/sites", { ":authority": name, ":method": "POST" }, body),
    askApi(world, "/v2/sites", { method: "POST", body }),
  ];
  // When this is answered, those before it on the same connection have arrived.
  await ask2(session, "/a.txt", { ":authority": "site.localhost" });
  control.answer = async (asked, response) => response.end(String((await text(asked)).length));
  await listen(server, socket);
  const answers = await Promise.all(waiting);
  expect(answers.map((answer) => [answer.status, answer.body])).toEqual([
    [200, "0"],
    [200, "200000"],
    [200, "200000"],
  ]);
});

test("while control stays down, the response is a 503 that says when to try again", async () => {
  const world = await startApi({}, { patienceMs: 50 });
  world.server.close();
  await once(world.server, "close");
  for (const sending of [{}, { method: "POST", body: "x".repeat(200_000) }]) {
    const got = await askApi(world, "/v2/validate", sending);
    expect([got.status, got.headers["retry-after"]]).toEqual([503, "5"]);
    expect(JSON.parse(got.body)).toMatchObject({ status: 503, data: null });
  }
});

test("a response that the API breaks off is broken off for the client", async () => {
  const world = await startApi();
  world.control.answer = (_, response) => {
    response.writeHead(200, { "content-length": 100 }).write("half", () => response.destroy());
  };
  await expect(askApi(world, "/")).rejects.toThrow("aborted");
});

test("uploads and downloads are streamed, in both directions at once", async () => {
  const world = await startApi();
  world.control.answer = (asked, response) => asked.pipe(response);
  const options = {
    host: "127.0.0.1",
    port: world.tlsPort,
    servername: name,
    ca: chainOf(world),
    agent: false,
  };
  const sent = secureRequest({ ...options, method: "POST", headers: { host: name } });
  sent.write("first");
  const [response] = await once(sent, "response");
  expect(String((await once(response, "data"))[0])).toBe("first");
  sent.end("second");
  expect((await buffer(response)).toString()).toBe("second");
});

test.each(["GET", "HEAD", "DELETE", "OPTIONS", "PATCH", "POST", "PUT"])(
  "the body of a %s request is never read as another request",
  async (method) => {
    const world = await startApi();
    const bodies: string[] = [];
    world.control.answer = async (asked, response) => {
      bodies.push(await text(asked));
      response.end();
    };
    const body = `GET /v2/smuggled HTTP/1.1\r\nHost: ${name}\r\n\r\n`;
    await askApi(world, "/v2/sites", { method, body, headers: { "transfer-encoding": "chunked" } });
    // Headers that `Connection` names are not passed on.
    const length = { "content-length": String(body.length), connection: "content-length" };
    await askApi(world, "/v2/sites", { method, body, headers: length });
    await ask2(
      visit(world.tlsPort, chainOf(world), name),
      "/v2/sites",
      { ":authority": name, ":method": method },
      body,
    );
    expect(bodies).toEqual([body, body, body]);
    expect(world.control.asked.map(({ url }) => url)).toEqual(["/v2/sites", "/v2/sites", "/v2/sites"]);
  },
);

test("an answer to an upload that the API does not read arrives, because only the edge then closes the connection", async () => {
  const world = await startApi();
  const closed = Promise.withResolvers<void>();
  world.control.answer = ({ socket }, response) => {
    socket.once("close", () => closed.resolve());
    response.writeHead(401).end("no key");
  };
  const to = { host: "127.0.0.1", port: world.tlsPort, servername: name, ca: chainOf(world), agent: false };
  const sent = secureRequest({ ...to, method: "POST", headers: { host: name, "content-length": 1_000_000 } });
  sent.write("first");
  const [response] = await once(sent, "response");
  expect([response.statusCode, await text(response)]).toEqual([401, "no key"]);
  await closed.promise;
  expect(world.control.asked[0]?.headers.connection).toBe("keep-alive");
});

test("a long poll waits for the API, and ends there when the client leaves", async () => {
  const world = await startApi();
  const waiting: ServerResponse[] = [];
  world.control.answer = (_, response) => waiting.push(response);
  const patient = askApi(world, "/v2/operations/1?wait=30");
  await eventually(() => expect(waiting.length).toBe(1));
  waiting[0]?.end("done");
  expect((await patient).body).toBe("done");
  const options = {
    host: "127.0.0.1",
    port: world.tlsPort,
    servername: name,
    ca: chainOf(world),
    agent: false,
  };
  const leaving = secureRequest({ ...options, headers: { host: name } })
    .on("error", () => undefined)
    .end();
  await eventually(() => expect(waiting.length).toBe(2));
  const [, second] = waiting;
  leaving.destroy();
  await eventually(() => expect(second?.destroyed).toBe(true));
});

test("a renewed certificate is shown at once; without one, the handshake fails", async () => {
  const world = await startApi();
  expect((await askApi(world, "/")).status).toBe(200);
  const { secrets } = world;
  secrets.api = await makeSecret(name);
  expect((await askApi(world, "/")).status).toBe(200);
  secrets.api = null;
  await expect(askApi(world, "/")).rejects.toThrow(/alert/);
});

test("an edge without an API name treats it like any other", async () => {
  const { edge } = await startSite();
  expect((await ask(edge, "/", { host: name })).status).toBe(404);
  const sent = request({ host: "127.0.0.1", port: edge.port, headers: { host: name }, agent: false }).end();
  const [response] = await once(sent, "response");
  expect(response.statusCode).toBe(404);
});
