/** Temporary files are shared by all PHP processes of a site, as on a host with one machine. */
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { removeOldFiles } from "../playground/worker/oldFiles.ts";
import { requestBody } from "../testing/requestBody.ts";
import { addScript, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;
let other: Site;
beforeAll(async () => {
  world = await openWorld({ maxWorkers: 3 });
  site = await world.site();
  other = await world.site();
}, 120_000);
afterAll(() => world.close());

const php = (code: string) => runPhp(world.serving, site, code);
const untilFile = (name: string) =>
  `for ($i = 0; $i < 3000 && !file_exists('/tmp/${name}'); $i++) { usleep(10000); clearstatcache(); }`;

test("a lock on a temporary file excludes another worker of the site until it is released", async () => {
  const lock = "$file = fopen(sys_get_temp_dir() . '/lock', 'c');";
  const holder = php(`${lock} echo json_encode(flock($file, LOCK_EX | LOCK_NB)); touch('/tmp/held');
    ${untilFile("asked")} flock($file, LOCK_UN); touch('/tmp/released');`);
  const waiter =
    php(`${untilFile("held")} ${lock} echo json_encode(flock($file, LOCK_EX | LOCK_NB)); touch('/tmp/asked');
    ${untilFile("released")} echo json_encode(flock($file, LOCK_EX | LOCK_NB));`);
  expect(await Promise.all([holder, waiter])).toEqual(["true", "falsetrue"]);
});

test("of two workers that create the same file exclusively, one gets it", async () => {
  const rounds = 300;
  // Both wait for the other before each round.
  const meet = (own: string, other: string) =>
    `touch("/tmp/${own}$n"); for ($i = 0; $i < 1e6 && !file_exists("/tmp/${other}$n"); $i++) clearstatcache();`;
  const racer = (own: string, other: string) =>
    php(`$won = []; for ($n = 0; $n < ${rounds}; $n++) { ${meet(own, other)} if (@fopen("/tmp/race$n", 'x')) $won[] = $n; }
      echo json_encode($won);`);
  const [one, other] = (await Promise.all([racer("a", "b"), racer("b", "a")])).map((text) => JSON.parse(text));
  expect([...one, ...other].toSorted((a, b) => a - b)).toEqual(Array.from({ length: rounds }, (_, n) => n));
});

test("a temporary file is still there for the next worker, and not for another site", async () => {
  await php("file_put_contents(sys_get_temp_dir() . '/chunk', 'one');");
  for (const { pid } of world.serving.status().workers) process.kill(pid, "SIGKILL");
  const read = "echo json_encode(@file_get_contents('/tmp/chunk'));";
  expect(await php(read)).toBe('"one"');
  expect(await runPhp(world.serving, other, read)).toBe("false");
});

test("an upload takes no space on the disk until a script moves it", async () => {
  const code = `$file = $_FILES['file']['tmp_name']; echo dirname($file), ' ', filesize($file), ' ', count(glob('/tmp/php*'));
    move_uploaded_file($file, '/tmp/moved'); echo ' ', filesize('/tmp/moved');`;
  await addScript(site, "upload.php", code);
  const parts = [
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n',
    "x".repeat(100_000),
    "\r\n--x--\r\n",
  ];
  const body = Buffer.from(parts.join(""));
  const headers = { "content-type": "multipart/form-data; boundary=x", "content-length": String(body.length) };
  const page = await visitorOf(world.serving, site).get("/upload.php", {
    method: "POST",
    headers,
    body: requestBody(body),
  });
  expect(page.text).toBe("/memory 100000 0 100000");
});

test("sessions and temporary files count for the environment's disk use", async () => {
  const before = await world.runtime.diskUse(site.environment);
  await php("file_put_contents('/tmp/large', str_repeat('x', 100000)); file_put_contents('/sessions/sess_x', 'abc');");
  const after = await world.runtime.diskUse(site.environment);
  expect(after?.temporary).toBe((before?.temporary ?? 0) + 100_003);
});

test("files that have not changed for ten days are removed, with their folders", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "old-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const day = 86_400_000;
  await mkdir(path.join(folder, "folder"));
  for (const name of ["folder/one", "two"]) await writeFile(path.join(folder, name), "x");
  await writeFile(path.join(folder, "lock"), "");
  // As scripts do that unpack an archive.
  await utimes(path.join(folder, "two"), new Date(0), new Date(0));
  await removeOldFiles(folder, Date.now() + 9 * day);
  const names = async () => (await readdir(folder, { recursive: true })).toSorted();
  expect(await names()).toEqual(["folder", "folder/one", "lock", "two"]);
  await removeOldFiles(folder, Date.now() + 11 * day);
  expect(await names()).toEqual(["lock"]);
});
