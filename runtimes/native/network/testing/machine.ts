/**
 * A machine in a network namespace, with neighbours in another one (`internet.ts`), PHP in sandboxes and an edge. Tests run it as a
 * process (`startMachine.ts`) and call its functions by name; parameters and results are text.
 */
import { type ChildProcess, execFile, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Edge, startEdge } from "../../../../edge/edge.ts";
import { createEnvironmentLogs } from "../../../../edge/logs/environmentLogs.ts";
import { createFakeUpstream } from "../../../../edge/testing/fakeUpstream.ts";
import { ownerOf } from "../../../owner.ts";
import { commandLineOf, descendantsOf } from "../../processTree.ts";
import { sandboxed } from "../../sandbox.ts";
import { sandboxOutput } from "../../testing/sandboxOutput.ts";
import { createPhpNetwork, type PhpNetwork } from "../phpNetwork.ts";

const ip = (...parameters: string[]) => execFileSync("ip", parameters);
const folder = await mkdtemp(path.join(tmpdir(), "machine-"));
const upstream = createFakeUpstream();
let network: PhpNetwork | null = null;
let second: PhpNetwork | null = null;
let edge: Edge | null = null;
let connections = 0;
const lost: string[] = [];

/** The port of a service of this machine that PHP must not reach. */
const controlPort = 8080;

async function setUp(): Promise<ChildProcess> {
  const resolvers = path.join(folder, "resolv.conf");
  await writeFile(resolvers, "nameserver 10.53.53.53\n");
  execFileSync("mount", ["--bind", resolvers, realpathSync("/etc/resolv.conf")]);
  const internet = fork(path.join(import.meta.dirname, "internet.ts"), [], {
    execPath: "unshare",
    execArgv: ["--net", "--", process.execPath],
  });
  await once(internet, "spawn");
  ip("link", "set", "lo", "up");
  // Until the other process is in its own namespace, it has this one's.
  await untilSeparate(internet.pid ?? 0);
  ip("link", "add", "outside", "type", "veth", "peer", "name", "inside", "netns", String(internet.pid));
  ip("link", "set", "outside", "up");
  for (const address of ["93.184.216.1/24", "10.9.9.1/24", "10.53.53.1/24", "100.64.9.1/24", "169.254.1.1/16"])
    ip("addr", "add", address, "dev", "outside");
  for (const address of ["2606:2800::1/64", "fd00:9::1/64"]) ip("addr", "add", address, "dev", "outside", "nodad");
  ip("route", "add", "default", "via", "93.184.216.34");
  internet.send("start");
  await once(internet, "message");
  const control = createServer((socket) => {
    connections += 1;
    socket.on("error", () => undefined).end("reached control\n");
  });
  await new Promise<void>((resolve) => control.listen(controlPort, "::", resolve));
  return internet;
}

async function untilSeparate(pid: number): Promise<void> {
  const own = await readNamespace("self");
  while ((await readNamespace(String(pid))) === own) await new Promise((resolve) => setImmediate(resolve));
}

async function readNamespace(process: string): Promise<string> {
  return execFileSync("readlink", [`/proc/${process}/ns/net`], { encoding: "utf8" });
}

