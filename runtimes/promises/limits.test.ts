/** Limits of environments, with real PHP. */
import { stat, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import { addScript, outcomeOf, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { engine, openWorld, type SiteWorld } from "../testing/world.ts";

const megabyte = 1_048_576;
const uploads = { uploadBytes: 48 * megabyte, formBytes: megabyte };
let world: SiteWorld;
let site: Site;

beforeAll(async () => {
  world = await openWorld({ maxWorkers: 4, uploads, isOnDisk: true });
  site = await world.site();
}, 120_000);
afterAll(() => world.close());

const php = (code: string) => runPhp(world.serving, site, code);
const workers = () =>
  world.serving.status().workers.filter(({ environmentId }) => environmentId === site.environment.id);
const usage = () => {
  const found = world.serving.usage().find(({ environmentId }) => environmentId === site.environment.id);
  if (found === undefined) throw new Error("Nothing was counted.");
  return found;
};

function ask(url: string) {
  const changes = { url, script: new URL(url, "http://x").pathname };
  return world.serving.handle(site.environment.id, exampleRequest(site.wordpress.address, changes));
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries += 1) {
    if (tries > 2000) throw new Error("The condition never became true.");
    await delay(10);
  }
}

const freeSpace = (leftBytes: number) => ({ disk: { leftBytes, measuredAt: Math.random() } });

test("WordPress knows how large an upload may be, in WP-CLI too", async () => {
  const expected = String(uploads.uploadBytes);
  expect(await php("require 'wp-load.php'; echo wp_max_upload_size();")).toBe(expected);
  const command = { phpVersion: world.phpVersion, argv: ["eval", "echo wp_max_upload_size();"], seconds: 60 };
  const { signal } = new AbortController();
  const outcome = await world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
  expect(outcome.stdout.text).toBe(expected);
}, 60_000);

test("PHP takes a form around the largest file", async () => {
  const sizes =
    "$b = fn ($n) => ini_parse_quantity(ini_get($n)); echo $b('post_max_size') - $b('upload_max_filesize');";
  expect(await php(sizes)).toBe(String(uploads.formBytes));
}, 30_000);

test("a form may have thousands of fields", async () => {
  await addScript(site, "fields.php", "echo count($_POST['f']);");
  const fields = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`f[${index}]`, "x"]));
  expect((await visitorOf(world.serving, site).post("/fields.php", fields)).text).toBe("9000");
}, 30_000);

describe("memory", () => {
  test("is limited by the environment's setting, from the next page after a change", async () => {
    await php("echo 1;");
    const before = workers().map(({ pid }) => pid);
    await world.limit(site, { memoryMb: 96 });
    expect(await php("echo ini_get('memory_limit');")).toBe("96M");
    expect(workers().some(({ pid }) => before.includes(pid))).toBe(false);
  }, 30_000);

  test("is not raised by WordPress for its administrators", async () => {
    await world.limit(site, { memoryMb: 96 });
    const code = "require 'wp-load.php'; wp_raise_memory_limit('admin'); echo ini_get('memory_limit');";
    expect(await php(code)).toBe("96M");
  }, 30_000);

  test("above the process's limit ends the process, which is counted", async () => {
    await world.limit(site, { memoryMb: 96 });
    const killed = usage().killedForMemory;
    await addScript(
      site,
      "greedy.php",
      "ini_set('memory_limit', '-1'); $all = []; while (true) { $all[] = str_repeat('x', 1 << 20); }",
    );
    expect(await outcomeOf(ask("/greedy.php"))).toBe("crashed");
    expect(usage().killedForMemory).toBe(killed + 1);
    expect(await php("echo 'again';")).toBe("again");
  }, 60_000);

  test("above PHP's limit ends the script and nothing else", async () => {
    await world.limit(site, { memoryMb: 96 });
    const [worker] = workers();
    await addScript(site, "much.php", "$text = str_repeat('x', 120 << 20); echo strlen($text);");
    expect((await visitorOf(world.serving, site).get("/much.php")).status).toBe(500);
    expect(await php("echo 'still here';")).toBe("still here");
    expect(workers().map(({ pid }) => pid)).toContain(worker?.pid);
    await world.limit(site, { memoryMb: 256 });
    expect((await visitorOf(world.serving, site).get("/much.php")).text).toBe(String(120 << 20));
  }, 60_000);
});

