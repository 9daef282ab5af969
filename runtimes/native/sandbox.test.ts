import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { limited } from "./launch.ts";
import { childrenOf } from "./processTree.ts";
import { type Sandbox, sandboxed } from "./sandbox.ts";
import { killSandbox, spawnSandboxed } from "./spawnSandboxed.ts";
import { systemCallFilter } from "./systemCalls.ts";
import { sandboxOutput } from "./testing/sandboxOutput.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const user = isRoot ? 287_654 : (process.getuid?.() ?? 0);

let folder: string;
let site: string;
let sandbox: Sandbox;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sandbox-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  // As the data folder of a server that is root.
  await chmod(folder, 0o700);
  site = path.join(folder, "site");
  const core = path.join(folder, "core");
  for (const one of [site, core]) await mkdir(one);
  await mkdir(path.join(site, "wp-includes"));
  await writeFile(path.join(core, "version.php"), "core");
  await writeFile(path.join(folder, "secret"), "key");
  // Also the shared code: only the sandbox protects it here.
  const owned = [site, path.join(site, "wp-includes"), core, path.join(core, "version.php")];
  if (isRoot) for (const one of owned) await chown(one, user, user);
  const mounts = [
    { from: site, to: "/site", isWritable: true },
    { from: core, to: "/site/wp-includes", isWritable: false },
  ];
  sandbox = {
    user,
    root: "/",
    mounts,
    memoryFolders: ["/tmp", "/memory"].map((one) => ({ path: one, maxBytes: 1 << 20 })),
    limits: null,
    isOffline: false,
  };
});

/** Runs a script of the shell in the sandbox. Returns its output, errors included. Throws if it does not run. */
async function shell(script: string, changes: Partial<Sandbox> = {}): Promise<string> {
  const command = ["sh", "-c", `exec 2>&1\n${script}\necho ran`];
  const output = await sandboxOutput(sandboxed({ ...sandbox, ...changes }, command));
  expect(output).toMatch(/ran$/);
  return output.replace(/ran$/, "").trim();
}

test("a site writes its own files, as its own user", async () => {
  expect(await shell("echo mine > /site/own.txt; cat /site/own.txt; id -u; id -G")).toBe(`mine\n${user}\n${user}`);
  expect(await readFile(path.join(site, "own.txt"), "utf8")).toBe("mine\n");
});

test.each([
  ["write WordPress's code", "echo x > /site/wp-includes/version.php", /Read-only/],
  ["remove WordPress's code", "rm /site/wp-includes/version.php", /Read-only/],
  ["move the folder of WordPress's code", "mv /site/wp-includes /site/other", /busy/],
  ["read the host's users", "cat /etc/passwd", /No such file/],
  ["see root's files", "ls /root", /No such file/],
  ["see files of users", "ls /home", /No such file/],
  ["see files of servers", "ls /var", /No such file/],
  ["fill the machine's memory with files", "head -c 2000000 /dev/zero > /memory/file", /No space/],
])("a site can't %s", async (_, script, refusal) => {
  expect(await shell(script)).toMatch(refusal);
});

test("a site can't leave by a symbolic link", async () => {
  const secret = path.join(folder, "secret");
  await chmod(secret, 0o644);
  expect(await shell(`ln -s ${secret} /site/link; cat /site/link`)).toMatch(/No such file/);
});

/** bubblewrap's root while it mounts has these two folders: the machine, and the sandbox. */
const escapes = (victim: string) => [
  `/oldroot${victim}`,
  `../../oldroot${victim}`,
  `/oldroot/oldroot${victim}`,
  victim,
];

test.each([
  ["root", true],
  ["another user", false],
])("links in place of folders that shared code is mounted on don't lead out of the sandbox: %s", async (_, asRoot) => {
  if (asRoot && !isRoot) return;
  const victim = path.join(folder, "victim");
  await mkdir(victim);
  for (const one of [folder, victim, site]) await chmod(one, 0o777);
  const to = "/site/wp-content/mu-plugins/driver";
  const mounts = [...sandbox.mounts, { from: path.join(folder, "core"), to, isWritable: false }];
  const asNobody = isRoot && !asRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  const [own, ...others] = mounts;
  const readOnly = own === undefined ? [] : [{ ...own, isWritable: false }, ...others];
  for (const target of escapes(victim)) {
    await symlink(target, path.join(site, "wp-content"));
    for (const each of [mounts, readOnly]) {
      const command = sandboxed({ ...sandbox, mounts: each }, ["true"], asRoot);
      await sandboxOutput([...asNobody, ...command]).catch(() => undefined);
    }
    await unlink(path.join(site, "wp-content"));
  }
  expect(await readdir(victim)).toEqual([]);
});

