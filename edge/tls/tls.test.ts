import { once } from "node:events";
import { request as httpsRequest } from "node:https";
import { connect as connectBare, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { connect, type SecureVersion, type TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { ask, putTable } from "../testing/http.ts";
import { makeSecret, site, startSecureSite } from "../testing/secureSite.ts";
import { tableOf } from "../testing/withEdge.ts";

function askOverTls(port: number, url: string, ca: string, servername = "site.localhost") {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: url, ca, servername, agent: false };
    const sent = httpsRequest({ ...options, headers: { host: "site.localhost" } }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    sent.on("error", reject).end();
  });
}

test("a site is served over TLS with its certificate, and PHP sees HTTPS", async () => {
  const { tlsPort, tell, secrets, upstream } = await startSecureSite();
  await tell(2, { certificates: [site] });
  const ca = secrets.get("site")?.chain ?? "";
  expect(await askOverTls(tlsPort, "/a.txt", ca)).toEqual({ status: 200, body: "file" });
  await askOverTls(tlsPort, "/page", ca);
  expect(upstream.asked.at(-1)?.request.https).toBe(true);
});

test("a certificate that can't be read is logged, and the next one is used", async () => {
  const { tlsPort, tell, secrets, logged } = await startSecureSite();
  await tell(2, { certificates: [{ ...site, id: "gone" }, site] });
  expect((await askOverTls(tlsPort, "/a.txt", secrets.get("site")?.chain ?? "")).status).toBe(200);
  expect(logged.some(({ level, facts }) => level === "error" && "certificate" in facts)).toBe(true);
});

test("handshakes with an expired certificate, an unknown name or no name end with an alert", async () => {
  const { tlsPort, tell } = await startSecureSite();
  await tell(2, { certificates: [{ ...site, notAfter: 1 }] });
  for (const servername of ["site.localhost", "other.example.com", ""]) {
    const socket = connect({ host: "127.0.0.1", port: tlsPort, servername, rejectUnauthorized: false });
    const message = await new Promise((resolve) => {
      socket.on("error", (error) => resolve(error.message)).on("secureConnect", () => resolve("connected"));
    });
    socket.destroy();
    expect(message).toMatch(/alert/i);
  }
});

test("HTTP is redirected to HTTPS if the site requires it, except for ACME challenges", async () => {
  const { edge, tell, tlsPort } = await startSecureSite();
  const challenges = [{ host: "new.example.com", token: "abc", content: "abc.def" }];
  await tell(2, { certificates: [site], challenges }, { forceHttps: "same" });
  const read = await ask(edge, "/a?b=c");
  expect([read.status, read.headers.location]).toEqual([301, `https://site.localhost:${tlsPort}/a?b=c`]);
  expect((await ask(edge, "/a", { method: "POST", body: "x" })).status).toBe(308);
  expect((await ask(edge, "/a.txt", { php: edge.loopbackSocket })).status).toBe(200);
  const challenge = "/.well-known/acme-challenge/abc";
  expect((await ask(edge, challenge, { host: "new.example.com" })).body).toBe("abc.def");
  expect((await ask(edge, `${challenge}d`, { host: "new.example.com" })).status).toBe(404);
});

test("the redirect to HTTPS names the port in addresses, if it is forwarded", async () => {
  const { edge, tell } = await startSecureSite(undefined, [], { publicTlsPort: 443 });
  await tell(2, { certificates: [site] }, { forceHttps: "same" });
  expect((await ask(edge, "/a")).headers.location).toBe("https://site.localhost/a");
});

interface SecureVisit {
  readonly version: SecureVersion;
  readonly host?: string;
  /** The session to resume. */
  readonly session?: Buffer | undefined;
}

/** Sends a request on a connection for `site.localhost`. Returns the new session. */
async function visit(port: number, { version, host = "site.localhost", session }: SecureVisit) {
  const socket: TLSSocket = connect({
    host: "127.0.0.1",
    port,
    servername: "site.localhost",
    minVersion: version,
    maxVersion: version,
    rejectUnauthorized: false,
    ...(session && { session }),
  });
  let newSession: Buffer | undefined;
  let isResumed = false;
  socket.once("secureConnect", () => {
    isResumed = socket.isSessionReused();
  });
  socket.on("session", (given) => {
    newSession = given;
  });
  socket.write(`GET /a.txt HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const answer = await text(socket);
  return { status: answer.split(" ")[1], isResumed, newSession };
}

/** Sends a request for the host again, with the session of a first visit, if there is one. */
async function visitAgain(version: SecureVersion, host: string) {
  const { edge, tlsPort, environment, secrets } = await startSecureSite();
  secrets.set("other", await makeSecret("other.localhost"));
  const hosts = { "site.localhost": environment.id, "other.localhost": environment.id };
  const certificates = [site, { ...site, id: "other", names: ["other.localhost"] }];
  await putTable(edge, { ...tableOf(2, [environment], hosts), certificates });
  const first = await visit(tlsPort, { version });
  expect(first.status).toBe("200");
  return visit(tlsPort, { version, host, session: first.newSession });
}

test("TLS 1.3 sessions can be resumed, and TLS 1.2 sessions can't", async () => {
  expect(await visitAgain("TLSv1.3", "site.localhost")).toMatchObject({ status: "200", isResumed: true });
  expect(await visitAgain("TLSv1.2", "site.localhost")).toMatchObject({ status: "200", isResumed: false });
});

/** Returns the port of a proxy that waits for `pause` after the first bytes of each connection. */
async function splitFirst(bytes: number, port: number, pause: () => Promise<unknown>): Promise<number> {
  const proxy = createServer((client) => {
    const edge = connectBare({ host: "127.0.0.1", port, noDelay: true });
    client.once("data", async (hello: Buffer) => {
      client.pause();
      edge.write(hello.subarray(0, bytes));
      await pause();
      edge.write(hello.subarray(bytes));
      client.pipe(edge);
    });
    edge.pipe(client);
    for (const socket of [client, edge]) socket.on("error", () => undefined);
  });
  proxy.listen(0, "127.0.0.1");
  onTestFinished(() => void proxy.close());
  await once(proxy, "listening");
  const address = proxy.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

test.each([1, 5, 60])("sessions can be resumed if the ClientHello is split after %i bytes", async (bytes) => {
  const { edge, tlsPort, tell } = await startSecureSite();
  await tell(2, { certificates: [site] });
  // The answer shows that the edge has read what arrived before.
  const port = await splitFirst(bytes, tlsPort, () => ask(edge, "/a.txt"));
  const first = await visit(port, { version: "TLSv1.3" });
  const again = await visit(port, { version: "TLSv1.3", session: first.newSession });
  expect(again).toMatchObject({ status: "200", isResumed: true });
});

test.each(["TLSv1.2", "TLSv1.3"] as const)("another site is refused with a session of %s", async (version) => {
  expect((await visitAgain(version, "other.localhost")).status).toBe("421");
});
