/** WordPress under php-fpm, in an environment that the playground has made. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findProgram } from "../../tools/programs.ts";
import { exampleRequest } from "../conformance/conformance.ts";
import { ownerOf } from "../owner.ts";
import { memoryFolder, sessionFolder } from "../phpFolders.ts";
import { openPlayground, type Playground, sharedAssets } from "../playground/testing/world.ts";
import type { WorkerRequest } from "../pool/worker.ts";
import type { EnvironmentLayout } from "../runtime.ts";
import { type Site, visitorOf } from "../testing/visitor.ts";
import { environmentMounts } from "./environmentMounts.ts";
import { parametersOf } from "./fastcgi/parameters.ts";
import { FpmMaster, type FpmOptions } from "./fpmMaster.ts";

const isRoot = process.getuid?.() === 0;
let playground: Playground;
let site: Site;
let layout: EnvironmentLayout;
let master: FpmMaster;
const log: string[] = [];

/** `folder`: for the sockets. */
function optionsOf(folder: string): FpmOptions {
  const places = { assets: sharedAssets, environments: playground.environments };
  return {
    sandbox: {
      user: ownerOf(site.environment.number),
      root: "/",
      mounts: environmentMounts({ ...site.environment, ...layout }, places),
      memoryFolders: [{ path: memoryFolder, maxBytes: 64 << 20 }],
      limits: null,
      isOffline: true,
    },
    program: findProgram("php-fpm", process.env) ?? "php-fpm",
    folder: path.join(playground.folder, folder),
    slots: 2,
    idleSeconds: 60,
    settings: { display_errors: 0, log_errors: 1, "session.save_path": sessionFolder, upload_tmp_dir: memoryFolder },
    onLog: (line) => log.push(line),
  };
}

beforeAll(async () => {
  playground = await openPlayground();
  site = await playground.site({ title: "Native & <fast>" });
  const found = await playground.runtime.layout(site.environment);
  if (found === null) throw new Error("There is no environment.");
  layout = found;
  master = await FpmMaster.start(optionsOf("fpm"));
});
afterAll(async () => {
  master?.kill();
  await master?.exited;
  await playground?.close();
});

/** Returns status and text of a page. */
async function visit(url: string, script = "/index.php", slot = 0) {
  const { signal: _, ...request } = exampleRequest(site.wordpress.address, { url, script });
  const limits = { isReadOnly: false, diskLeftBytes: null, measuredLeftBytes: null, task: null, maySendMail: false };
  const asked: WorkerRequest = { ...request, headers: { host: new URL(site.wordpress.address).host }, ...limits };
  const connection = master.connect(slot);
  const onErrors = (piece: Buffer) => void log.push(piece.toString());
  try {
    const { status, body } = await connection.request({
      parameters: parametersOf(asked, { bodyBytes: 0, messageSocket: "/nowhere", messageToken: "", seconds: 60 }),
      body: null,
      onErrors,
    });
    return { status, text: await text(body) };
  } finally {
    connection.close();
  }
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

test("a script sees the folders of its environment only, as the environment's user, and no network", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const script = `<?php echo json_encode( array(
    array_values( array_diff( scandir( '/' ), array( '.', '..' ) ) ), is_writable( '/site/wp-includes' ), is_writable( '/site' ),
    stat( '/proc/self' )['uid'], false === @fsockopen( '127.0.0.1', ${port} ) ) );`;
  await writeFile(path.join(site.documentRoot, "look.php"), script);
  const [folders, ...others] = JSON.parse((await visit("/look.php", "/look.php")).text);
  const system = ["bin", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "usr"];
  expect(folders).toEqual([...system, "database", "memory", "sessions", "site", "tmp"].toSorted());
  const user = isRoot ? ownerOf(site.environment.number) : process.getuid?.();
  expect(others).toEqual([false, true, user, true]);
});

test("a script can't connect to php-fpm, or listen itself", async () => {
  const script = `<?php echo json_encode( array( file_exists( '/run/php' ), @stream_socket_client( 'unix:///run/php/slot-1' ),
    @stream_socket_server( 'tcp://127.0.0.1:0' ), @stream_socket_server( 'udp://127.0.0.1:0', $code, $text, STREAM_SERVER_BIND ) ) );`;
  await writeFile(path.join(site.documentRoot, "sockets.php"), script);
  expect(JSON.parse((await visit("/sockets.php", "/sockets.php")).text)).toEqual([false, false, false, false]);
});

test("a script that never ends is killed, and another one goes on meanwhile", async () => {
  const [started, goOn] = ["started.txt", "go-on.txt"].map((name) => path.join(site.documentRoot, name));
  const wait = "while ( ! file_exists( '/site/go-on.txt' ) ) { usleep( 1000 ); clearstatcache(); } echo 'done';";
  await writeFile(path.join(site.documentRoot, "waiting.php"), `<?php ${wait}`);
  const endless = "file_put_contents( '/site/started.txt', 'x' ); while ( true );";
  await writeFile(path.join(site.documentRoot, "endless.php"), `<?php ini_set( 'max_execution_time', 0 ); ${endless}`);
  const waiting = visit("/waiting.php", "/waiting.php", 0);
  const killed = visit("/endless.php", "/endless.php", 1);
  await expect.poll(() => existsSync(started ?? "")).toBe(true);
  master.killSlot(1);
  await expect(killed).rejects.toMatchObject({ name: "NoResponse", reason: "lost" });
  await writeFile(goOn ?? "", "");
  expect(await waiting).toMatchObject({ status: 200, text: "done" });
  expect(await visit("/", "/index.php", 1)).toMatchObject({ status: 200 });
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

test("a master that can't start says why, and leaves nothing", async () => {
  const { sandbox, ...options } = optionsOf("no-fpm");
  const start = FpmMaster.start({ ...options, sandbox, program: "/usr/sbin/no-fpm" });
  await expect(start).rejects.toThrow(/did not start: .*no-fpm/);
  const settings = { ...options.settings, user_agent: 'a"\nlisten = /tmp/x' };
  await expect(FpmMaster.start({ ...optionsOf("quoted"), settings })).rejects.toThrow(/user_agent\] has characters/);
});
