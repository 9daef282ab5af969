import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Edge, startEdge } from "../../edge/edge.ts";
import { createEnvironmentLogs } from "../../edge/logs/environmentLogs.ts";
import { collectLog } from "../../edge/testing/collectLog.ts";
import { ask, putTable } from "../../edge/testing/http.ts";
import { limits, makeEnvironment, tableOf } from "../../edge/testing/withEdge.ts";
import { addressOfPhp } from "../../edge/visit/sender.ts";
import { fixedKeys } from "../../server/keyFile.ts";
import { phpGroup } from "../owner.ts";
import { createPhpCredentials } from "../phpCredentials.ts";
import { servedAs } from "../testing/handMade.ts";
import { addScript, type Site } from "../testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";
import { edgeSocketName } from "./worker/assignment.ts";

/** Two sites behind a real edge, whose PHP requests the other's pages. */
let world: Playground;
let folder = "";
let edge: Edge;
let attacker: Site;
let victim: Site;
const credentials = createPhpCredentials(fixedKeys(Buffer.alloc(32, 7)));

beforeAll(async () => {
  world = await openPlayground({ maxWorkers: 4, edgePort: () => edge.port, credentialOf: credentials.of });
  attacker = await world.site({ address: "http://attacker.localhost:8081" });
  victim = await world.site({ address: "http://victim.localhost:8081" });
  folder = await mkdtemp(path.join(tmpdir(), "edge-"));
  const adminSocket = path.join(folder, "run/edge.sock");
  edge = await startEdge({
    upstream: world.serving,
    host: "127.0.0.1",
    port: 0,
    adminSocket,
    php: {
      socket: path.join(world.run, edgeSocketName),
      group: phpGroup(),
      identify: credentials.environmentOf,
    },
    tableFile: path.join(folder, "table.json"),
    bodyFolder: path.join(folder, "bodies"),
    limits,
    siteSuffix: "localhost",
    logs: createEnvironmentLogs({ folder: path.join(folder, "logs") }),
    log: collectLog([]),
  });
  const hosts = { "attacker.localhost": attacker.environment.id, "victim.localhost": victim.environment.id };
  const served = await Promise.all([attacker, victim].map((site) => servedAs(world, site)));
  const environments = served.map((each) => makeEnvironment(each.documentRoot, { ...each }));
  expect(await putTable({ port: edge.port, adminSocket }, tableOf(1, environments, hosts))).toMatchObject({
    status: 200,
  });
  const who = "echo json_encode([$_SERVER['REMOTE_ADDR'], $_SERVER['HTTP_HOST']]);";
  for (const site of [attacker, victim]) await addScript(site, "who.php", who);
}, 120_000);
afterAll(async () => {
  await edge.close(0);
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs PHP in the attacker's site. */
async function asAttacker(code: string): Promise<string> {
  await addScript(attacker, "run.php", code);
  return (await ask(edge, "/run.php", { host: "attacker.localhost" })).body;
}

const neighbour = () => addressOfPhp(attacker.environment);

test("PHP has the loopback address at its own site", async () => {
  const own = `http://attacker.localhost:${edge.port}`;
  expect(await asAttacker(`echo file_get_contents('${own}/who.php');`)).toBe(
    JSON.stringify(["127.0.0.1", own.slice("http://".length)]).replaceAll("/", "\\/"),
  );
});

test.each([
  ["a request to its name", (port: number) => [`victim.localhost:${port}`, "$h = array();"]],
  [
    "its name in a request to the own site",
    (port: number) => [`attacker.localhost:${port}`, "$h = array('Host: victim.localhost');"],
  ],
])("PHP is a visitor with its own address at another site, by %s", async (_, how) => {
  const [host = "", headers = ""] = how(edge.port);
  const curl = `$c = curl_init('http://${host}/who.php'); curl_setopt($c, CURLOPT_HTTPHEADER, $h); curl_exec($c);`;
  expect(await asAttacker(`${headers} ${curl}`)).toContain(`["${neighbour()}","victim.localhost`);
});

test.each([
  ["a credential of its own making", "0 other proof"],
  ["the victim's name", () => `${victim.environment.number} ${victim.environment.id} ${"A".repeat(43)}`],
])("PHP can't become another environment with %s", async (_, credential) => {
  const line = typeof credential === "string" ? credential : credential();
  const request = "GET /who.php HTTP/1.1\\r\\nHost: victim.localhost\\r\\nConnection: close\\r\\n\\r\\n";
  const code = `$s = stream_socket_client('tcp://victim.localhost:${edge.port}'); fwrite($s, "${line}\\n${request}");
    echo stream_get_contents($s);`;
  // The line is part of the request, because the connection's credential came before it.
  expect(await asAttacker(code)).toMatch(/^HTTP\/1\.1 400 /);
});
