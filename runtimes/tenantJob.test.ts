import { execFile } from "node:child_process";
import { chown, lchown, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { confinementProblem, type JobFiles } from "./confinement.ts";
import { hasNoNewPrivileges } from "./expendable.ts";
import { runTenantJob } from "./job.ts";
import { ownerOf, readersGroup } from "./owner.ts";
import { companyTimes, useProcessorGroups } from "./processor/companies.ts";
import { closeProcessorGroups, openProcessorGroups } from "./processor/groups.ts";
import type { LookAround } from "./testing/lookAround.ts";

const isRoot = process.getuid?.() === 0;
const hasNamespaces = isRoot && (await confinementProblem()) === null;
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
  /** Further folders to read. */
  readonly others?: readonly string[];
  readonly fillMemory?: boolean;
  readonly memoryBytes?: number;
}

function orderOf({ fillMemory = false }: Changes, at: (file: string) => string): LookAround {
  return { database: at(database), results: at(results), secret, fillMemory };
}

const module = new URL("./testing/lookAround.ts", import.meta.url);

async function lookAround({ source = environment, others = [], ...changes }: Changes = {}): Promise<Seen> {
  const { fillMemory: _, ...limits } = changes;
  const files = { source, reads: [path.dirname(database), ...others], writes: [results] };
  const options = { files, deadlineSeconds: 60, ...limits };
  const found = await runTenantJob(module, (at) => orderOf(changes, at), options);
  if (!isSeen(found)) throw new Error("The job returned something else.");
  return found;
}

/** Like `lookAround`, called by a process that is root as in a container: without the capability to make namespaces. */
async function lookAroundInContainer(): Promise<Seen> {
  const files: JobFiles = { source: environment, reads: [path.dirname(database)], writes: [results] };
  const script = `
    import { runTenantJob } from ${JSON.stringify(new URL("./job.ts", import.meta.url).href)};
    const module = new URL(${JSON.stringify(module.href)});
    const [files, order] = process.argv.slice(1).map((each) => JSON.parse(each));
    const options = { files, deadlineSeconds: 60 };
    console.log(JSON.stringify(await runTenantJob(module, () => order, options)));`;
  const node = [process.execPath, "--input-type=module", "--eval", script];
  const order = orderOf({}, (file) => file);
  const parameters = ["--bounding-set=-sys_admin", ...node, JSON.stringify(files), JSON.stringify(order)];
  const found: unknown = JSON.parse((await promisify(execFile)("setpriv", parameters)).stdout);
  if (!isSeen(found)) throw new Error("The job returned something else.");
  return found;
}

test("a job reads a database of a site and leaves a result", async () => {
  const seen = await lookAround();
  expect(seen).toMatchObject({ rows: 1, listed: ["made"] });
  expect(await readFile(path.join(results, "made"), "utf8")).toBe("made");
});

test.runIf(hasNamespaces)(
  "a job runs as the environment's user, and sees neither other files nor a network",
  async () => {
    const seen = await lookAround();
    expect(seen).toMatchObject({ uid: owner, groups: [owner], secret: "unreadable", network: [] });
    expect(seen.status).toMatch(/CapEff:\s*0+\n/);
    expect((await stat(path.join(results, "made"))).uid).toBe(owner);
  },
);

test.runIf(process.platform === "linux")("a job is the first to be killed, and gains no privileges", async () => {
  const seen = await lookAround();
  expect(seen.oomScore).toBe("1000");
  expect(/NoNewPrivs:\s*(\d)\n/.exec(seen.status)?.[1]).toBe(hasNoNewPrivileges ? "1" : "0");
});

test.runIf(isRoot)("a job in a container that forbids namespaces runs as the environment's user too", async () => {
  const seen = await lookAroundInContainer();
  expect(seen).toMatchObject({ rows: 1, uid: owner, secret: "unreadable" });
  expect(seen.groups.toSorted()).toEqual([owner, readersGroup()].toSorted());
  expect(seen.status).toMatch(/CapEff:\s*0+\n/);
  expect((await stat(path.join(results, "made"))).uid).toBe(owner);
});

test.runIf(isRoot)("a folder that belongs to another environment is refused", async () => {
  await expect(lookAround({ source: { number: 8 } })).rejects.toThrow(`belongs to user ${owner}`);
});

test.runIf(isRoot)("every folder is checked, not only the first", async () => {
  const other = path.join(folder, "other");
  await mkdir(other, { mode: 0o700 });
  await chown(other, owner + 1, owner + 1);
  await expect(lookAround({ others: [other] })).rejects.toThrow(`belongs to user ${owner + 1}`);
});

test.runIf(isRoot)("a link of the environment's user in the place of a folder is not followed", async () => {
  const link = path.join(folder, "link");
  await symlink(path.dirname(database), link);
  await lchown(link, owner, owner);
  await expect(lookAround({ others: [link] })).rejects.toThrow("ENOTDIR");
  await rm(results, { recursive: true });
  await symlink(path.dirname(database), results);
  await lchown(results, owner, owner);
  await expect(lookAround()).rejects.toThrow("ENOTDIR");
});

test.runIf(isRoot)("the databases of a snapshot are read by a user who owns nothing else", async () => {
  for (const each of [path.dirname(database), database]) await chown(each, 0, 0);
  expect(await lookAround({ source: { folder } })).toMatchObject({ rows: 1, uid: ownerOf(0) });
});

test.runIf(isRoot)(
  "a job counts towards the company that is given with its environment or snapshot, or else towards none",
  async () => {
    const groups = openProcessorGroups(folder);
    useProcessorGroups(folder);
    onTestFinished(async () => {
      await closeProcessorGroups(folder);
      useProcessorGroups(folder);
    });
    await lookAround();
    await lookAround({ source: { ...environment, companyId: "one" } });
    for (const each of [path.dirname(database), database, results]) await chown(each, 0, 0);
    await lookAround({ source: { folder, companyId: "two" } });
    await lookAround({ source: { folder } });
    expect([...companyTimes().keys()].toSorted()).toEqual(groups === null ? [] : ["one", "two"]);
  },
);

test.runIf(process.platform === "linux")("a job that uses too much memory is killed", async () => {
  await expect(lookAround({ fillMemory: true, memoryBytes: 300 << 20 })).rejects.toThrow("too much memory");
});

test.runIf(isRoot)("links that a job leaves are removed", async () => {
  await symlink(secret, path.join(results, "link"));
  expect((await lookAround()).listed.toSorted()).toEqual(["link", "made"]);
  await expect(stat(path.join(results, "link"))).rejects.toThrow("ENOENT");
});
