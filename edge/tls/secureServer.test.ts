import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect as connectBare } from "node:net";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { openRaw, sendRaw } from "../testing/http.ts";
import { ask2, visit } from "../testing/http2.ts";
import { makeSecret, site, startSecureSite } from "../testing/secureSite.ts";
import { createHandshakes } from "./handshakes.ts";

async function start() {
  const world = await startSecureSite();
  await world.tell(2, { certificates: [site] });
  return world;
}

test("plain HTTP and noise on the TLS port get a hint to use https://", async () => {
  const { tlsPort } = await start();
  for (const first of ["GET / HTTP/1.1\r\nHost: site.localhost\r\n\r\n", "\0\0\0"]) {
    expect(await sendRaw({ port: tlsPort }, first)).toMatch(/^HTTP\/1\.1 400 .*https:\/\//s);
  }
});

test("silent connections at the limit no longer count once they are closed", async () => {
  const { tlsPort, ca } = await start();
  const silent = Array.from({ length: 100 }, () => connectBare(tlsPort, "127.0.0.1").on("error", () => undefined));
  await Promise.all(silent.map((socket) => once(socket, "connect")));
  const late = openRaw({ port: tlsPort });
  await once(late.socket, "close");
  for (const socket of silent) socket.destroy();
  await eventually(async () => expect((await ask2(visit(tlsPort, ca), "/a.txt")).body).toBe("file"));
});

test("a network over its limit is refused; at the overall limit the oldest handshake is aborted", () => {
  const handshakes = createHandshakes({ perNetwork: 2, total: 3 });
  const abandoned: string[] = [];
  const begin = (address: string) => handshakes.begin(address, () => abandoned.push(address));
  const first = begin("192.0.2.1");
  expect([begin("192.0.2.1") === null, begin("192.0.2.1")]).toEqual([false, null]);
  first?.();
  expect([begin("2001:db8:0:1::1"), begin("2001:db8:0:1::2")].includes(null)).toBe(false);
  expect([begin("2001:db8:0:1::3"), abandoned]).toEqual([null, []]);
  expect(begin("2001:db8:0:2::1")).not.toBeNull();
  expect(abandoned).toEqual(["192.0.2.1"]);
});

test("renegotiation is refused", async () => {
  const { tlsPort, ca } = await start();
  const options = {
    host: "127.0.0.1",
    port: tlsPort,
    ca,
    servername: "site.localhost",
    maxVersion: "TLSv1.2",
  } as const;
  const socket = connect(options);
  await once(socket, "secureConnect");
  const refused = new Promise((resolve) => {
    socket.on("error", resolve);
    socket.renegotiate({}, (error) => resolve(error));
  });
  expect(await refused).toBeInstanceOf(Error);
  socket.destroy();
});

test("curl can use HTTP/2 and HTTP/1.1", async () => {
  const { tlsPort } = await start();
  const url = `https://site.localhost:${tlsPort}/a.txt`;
  const to = ["-sk", "--resolve", `site.localhost:${tlsPort}:127.0.0.1`, "-w", " %{http_version}", url];
  const curl = (version: string) =>
    new Promise((resolve) => execFile("curl", [version, ...to], (_error, out) => resolve(out)));
  expect(await curl("--http2")).toBe("file 2");
  expect(await curl("--http1.1")).toBe("file 1.1");
});

test("open connections survive when a thousand certificates are added", async () => {
  const { tlsPort, tell, ca, secrets } = await start();
  const session = visit(tlsPort, ca);
  expect((await ask2(session, "/a.txt")).status).toBe(200);
  secrets.set("other", await makeSecret("other.localhost"));
  const more = Array.from({ length: 1_000 }, (_, index) => ({
    ...site,
    id: `c${index}`,
    names: [`n${index}.localhost`],
  }));
  await tell(3, { certificates: [site, ...more, { ...site, id: "other", names: ["other.localhost"] }] });
  const options = { host: "127.0.0.1", port: tlsPort, servername: "other.localhost" };
  const other = connect({ ...options, ca: secrets.get("other")?.chain });
  await once(other, "secureConnect");
  expect(other.authorized).toBe(true);
  other.destroy();
  expect((await ask2(session, "/a.txt")).status).toBe(200);
  expect(session.closed).toBe(false);
});
