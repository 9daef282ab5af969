import { chown, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { confinementProblem, type JobFiles } from "../../confinement.ts";
import { hasNoNewPrivileges } from "../../expendable.ts";
import { ownerOf } from "../../owner.ts";
import type { LookAround } from "../testing/lookAround.ts";
import { runTenantJob } from "./job.ts";

const isRoot = process.getuid?.() === 0;
const environment = { number: 7 };
const owner = ownerOf(environment.number);

let folder: string;
let database: string;
let results: string;
let secret: string;
beforeEach(async () => {
  // Only this user can enter it.
  folder = await mkdtemp(path.join(tmpdir(), "tenant-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const databases = path.join(folder, "database");
  [database, results, secret] = [
    path.join(databases, "a.sqlite"),
    path.join(folder, "results"),
    path.join(folder, "key"),
  ];
  for (const each of [databases, results]) await mkdir(each, { mode: 0o700 });
  const made = new DatabaseSync(database);
  made.exec("CREATE TABLE a (id); INSERT INTO a VALUES (1)");
  made.close();
  await writeFile(secret, "secret", { mode: 0o600 });
  if (isRoot) for (const each of [databases, database]) await chown(each, owner, owner);
});

interface Seen {
  readonly rows: number;
  readonly uid: number;
  readonly groups: readonly number[];
  readonly secret: string;
  readonly network: readonly string[];
  readonly listed: readonly string[];
  readonly status: string;
  readonly oomScore: string;
}

function isSeen(value: unknown): value is Seen {
  return typeof value === "object" && value !== null && "oomScore" in value;
}

interface Changes {
  readonly source?: JobFiles["source"];
  readonly fillMemory?: boolean;
  readonly memoryBytes?: number;
}

async function lookAround({ source = environment, fillMemory = false, ...limits }: Changes = {}): Promise<Seen> {
  const files = { source, reads: [path.dirname(database)], writes: [results] };
  const jobAt = (at: (file: string) => string): LookAround => ({
    database: at(database),
    results: at(results),
    secret,
    fillMemory,
  });
  const found = await runTenantJob("../testing/lookAround.ts", jobAt, { files, deadlineSeconds: 60, ...limits });
  if (!isSeen(found)) throw new Error("The job returned something else.");
  return found;
}

test.runIf(isRoot)("processes can be confined on this machine", async () => {
  expect(await confinementProblem()).toBeNull();
});

test("a job reads a database of a site and leaves a result", async () => {
  const seen = await lookAround();
  expect(seen).toMatchObject({ rows: 1, listed: ["made"] });
  expect(await readFile(path.join(results, "made"), "utf8")).toBe("made");
});

test.runIf(isRoot)("a job runs as the environment's user, and sees neither other files nor a network", async () => {
  const seen = await lookAround();
  expect(seen).toMatchObject({ uid: owner, groups: [owner], secret: "unreadable", network: [] });
  expect(seen.status).toMatch(/CapEff:\s*0+\n/);
  expect((await stat(path.join(results, "made"))).uid).toBe(owner);
});

test.runIf(process.platform === "linux")("a job is the first to be killed, and gains no privileges", async () => {
  const seen = await lookAround();
  expect(seen.oomScore).toBe("1000");
  expect(hasNoNewPrivileges).toBe(true);
  expect(seen.status).toMatch(/NoNewPrivs:\s*1\n/);
});

test.runIf(isRoot)("a folder that belongs to another environment is refused", async () => {
  await expect(lookAround({ source: { number: 8 } })).rejects.toThrow(`belongs to user ${owner}`);
});

test.runIf(isRoot)("a link in the place of a folder is not followed", async () => {
  const link = path.join(folder, "link");
  await symlink(path.dirname(database), link);
  database = path.join(link, "a.sqlite");
  await expect(lookAround({ source: { number: 0 } })).rejects.toThrow("belongs to user");
});

test.runIf(isRoot)("the databases of a snapshot are read by a user who owns nothing else", async () => {
  for (const each of [path.dirname(database), database]) await chown(each, 0, 0);
  expect(await lookAround({ source: { folder } })).toMatchObject({ rows: 1, uid: ownerOf(0) });
});

test.runIf(process.platform === "linux")("a job that uses too much memory is killed", async () => {
  await expect(lookAround({ fillMemory: true, memoryBytes: 300 << 20 })).rejects.toThrow("too much memory");
});

test.runIf(isRoot)("links that a job leaves are removed", async () => {
  await symlink(secret, path.join(results, "link"));
  expect((await lookAround()).listed.toSorted()).toEqual(["link", "made"]);
  await expect(stat(path.join(results, "link"))).rejects.toThrow("ENOENT");
});
