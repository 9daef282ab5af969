import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres } from "./postgres/postgres.ts";
import { readLastStart } from "./records.ts";
import { testFolder } from "./testing/folder.ts";
import {
  ask,
  chosenPorts,
  events,
  postgresPid,
  type SupervisorUnderTest,
  startByNpm,
  startedSupervisor,
  startSharedSupervisor,
  startSupervisor,
  stopSupervisor,
  whenReady,
} from "./testing/supervisorProcess.ts";
import { isAlive, until } from "./testing/until.ts";

const dataIn = (folder: string) => join(folder, "data");

/** Has an empty database. */
let template: string;
beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), "sw-template-"));
  const server = await startPostgres({
    dataDirectory: join(template, "postgres"),
    runDirectory: join(template, "run"),
  });
  await server.stop();
});
afterAll(() => rmSync(template, { recursive: true }));

/** A data folder with a database: creating one takes as long as everything else at a start. */
function dataWithDatabase(): string {
  const data = dataIn(testFolder());
  mkdirSync(data);
  execFileSync("cp", ["-a", "--reflink=auto", join(template, "postgres"), data]);
  return data;
}

async function pids(data: string) {
  const { controlPort, edgePort } = chosenPorts(data);
  const [control, edge] = await Promise.all([ask(controlPort), ask(edgePort)]);
  if (control === null || edge === null) {
    throw new Error("A child does not respond");
  }
  return { control: control.pid, edge: edge.pid, postgres: postgresPid(data), database: control.database ?? "" };
}

