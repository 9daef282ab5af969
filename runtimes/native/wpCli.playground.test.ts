/** WP-CLI commands that do harm, or are ended from outside. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WpCliOutcome } from "../runtime.ts";
import type { Site } from "../testing/visitor.ts";
import { commandLineOf, descendantsOf, killIfAlive } from "./processTree.ts";
import { type NativeWorld, openNative } from "./testing/world.ts";

let world: NativeWorld;
let site: Site;
beforeAll(async () => {
  world = await openNative({ isOnDisk: true });
  site = await world.site();
});
afterAll(() => world?.close());

/** Those of commands: a php-fpm may compile opcodes for all sites meanwhile. */
const sandboxes = () => descendantsOf(process.pid).filter((pid) => /^bwrap (?!.*php-fpm)/.test(commandLineOf(pid)));
const never = new AbortController().signal;

function wp(argv: readonly string[], seconds = 120, signal: AbortSignal = never): Promise<WpCliOutcome> {
  const command = { phpVersion: world.phpVersion, argv, seconds };
  return world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
}

test("endless output ends a command", async () => {
  const { end, stdout } = await wp(["eval", "while ( true ) { echo str_repeat( 'x', 1 << 16 ); }"]);
  expect([end, stdout.isTruncated]).toEqual(["output", true]);
});

test("a fork bomb ends with its command, also programs that ignore signals", async () => {
  const program = `sh -c 'trap "" TERM INT HUP; while :; do sleep 1; done'`;
  const bomb = `$all = array(); for ( $i = 0; $i < 5000; $i++ ) {
    $one = @proc_open( ${JSON.stringify(program)}, array(), $pipes ); if ( ! $one ) break; $all[] = $one; } posix_kill( getmypid(), 9 );`;
  expect(await wp(["eval", bomb])).toMatchObject({ exitCode: null });
  expect(sandboxes()).toEqual([]);
  expect(await wp(["eval", "echo 'hello';"])).toMatchObject({ exitCode: 0, stdout: { text: "hello" } });
});

test("what a command has started ends with it", async () => {
  const code = "proc_open( 'sleep 1000 > /dev/null 2>&1 &', array(), $pipes ); echo 'done';";
  expect(await wp(["eval", code])).toMatchObject({ exitCode: 0, stdout: { text: "done" } });
  expect(sandboxes()).toEqual([]);
});

test("a command that writes more than there is room for is ended, and says why", async () => {
  const code =
    "for ( ; ; ) { file_put_contents( 'large.bin', str_repeat( 'x', 1 << 20 ), FILE_APPEND ); usleep( 2000 ); }";
  const command = { phpVersion: world.phpVersion, argv: ["eval", code], seconds: 120, diskLeftBytes: 10 << 20 };
  const { end, stderr } = await world.runtime.runWpCli(site.environment, command, async () => undefined, never);
  expect([end, stderr.text]).toEqual(["crash", expect.stringContaining("Remove files or raise the quota.")]);
});

test("a command has no input", async () => {
  expect(await wp(["eval", "echo json_encode( stream_get_contents( STDIN ) );"])).toMatchObject({
    stdout: { text: '""' },
  });
});

test("another path or alias leads nowhere else", async () => {
  const { stdout } = await wp(["eval", "echo ABSPATH;", "--path=/etc"]);
  expect(["", "/site/"]).toContain(stdout.text);
  expect((await wp(["@all", "option", "get", "siteurl"])).exitCode).not.toBe(0);
  expect((await wp(["--ssh=example.com", "option", "get", "siteurl"])).exitCode).not.toBe(0);
});

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 50])(
  "a command that is aborted after %i ms leaves nothing",
  async (milliseconds) => {
    const signal = AbortSignal.timeout(milliseconds);
    await expect(wp(["eval", "sleep( 600 );"], 600, signal)).rejects.toThrow(/abort|timeout/);
    expect(sandboxes()).toEqual([]);
  },
);

test("a command whose sandbox is killed has crashed", async () => {
  const outcome = wp(["eval", "sleep( 600 );"]);
  await expect.poll(sandboxes).not.toEqual([]);
  for (const pid of sandboxes()) killIfAlive(pid);
  expect(await outcome).toMatchObject({ exitCode: null, end: "crash", mayHaveChanged: true });
});
