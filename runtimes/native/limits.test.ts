/** Programs of one environment that use as much as they can, next to another environment. */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { findProgram } from "../../tools/programs.ts";
import { exampleRequest } from "../conformance/conformance.ts";
import { removeEmptyGroups, useProcessorGroups } from "../processor/companies.ts";
import { closeEnvironmentGroups, environmentEntries, useEnvironmentGroups } from "../processor/environments.ts";
import { closeProcessorGroups, groupName, openProcessorGroups } from "../processor/groups.ts";
import { companyProcesses } from "../testing/companyProcesses.ts";
import { parametersOf } from "./fastcgi/parameters.ts";
import { FpmMaster } from "./fpmMaster.ts";
import { limited } from "./launch.ts";
import { commandLineOf, descendantsOf } from "./processTree.ts";
import type { Sandbox, SandboxLimits } from "./sandbox.ts";
import { spawnSandboxed } from "./spawnSandboxed.ts";

const isRoot = process.getuid?.() === 0;

interface TestMaster {
  readonly master: FpmMaster;
  readonly limits: SandboxLimits;
  /** Runs PHP code, without the opening tag. Returns what it prints. */
  php(code: string): Promise<string>;
}

let folder: string;
const found = await useEnvironmentGroups(path.join(tmpdir(), "groups-trial"));
await closeEnvironmentGroups(path.join(tmpdir(), "groups-trial"));

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "limits-"));
  await chmod(folder, 0o711);
  await useEnvironmentGroups(folder);
  onTestFinished(async () => {
    await closeEnvironmentGroups(folder);
    await rm(folder, { recursive: true });
  });
});

const environmentUser = (number: number) => (isRoot ? 287_660 + number : (process.getuid?.() ?? 0));

async function sandboxOf(number: number): Promise<Sandbox & { readonly limits: SandboxLimits }> {
  const site = path.join(folder, `site-${number}`);
  await mkdir(site);
  const user = environmentUser(number);
  if (isRoot) await chown(site, user, user);
  return {
    user,
    root: "/",
    mounts: [{ from: site, to: "/site", isWritable: true }],
    memoryFolders: [{ path: "/tmp", maxBytes: 1 << 20 }],
    limits: {
      environmentId: `environment-${number}`,
      companyId: "company",
      memoryBytes: 150e6,
      processes: 40,
      fileBytes: 1 << 20,
    },
    isOffline: true,
  };
}

async function startMaster(number: number): Promise<TestMaster> {
  const sandbox = await sandboxOf(number);
  const master = await FpmMaster.start({
    sandbox,
    program: findProgram("php-fpm", process.env) ?? "php-fpm",
    folder: path.join(folder, `fpm-${number}`),
    slots: 1,
    idleSeconds: 60,
    settings: { display_errors: 0, max_execution_time: 0, memory_limit: -1 },
    onLog: () => undefined,
  });
  onTestFinished(async () => {
    master.kill();
    await master.exited;
  });
  const { signal: _, ...request } = exampleRequest("http://site.test", { url: "/script.php", script: "/script.php" });
  const limits = { isReadOnly: false, diskLeftBytes: null, measuredLeftBytes: null, task: null, maySendMail: false };
  return {
    master,
    limits: sandbox.limits,
    php: async (code) => {
      await writeFile(path.join(folder, `site-${number}`, "script.php"), `<?php ${code}`);
      const connection = master.connect(0);
      try {
        const parameters = parametersOf(
          { ...request, ...limits },
          { bodyBytes: 0, messageSocket: "/run/none", messageToken: "", seconds: 0 },
        );
        const { body } = await connection.request({ parameters, body: null, onErrors: () => undefined });
        return await text(body);
      } finally {
        connection.close();
      }
    },
  };
}

const areAlive = async (...masters: readonly TestMaster[]) => {
  for (const { php } of masters) expect(await php("echo 'alive';")).toBe("alive");
};

/** The groups of the environment that exist. */
const groupsOf = (limits: SandboxLimits) =>
  environmentEntries(limits).flatMap(({ folder: group, file }) =>
    file === "cgroup.procs" && existsSync(group) ? [group] : [],
  );

test("everything in the sandbox is in the environment's groups, and is killed first if memory runs out", async () => {
  const { php, limits } = await startMaster(1);
  expect(await php("echo trim( shell_exec( 'cat /proc/self/oom_score_adj' ) );")).toBe("1000");
  const ids = descendantsOf(process.pid).filter(
    (pid) => readFileSync(`/proc/${pid}/oom_score_adj`, "utf8") === "1000\n",
  );
  // bubblewrap twice, the master, and its child.
  expect(ids.length).toBeGreaterThanOrEqual(4);
  const wanted = groupsOf(limits).length;
  for (const pid of ids) {
    const groups = readFileSync(`/proc/${pid}/cgroup`, "utf8").split("\n");
    expect(groups.filter((line) => line.includes(`/${groupName(folder)}-environments/`)).length).toBe(wanted);
  }
});

test("everything in the sandbox shares the processor time of its company", async () => {
  const groups = openProcessorGroups(folder);
  onTestFinished(async () => {
    await closeProcessorGroups(folder);
    useProcessorGroups(folder);
  });
  useProcessorGroups(folder);
  const { master, php } = await startMaster(1);
  expect(await php("echo 'alive';")).toBe("alive");
  if (groups === null) return;
  const ids = descendantsOf(process.pid).filter((pid) => /bwrap|php-fpm/.test(commandLineOf(pid)));
  expect(ids.length).toBeGreaterThanOrEqual(4);
  expect(companyProcesses(groups).get("company")?.toSorted()).toEqual(ids.toSorted());
  master.kill();
  await master.exited;
  await expect
    .poll(async () => {
      await removeEmptyGroups();
      return companyProcesses(groups);
    })
    .toEqual(new Map());
});

