/** Moves of real WordPress between the playground and the native runtime, under load. */
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findPhp } from "../../store/sites/environmentStates.ts";
import { post, visit } from "../../testing/edge.ts";
import { changingRuntime, notesOf } from "../../testing/environments.ts";
import { makeWorldWithTwoRuntimes, nativePhpVersion } from "../../testing/twoRuntimes.ts";
import { withEngine } from "../../testing/withEngine.ts";
import type { World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";

let world: World;
let prepared: OperationRequest;
let site: ReturnType<typeof notesOf>["site"];

const scripts = {
  /** Shows which engine answers. */
  "engine.php":
    "<?php require __DIR__ . '/wp-load.php'; echo str_starts_with( php_uname( 'm' ), 'wasm' ) ? 'playground' : 'native', PHP_VERSION;",
  "post.php":
    "<?php require __DIR__ . '/wp-load.php'; echo wp_insert_post( [ 'post_title' => $_POST['title'], 'post_status' => 'publish' ] );",
  /** Writes at its end, so that there is always one that is running. */
  "write.php":
    "<?php require __DIR__ . '/wp-load.php'; usleep( 300000 ); echo add_option( 'written_' . $_POST['n'], '1', '', false ) ? 'saved' : 'refused';",
  "comments.php":
    "<?php require __DIR__ . '/wp-load.php'; echo get_comments( [ 'search' => 'From Grace', 'status' => 'any', 'count' => true ] );",
  "written.php":
    "<?php require __DIR__ . '/wp-load.php'; echo json_encode( $wpdb->get_col( \"SELECT SUBSTR(option_name, 9) FROM {$wpdb->options} WHERE option_name LIKE 'written%'\" ) );",
};

beforeAll(async () => {
  world = await makeWorldWithTwoRuntimes();
  prepared = await changingRuntime("native").prepare(world);
  ({ site } = notesOf(prepared));
  const { documentRoot } = await root();
  for (const [name, code] of Object.entries(scripts)) await writeFile(join(documentRoot, name), code);
});
afterAll(() => world[Symbol.asyncDispose]());

async function root() {
  const layout = await world.services.runtime.layout(site.environment);
  if (layout === null) throw new Error("The environment does not exist");
  return { layout, documentRoot: layout.documentRoot };
}

const get = (path: string) => visit(world.facts.edgePort, site.address, path);
const send = (path: string, form: string) => post(world.facts.edgePort, site.address, path, form);
const comment = (author: string) =>
  send(
    "/wp-comments-post.php",
    `comment=From+${author}&author=${author}&email=${author}%40example.com&comment_post_ID=1&comment_parent=0`,
  );

/** Moves the site. */
async function move(runtime: string, phpVersion: string) {
  const { environment, address } = site;
  const input = { environment, runtime, phpVersion, address };
  return withEngine(world, (harness) => harness.submit({ ...prepared, input }));
}

/** Reads and writes until the returned function is called, which returns the responses. */
function traffic(first: number) {
  let isDone = false;
  let n = first;
  const reads: string[] = [];
  const writes: string[] = [];
  const saved: string[] = [];
  const loop = async (work: () => Promise<void>) => {
    while (!isDone) await work();
  };
  const read = async () => {
    const { status, body } = await get(`/?n=${n++}`);
    reads.push(`${status} ${body.includes(site.name) && /<\/html>\s*$/.test(body)}`);
  };
  const write = async () => {
    const mine = String(n++);
    const { status, body } = await send("/write.php", `n=${mine}`);
    writes.push(`${status} ${body}`);
    if (status === 200) saved.push(mine);
  };
  const working = [loop(read), loop(read), loop(write)];
  return async () => {
    isDone = true;
    await Promise.all(working);
    return { reads, writes, saved };
  };
}

test("a site moves to the other runtime and back: no request fails, and nothing that was written is lost", async () => {
  expect((await get("/engine.php")).body).toContain("playground8.3");
  const before = await send("/post.php", "title=Written+before");
  expect(Number(before.body)).toBeGreaterThan(0);

  let stop = traffic(1);
  expect(await move("native", nativePhpVersion)).toMatchObject({ state: "succeeded", public_error: null });
  const there = await stop();
  expect((await get("/engine.php")).body).toContain(`native${nativePhpVersion}`);
  expect((await comment("Grace")).status).toBe(302);

  stop = traffic(1_000_000);
  expect(await move("playground", "8.3")).toMatchObject({ state: "succeeded", public_error: null });
  const back = await stop();
  expect((await get("/engine.php")).body).toContain("playground8.3");

  for (const { reads, writes } of [there, back]) {
    expect(new Set(reads)).toEqual(new Set(["200 true"]));
    expect(new Set(writes)).toEqual(new Set(["200 saved"]));
  }
  const written: string[] = JSON.parse((await get("/written.php")).body);
  expect(written.toSorted()).toEqual([...there.saved, ...back.saved].toSorted());
  expect((await get("/?s=Written+before")).body).toContain("Written before");
  expect((await get("/comments.php")).body).toBe("1");
});

test("a site that fails under the other runtime stays where it is", async () => {
  const plugin = "<?php if ( ! str_starts_with( php_uname( 'm' ), 'wasm' ) ) throw new Error( 'not here' );";
  const folder = join((await root()).documentRoot, "wp-content", "mu-plugins");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "picky.php"), plugin);
  const row = await move("native", nativePhpVersion);
  expect(row).toMatchObject({ state: "failed", public_error: expect.stringContaining("not here") });
  expect(await findPhp(world.own.database, site.environment.id)).toMatchObject({
    runtime: "playground",
    version: "8.3",
  });
  await rm(join(folder, "picky.php"));
  expect((await get("/engine.php")).body).toContain("playground8.3");
});

