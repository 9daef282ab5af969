import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { type Sandbox, sandboxed } from "./sandbox.ts";

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
  if (isRoot) for (const one of [site, path.join(site, "wp-includes")]) await chown(one, user, user);
  const mounts = [
    { from: site, to: "/site", isWritable: true },
    { from: core, to: "/site/wp-includes", isWritable: false },
  ];
  sandbox = { user, root: "/", mounts, memoryFolders: ["/tmp", "/memory"], isOffline: false };
});

/** Runs a script of the shell in the sandbox. Returns its output, errors included. */
async function shell(script: string, changes: Partial<Sandbox> = {}): Promise<string> {
  const [command = "", ...parameters] = sandboxed({ ...sandbox, ...changes }, ["sh", "-c", `exec 2>&1\n${script}`]);
  const ran = await run(command, parameters).catch((error: { stdout: string }) => error);
  return ran.stdout.trim();
}

test("a site writes its own files, as its own user", async () => {
  expect(await shell("echo mine > /site/own.txt; cat /site/own.txt; id -u; id -G")).toBe(`mine\n${user}\n${user}`);
  expect(await readFile(path.join(site, "own.txt"), "utf8")).toBe("mine\n");
});

test.each([
  ["write WordPress's code", "echo x > /site/wp-includes/version.php", /Read-only|denied/],
  ["remove WordPress's code", "rm /site/wp-includes/version.php", /Read-only|denied/],
  ["move the folder of WordPress's code", "mv /site/wp-includes /site/other", /busy|denied/],
  ["write the system's programs", "echo x > /usr/bin/env", /Read-only|denied/],
  ["read the host's users", "cat /etc/passwd", /No such file/],
  ["read the host's folders", "ls /root /home /var /data", /No such file/],
  ["leave by a symbolic link", "ln -s /proc/1/root/etc/shadow /site/link; cat /site/link", /denied|No such file/],
  ["mount", "mount -t tmpfs none /site", /must be superuser|denied|not permitted/],
  ["become root", "setpriv --reuid=0 id -u", /not permitted|failed/],
])("a site can't %s", async (_, script, refusal) => {
  expect(await shell(script)).toMatch(refusal);
});

test("a site sees only its own processes, and has no capabilities", async () => {
  expect(await shell("ls -d /proc/[0-9]* | wc -l")).toMatch(/^[2-5]$/);
  const status = await shell("grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status | tr -s '\\t' ' '");
  expect(status).toMatch(/NoNewPrivs: 1/);
  if (isRoot) expect(status.match(/Cap\w+: 0+$/gm)).toHaveLength(5);
});

test("a site gets none of this process's environment variables", async () => {
  process.env.SANDBOX_SECRET = "key";
  expect(await shell("env")).not.toContain("SANDBOX_SECRET");
});

test("without a network, a site reaches nothing on this machine", async () => {
  const server = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const connect = `curl --silent telnet://127.0.0.1:${port} < /dev/null || echo "refused $?"`;
  expect(await shell(connect)).toBe("reached");
  expect(await shell(connect, { isOffline: true })).toBe("refused 7");
});

test("killing bubblewrap kills everything in the sandbox", async () => {
  const [command = "", ...parameters] = sandboxed(sandbox, [
    "sh",
    "-c",
    "setsid sleep 300 & echo ready > /site/ready; wait",
  ]);
  const child = execFile(command, parameters, () => undefined);
  await expect.poll(() => readFile(path.join(site, "ready"), "utf8").catch(() => "")).toBe("ready\n");
  const sleeping = async () =>
    (await run("ps", ["-eo", "args"])).stdout.split("\n").filter((line) => line === "sleep 300");
  expect(await sleeping()).toHaveLength(1);
  child.kill("SIGKILL");
  await expect.poll(sleeping).toEqual([]);
});