async function select(url: string, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

describe("the first start", () => {
  const secrets = {
    SITEWRIGHT_ARCHIVE_URL: "file:///srv/archives",
    SITEWRIGHT_SMTP_URL: "smtp://mailer:hush@127.0.0.1:2525",
    SITEWRIGHT_METRICS_TOKEN: "a-token-for-metrics",
    SITEWRIGHT_DNS_KEY: `hmac-sha256:transfer:${Buffer.alloc(32, 5).toString("base64")}`,
  };
  let data: string;
  let supervisor: SupervisorUnderTest;
  beforeAll(async () => {
    data = dataIn(mkdtempSync(join(tmpdir(), "sw-sup-")));
    supervisor = await startSharedSupervisor(data, { SITEWRIGHT_BACKUP_DAYS: "30", ...secrets });
  });
  afterAll(async () => {
    await stopSupervisor(supervisor);
    rmSync(join(data, ".."), { recursive: true });
  });

  test("prints addresses, company, where the API key is, and a command that creates a site", async () => {
    const { controlPort, edgePort } = chosenPorts(data);
    for (const expected of [
      "  Unpacking the fake …\n",
      `  API      http://127.0.0.1:${controlPort}/v2\n`,
      `  Sites    http://<site>.localhost:${edgePort}/\n`,
      "  Company  the-company\n",
      `  API key  in ${join(data, "first-run.json")}, which only you can read\n`,
      `curl -X POST http://127.0.0.1:${controlPort}/v2/sites -H "Authorization: Bearer $(sed `,
    ]) {
      expect(supervisor.output()).toContain(expected);
    }
    expect(supervisor.output()).not.toContain("sk_the_key");
  });

  test("creates files that only their owner can read", async () => {
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(statSync(join(data, "run.json")).mode & 0o777).toBe(0o600);
    expect(statSync(join(data, "logs", "control.log")).mode & 0o777).toBe(0o600);
  });

  test("passes the database URL to control but not to the edge", async () => {
    const { controlPort, edgePort } = chosenPorts(data);
    const run: { database_url: string } = JSON.parse(readFileSync(join(data, "run.json"), "utf8"));
    expect(await ask(controlPort)).toMatchObject({ database: run.database_url });
    expect(await ask(edgePort)).toMatchObject({ database: null });
  });

  test("passes secrets to control only", async () => {
    const { controlPort, edgePort, dnsPort } = chosenPorts(data);
    expect(await ask(controlPort)).toMatchObject({ secrets });
    // Only the address of the mail server, which PHP must not reach.
    expect((await ask(edgePort))?.secrets).toEqual({ SITEWRIGHT_SMTP_URL: "smtp://127.0.0.1:2525" });
    expect((await ask(dnsPort))?.secrets).toEqual({});
  });

  test("stores its settings, for a backup of the installation, with secrets sealed", async () => {
    const { controlPort, edgePort } = chosenPorts(data);
    const file = join(data, "last-start.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const stored = readFileSync(file, "utf8");
    for (const secret of Object.values(secrets)) expect(stored).not.toContain(secret);
    expect(readLastStart(data)).toMatchObject({
      ...secrets,
      SITEWRIGHT_BACKUP_DAYS: "30",
      SITEWRIGHT_CONTROL_PORT: String(controlPort),
      SITEWRIGHT_EDGE_PORT: String(edgePort),
      SITEWRIGHT_SITE_SUFFIX: "localhost",
    });
  });

  test("shows warnings of its processes in the terminal", async () => {
    await ask(chosenPorts(data).controlPort, "/warn");
    await until("the warning is shown", () => supervisor.output().includes("control: something is odd\n"));
  });

  test("skips the preparation if everything is prepared", async () => {
    const data = dataIn(testFolder());
    const settings = { SITEWRIGHT_TEST_PREPARED: "yes", SITEWRIGHT_TEST_BROKEN_DOWNLOAD: "yes" };
    const supervisor = await startedSupervisor(data, settings);
    expect(supervisor.output()).not.toContain("Unpacking");
  });

  test("fails if a download fails, leaves nothing running, and can be repeated", async () => {
    const data = dataIn(testFolder());
    const broken = startSupervisor(data, { SITEWRIGHT_TEST_BROKEN_DOWNLOAD: "1" });
    expect(await broken.exit).toEqual({ code: 1, signal: null });
    expect(broken.output()).toContain("Sitewright could not start.\nThe download failed. Run npm start again.\n");
    await startedSupervisor(data);
  });
});

describe("a later start", () => {
  test("keeps ports and data, and prints no secret", async () => {
    const data = dataIn(testFolder());
    const first = await startedSupervisor(data);
    const ports = chosenPorts(data);
    await select((await pids(data)).database, "create table kept ()");
    first.child.kill("SIGINT");
    expect(await first.exit).toEqual({ code: 0, signal: null });
    const second = await startedSupervisor(data);
    expect(chosenPorts(data)).toEqual(ports);
    expect(await select((await pids(data)).database, "select * from kept")).toEqual([]);
    expect(second.output()).not.toContain("sk_the_key");
  });

  test("reports a new port of the sites, and how to go back", async () => {
    const data = dataIn(testFolder());
    const first = await startedSupervisor(data);
    const { edgePort } = chosenPorts(data);
    first.child.kill("SIGTERM");
    await first.exit;
    const other = String(edgePort === 65_535 ? 65_534 : edgePort + 1);
    const second = await startedSupervisor(data, { SITEWRIGHT_EDGE_PORT: other });
    expect(second.output()).toContain(`Sites now use port ${other} instead of ${edgePort}.`);
    expect(second.output()).toContain(`start with SITEWRIGHT_EDGE_PORT=${edgePort}`);
    expect(chosenPorts(data).edgePort).toBe(Number(other));
  });

  test("shows the port in addresses if it is forwarded, and keeps it", async () => {
    const data = dataIn(testFolder());
    const first = await startedSupervisor(data, { SITEWRIGHT_PUBLIC_PORT: "80" });
    const { edgePort } = chosenPorts(data);
    expect(first.output()).toContain("  Sites    http://<site>.localhost/\n");
    first.child.kill("SIGTERM");
    await first.exit;
    const second = await startedSupervisor(data, { SITEWRIGHT_PUBLIC_PORT: String(edgePort) });
    expect(second.output()).toContain(`Sites now use port ${edgePort} instead of 80.`);
    expect(second.output()).toContain("start with SITEWRIGHT_PUBLIC_PORT=80");
  });
});

describe("a second start on the same data", () => {
  test("fails with the process id of the first, which keeps running", async () => {
    const data = dataWithDatabase();
    const first = await startedSupervisor(data);
    const before = await pids(data);
    const second = startSupervisor(data);
    expect(await second.exit).toEqual({ code: 1, signal: null });
    expect(second.output()).toContain(`Sitewright is already running on ${data} (process ${first.pid}).`);
    expect(await pids(data)).toEqual(before);
    expect(existsSync(join(data, "run.json"))).toBe(true);
  });

  test("at the same moment leaves exactly one running", async () => {
    const data = dataWithDatabase();
    const both = [startSupervisor(data), startSupervisor(data)];
    await until("one is ready and one has ended", () => {
      const ready = both.filter((one) => one.output().includes("Sitewright is ready."));
      const ended = both.filter((one) => one.child.exitCode === 1 && one.output().includes("already running"));
      return ready.length === 1 && ended.length === 1;
    });
  });
});

describe("a port in use", () => {
  test("is reported with its setting before anything is started", async () => {
    const data = dataIn(testFolder());
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, "127.0.0.1", () => {
        const address = taken.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
    onTestFinished(() => void taken.close());
    const supervisor = startSupervisor(data, { SITEWRIGHT_EDGE_PORT: String(port) });
    expect(await supervisor.exit).toEqual({ code: 1, signal: null });
    expect(supervisor.output()).toContain(`Port ${port} (the sites) is in use by another program.`);
    expect(supervisor.output()).toContain("set SITEWRIGHT_EDGE_PORT to another port");
    expect(existsSync(join(data, "postgres"))).toBe(false);
  });
});

describe("stopping", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "by %s ends edge, then dns, then control, then PostgreSQL",
    async (signal) => {
      const data = dataWithDatabase();
      const supervisor = await startedSupervisor(data);
      const before = await pids(data);
      supervisor.child.kill(signal);
      expect(await supervisor.exit).toEqual({ code: 0, signal: null });
      expect(events(data).slice(-3)).toEqual(["edge SIGTERM", "dns SIGTERM", "control SIGTERM"]);
      expect([before.control, before.edge, before.postgres].filter(isAlive)).toEqual([]);
      expect(readFileSync(join(data, "logs", "postgres.log"), "utf8")).toMatch(/database system is shut down\n$/);
      expect(existsSync(join(data, "run.json"))).toBe(false);
    },
  );

  test.each(["SIGTERM", "SIGKILL"] as const)("by %s to npm leaves nothing running", async (signal) => {
    const data = dataWithDatabase();
    const npm = await whenReady(startByNpm(data));
    const before = await pids(data);
    npm.child.kill(signal);
    await until("all have ended", () => [before.control, before.edge, before.postgres].every((pid) => !isAlive(pid)));
    await until("it says so", () => npm.output().includes("Stopped."));
  });

  test.each(["control", "edge", "postgres"] as const)("by SIGTERM to %s alone ends all processes", async (name) => {
    const data = dataWithDatabase();
    const supervisor = await startedSupervisor(data);
    const before = await pids(data);
    process.kill(before[name], "SIGTERM");
    expect(await supervisor.exit).toEqual({ code: 0, signal: null });
    expect([before.control, before.edge, before.postgres].filter(isAlive)).toEqual([]);
    expect(supervisor.output()).toContain("was asked to stop.");
  });

  test("by SIGTERM to all processes at once restarts none", async () => {
    const data = dataWithDatabase();
    const supervisor = await startedSupervisor(data);
    const before = await pids(data);
    // A supervisor that is stopped until all have their signal can't end another process first.
    supervisor.child.kill("SIGSTOP");
    for (const pid of [supervisor.pid, before.control, before.edge, before.postgres]) process.kill(pid, "SIGTERM");
    supervisor.child.kill("SIGCONT");
    expect(await supervisor.exit).toEqual({ code: 0, signal: null });
    expect(supervisor.output()).not.toContain("Restarting");
  });

  test("treats the signals of terminal and npm for one keystroke as one", async () => {
    const data = dataWithDatabase();
    const supervisor = await startedSupervisor(data);
    for (let copies = 0; copies < 3; copies++) {
      supervisor.child.kill("SIGINT");
    }
    expect(await supervisor.exit).toEqual({ code: 0, signal: null });
    expect(events(data).slice(-3)).toEqual(["edge SIGTERM", "dns SIGTERM", "control SIGTERM"]);
  });

  test("is forced by a second Ctrl-C if something hangs", async () => {
    const data = dataWithDatabase();
    const supervisor = await startedSupervisor(data);
    const before = await pids(data);
    await ask(chosenPorts(data).edgePort, "/hang");
    supervisor.child.kill("SIGINT");
    await until("it is stopping", () => supervisor.output().includes("Stopping"));
    // Longer than one keystroke. This test is about time itself.
    await delay(600);
    supervisor.child.kill("SIGINT");
    expect(await supervisor.exit).toEqual({ code: 130, signal: null });
    await until("all have ended", () => [before.control, before.edge, before.postgres].every((pid) => !isAlive(pid)));
  });
});

describe("Ctrl-C during the first start", () => {
  test("ends it at once and leaves nothing running", async () => {
    const data = dataIn(testFolder());
    const supervisor = startSupervisor(data, { SITEWRIGHT_TEST_SLOW_DOWNLOAD: "1" });
    await until("it downloads", () => existsSync(join(data, "prepare.pid")));
    await until("PostgreSQL runs", () => existsSync(join(data, "run.json")));
    supervisor.child.kill("SIGINT");
    expect(await supervisor.exit).toEqual({ code: 130, signal: null });
    const download = Number(readFileSync(join(data, "prepare.pid"), "utf8"));
    await until("the download has ended", () => !isAlive(download));
    expect(supervisor.output()).not.toContain("could not start");
    expect(existsSync(join(data, "postgres", "postmaster.pid"))).toBe(false);
  });
});

describe("kill -9", () => {
  test.each(["control", "edge"] as const)("of %s restarts it, says so, and leaves the rest alone", async (name) => {
    const data = dataWithDatabase();
    const supervisor = await startedSupervisor(data);
    const before = await pids(data);
    process.kill(before[name], "SIGKILL");
    await until("it has ended", () => !isAlive(before[name]));
    // This connection waits.
    expect(await ask(chosenPorts(data)[`${name}Port`])).not.toBe(null);
    await until("it is running again", () => supervisor.output().includes(`${name} is running again.`));
    const after = await pids(data);
    expect(after[name]).not.toBe(before[name]);
    expect({ ...after, [name]: 0 }).toEqual({ ...before, [name]: 0 });
    expect(supervisor.output()).toContain(`${name} ended (SIGKILL). Restarting now.`);
  });

  test("of PostgreSQL restarts it with its data at the same address, and leaves the rest alone", async () => {
    const data = dataWithDatabase();
    const supervisor = await startedSupervisor(data);
    const before = await pids(data);
    await select(before.database, "create table kept ()");
    process.kill(before.postgres, "SIGKILL");
    await until("it is running again", () => supervisor.output().includes("PostgreSQL is running again."));
    expect(await select(before.database, "select * from kept")).toEqual([]);
    const after = await pids(data);
    expect(after.postgres).not.toBe(before.postgres);
    expect({ ...after, postgres: 0 }).toEqual({ ...before, postgres: 0 });
  });

  test("of the supervisor leaves nothing running, and the next start works", async () => {
    const data = dataWithDatabase();
    const first = await startedSupervisor(data);
    const before = await pids(data);
    await select(before.database, "create table kept ()");
    first.child.kill("SIGKILL");
    await first.exit;
    await startedSupervisor(data);
    expect([before.control, before.edge, before.postgres].filter(isAlive)).toEqual([]);
    expect(await select((await pids(data)).database, "select * from kept")).toEqual([]);
  });

  test("of the supervisor ends even a child that is stuck, and the next start waits for its port", async () => {
    const data = dataWithDatabase();
    const first = await startedSupervisor(data);
    const before = await pids(data);
    const ports = chosenPorts(data);
    await ask(ports.edgePort, "/spin");
    first.child.kill("SIGKILL");
    await first.exit;
    await startedSupervisor(data, {
      SITEWRIGHT_CONTROL_PORT: String(ports.controlPort),
      SITEWRIGHT_EDGE_PORT: String(ports.edgePort),
    });
    expect([before.control, before.edge, before.postgres].filter(isAlive)).toEqual([]);
  });
});

describe("a child", () => {
  test("that ends is reported with its last output and the path of its log", async () => {
    const data = dataWithDatabase();
    const supervisor = await startedSupervisor(data);
    await ask(chosenPorts(data).controlPort, "/die");
    await until("it is running again", () => supervisor.output().includes("control is running again."));
    expect(supervisor.output()).toContain("control ended (exit code 4). Restarting now. Last output:\n");
    expect(supervisor.output()).toContain("    the last message\n");
    expect(supervisor.output()).not.toContain("at somewhere");
    expect(supervisor.output()).toContain(`Full log: ${join(data, "logs", "control.log")}`);
    expect(readFileSync(join(data, "logs", "control.log"), "utf8")).toContain("the last message\n");
  });

  test("that keeps ending is restarted with back-off until it works", async () => {
    const data = dataWithDatabase();
    const supervisor = await startedSupervisor(data);
    writeFileSync(join(data, "control.broken"), "");
    await ask(chosenPorts(data).controlPort, "/die");
    await until("it was restarted a few times", () => supervisor.output().includes("Restarting in 0.5 s."));
    expect(supervisor.output()).toContain("control did not start. It ended (exit code 3). Last output:\n");
    rmSync(join(data, "control.broken"));
    await until("it is running again", () => supervisor.output().includes("control is running again."));
  });

  test("that never becomes ready makes the start fail with its last output", async () => {
    const data = dataWithDatabase();
    const good = await startedSupervisor(data);
    good.child.kill("SIGINT");
    await good.exit;
    writeFileSync(join(data, "edge.broken"), "");
    const supervisor = startSupervisor(data);
    expect(await supervisor.exit).toEqual({ code: 1, signal: null });
    expect(supervisor.output()).toContain("edge did not start in 3 attempts. It ended (exit code 3). Last output:");
    expect(supervisor.output()).toContain("edge is broken and says why");
  });
});

describe("an interrupted restore", () => {
  test("is reported, and nothing is started", async () => {
    const data = dataIn(testFolder());
    mkdirSync(data);
    writeFileSync(join(data, "restore.json"), JSON.stringify({ id: "a" }));
    const supervisor = startSupervisor(data);
    expect(await supervisor.exit).toEqual({ code: 1, signal: null });
    expect(supervisor.output()).toContain(`A restore into ${data} was interrupted. Repeat it`);
    expect(existsSync(join(data, "postgres"))).toBe(false);
  });
});