test("without root, a site can't make user namespaces, in which it would have capabilities", async () => {
  const command = sandboxed({ ...sandbox, mounts: [] }, ["sh", "-c", "id -u; unshare --user true 2>&1; true"], false);
  const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const [id, refusal] = (await sandboxOutput([...(isRoot ? asNobody : []), ...command])).split("\n");
  expect(id).toBe(String(user));
  expect(refusal).toMatch(/unshare: .*failed/);
});

test("a server without root that may open ports below 1024 can make sandboxes, and sites have no capabilities", async () => {
  if (!isRoot) return;
  const command = sandboxed({ ...sandbox, mounts: [] }, ["grep", "Cap", "/proc/self/status"], false);
  const server = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const capable = ["--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service"];
  const status = await sandboxOutput([...server, ...capable, ...limited(null, command)]);
  expect(status.match(/Cap(Inh|Prm|Eff|Amb):\t0+$/gm)).toHaveLength(4);
});

test("a site sees only its own processes, and has no capabilities and a filter of system calls", async () => {
  expect(await shell("ls -d /proc/[0-9]* | wc -l")).toMatch(/^[2-5]$/);
  const status = await shell(
    "grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp)' /proc/self/status | tr -s '\\t' ' '",
  );
  expect(status).toMatch(/NoNewPrivs: 1/);
  if (systemCallFilter() !== null) expect(status).toMatch(/Seccomp: 2/);
  if (isRoot) expect(status.match(/Cap\w+: 0+$/gm)).toHaveLength(5);
});

test("a site shares no mounts, processes, shared memory or host name with this process", async () => {
  const kinds = ["mnt", "pid", "ipc", "uts"];
  const outside = await Promise.all(kinds.map((kind) => readlink(`/proc/self/ns/${kind}`)));
  const inside = (await shell("cd /proc/self/ns; for kind in mnt pid ipc uts; do readlink $kind; done")).split("\n");
  expect(inside.map((name) => name.replace(/:.*/, ""))).toEqual(kinds);
  expect(inside.filter((name) => outside.includes(name))).toEqual([]);
});

test("a site gets none of this process's environment variables", async () => {
  process.env.SANDBOX_SECRET = "key";
  const variables = await shell("env");
  expect(variables).toContain("PATH=/usr/sbin:/usr/bin");
  expect(variables).not.toContain("SANDBOX_SECRET");
});

test("without a network, a site reaches nothing on this machine", async () => {
  const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const connect = `curl --silent telnet://127.0.0.1:${port} < /dev/null || echo "refused $?"`;
  // Rules of a server that runs on this machine may be in force for its users.
  const user = 4_000_000;
  expect(await shell(connect, { user })).toBe("reached");
  expect(await shell(connect, { user, isOffline: true })).toBe("refused 7");
});

test("a program is killed that is still about to become bubblewrap", async () => {
  const child = spawn("sh", ["-c", "sleep 60; echo"]);
  await expect.poll(() => childrenOf(child.pid ?? 0)).toHaveLength(1);
  killSandbox(child);
  await expect.poll(() => child.signalCode).toBe("SIGKILL");
});

test("killing bubblewrap kills everything in the sandbox", async () => {
  const duration = `300.${process.pid}`;
  const script = `setsid sleep ${duration} & wait`;
  const child = spawnSandboxed(sandbox, ["sh", "-c", script], ["ignore", "ignore"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const sleeping = async () =>
    (await run("ps", ["-eo", "args"])).stdout.split("\n").filter((line) => line === `sleep ${duration}`).length;
  await expect.poll(sleeping).toBe(1);
  child.kill("SIGKILL");
  await expect.poll(sleeping).toBe(0);
});