describe("workers", () => {
  // A third worker is started only two seconds after the second one, while its first page may not be finished.
  test.each([
    [1, 1],
    [3, 3],
  ])(
    "handle at most %i requests at once",
    async (threads, seconds) => {
      await world.limit(site, { threads });
      await addScript(site, "slow.php", `sleep(${seconds}); echo 1;`);
      const answers = Array.from({ length: threads + 2 }, () => outcomeOf(ask("/slow.php")));
      let most = 0;
      let isOver = false;
      const over = Promise.all(answers).then((all) => {
        isOver = true;
        return all;
      });
      await until(() => {
        most = Math.max(most, workers().filter(({ busy }) => busy).length);
        return isOver;
      });
      expect(await over).toEqual(answers.map(() => 200));
      expect(most).toBe(threads);
    },
    90_000,
  );
});

describe("time", () => {
  test("that a script has is known to it, from the next request after a change", async () => {
    const code = "echo getmypid(), ' ', ini_get('max_execution_time');";
    await world.limit(site, { requestSeconds: 300 });
    const [pid, limit] = (await php(code)).split(" ");
    expect(limit).toBe("300");
    await world.limit(site, { requestSeconds: null });
    expect(await php(code)).toBe(`${pid} 60`);
  }, 30_000);

  test("for which a script waits is not limited by the script itself", async () => {
    expect(await php("set_time_limit(1); sleep(2); echo 'done';")).toBe("done");
  }, 30_000);

  test("is limited by the environment's setting", async () => {
    await world.limit(site, { requestSeconds: 1 });
    const killed = usage().killedForTime;
    await addScript(site, "loop.php", "while (true) {}");
    // The default is a minute, longer than this test's timeout.
    expect(await outcomeOf(ask("/loop.php"))).toBe("deadline");
    expect(usage().killedForTime).toBe(killed + 1);
  }, 50_000);
});

