import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask } from "@sitewright/edge/testing/http.ts";
import { createFakeServing } from "@sitewright/runtimes/fake/serving.ts";
import type { PhpNetwork } from "@sitewright/runtimes/native/network/phpNetwork.ts";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startEdgeProcess } from "./edgeProcess.ts";
import type { ServingTools } from "./edgeServing.ts";
import { type Config, loadConfig } from "./settings/config.ts";

async function makeConfig(settings: NodeJS.ProcessEnv = {}): Promise<Config> {
  const data = await mkdtemp(join(tmpdir(), "edge-process-"));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  return loadConfig({
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_RUN: join(data, "run"),
    SITEWRIGHT_EDGE_PORT: "0",
    SITEWRIGHT_EDGE_TLS_PORT: "0",
    ...settings,
  });
}

/** Starts the edge in this process, with a fake runtime. */
async function start(config: Config, native: { readonly network: PhpNetwork } | null = null) {
  const seen = { closed: false, edgePort: () => 0 };
  const makeServing = ({ edgePort }: ServingTools) => {
    seen.edgePort = edgePort;
    const serving = createFakeServing();
    return {
      ...serving,
      close: async () => {
        seen.closed = true;
        await serving.close();
      },
    };
  };
  const starting = startEdgeProcess({ config, log: pino({ level: "silent" }), native, makeServing });
  return { starting, seen };
}

test("the edge serves the table in its file, and the runtime gets the port", async () => {
  const config = await makeConfig();
  const documentRoot = join(config.data, "site");
  await mkdir(join(config.data, "edge"));
  await mkdir(documentRoot);
  await writeFile(join(documentRoot, "hello.txt"), "hello");
  const environment = {
    id: "a",
    number: 1,
    phpVersion: "8.3",
    release: 1,
    documentRoot,
    overlays: {},
    multisite: null,
  };
  const table = { generation: 4, environments: [environment], hosts: [{ name: "a.localhost", environmentId: "a" }] };
  await writeFile(join(config.data, "edge", "table.json"), JSON.stringify(table));

  const { starting, seen } = await start(config);
  const edge = await starting;
  onTestFinished(() => edge.close(0));
  expect((await ask(edge, "/hello.txt", { host: "a.localhost" })).body).toBe("hello");
  expect(seen.edgePort()).toBe(edge.port);
  await edge.close(0);
  expect(seen.closed).toBe(true);
});

test("PHP finds its own site at the port that is in addresses", async () => {
  const { starting, seen } = await start({ ...(await makeConfig()), publicPort: 80 });
  const edge = await starting;
  onTestFinished(() => edge.close(0));
  expect([seen.edgePort(), edge.port === 80]).toEqual([80, false]);
});

test("native PHP is led to the edge from the ports in addresses, and from those where the edge listens", async () => {
  const led: Parameters<PhpNetwork["leadToEdge"]>[0][] = [];
  const nothing = async () => undefined;
  const network: PhpNetwork = {
    isRestricted: true,
    problem: null,
    setEnvironments: nothing,
    leadToEdge: async (ports) => void led.push(ports),
    callerAt: () => null,
    setHostNames: nothing,
    hostsFile: async () => "/etc/hosts",
    close: nothing,
  };
  const { starting } = await start({ ...(await makeConfig()), publicPort: 80 }, { network });
  const edge = await starting;
  onTestFinished(() => edge.close(0));
  const [plain, secure] = edge.phpPorts;
  expect(led).toEqual([[plain, secure, { port: 80, phpPort: plain?.phpPort }]]);
});

test("a port in use is reported together with its setting, and no worker is left", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { starting, seen } = await start(await makeConfig({ SITEWRIGHT_EDGE_PORT: String(port) }));
  await expect(starting).rejects.toThrow(`Port ${port} is in use. Choose another with SITEWRIGHT_EDGE_PORT.`);
  expect(seen.closed).toBe(true);
});

test("a foreign address is reported together with its setting", async () => {
  const { starting } = await start(await makeConfig({ SITEWRIGHT_HOST: "192.0.2.1" }));
  await expect(starting).rejects.toThrow("This machine has no address 192.0.2.1. Choose another with SITEWRIGHT_HOST.");
});
