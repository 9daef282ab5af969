/** Processes are killed and started again while visitors open new connections: these wait, and none is refused or reset. */
import { findPorts } from "@sitewright/supervisor/ports.ts";
import type { Sockets } from "@sitewright/supervisor/sockets.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Answer, send } from "./http.ts";
import { createFolder, type Installation, startAsService, startHere, type TestFolder } from "./installation.ts";
import { descendants, find, isAlive, kill, listenersOn, type ProcessRole } from "./processes.ts";
import { type CreatedSite, createSite } from "./sites.ts";
import { openAsSystemd } from "./systemdSockets.ts";

const host = "127.0.0.1";
const patience = { timeout: 120_000, interval: 20 };
const [edgePort = 0, edgeTlsPort = 0, controlPort = 0] = await findPorts(
  host,
  ["SITEWRIGHT_EDGE_PORT", "SITEWRIGHT_EDGE_TLS_PORT", "SITEWRIGHT_CONTROL_PORT"].map((setting) => ({
    setting,
    port: 0,
    purpose: "a test",
  })),
);
const ports = {
  SITEWRIGHT_EDGE_PORT: String(edgePort),
  SITEWRIGHT_EDGE_TLS_PORT: String(edgeTlsPort),
  SITEWRIGHT_CONTROL_PORT: String(controlPort),
};
const apiName = "api.example.net";
/** This test is the proxy that ends TLS. */
const proxied = { host: apiName, "x-forwarded-for": "203.0.113.5", "x-forwarded-proto": "https" };

/** Native PHP needs root for its network. */
const engines = process.getuid?.() === 0 ? ["playground", "native"] : ["playground"];

describe.each(engines)("with PHP of %s", (engine) => {
  const settings = {
    ...ports,
    SITEWRIGHT_RUNTIME: engine,
    SITEWRIGHT_API_NAME: apiName,
    SITEWRIGHT_TRUSTED_PROXIES: host,
  };
  let home: TestFolder;
  let sockets: Sockets;
  let installation: Installation;
  let site: CreatedSite;

  const startService = () => startAsService(home.folder, settings, sockets.of("http", "https", "api"));

  beforeAll(async () => {
    home = await createFolder();
    sockets = await openAsSystemd(host, [edgePort, edgeTlsPort, controlPort]);
    installation = await startService();
    site = await createSite(installation, { display_name: "Survivor", site_title: "Survivor" });
  });

  afterAll(async () => {
    await installation?.stop();
    sockets?.close();
    await home?.remove();
  });

  function root(): number {
    const { pid } = installation.supervisor;
    if (pid === undefined) throw new Error("The supervisor is not running");
    return pid;
  }

  async function processOf(role: ProcessRole): Promise<number | undefined> {
    return (await find(root(), role))[0]?.id;
  }

  /** Opens connections until `change` has ended: some for a page that the edge has, and always one for a page that PHP makes. */
  async function visitDuring(change: () => Promise<unknown>): Promise<readonly Answer[]> {
    const { visit } = installation;
    const opened: Promise<PromiseSettledResult<Answer>>[] = [];
    const open = (address: string) => {
      const settled = Promise.allSettled([visit(address)]).then(([result]) => result);
      opened.push(settled);
      return settled;
    };
    let isOver = false;
    const uncached = (async () => {
      do await open(`${site.address}/?fresh`);
      while (!isOver);
    })();
    const cached = setInterval(() => void open(`${site.address}/`), 50);
    await change().finally(() => {
      isOver = true;
      clearInterval(cached);
    });
    await uncached;
    return (await Promise.all(opened)).map((result) => {
      if (result.status === "rejected") throw result.reason;
      return result.value;
    });
  }

  /** Asks the API at its own name until `change` has ended, each time over a new connection. */
  async function askDuring(change: () => Promise<unknown>): Promise<readonly number[]> {
    const asked: Promise<Answer>[] = [];
    const ask = () => void asked.push(send("GET", `http://${host}:${edgePort}/v2/openapi.json`, { headers: proxied }));
    const asking = setInterval(ask, 100);
    await change().finally(() => clearInterval(asking));
    return (await Promise.all(asked)).map(({ status }) => status);
  }

  function expectPages(answers: readonly Answer[]): void {
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const { text } of answers) expect(text).toContain("Survivor");
  }

  test("no process below the edge has the visitors' sockets, so no PHP can take their connections", async () => {
    expect((await installation.visit(`${site.address}/?fresh`)).status).toBe(200);
    const edge = await processOf("edge");
    expect((await descendants(edge ?? 0)).length).toBeGreaterThan(0);
    for (const port of [edgePort, edgeTlsPort]) {
      expect((await listenersOn(root(), port)).map(({ id }) => id)).toEqual([edge]);
    }
  });

  test.each([
    { role: "edge", isBack: async () => expect((await installation.visit(`${site.address}/`)).status).toBe(200) },
    { role: "control", isBack: async () => expect((await installation.api("GET", "/sites")).status).toBe(200) },
  ] as const)("kill -9 of $role: new connections wait until it is back", async ({ role, isBack }) => {
    const former = await processOf(role);
    await kill(root(), role);
    const answers = await visitDuring(async () => {
      await isBack();
      expect(await processOf(role)).not.toBe(former);
    });
    expectPages(answers);
  });

  test("kill -9 of the supervisor: new connections wait until it is started again on the same sockets", async () => {
    const former = root();
    process.kill(former, "SIGKILL");
    await vi.waitFor(async () => expect(await isAlive(former)).toBe(false), patience);
    expectPages(
      await visitDuring(async () => {
        installation = await startService();
      }),
    );
  });

  test("a stop and a start: new connections wait, and requests in progress are answered", async () => {
    const { visit, stop } = installation;
    const begun = visit(`${site.address}/?fresh`);
    expectPages(
      await visitDuring(async () => {
        await stop();
        installation = await startService();
      }),
    );
    expectPages([await begun]);
  });

  test("requests for the API's name wait too, while control is killed, and during a stop and a start", async () => {
    const former = await processOf("control");
    await kill(root(), "control");
    const killed = await askDuring(async () => {
      expect((await installation.api("GET", "/sites")).status).toBe(200);
      expect(await processOf("control")).not.toBe(former);
    });
    const stopped = await askDuring(async () => {
      await installation.stop();
      installation = await startService();
    });
    expect([new Set(killed), new Set(stopped)]).toEqual([new Set([200]), new Set([200])]);
  });

  test("without sockets of systemd, new connections wait too when the edge or control is killed", async () => {
    await installation.stop();
    sockets.close();
    installation = await startHere(home.folder, settings);
    for (const role of ["edge", "control"] as const) {
      const former = await processOf(role);
      await kill(root(), role);
      const answers = await visitDuring(async () => {
        expect((await installation.visit(`${site.address}/`)).status).toBe(200);
        expect((await installation.api("GET", "/sites")).status).toBe(200);
        expect(await processOf(role)).not.toBe(former);
      });
      expectPages(answers);
    }
  });
});
