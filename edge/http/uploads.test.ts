import { once } from "node:events";
import { request as sendRequest } from "node:http";
import { buffer, text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { UpstreamRequest } from "../php/upstream.ts";
import { eventually } from "../testing/eventually.ts";
import { FakeNoAnswer, textAnswer } from "../testing/fakeUpstream.ts";
import { ask, openRaw } from "../testing/http.ts";
import { startSite } from "../testing/withEdge.ts";

/** The only request that came through, once it has. */
async function asked(upstream: { asked: readonly { request: UpstreamRequest }[] }): Promise<UpstreamRequest> {
  return eventually(() => {
    const request = upstream.asked[0]?.request;
    if (request === undefined) throw new Error("nothing was asked yet");
    return request;
  });
}

test("an upload that announces too much is refused before any of it is read", async () => {
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

test("a visitor who asks first is told not to send it", async () => {
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

test.each(["gives up", "answers all the same", "never answers"])(
  "an upload in chunks is stopped at the limit, where PHP then %s",
  async (php) => {
    const { edge, upstream } = await startSite();
    upstream.answer = async (request) => {
      if (request.body !== null) await buffer(request.body).catch(() => undefined);
      if (php === "gives up") throw new FakeNoAnswer("crashed");
      return php === "never answers" ? new Promise(() => undefined) : textAnswer("done");
    };
    const sent = startUpload(edge);
    const answered = once(sent, "response");
    for (let i = 0; i < 20; i++) sent.write(Buffer.alloc(16_384));
    const [response] = await answered;
    expect(response.statusCode).toBe(413);
    expect((await asked(upstream)).signal.aborted).toBe(true);
    sent.end();
    expect(await text(response)).toContain("This upload is too large");
  },
);

test("an upload in chunks below the limit arrives whole", async () => {
  const { edge, upstream } = await startSite();
  upstream.answer = async (request) => textAnswer(`${request.body === null ? 0 : (await buffer(request.body)).length}`);
  const sent = startUpload(edge);
  for (let i = 0; i < 5; i++) sent.write(Buffer.alloc(16_384));
  sent.end();
  const [response] = await once(sent, "response");
  expect(await text(response)).toBe(`${5 * 16_384}`);
});

test("a visitor who leaves in the middle of an upload is noticed by PHP", async () => {
  const { edge, upstream } = await startSite();
  upstream.answer = async (request) => {
    if (request.body !== null) await buffer(request.body);
    return textAnswer("done");
  };
  const sent = startUpload(edge);
  sent.on("error", () => undefined).write("part");
  const { signal } = await asked(upstream);
  sent.destroy();
  await eventually(() => expect(signal.aborted).toBe(true));
});

/** A POST whose length nobody knows yet. */
function startUpload(edge: { readonly port: number }) {
  const headers = { host: "site.localhost" };
  return sendRequest({ host: "127.0.0.1", port: edge.port, method: "POST", headers, agent: false });
}