function run(command: string, ...parameters: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, parameters, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`.trim()));
  });
}

const php = realpathSync("/usr/bin/php");

const defaults = {
  isSecond: false,
  forbidden: [],
  internal: [],
  mayReach: [],
  packageSource: null,
  hosts: path.join(folder, "hosts"),
};

/** The functions that tests call. */
const functions: Readonly<Record<string, (...parameters: string[]) => Promise<string>>> = {
  /** Sets the rules. Returns the problem, or nothing. */
  restrict: async (options = "{}") => {
    network = await createPhpNetwork({ ...defaults, onLost: (reason) => lost.push(reason), ...JSON.parse(options) });
    return network.problem ?? "";
  },
  /** Starts another server, with the same rules, and kills it when they are in force. */
  killServer: async () => {
    const module = path.join(import.meta.dirname, "..", "phpNetwork.ts");
    const code = `import { createPhpNetwork } from ${JSON.stringify(module)};
      const { problem } = await createPhpNetwork(${JSON.stringify(defaults)});
      console.log(problem ?? "ready"); setInterval(() => undefined, 1000);`;
    const server = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(server.stdout, "data");
    server.kill("SIGKILL");
    await once(server, "exit");
    return String(line).trim();
  },
  /** Kills the nft that owns the rules. */
  killNft: async () => {
    const [pid] = descendantsOf(process.pid).filter((each) => commandLineOf(each) === "nft -i");
    process.kill(pid ?? 0, "SIGKILL");
    return "";
  },
  /** Sends a signal to the nft that owns the rules, and to the processes that keep it. Returns their number. */
  signalNft: async (signal = "") => {
    const all = descendantsOf(process.pid).filter((pid) => commandLineOf(pid).includes("nft -i"));
    for (const pid of all) process.kill(pid, signal);
    return String(all.length);
  },
  /** Sets the rules of another process. */
  restrictSecond: async () => {
    second = await createPhpNetwork({
      ...defaults,
      isSecond: true,
      onLost: (reason) => lost.push(reason),
    });
    return second.problem ?? "";
  },
  closeSecond: async () => {
    await second?.close();
    return "";
  },
  setEnvironments: async (environments = "[]") => {
    await network?.setEnvironments(JSON.parse(environments));
    return "";
  },
  setHostNames: async (names = "[]") => {
    await network?.setHostNames(JSON.parse(names));
    return "";
  },
  close: async () => {
    await network?.close();
    return "";
  },
  lost: async () => JSON.stringify({ lost, isRestricted: network?.isRestricted }),
  connections: async () => String(connections),
  /** Runs PHP as an environment's user in its sandbox. */
  php: async (number = "1", code = "", ...parameters) => {
    const hosts = await network?.hostsFile(`e${number}`);
    const mounts = hosts === undefined ? [] : [{ from: hosts, to: "/etc/hosts", isWritable: false }];
    const sandbox = {
      user: ownerOf(Number(number)),
      root: "/",
      mounts,
      memoryFolders: [],
      isOffline: false,
      limits: null,
    };
    return sandboxOutput(sandboxed(sandbox, [php, "-r", code, "--", ...parameters]));
  },
  /** Runs PHP as a user, without a sandbox. */
  phpOf: (user = "0", code = "", ...parameters) =>
    run("setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", php, "-r", code, "--", ...parameters),
  /** Connects to a port from another machine. Returns what it gets. */
  fromOutside: async (port = "0") => {
    const internet = await ready;
    internet.send(port);
    const [text] = await once(internet, "message");
    return String(text);
  },
  shell: (command = "") => run("sh", "-c", command),
  /** Starts an edge with two environments, the second at `two.example`. Returns its ports. */
  startEdge: async (key = "", chain = "") => {
    const certificate = { key: await readFile(key, "utf8"), chain: await readFile(chain, "utf8") };
    edge = await startEdge({
      upstream,
      host: "0.0.0.0",
      port: 0,
      tls: { port: 0, readCertificate: async () => certificate },
      adminSocket: path.join(folder, "run", "edge.sock"),
      phpPorts: {
        callerAt: (address) => network?.callerAt(address) ?? null,
        onHosts: (hosts) => void network?.setHostNames(hosts),
      },
      tableFile: path.join(folder, "table.json"),
      bodyFolder: path.join(folder, "bodies"),
      limits: {
        connectionsPerNetwork: 100,
        uploadBytes: 100_000,
        formBytes: 0,
        headSeconds: 15,
        requestSeconds: 60,
        bodyGraceSeconds: 10,
        unreadBytes: 1_000_000,
        silenceSeconds: 60,
        freezeSeconds: 20,
        holdSeconds: 20,
      },
      siteSuffix: "localhost",
      logs: createEnvironmentLogs({ folder: path.join(folder, "logs") }),
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error },
    });
    await network?.leadToEdge(edge.phpPorts);
    return JSON.stringify({ port: edge.port, tlsPort: edge.tlsPort, phpPorts: edge.phpPorts });
  },
  /** Sends the edge a table. */
  putTable: async (table = "") =>
    run(
      "curl",
      "-s",
      "--unix-socket",
      path.join(folder, "run", "edge.sock"),
      "-X",
      "PUT",
      "-d",
      table,
      "http://x/table",
    ),
  /** What the edge's PHP was asked since the last call. */
  asked: async () =>
    JSON.stringify(
      upstream.asked.splice(0).map(({ environmentId, request: { fromPhp, remoteAddress, https } }) => ({
        environmentId,
        fromPhp,
        remoteAddress,
        https,
      })),
    ),
};

const ready = setUp();
process.on("message", async ({ id, name, parameters }: { id: number; name: string; parameters: string[] }) => {
  const result = ready.then(() => functions[name]?.(...parameters) ?? Promise.reject(new Error(`No function ${name}`)));
  process.send?.({
    id,
    ...(await result.then(
      (text) => ({ text }),
      (error) => ({ error: String(error) }),
    )),
  });
});
process.on("disconnect", async () => {
  await Promise.all([network?.close(), second?.close()]);
  await rm(folder, { recursive: true, force: true });
  process.exit();
});
