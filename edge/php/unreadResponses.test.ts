import { once } from "node:events";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { textAnswer } from "../testing/fakeUpstream.ts";
import { ask } from "../testing/http.ts";
import { limits, startSite } from "../testing/withEdge.ts";
import { createUnreadResponses } from "./unreadResponses.ts";

test("over the limit, the company and network with the most unread bytes lose their largest responses", async () => {
  const cut: string[] = [];
  const counts: number[] = [];
  const unread = createUnreadResponses(100, (count) => counts.push(count));
  const add = (payer: string, network: string, bytes: number) => {
    const name = `${payer} ${network} ${bytes}`;
    const end = unread.watch({
      claimant: { payer, network },
      bytes: () => bytes,
      cutOff: () => {
        cut.push(name);
        end();
      },
    });
    onTestFinished(end);
  };
  add("a", "1", 30);
  add("a", "1", 20);
  add("a", "2", 40);
  add("b", "2", 65);
  await eventually(() => expect(cut).toEqual(["a 1 30", "b 2 65"]));
  expect(counts).toEqual([2]);
});

test("a visitor who doesn't read loses the connection, and one who reads gets the whole response", async () => {
  const unreadBytes = 8 << 20;
  const size = 24 << 20;
  const { edge, upstream, logged } = await startSite({}, { edge: { limits: { ...limits, unreadBytes } } });
  upstream.answer = ({ url }) => {
    if (url !== "/large") return textAnswer("small");
    // Like a worker, whose response is buffered until the visitor reads it.
    const body = new PassThrough({ highWaterMark: size });
    body.end(Buffer.alloc(size));
    return { status: 200, headers: [["Content-Type", "application/zip"]], body };
  };
  expect((await ask(edge, "/large")).bytes.length).toBe(size);
  const visitor = connect(edge.port, "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void visitor.destroy());
  await once(visitor, "connect");
  visitor.pause().write("GET /large HTTP/1.1\r\nHost: site.localhost\r\n\r\n");
  const warnings = () => logged.filter(({ level }) => level === "warn");
  await eventually(() => expect(warnings()).toMatchObject([{ facts: { count: 1 } }]));
  let received = 0;
  const closed = new Promise<void>((resolve) => visitor.once("close", () => resolve()));
  visitor.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  visitor.resume();
  await closed;
  expect(received).toBeLessThan(size);
  expect((await ask(edge, "/")).body).toBe("small");
});
