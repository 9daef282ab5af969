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

async function failure(answer: RequestListener): Promise<StepFailure> {
  const port = await listen(answer);
  const error: unknown = await makeProbe({ http: port, tls: null })("http://demo.localhost:8081", signal, "page").catch(
    (reason: unknown) => reason,
  );
  if (!(error instanceof StepFailure)) throw new Error("The probe did not fail as a step does");
  return error;
}

describe("the probe", () => {
  test("opens the front page as a visitor would, by the name and port of its address", async () => {
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
  ])("says that the site answered %i", async (status, isTransient) => {
    const error = await failure((_, response) => response.writeHead(status).end(page));
    expect(error.message).toBe(`The new site answered with status ${status} when it was opened.`);
    expect(error.isTransient).toBe(isTransient);
  });

  test("where only an answer is wanted, an error of the site's own is one, and that of an edge without a site is none", async () => {
    const answering = await listen((_, response) => response.writeHead(500).end("<html>Fatal"));
    await makeProbe({ http: answering, tls: null })("http://demo.localhost:8081", signal, "answer");
    const silent = await listen((_, response) => response.writeHead(503).end(page));
    await expect(
      makeProbe({ http: silent, tls: null })("http://demo.localhost:8081", signal, "answer"),
    ).rejects.toThrow("status 503");
  });

  test("where a sign is enough, a site that is closed for maintenance gives one, and nobody none", async () => {
    const closed = await listen((_, response) => response.writeHead(503).end(page));
    await makeProbe({ http: closed, tls: null })("http://demo.localhost:8081", signal, "sign");
    const gone = await listen((request) => request.destroy());
    await expect(makeProbe({ http: gone, tls: null })("http://demo.localhost:8081", signal, "sign")).rejects.toThrow(
      "not be reached",
    );
  });

  test("a page that breaks off is none", async () => {
    expect((await failure((_, response) => response.end("<html><body>Hel"))).message).toContain("broke off");
    const cut = await failure((_, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("<html>");
      setImmediate(() => response.destroy());
    });
    expect(cut.isTransient).toBe(true);
  });

  test("nobody there is tried again", async () => {
    const port = await listen(() => undefined);
    const gone = makeProbe({ http: port === 1 ? 2 : 1, tls: null })("http://demo.localhost", signal, "page");
    await expect(gone).rejects.toMatchObject({ isTransient: true, message: "The new site could not be reached." });
  });

  test("its signal ends it", async () => {
    const port = await listen(() => undefined);
    const time = AbortSignal.timeout(50);
    await expect(makeProbe({ http: port, tls: null })("http://demo.localhost", time, "page")).rejects.toMatchObject({
      name: "TimeoutError",
    });
  });

  describe("where the edge sends visitors to https", () => {
    /** The probe of a site that answers so by TLS, asked for a page or for any answer. */
    async function probeByTls(answer: RequestListener, wanted: "page" | "answer"): Promise<void> {
      const tls = await listenByTls(answer);
      const leading: RequestListener = (_, response) =>
        response.writeHead(301, { location: `https://demo.localhost:${tls}/` }).end();
      await makeProbe({ http: await listen(leading), tls })("http://demo.localhost:8081", signal, wanted);
    }

    test("the site is seen there", async () => {
      const seen: (string | undefined)[] = [];
      await probeByTls((request, response) => {
        seen.push(request.headers.host?.replace(/:\d+$/, ""));
        response.end(page);
      }, "page");
      expect(seen).toEqual(["demo.localhost"]);
    });

    test("what it says there counts", async () => {
      const busy: RequestListener = (_, response) => response.writeHead(503).end(page);
      await expect(probeByTls(busy, "answer")).rejects.toThrow("status 503");
    });

    test("a redirect to anywhere else is the site's own answer", async () => {
      const http = await listen((_, response) => response.writeHead(301, { location: "https://else.example/" }).end());
      await makeProbe({ http, tls: 1 })("http://demo.localhost:8081", signal, "answer");
    });
  });
});
