/** Many concurrent and malformed requests: the edge keeps responding, without internal errors. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { textAnswer } from "../testing/fakeUpstream.ts";
import { ask } from "../testing/http.ts";
import { startSite } from "../testing/withEdge.ts";

test("a thousand concurrent visitors get their own responses", async () => {
  const { edge, upstream } = await startSite({ "style.css": "css" });
  upstream.answer = async (request) => {
    await new Promise(setImmediate);
    return textAnswer(`page ${request.url}${request.body === null ? "" : await text(request.body)}`);
  };
  const visits = Array.from({ length: 1_000 }, async (_, i) => {
    if (i % 3 === 0) return [await ask(edge, "/style.css"), "css"] as const;
    if (i % 3 === 1) return [await ask(edge, `/p/${i}`), `page /p/${i}`] as const;
    return [await ask(edge, `/p/${i}`, { method: "POST", body: `sent ${i}` }), `page /p/${i}sent ${i}`] as const;
  });
  for (const [got, expected] of await Promise.all(visits)) expect(got).toMatchObject({ status: 200, body: expected });
});

test("ten thousand malformed requests: no crash, no 500, and nothing of them reaches PHP", {
  timeout: 60_000,
}, async () => {
  const { edge, upstream, logged } = await startSite({ "style.css": "css", "wp-config.php": "secret" });
  const counted = new Map<string, number>();
  const makers = malformed();
  let next = 0;
  async function visitor(): Promise<void> {
    while (next < 10_000) {
      const i = next++;
      const maker = makers[i % makers.length];
      if (maker === undefined) continue;
      const status = /^HTTP\/1\.1 (\d{3})/.exec(await firstBytes(edge.port, maker(i)))?.[1] ?? "closed";
      counted.set(status, (counted.get(status) ?? 0) + 1);
    }
  }
  await Promise.all(Array.from({ length: 50 }, visitor));
  expect([...counted.keys()].filter((status) => status.startsWith("5") || status.startsWith("2"))).toEqual([]);
  expect([...counted.values()].reduce((sum, count) => sum + count, 0)).toBe(10_000);
  expect(upstream.asked).toEqual([]);
  expect(logged.filter(({ level }) => level === "error")).toEqual([]);
  expect((await ask(edge, "/style.css")).body).toBe("css");
});

test("connections that send noise don't affect others", async () => {
  const { edge } = await startSite({ "style.css": "css" });
  const noise = Array.from({ length: 200 }, (_, i) =>
    firstBytes(
      edge.port,
      Buffer.from(Array.from({ length: 300 }, (_, j) => (i * 31 + j * 17) % 256)).toString("latin1"),
    ),
  );
  const visits = Array.from({ length: 200 }, () => ask(edge, "/style.css"));
  for (const got of await Promise.all(visits)) expect(got.body).toBe("css");
  await Promise.all(noise);
});

/** Functions that make a malformed request, different for each number. */
function malformed(): readonly ((i: number) => string)[] {
  const host = "Host: site.localhost\r\n";
  const get = (target: string) => `GET ${target} HTTP/1.1\r\n${host}\r\n`;
  return [
    (i) => get(`/${"../".repeat(i % 20)}../etc/passwd`),
    (i) => get(`/%2e%2e/${i}`),
    (i) => get(`/a%00${i}`),
    (i) => get(`/%${i % 10}`),
    (i) => get(`/%zz${i}`),
    (i) => get(`/a\\..\\${i}`),
    (i) => get(`/.git/${i}`),
    (i) => get(`/${i}.sql`),
    (i) => get(`/wp-config.php${"~.bak.swp.old".slice(0, 1 + (i % 12))}`),
    (i) => get(`/wp-content/uploads/${i}.php`),
    (i) => get(`/index.ph%50${i}`),
    (i) => get(`/#${i}`),
    (i) => get(`${i}`),
    (i) => `GET / HTTP/1.1\r\nHost: ${"a".repeat(i % 300)}..b\r\n\r\n`,
    (i) => `GET / HTTP/1.1\r\nHost: host-${i}.example\r\n\r\n`,
    (i) => `GET / HTTP/9.${i % 10}\r\n${host}\r\n`,
    (i) => `G\u0001T / HTTP/1.1\r\n${host}X: ${i}\r\n\r\n`,
    (i) => `GET / HTTP/1.1\r\n${host}Bad Header ${i}: x\r\n\r\n`,
    (i) => `GET / HTTP/1.1\r\n${host}X: \u0000${i}\r\n\r\n`,
    (i) => `GET / HTTP/1.1\r\n${host}${host}X: ${i}\r\n\r\n`,
    (i) => `POST / HTTP/1.1\r\n${host}Content-Length: -${i}\r\n\r\n`,
    (i) => `POST / HTTP/1.1\r\n${host}Content-Length: 9${i}99999\r\n\r\n`,
    (i) => `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\nX: ${i}\r\n\r\n`,
    (i) => `POST /style.css HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nx${i}`,
    (i) => `TRACE /${i} HTTP/1.1\r\n${host}\r\n`,
    (i) => `CONNECT evil.example:${i % 65_536} HTTP/1.1\r\n${host}\r\n`,
    (i) => `\u0016\u0003\u0001\u0002${i}`,
  ];
}

/** The start of the response, or nothing if the connection is closed. */
function firstBytes(port: number, sent: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(sent, "latin1"));
    let received = "";
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      if (received.length >= 12) socket.destroy();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
  });
}