const begin = `<?php
require __DIR__ . '/wp-load.php';
$pdo = new PDO( 'sqlite:' . DB_DIR . DB_FILE, null, null, [ PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION ] );
$pdo->exec( 'PRAGMA busy_timeout = 0' );
try { $pdo->exec( 'BEGIN IMMEDIATE' ); } catch ( PDOException $error ) { http_response_code( 409 ); exit; }
`;

/** Has the lock of the database from when the file `held` appears until the file `tried` does. */
const holdScript = `${begin}
touch( __DIR__ . '/held' );
while ( ! file_exists( __DIR__ . '/tried' ) ) { usleep( 10000 ); clearstatcache(); }
$pdo->exec( 'COMMIT' );
echo 'held';
`;

test.each([
  ["playground", "8.3", "native", nativePhpVersion],
  ["native", nativePhpVersion, "playground", "8.3"],
])(
  "while %s PHP %s has the lock of the database, %s PHP %s does not get it",
  async (served, version, other, otherVersion) => {
    expect(await move(served, version)).toMatchObject({ state: "succeeded", public_error: null });
    const { documentRoot, layout } = await root();
    await writeFile(join(documentRoot, "hold.php"), holdScript);
    await writeFile(join(documentRoot, "lock.php"), `${begin} echo 'free';`);
    const statuses: number[] = [];
    const fault = ({ status }: { readonly status: number }) => {
      statuses.push(status);
      return null;
    };
    const lockFromTheOther = () =>
      world.services.runTrial(
        {
          environment: site.environment,
          php: { runtime: other, version: otherVersion },
          layout,
          address: site.address,
          what: "The lock",
          isReadOnly: false,
          page: { url: "/lock.php", name: "lock", fault },
        },
        AbortSignal.timeout(60_000),
      );
    const holding = get("/hold.php");
    await expect.poll(() => existsSync(join(documentRoot, "held")), { timeout: 30_000 }).toBe(true);
    await lockFromTheOther();
    await writeFile(join(documentRoot, "tried"), "");
    expect((await holding).body).toBe("held");
    await lockFromTheOther();
    expect(statuses).toEqual([409, 200]);
    for (const name of ["held", "tried"]) await rm(join(documentRoot, name));
  },
);
