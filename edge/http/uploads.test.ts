import { once } from "node:events";
import { request as sendRequest } from "node:http";
import { buffer, text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { textAnswer } from "../testing/fakeUpstream.ts";
import { ask, openRaw } from "../testing/http.ts";
import { logged } from "../testing/logged.ts";
import { limits, startSite } from "../testing/withEdge.ts";

test("an upload with too large an announced length is refused before it is read", async () => {
  const { edge, upstream } = await startSite();
  const visitor = openRaw(edge);
  visitor.socket.write("POST / HTTP/1.1\r\nHost: site.localhost\r\nContent-Length: 100001\r\n\r\n");
  await eventually(() => expect(visitor.received()).toMatch(/^HTTP\/1\.1 413 .*This upload is too large/s));
  expect(upstream.asked).toEqual([]);
  visitor.socket.destroy();
});

test("an upload that is refused while it is being sent still gets its page", async () => {
  const { edge } = await startSite();
  const got = await ask(edge, "/", { method: "POST", body: Buffer.alloc(20_000_000) });
  expect(got.status).toBe(413);
  expect(got.headers.connection).toBe("close");
  expect(got.body).toContain("This upload is too large");
  expect(got.body).toContain("The limit is 0.1 MB.");
});

test("the largest file fits into a form, announced or chunked, and no more does", async () => {
  const { edge, upstream } = await startSite({}, { edge: { limits: { ...limits, formBytes: 20_000 } } });
  upstream.answer = async (request) => textAnswer(`${request.body === null ? 0 : (await buffer(request.body)).length}`);
  const announced = (bytes: number) => ask(edge, "/", { method: "POST", body: Buffer.alloc(bytes) });
  expect(await announced(120_000)).toMatchObject({ status: 200, body: "120000" });
  const refused = await announced(120_001);
  expect(refused).toMatchObject({ status: 413 });
  expect(refused.body).toContain("The limit is 0.1 MB.");
  for (const [bytes, status] of [
    [120_000, 200],
    [120_001, 413],
  ] as const) {
    const sent = startUpload(edge);
    sent.end(Buffer.alloc(bytes));
    const [response] = await once(sent, "response");
    expect(response.statusCode).toBe(status);
    response.resume();
  }
});

test("Expect: 100-continue is refused for an upload that is too large", async () => {
  const { edge } = await startSite();
  const head = "POST / HTTP/1.1\r\nHost: site.localhost\r\nExpect: 100-continue\r\n";
  const tooMuch = openRaw(edge);
  tooMuch.socket.write(`${head}Content-Length: 100001\r\n\r\n`);
  await eventually(() => expect(tooMuch.received()).toMatch(/^HTTP\/1\.1 413 /));
  tooMuch.socket.destroy();
  const fine = openRaw(edge);
  fine.socket.write(`${head}Content-Length: 3\r\n\r\n`);
  await eventually(() => expect(fine.received()).toMatch(/^HTTP\/1\.1 100 /));
  fine.socket.write("abc");
  await eventually(() => expect(fine.received()).toMatch(/HTTP\/1\.1 200 /));
  fine.socket.destroy();
});

test("a chunked upload is stopped at the limit, and never reaches PHP", async () => {
  const { edge, upstream } = await startSite();
  const sent = startUpload(edge);
  const answered = once(sent, "response");
  for (let i = 0; i < 20; i++) sent.write(Buffer.alloc(16_384));
  const [response] = await answered;
  expect(response.statusCode).toBe(413);
  sent.end();
  expect(await text(response)).toContain("This upload is too large");
  expect(upstream.asked).toEqual([]);
});

test("a chunked upload below the limit arrives complete", async () => {
  const { edge, upstream } = await startSite();
  upstream.answer = async (request) => textAnswer(`${request.body === null ? 0 : (await buffer(request.body)).length}`);
  const sent = startUpload(edge);
  for (let i = 0; i < 5; i++) sent.write(Buffer.alloc(16_384));
  sent.end();
  const [response] = await once(sent, "response");
  expect(await text(response)).toBe(`${5 * 16_384}`);
});

test("an upload that breaks off never reaches PHP", async () => {
  const site = await startSite();
  const { edge, upstream } = site;
  const sent = startUpload(edge);
  sent.on("error", () => undefined).write("part");
  expect((await ask(edge, "/")).status).toBe(200);
  sent.destroy();
  expect((await logged(site, "access", 2)).join()).toContain('"POST / HTTP/1.1"');
  expect(upstream.asked.map(({ request }) => request.method)).toEqual(["GET"]);
  expect(site.logged.filter(({ level }) => level === "error")).toEqual([]);
});

/** A POST without an announced length. */
function startUpload(edge: { readonly port: number }) {
  const headers = { host: "site.localhost" };
  return sendRequest({ host: "127.0.0.1", port: edge.port, method: "POST", headers, agent: false });
}