// Under php-fpm, writes are measured and not refused: see the next block.
describe.runIf(engine === "playground")("disk", () => {
  const write = (name: string, bytes: number) =>
    php(`echo json_encode(@file_put_contents('${name}', str_repeat('x', ${bytes})));`);

  test("files grow up to the free space over several requests", async () => {
    await world.limit(site, freeSpace(3 * megabyte));
    expect(await write("one.bin", 2 * megabyte)).toBe(String(2 * megabyte));
    expect(await write("two.bin", 2 * megabyte)).not.toBe(String(2 * megabyte));
    expect(
      await php("clearstatcache(); echo filesize('one.bin') + filesize('two.bin') <= 3 << 20 ? 'yes' : 'no';"),
    ).toBe("yes");
  }, 30_000);

  test("a removed file frees space at once", async () => {
    await world.limit(site, freeSpace(2 * megabyte));
    expect(await write("one.bin", 1)).toBe("1");
    await php("unlink('one.bin'); @unlink('two.bin');");
    await world.limit(site, freeSpace(megabyte));
    expect(await write("a.bin", megabyte - 10)).toBe(String(megabyte - 10));
    expect(await write("b.bin", 100_000)).not.toBe("100000");
    expect(await php("echo unlink('a.bin') ? 'gone' : 'there';")).toBe("gone");
    expect(await write("b.bin", 100_000)).toBe("100000");
  }, 30_000);

  test("in a full environment files can be read, changed in place and removed, but not created", async () => {
    await world.limit(site, freeSpace(10 * megabyte));
    await write("kept.bin", 1000);
    await world.limit(site, freeSpace(-5 * megabyte));
    expect((await visitorOf(world.serving, site).get("/")).status).toBe(200);
    expect(await php("$file = fopen('kept.bin', 'r+'); echo fwrite($file, 'abc');")).toBe("3");
    expect(await php("echo json_encode(@mkdir('folder'));")).toBe("false");
    expect(await php("$file = fopen('kept.bin', 'a'); echo json_encode(@fwrite($file, 'abc'));")).toBe("false");
    expect(await php("echo json_encode(unlink('kept.bin'));")).toBe("true");
  }, 30_000);

  test("WordPress users can log in and delete posts in a full environment", async () => {
    await world.limit(site, freeSpace(-megabyte));
    const visitor = visitorOf(world.serving, site);
    expect(await visitor.logIn(site.wordpress.adminUser, "correct horse battery")).toBe(true);
    const remove = "require 'wp-load.php'; echo wp_delete_post(1, true) ? 'removed' : 'there';";
    expect(await php(remove)).toBe("removed");
  }, 60_000);

  test("a database that can't grow reports it, stays intact, and works again when there is space", async () => {
    await world.limit(site, freeSpace(-(9 << 20)));
    const insert = (bytes: number) =>
      `$db = new PDO('sqlite:/database/quota.sqlite'); $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
       try { $db->exec('create table if not exists t (v blob)'); $db->exec('insert into t values (zeroblob(${bytes}))'); echo 'inserted'; }
       catch (PDOException $e) { echo $e->getMessage(); }`;
    expect(await php(insert(10))).not.toBe("inserted");
    await world.limit(site, freeSpace(megabyte));
    expect(await php(insert(10))).toBe("inserted");
    // The database has a reserve of 8 MB.
    expect(await php(insert(12 << 20))).toContain("full");
    const count = "echo (new PDO('sqlite:/database/quota.sqlite'))->query('select count(*) from t')->fetchColumn();";
    expect(await php(count)).toBe("1");
    await world.limit(site, { disk: null });
    expect(await php(insert(12 << 20))).toBe("inserted");
    const file = path.join(world.environments, site.environment.id, "current/database/quota.sqlite");
    const database = new DatabaseSync(file, { readOnly: true });
    expect(database.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.close();
  }, 60_000);

  test("a file named like a journal is limited too", async () => {
    await world.limit(site, freeSpace(-megabyte * 20));
    const code = `echo json_encode(@file_put_contents('/database/x-journal', str_repeat('x', 1 << 20)));`;
    expect(await php(code)).toBe("false");
  }, 30_000);
});

describe("disk, with every engine", () => {
  test("requests that write are counted, and requests that only read are not", async () => {
    await world.limit(site, {});
    await addScript(site, "reads.php", "echo 1;");
    await addScript(site, "writes.php", "file_put_contents('written', 'x');");
    await visitorOf(world.serving, site).get("/reads.php");
    const before = usage().writes;
    await visitorOf(world.serving, site).get("/reads.php");
    expect(usage().writes).toBe(before);
    await visitorOf(world.serving, site).get("/writes.php");
    await expect.poll(() => usage().writes).toBe(before + 1);
  }, 30_000);
});

describe("CPU time", () => {
  test("is counted", async () => {
    await php("echo 1;");
    const before = usage();
    const code = "$start = hrtime(true); for ($i = 0; $i < 8e7; $i++); echo (hrtime(true) - $start) / 1e6;";
    const burnt = Number(await php(code));
    // Counted when PHP has ended, after the end of the response.
    await expect.poll(() => usage().cpuMilliseconds - before.cpuMilliseconds).toBeGreaterThan(100);
    await expect.poll(() => usage().phpMilliseconds - before.phpMilliseconds).toBeGreaterThanOrEqual(burnt);
    await expect.poll(() => usage().recentCores).toBeGreaterThan(0);
    expect(await php("echo 'quiet';")).toBe("quiet");
  }, 60_000);
});

describe.runIf(engine === "native")("disk under php-fpm", () => {
  const write = (name: string, bytes: number) =>
    `for ($i = 0; $i < ${bytes / megabyte}; $i++) { file_put_contents('${name}', str_repeat('x', 1 << 20), FILE_APPEND); usleep(2000); }`;

  test("a script that writes more than the environment may grow is ended, and the others go on", async () => {
    await world.limit(site, freeSpace(20 * megabyte));
    await addScript(site, "endless.php", write("endless.bin", 10_000 * megabyte));
    expect(await outcomeOf(ask("/endless.php"))).toBe("diskFull");
    expect((await stat(path.join(site.documentRoot, "endless.bin"))).size).toBeLessThan(2_000 * megabyte);
    expect(await php("echo json_encode(unlink('endless.bin'));")).toBe("true");
    expect((await visitorOf(world.serving, site).get("/")).status).toBe(200);
  }, 60_000);

  test("a script that fills the folder for temporary files is ended, and pages and sessions still work", async () => {
    await world.limit(site, freeSpace(20 * megabyte));
    await addScript(site, "temporary.php", write("/tmp/endless.bin", 10_000 * megabyte));
    expect(await outcomeOf(ask("/temporary.php"))).toBe("diskFull");
    await world.limit(site, freeSpace(-megabyte));
    expect((await visitorOf(world.serving, site).get("/")).status).toBe(200);
    const code = "session_start(); $_SESSION['seen'] = 1; session_write_close(); tempnam('/tmp', 'x'); echo 'done';";
    expect(await php(code)).toBe("done");
    expect(await php("echo json_encode(unlink('/tmp/endless.bin'));")).toBe("true");
  }, 60_000);

  test("WordPress users can log in and delete posts in a full environment", async () => {
    await world.limit(site, freeSpace(-megabyte));
    expect(await visitorOf(world.serving, site).logIn(site.wordpress.adminUser, "correct horse battery")).toBe(true);
    const code =
      "require 'wp-load.php'; echo wp_delete_post(wp_insert_post(['post_title' => 'x']), true) ? 'removed' : 'there';";
    expect(await php(code)).toBe("removed");
  }, 60_000);
});

/** How much of the disk with the sites is free, in bytes. */
async function freeBytes(): Promise<number> {
  const { bavail, bsize } = await statfs(world.environments);
  return bavail * bsize;
}

describe.runIf(engine === "native")("on a disk without space beyond the reserve", () => {
  /** Opens a world whose sites leave this much of the disk free. Returns a site with a script that writes 2 GB. */
  async function openFull(diskReserveBytes: number): Promise<{ readonly full: SiteWorld; readonly crowded: Site }> {
    const full = await openWorld({ diskReserveBytes, isOnDisk: true });
    onTestFinished(() => full.close());
    const crowded = await full.site();
    const code = `for ($i = 0; $i < 2048; $i++) { file_put_contents('endless.bin', str_repeat('x', ${megabyte}), FILE_APPEND); usleep(2000); }`;
    await addScript(crowded, "endless.php", code);
    return { full, crowded };
  }

  test("pages are served, people can log in, and a script that writes is ended", async () => {
    const { full, crowded } = await openFull((await freeBytes()) * 1.2);
    const visitor = visitorOf(full.serving, crowded);
    expect(await visitor.logIn(crowded.wordpress.adminUser, "correct horse battery")).toBe(true);
    expect(await outcomeOf(visitor.get("/endless.php"))).toBe("diskFull");
    expect((await stat(path.join(crowded.documentRoot, "endless.bin"))).size).toBeLessThan(500 * megabyte);
    expect((await visitor.get("/")).status).toBe(200);
  }, 60_000);

  test("nothing is written once half of the reserve is used, and pages are served", async () => {
    const { full, crowded } = await openFull((await freeBytes()) * 4);
    const visitor = visitorOf(full.serving, crowded);
    const code = "require 'wp-load.php'; update_option('x', uniqid());";
    await addScript(crowded, "database.php", code);
    expect(await outcomeOf(visitor.get("/database.php"))).toBe("diskFull");
    expect(await outcomeOf(visitor.get("/endless.php"))).toBe(200);
    await expect(stat(path.join(crowded.documentRoot, "endless.bin"))).rejects.toThrow("ENOENT");
    await addScript(crowded, "temporary.php", "echo json_encode(@file_put_contents('/tmp/x', 'x'));");
    expect((await visitor.get("/temporary.php")).text).toBe("false");
    expect((await visitor.get("/")).status).toBe(200);
  }, 60_000);
});

test.runIf(engine === "playground")(
  "on a disk without space beyond the reserve, pages are served, files can be deleted, and nothing grows",
  async () => {
    const full = await openWorld({ diskReserveBytes: Number.MAX_SAFE_INTEGER / 2 });
    onTestFinished(() => full.close());
    const crowded = await full.site();
    await writeFile(path.join(crowded.documentRoot, "old.bin"), "x");
    const run = (code: string) => runPhp(full.serving, crowded, code);
    expect(await run("echo json_encode([@file_put_contents('new.bin', 'x'), @touch('empty.bin')]);")).toBe(
      "[false,false]",
    );
    expect(await run("echo json_encode(@file_put_contents('old.bin', 'y'));")).toBe("false");
    expect((await visitorOf(full.serving, crowded).get("/")).status).toBe(200);
    expect(await run("echo json_encode([unlink('old.bin'), file_exists('old.bin')]);")).toBe("[true,false]");
  },
  60_000,
);
