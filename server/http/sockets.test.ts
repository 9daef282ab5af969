/** Connections: invalid HTTP, and requests that arrive during shutdown. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { startTestServer, useTestServer } from "./testing/server.ts";

const test = useTestServer();
let port: number;

beforeAll(async () => {
  port = await test.current.listen();
});

/** Writes bytes to a socket and returns the response up to its end. */
async function sendRaw(bytes: string, to = port): Promise<string> {
  const socket = connect(to, "127.0.0.1");
  socket.write(bytes);
  return text(socket);
}

describe("invalid HTTP", () => {
  it.each([
    ["nonsense", "nonsense\r\n\r\n"],
    ["a bad method", "FROBNICATE /v2/sites HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["an endless header", `GET /v2/sites HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(100_000)}\r\n\r\n`],
    ["two lengths", "POST /v2/sites HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
  ])("gets an error in the API's format: %s", async (_, bytes) => {
    const answer = await sendRaw(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ message: "Bad request format", status: 400 });
    expect(answer).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
    for (const name of ["limit", "remaining", "reset"])
      expect(answer).toMatch(new RegExp(`x-ratelimit-${name}: \\d+\r\n`));
  });

  it.each([
    ["no host", "GET /v2/nothing HTTP/1.1\r\n\r\n", 400],
    ["an unknown expectation", "GET /v2/nothing HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", 404],
  ])("that Node would answer itself gets one too: %s", async (_, request, status) => {
    const answer = await sendRaw(request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toMatch(/\r\nx-ratelimit-remaining: \d+\r\n/);
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ status });
  });

  it("counts against the rate limit", async () => {
    await using limited = await startTestServer({ limits: { rateLimitPerMinute: 1 } });
    const listening = await limited.listen();
    expect(await sendRaw("nonsense\r\n\r\n", listening)).toMatch(/^HTTP\/1\.1 400 /);
    const second = await sendRaw("nonsense\r\n\r\n", listening);
    expect(second).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
    expect(second).toMatch(/\r\nretry-after: \d+\r\n/);
  });

  it("does not affect other requests", async () => {
    expect((await test.current.call("GET", "/v2/validate")).status).toBe(200);
  });
});

describe("a server during shutdown", () => {
  it("still answers new requests", async () => {
    await using stopping = await startTestServer();
    const answers: Response[] = [];
    stopping.server.addHook("preClose", async () => {
      const headers = { authorization: `Bearer ${stopping.company.api_key}` };
      answers.push(await fetch(`http://127.0.0.1:${listening}/v2/validate`, { headers }));
    });
    const listening = await stopping.listen();
    await stopping.server.close();
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(answers[0]?.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
    expect(answers[0]?.headers.get("connection")).toBe("close");
  });
});
