/** Native PHP while its processes and those of Sitewright are killed: nothing of it survives them, and the next visitor is served. */
import { chown, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { descendants, find, isAlive, kill, type ProcessInfo, type ProcessRole } from "./processes.ts";
import {
  accept,
  acceptSite,
  type CreatedSite,
  createSite,
  describeSite,
  followOperation,
  runOperation,
  succeed,
} from "./sites.ts";
import { until } from "./until.ts";

const nextMinute = { deadlineSeconds: 120, intervalMilliseconds: 1_000 };
const recovery = { timeout: 60_000, interval: 20 };

let home: TestFolder;
let installation: Installation;
let site: CreatedSite;
let webRoot = "";

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder, { SITEWRIGHT_RUNTIME: "native" });
  site = await createSite(installation, { display_name: "Survivor", site_title: "Survivor" });
  webRoot = await realpath(join(installation.data, "environments", site.environmentId, "current/public"));
  await addFile("slow.php", "<?php touch( '/site/began' ); sleep( 600 );");
});
afterAll(async () => {
  await installation?.stop();
  await home?.remove();
});

/** Writes a file of the site, as its owner would. */
async function addFile(name: string, content: string): Promise<void> {
  const file = join(webRoot, name);
  await writeFile(file, content);
  const { uid, gid } = await stat(webRoot);
  await chown(file, uid, gid);
}

function root(): number {
  const { pid } = installation.supervisor;
  if (pid === undefined) throw new Error("npm start is not running");
  return pid;
}

const uncached = (own = site) => installation.visit(`${own.address}/?fresh=${Math.random()}`);
const isPage = (answer: { readonly status: number; readonly text: string } | null) =>
  answer?.status === 200 && answer.text.includes("Survivor");

/** Waits until a visitor gets the page. */
async function untilServed(): Promise<void> {
  await vi.waitFor(async () => expect(isPage(await uncached().catch(() => null))).toBe(true), recovery);
}

/** Processes below one of Sitewright's that run in sandboxes, and bubblewrap itself. */
async function sandboxed(role: ProcessRole): Promise<readonly ProcessInfo[]> {
  const [process] = await find(root(), role);
  const below = process === undefined ? [] : await descendants(process.id);
  return below.filter(({ command }) => /^(bwrap|php|sleep )/.test(command));
}

const fpm = async () => (await sandboxed("edge")).filter(({ command }) => command.startsWith("php-fpm"));

async function untilGone(processes: readonly ProcessInfo[]): Promise<void> {
  expect(processes.length).toBeGreaterThan(0);
  await vi.waitFor(async () => {
    const alive = await Promise.all(processes.map(({ id }) => isAlive(id)));
    expect(processes.filter((_, index) => alive[index])).toEqual([]);
  }, recovery);
}

async function untilBegan(): Promise<void> {
  await vi.waitFor(async () => expect(await readdir(webRoot)).toContain("began"), recovery);
  await rm(join(webRoot, "began"));
}

