import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { connect, type SecureVersion, type TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import { ask } from "../testing/http.ts";
import { site, startSecureSite } from "../testing/secureSite.ts";

function askByTls(port: number, url: string, ca: string, servername = "site.localhost") {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: url, ca, servername, agent: false };
    const asked = httpsRequest({ ...options, headers: { host: "site.localhost" } }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
    asked.on("error", reject).end();
  });
}

test("a site is answered by TLS with its certificate, and PHP knows it", async () => {
  const { tlsPort, tell, secrets, upstream } = await startSecureSite();
  await tell(2, { certificates: [site] });
  const ca = secrets.get("site")?.chain ?? "";
  expect(await askByTls(tlsPort, "/a.txt", ca)).toEqual({ status: 200, body: "file" });
  await askByTls(tlsPort, "/page", ca);
  expect(upstream.asked.at(-1)?.request.https).toBe(true);
});

test("one that can't be read is passed over and logged", async () => {
  const { tlsPort, tell, secrets, logged } = await startSecureSite();
  await tell(2, { certificates: [{ ...site, id: "gone" }, site] });
  expect((await askByTls(tlsPort, "/a.txt", secrets.get("site")?.chain ?? "")).status).toBe(200);
  expect(logged.some(({ level, facts }) => level === "error" && "certificate" in facts)).toBe(true);
});

test("names without a certificate, one that is over, and no name are refused with an alert", async () => {
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

test("http is sent to https where the site wants that, and challenges are answered before", async () => {
  const { edge, tell, tlsPort } = await startSecureSite();
  const challenges = [{ host: "new.example.com", token: "abc", content: "abc.def" }];
  await tell(2, { certificates: [site], challenges }, { forceHttps: "same" });
  const read = await ask(edge, "/a?b=c");
  expect([read.status, read.headers.location]).toEqual([301, `https://site.localhost:${tlsPort}/a?b=c`]);
  expect((await ask(edge, "/a", { method: "POST", body: "x" })).status).toBe(308);
  expect((await ask(edge, "/a.txt", { socketPath: edge.loopbackSocket })).status).toBe(200);
  const challenge = "/.well-known/acme-challenge/abc";
  expect((await ask(edge, challenge, { host: "new.example.com" })).body).toBe("abc.def");
  expect((await ask(edge, `${challenge}d`, { host: "new.example.com" })).status).toBe(404);
});

/** One request on a connection of that version, with what a former one has left. */
async function visit(port: number, version: SecureVersion, session?: Buffer) {
  const socket: TLSSocket = connect({
    host: "127.0.0.1",
    port,
    servername: "site.localhost",
    minVersion: version,
    maxVersion: version,
    rejectUnauthorized: false,
    ...(session && { session }),
  });
  let left: Buffer | undefined;
  let isResumed = false;
  socket.once("secureConnect", () => {
    isResumed = socket.isSessionReused();
  });
  socket.on("session", (given) => {
    left = given;
  });
  socket.write("GET /a.txt HTTP/1.1\r\nHost: site.localhost\r\nConnection: close\r\n\r\n");
  const answer = await text(socket);
  return { status: answer.split(" ")[1], isResumed, left };
}

test.each(["TLSv1.2", "TLSv1.3"] as const)("visitors who come back by %s are answered as before", async (version) => {
  const { tlsPort, tell } = await startSecureSite();
  await tell(2, { certificates: [site] });
  const first = await visit(tlsPort, version);
  const again = await visit(tlsPort, version, first.left);
  expect([first.status, again.status, again.isResumed]).toEqual(["200", "200", true]);
});
