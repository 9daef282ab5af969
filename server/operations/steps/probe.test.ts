import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeCertificate } from "../../certificates/testing/openssl.ts";
import { StepFailure } from "../engine/operation.ts";
import { makeProbe } from "./probe.ts";

const listen = (answer: RequestListener) => listenWith(createServer(answer));

async function listenByTls(answer: RequestListener): Promise<number> {
  const { key, cert } = await makeCertificate({ names: ["demo.localhost"] });
  return listenWith(createTlsServer({ key, cert }, answer));
}

async function listenWith(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

const page = "<!doctype html><html><body>Hello</body></html>\n";
const signal = new AbortController().signal;

async function failureOf(answer: RequestListener): Promise<StepFailure> {
  const port = await listen(answer);
  const error: unknown = await makeProbe({ http: port, tls: null })("http://demo.localhost:8081", signal, "page").catch(
    (reason: unknown) => reason,
  );
  if (!(error instanceof StepFailure)) throw new Error("The probe did not reject with StepFailure");
  return error;
}

describe("the probe", () => {
  test("requests the front page with the host and port of its address", async () => {
    const seen: (string | undefined)[] = [];
    const port = await listen((request, response) => {
      seen.push(request.url, request.headers.host);
      response.end(page);
    });
    await makeProbe({ http: port, tls: null })("http://demo.localhost:8081", signal, "page");
    expect(seen).toEqual(["/", "demo.localhost:8081"]);
  });

  test.each([
    [500, false],
    [404, false],
    [302, false],
    [503, true],
  ])("rejects status %i", async (status, isTransient) => {
    const error = await failureOf((_, response) => response.writeHead(status).end(page));
    expect(error.message).toBe(`The new site answered with status ${status} when it was opened.`);
    expect(error.isTransient).toBe(isTransient);
  });

  test('accepts errors of the site as an "answer", but not a 503 of the edge', async () => {
    const answering = await listen((_, response) => response.writeHead(500).end("<html>Fatal"));
    await makeProbe({ http: answering, tls: null })("http://demo.localhost:8081", signal, "answer");
    const silent = await listen((_, response) => response.writeHead(503).end(page));
    await expect(
      makeProbe({ http: silent, tls: null })("http://demo.localhost:8081", signal, "answer"),
    ).rejects.toThrow("status 503");
  });

  test('accepts maintenance mode as a "sign", but not a closed connection', async () => {
    const closed = await listen((_, response) => response.writeHead(503).end(page));
    await makeProbe({ http: closed, tls: null })("http://demo.localhost:8081", signal, "sign");
    const gone = await listen((request) => request.destroy());
    await expect(makeProbe({ http: gone, tls: null })("http://demo.localhost:8081", signal, "sign")).rejects.toThrow(
      "not be reached",
    );
  });

  test("rejects an incomplete page", async () => {
    const incomplete = await failureOf((_, response) => response.end("<html><body>Hel"));
    expect(incomplete.message).toContain("ended without </html>");
    const cut = await failureOf((_, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("<html>");
      setImmediate(() => response.destroy());
    });
    expect(cut.isTransient).toBe(true);
  });

  test("rejects with a transient error if the edge can't be reached", async () => {
    const port = await listen(() => undefined);
    const gone = makeProbe({ http: port === 1 ? 2 : 1, tls: null })("http://demo.localhost", signal, "page");
    await expect(gone).rejects.toMatchObject({ isTransient: true, message: "The new site could not be reached." });
  });

  test("can be aborted", async () => {
    const port = await listen(() => undefined);
    const time = AbortSignal.timeout(50);
    await expect(makeProbe({ http: port, tls: null })("http://demo.localhost", time, "page")).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });

  describe("if the edge redirects visitors to HTTPS", () => {
    /** Probes a site that answers like this over HTTPS. */
    async function probeByTls(answer: RequestListener, wanted: "page" | "answer"): Promise<void> {
      const tls = await listenByTls(answer);
      const redirecting: RequestListener = (_, response) =>
        response.writeHead(301, { location: `https://demo.localhost:${tls}/` }).end();
      await makeProbe({ http: await listen(redirecting), tls })("http://demo.localhost:8081", signal, wanted);
    }

    test("requests the page over HTTPS", async () => {
      const seen: (string | undefined)[] = [];
      await probeByTls((request, response) => {
        seen.push(request.headers.host?.replace(/:\d+$/, ""));
        response.end(page);
      }, "page");
      expect(seen).toEqual(["demo.localhost"]);
    });

    test("judges the HTTPS response", async () => {
      const busy: RequestListener = (_, response) => response.writeHead(503).end(page);
      await expect(probeByTls(busy, "answer")).rejects.toThrow("status 503");
    });

    test("treats other redirects as the site's own answer", async () => {
      const http = await listen((_, response) => response.writeHead(301, { location: "https://else.example/" }).end());
      await makeProbe({ http, tls: 1 })("http://demo.localhost:8081", signal, "answer");
    });
  });
});