function killIfThere(process: ProcessInfo | undefined): void {
  try {
    if (process !== undefined) globalThis.process.kill(process.id, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

describe("kill -9 of the edge", () => {
  test("while a script runs: nothing of it survives, and the site is back", async () => {
    const broken = installation.visit(`${site.address}/slow.php`).catch(() => null);
    await untilBegan();
    const before = await sandboxed("edge");
    await kill(root(), "edge");
    await untilGone(before);
    expect(await broken).toBe(null);
    await untilServed();
  });

  test("at any moment of its start: the site is back", async () => {
    for (let moment = 0; moment < 4; moment += 1) {
      const [former] = await find(root(), "edge");
      await kill(root(), "edge");
      await vi.waitFor(async () => {
        const [next] = await find(root(), "edge");
        expect([undefined, former?.id]).not.toContain(next?.id);
      }, recovery);
      await pause(moment * 400);
    }
    await untilServed();
  });
});

describe("kill -9 of PHP", () => {
  test.each(["master", "child"])(
    "its %s, at any moment of a page: this page is late or fails, and the next one is there",
    async (which) => {
      let kills = 0;
      for (let moment = 0; moment < 8; moment += 1) {
        // If it has begun, it breaks off.
        const page = uncached().catch(() => null);
        await pause(moment * 25);
        const processes = await fpm();
        const children = processes.filter(({ parent }) => processes.some(({ id }) => id === parent));
        const victim = which === "child" ? children[0] : processes.find((one) => !children.includes(one));
        if (victim !== undefined) kills += 1;
        killIfThere(victim);
        // A child may begin another page before it ends with its master.
        if (victim !== undefined) await untilGone(which === "child" ? [victim] : processes);
        const answer = await page;
        if (answer !== null) expect([200, 500, 502, 503]).toContain(answer.status);
        const next = await uncached();
        expect([moment, next.status, isPage(next) || next.text]).toEqual([moment, 200, true]);
      }
      expect(kills).toBeGreaterThan(1);
    },
  );
});

describe("kill -9 of the control process", () => {
  const path = () => `/sites/environments/${site.environmentId}/run-wp-cli-command`;

  test("during a WP-CLI command: nothing of it survives, it is not repeated, and the next command runs", async () => {
    const code = "proc_open( 'sleep 599 > /dev/null 2>&1 &', array(), $pipes ); touch( '/site/began' ); sleep( 600 );";
    const accepted = await installation.api("POST", path(), { argv: ["eval", code] });
    const { operation_id } = accepted.json<{ operation_id: string }>();
    await untilBegan();
    await vi.waitFor(async () => {
      const commands = (await sandboxed("control")).map(({ command }) => command);
      expect(commands).toContain("sleep 599");
    }, recovery);
    const before = await sandboxed("control");
    await kill(root(), "control");
    await untilGone(before);
    await untilServed();
    const ended = await vi.waitFor(() => followOperation(installation, operation_id), recovery);
    expect(ended.status).toBe(500);
    expect(await readdir(webRoot)).not.toContain("began");
    const next = await runOperation(installation, "POST", path(), { argv: ["option", "get", "blogname"] });
    expect(JSON.stringify(next)).toContain("Survivor");
    expect(await sandboxed("control")).toEqual([]);
  });
});

describe("kill -9 of the edge at any moment of a creation, a copy, a push and a move at once", () => {
  interface Place {
    readonly runtime: string;
    readonly php: string;
  }

  /** Returns where the environment can be, first where it is now. */
  async function placesOf(environmentId: string): Promise<readonly [Place, Place]> {
    const { environment } = (await installation.api("GET", `/sites/environments/${environmentId}/runtime`)).json<{
      environment: { available_runtimes: { runtime: string; php_versions: string[] }[] };
    }>();
    const php = environment.available_runtimes.find((one) => one.runtime === "native")?.php_versions[0] ?? "";
    return [
      { runtime: "native", php },
      { runtime: "playground", php: "8.3" },
    ];
  }

  const beginCopy = (source: CreatedSite) =>
    accept(installation, "POST", `/sites/${source.id}/environments/clone`, {
      display_name: "Copy",
      is_premium: false,
      source_env_id: source.environmentId,
    });
  const beginPush = (target: CreatedSite, source_env_id: string) =>
    accept(installation, "PUT", `/sites/${target.id}/environments`, {
      source_env_id,
      target_env_id: target.environmentId,
    });
  const beginMove = ({ environmentId }: CreatedSite, { runtime, php }: Place) =>
    accept(installation, "PUT", `/sites/environments/${environmentId}/runtime`, { runtime, php_version: php });
  const isServed = (own: CreatedSite) => expect.poll(async () => isPage(await uncached(own)), recovery).toBe(true);

  test("each is completed, and all of its sites are served", async () => {
    const [pushed, moved] = await Promise.all([
      createSite(installation, { display_name: "Pushed", site_title: "Survivor" }),
      createSite(installation, { display_name: "Moved", site_title: "Survivor" }),
    ]);
    const source = (await followOperation(installation, await beginCopy(pushed))).data?.idEnv ?? "";
    const [here, there] = await placesOf(moved.environmentId);
    for (let moment = 0; moment < 4; moment += 1) {
      const operations = await Promise.all([
        acceptSite(installation, { display_name: "Late", site_title: "Late Survivor" }),
        beginCopy(site),
        beginPush(pushed, source),
        beginMove(moved, moment % 2 === 0 ? there : here),
      ]);
      await pause(moment * 60);
      await kill(root(), "edge");
      const ended = await Promise.all(operations.map((operation) => followOperation(installation, operation)));
      const messages = ended.map(({ message }) => message);
      expect([moment, messages, ended.map(({ status }) => status)]).toEqual([moment, messages, [200, 200, 200, 200]]);
      const [creation, copy] = ended;
      const made = await describeSite(installation, creation?.data?.idSite ?? "");
      expect((await uncached(made)).text).toContain("<title>Late Survivor");
      for (const own of [site, pushed, moved]) await isServed(own);
      await Promise.all([
        succeed(installation, "DELETE", `/sites/${made.id}`, { without_backup: true }),
        succeed(installation, "DELETE", `/sites/environments/${copy?.data?.idEnv}`, { without_backup: true }),
      ]);
    }
    const extra = [pushed, moved].map(({ id }) =>
      succeed(installation, "DELETE", `/sites/${id}`, { without_backup: true }),
    );
    await Promise.all(extra);
  });
});

test("of 50 sites that are created at once, each has its page, and visitors of another site get theirs meanwhile", async () => {
  const titles = Array.from({ length: 50 }, (_, index) => `Shop ${index} of 50`);
  const creations = await Promise.all(
    // The tests before have used a part of the creations that are allowed in a minute.
    titles.map((title) =>
      until(() => acceptSite(installation, { display_name: title, site_title: title }), nextMinute),
    ),
  );
  const all = Promise.all(creations.map((creation) => followOperation(installation, creation)));
  let isOver = false;
  void all.then(() => {
    isOver = true;
  });
  for (let visits = 0; !isOver && visits < 100; visits += 1) expect(isPage(await uncached())).toBe(true);
  const ended = await all;
  expect(ended.map(({ status }) => status)).toEqual(titles.map(() => 200));
  for (const [index, { data }] of ended.entries()) {
    const made = await describeSite(installation, data?.idSite ?? "");
    const page = await uncached(made);
    expect([page.status, page.text.includes(titles[index] ?? "")]).toEqual([200, true]);
  }
}, 1_200_000);

// Last, long after the other deaths of the edge: the supervisor waits up to 10 s before it restarts what ends often.