test.runIf(found.memory)("a script that takes 1 GB of memory is killed, and nothing else", async () => {
  const [greedy, other] = await Promise.all([startMaster(1), startMaster(2)]);
  const taking = greedy.php("$used = array(); for ( $i = 0; $i < 1000; $i++ ) $used[] = str_repeat( 'x', 1 << 20 );");
  await expect(taking).rejects.toMatchObject({ name: "NoResponse", reason: "lost" });
  await areAlive(other, greedy);
});

const startMany = `$running = array();
  for ( $i = 0; $i < 1000; $i++ ) {
    $process = @proc_open( array( 'sleep', '60' ), array(), $pipes );
    if ( $process ) $running[] = $process;
  }
  echo count( array_filter( $running, fn( $each ) => proc_get_status( $each )['running'] ) );`;

test.runIf(found.pids)(
  "a script that starts 1,000 processes gets only a few, and they end with the sandbox",
  async () => {
    const [greedy, other] = await Promise.all([startMaster(1), startMaster(2)]);
    const count = Number(await greedy.php(startMany));
    expect(count).toBeGreaterThan(10);
    expect(count).toBeLessThan(40);
    await areAlive(other);
    expect(groupsOf(greedy.limits)).not.toEqual([]);
    greedy.master.kill();
    await greedy.master.exited;
    await expect.poll(() => groupsOf(greedy.limits)).toEqual([]);
    await areAlive(other);
  },
);

test.runIf(found.pids)("programs that a script has left behind are killed with its slot's child", async () => {
  const { master, php } = await startMaster(1);
  await php("for ( $i = 0; $i < 100; $i++ ) @shell_exec( 'sleep 60 > /dev/null 2>&1 &' );");
  const sleeping = () => descendantsOf(process.pid).filter((pid) => commandLineOf(pid) === "sleep 60").length;
  expect(sleeping()).toBeGreaterThan(10);
  master.killSlot(0);
  await master.slotEnded(0);
  expect(await php("echo 'alive';")).toBe("alive");
  await expect.poll(sleeping).toBe(0);
});

test.runIf(isRoot)("without control groups, root limits the processes of the environment's user", async () => {
  await closeEnvironmentGroups(folder);
  const [greedy, other] = await Promise.all([startMaster(1), startMaster(2)]);
  const count = Number(await greedy.php(startMany));
  expect(count).toBeGreaterThan(10);
  expect(count).toBeLessThan(40);
  await areAlive(other);
});

test("a script opens fewer than 10,000 files, and can't write a file larger than the limit", async () => {
  const [greedy, other] = await Promise.all([startMaster(1), startMaster(2)]);
  const open =
    "$all = array(); for ( $i = 0; $i < 12_000; $i++ ) $all[] = @fopen( '/dev/null', 'r' ); echo count( array_filter( $all ) );";
  expect(Number(await greedy.php(open))).toBeLessThan(10_000);
  const write =
    "echo json_encode( array( @file_put_contents( '/site/large', str_repeat( 'x', 2 << 20 ) ), filesize( '/site/large' ) ) );";
  expect(JSON.parse(await greedy.php(write))).toEqual([false, 1 << 20]);
  const limits = JSON.parse(await greedy.php("echo json_encode( posix_getrlimit() );"));
  expect(limits).toMatchObject({ "hard openfiles": 10_000, "hard core": 0 });
  await areAlive(other, greedy);
});

test("a program whose owner has just ended does not start", async () => {
  const { limits } = await sandboxOf(1);
  const start = (command: readonly string[]) => execFileSync(command[0] ?? "", command.slice(1), { encoding: "utf8" });
  const command = limited(limits, ["echo", "ran"]);
  expect(start(command)).toBe("ran\n");
  // Its parent is a shell.
  expect(() => start(["sh", "-c", '"$@"; exit $?', "sh", ...command])).toThrow(/Command failed/);
});

test("when the owner of a sandbox is killed, so is everything in it, and its groups are removed at the next start", async () => {
  const sandbox = await sandboxOf(1);
  const owner = fork(fileURLToPath(new URL("./testing/sandboxOwner.ts", import.meta.url)), [
    folder,
    JSON.stringify(sandbox),
  ]);
  onTestFinished(() => void owner.kill("SIGKILL"));
  const [pid] = await once(owner, "message");
  const ids = [pid, ...descendantsOf(pid)];
  expect(groupsOf(sandbox.limits).length > 0).toBe(found.memory || found.pids);
  owner.kill("SIGKILL");
  await expect.poll(() => ids.some((each) => existsSync(`/proc/${each}`))).toBe(false);
  await expect
    .poll(async () => {
      await useEnvironmentGroups(folder);
      return groupsOf(sandbox.limits);
    })
    .toEqual([]);
});

test.runIf(found.pids)("a program whose groups can't be used does not start", async () => {
  const sandbox = await sandboxOf(1);
  const limits = { ...sandbox.limits, environmentId: "no/such/group" };
  const child = spawnSandboxed({ ...sandbox, limits }, ["sh", "-c", "echo ran"], ["ignore", "pipe"]);
  const [output, errors] = await Promise.all([child.stdout && text(child.stdout), text(child.stderr)]);
  expect(output).toBe("");
  expect(errors).toMatch(/no\/such/);
});
