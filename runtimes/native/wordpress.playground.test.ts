/** WordPress under php-fpm, in an environment that the playground has made. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findProgram } from "../../tools/programs.ts";
import { exampleRequest } from "../conformance/conformance.ts";
import { ownerOf } from "../owner.ts";
import { memoryFolder, sessionFolder } from "../phpFolders.ts";
import { type Site, visitorOf } from "../playground/testing/visitor.ts";
import { openPlayground, type Playground, sharedAssets } from "../playground/testing/world.ts";
import type { WorkerRequest } from "../pool/worker.ts";
import { environmentMounts } from "./environmentMounts.ts";
import { NoResponse } from "./fastcgi/connection.ts";
import { parametersOf } from "./fastcgi/parameters.ts";
import { FpmMaster } from "./fpmMaster.ts";

let playground: Playground;
let site: Site;
let master: FpmMaster;
const log: string[] = [];

beforeAll(async () => {
  playground = await openPlayground();
  site = await playground.site({ title: "Native & <fast>" });
  const layout = await playground.runtime.layout(site.environment);
  const program = findProgram("php-fpm", process.env);
  if (layout === null || program === null) throw new Error("There is no environment, or no php-fpm.");
  const places = { assets: sharedAssets, environments: playground.environments };
  master = await FpmMaster.start({
    sandbox: {
      user: ownerOf(site.environment.number),
      root: "/",
      mounts: environmentMounts({ ...site.environment, ...layout }, places),
      memoryFolders: [memoryFolder],
      isOffline: true,
    },
    program,
    folder: path.join(playground.folder, "fpm"),
    slots: 2,
    idleSeconds: 60,
    settings: { display_errors: 0, log_errors: 1, "session.save_path": sessionFolder, upload_tmp_dir: memoryFolder },
    onLog: (line) => log.push(line),
  });
});
afterAll(async () => {
  master?.kill();
  await master?.exited;
  await playground?.close();
});

/** Returns status and text of a page. */
async function visit(url: string, script = "/index.php", slot = 0) {
  const { signal: _, ...request } = exampleRequest(site.wordpress.address, { url, script });
  const limits = { isReadOnly: false, diskLeftBytes: null, task: null, maySendMail: false };
  const asked: WorkerRequest = { ...request, headers: { host: new URL(site.wordpress.address).host }, ...limits };
  const connection = master.connect(slot);
  onTestFinished(() => connection.close());
  const onErrors = (piece: Buffer) => void log.push(piece.toString());
  const { status, body } = await connection.request({ parameters: parametersOf(asked, 0), body: null, onErrors });
  return { status, text: await text(body) };
}

test("pages are the same as under the playground", async () => {
  const [native, other] = [await visit("/"), await visitorOf(playground.serving, site).get("/")];
  expect(native.status).toBe(200);
  expect(native.text).toContain("<title>Native &amp; &lt;fast&gt;</title>");
  expect(native.text).toBe(other.text);
  expect(log.filter((line) => line.includes("PHP message"))).toEqual([]);
});

test("a post that is written natively is shown by the playground", async () => {
  const script = `<?php require '/site/wp-load.php';
    echo wp_insert_post( array( 'post_title' => 'Written natively', 'post_status' => 'publish' ) );`;
  await writeFile(path.join(site.documentRoot, "write.php"), script);
  expect(await visit("/write.php", "/write.php")).toMatchObject({ status: 200, text: expect.stringMatching(/^\d+$/) });
  const { text: page } = await visitorOf(playground.serving, site).get("/");
  expect(page).toContain("Written natively");
});

test("a script sees the folders of its environment only, and no network", async () => {
  const script = `<?php echo json_encode( array(
    array_values( array_diff( scandir( '/' ), array( '.', '..' ) ) ), is_writable( '/site/wp-includes' ), is_writable( '/site' ),
    @file_get_contents( 'http://127.0.0.1/' ), get_current_user(), getmyuid() ) );`;
  await writeFile(path.join(site.documentRoot, "look.php"), script);
  const [folders, ...others] = JSON.parse((await visit("/look.php", "/look.php")).text);
  const system = ["bin", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "usr"];
  expect(folders).toEqual([...system, "database", "memory", "sessions", "site", "tmp"].toSorted());
  expect(others.slice(0, 3)).toEqual([false, true, false]);
});

test("a script that never ends is killed, and other scripts go on", async () => {
  const started = path.join(site.documentRoot, "started.txt");
  await writeFile(
    path.join(site.documentRoot, "endless.php"),
    "<?php ini_set( 'max_execution_time', 0 ); file_put_contents( '/site/started.txt', 'x' ); while ( true );",
  );
  const endless = visit("/endless.php", "/endless.php", 1);
  await expect.poll(() => existsSync(started)).toBe(true);
  master.killSlot(1);
  await expect(endless).rejects.toThrow(NoResponse);
  const [one, other] = await Promise.all([visit("/", "/index.php", 0), visit("/", "/index.php", 1)]);
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(other.text).toBe(one.text);
});

test("a slot whose child is killed gets another one with the next connection", async () => {
  await visit("/");
  const before = master.pidOf(0);
  expect(before).not.toBeNull();
  master.killSlot(0);
  await expect.poll(() => master.pidOf(0)).not.toBe(before);
  expect(await visit("/")).toMatchObject({ status: 200 });
  expect(master.pidOf(0)).not.toBe(before);
});
