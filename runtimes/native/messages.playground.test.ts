/** Messages of the platform's PHP that are lost, and scripts that send messages for another request. */
import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import type { PhpRequest, StalePages } from "../serving.ts";
import { runTask } from "../testing/runTask.ts";
import { addScript, outcomeOf, type Site, visitorOf } from "../testing/visitor.ts";
import { type NativeWorld, openNative } from "./testing/world.ts";

let world: NativeWorld;
let site: Site;
let reports: readonly StalePages[] = [];

beforeAll(async () => {
  world = await openNative({
    onStalePages: (_, pages) => {
      reports = [...reports, pages];
    },
  });
  site = await world.site();
  await world.limit(site, { threads: 4 });
});
afterAll(() => world?.close());
beforeEach(() => {
  reports = [];
});

let scripts = 0;

/** Runs a script of the site to its end. Returns whether the response may be cached. */
async function isCacheable(code: string, changes: Partial<PhpRequest> = {}): Promise<boolean> {
  scripts += 1;
  const script = `/page-${scripts}.php`;
  await addScript(site, script, `${code} echo 'text';`);
  const request = exampleRequest(site.wordpress.address, { url: script, script, ...changes });
  const answer = await world.serving.handle(site.environment.id, request);
  answer.body.resume();
  return answer.isCacheable;
}

describe("a response may be cached", () => {
  test("if its script has come to its end", async () => {
    expect(await isCacheable("")).toBe(true);
    expect(await isCacheable("", { isReadOnly: true })).toBe(true);
  });

  test.each([
    ["it dies", "register_shutdown_function( static function () { echo 'end'; } ); no_function();"],
    ["it has no memory left", "ini_set( 'memory_limit', '8M' ); str_repeat( 'x', 9 << 20 );"],
    ["its time is over", "set_time_limit( 1 ); for ( ; ; );"],
  ])("but not if %s", async (_, code) => {
    expect(await isCacheable(code)).toBe(false);
    expect(await isCacheable(code, { isReadOnly: true })).toBe(false);
    expect(await isCacheable("")).toBe(true);
  });

  test.each([
    ["no descriptor is left", "for ( $all = array(); $file = @fopen( '/dev/null', 'r' ); ) $all[] = $file;"],
    [
      "no other connection has room",
      "for ( $all = array(); count( $all ) < 16; ) $all[] = stream_socket_client( 'unix://' . SITEWRIGHT_SOCKET );",
    ],
    ["one of its functions for the end exits", "register_shutdown_function( static function () { exit; } );"],
    ["one of its functions for the end dies", "register_shutdown_function( static function () { no_function(); } );"],
  ])("but not if %s, and there is none if it must not have changed anything", async (_, code) => {
    expect(await isCacheable(code)).toBe(false);
    await expect(isCacheable(code, { isReadOnly: true })).rejects.toMatchObject({ reason: "wouldWrite" });
    expect(await isCacheable("")).toBe(true);
  });
});

test("everything is outdated if reports of someone who is logged in may be lost", async () => {
  const { host } = new URL(site.wordpress.address);
  const headers = { host, cookie: "wordpress_logged_in_0=x" };
  const code = "register_shutdown_function( static function () { exit; } );";
  await isCacheable(code, { headers });
  expect(reports.map(({ everything }) => everything)).toEqual([true]);
  reports = [];
  await isCacheable("", { headers });
  await isCacheable(code);
  expect(reports).toEqual([]);
});

test("a script can't send messages for a request of another worker, or get its order", async () => {
  await addScript(
    site,
    "send.php",
    `$messages = array( '{"sitewright":"order"}', '{"sitewright":"private"}', '{"sitewright":"touched","everything":true}' );
    $got = '';
    while ( ! file_exists( '/site/enough' ) ) {
      touch( '/site/sending' );
      foreach ( glob( '/run/messages/*' ) as $path ) {
        if ( SITEWRIGHT_SOCKET === $path || ! ( $socket = @stream_socket_client( "unix://$path" ) ) ) continue;
        foreach ( $messages as $message ) @fwrite( $socket, pack( 'N', strlen( $message ) ) . $message );
        stream_set_timeout( $socket, 0, 2000 );
        $got .= trim( (string) @stream_get_contents( $socket, 1 << 20 ), "\\0" );
        clearstatcache();
      }
    }
    echo "got: $got";`,
  );
  const sent = visitorOf(world.serving, site).get("/send.php");
  await expect.poll(() => existsSync(path.join(site.documentRoot, "sending"))).toBe(true);
  const attempts = [];
  for (let attempt = 0; attempt < 10; attempt += 1) {
    attempts.push(await isCacheable("usleep( 100000 );"));
    expect((await runTask(world.serving, site, "describe", { it: "sesame" })).answer).not.toBeNull();
  }
  await addScript(site, "enough", "");
  expect((await sent).text).toBe("got: ");
  expect(attempts).toEqual(attempts.map(() => true));
  expect(reports).toEqual([]);
});

test("a header of a visitor is no token", async () => {
  const headers = {
    host: new URL(site.wordpress.address).host,
    "sitewright-token": "x",
    "sitewright-socket": "/nowhere",
  };
  await addScript(site, "token.php", "http_response_code( 'x' === SITEWRIGHT_TOKEN ? 500 : 200 );");
  expect(await outcomeOf(visitorOf(world.serving, site).get("/token.php", { headers }))).toBe(200);
  expect(await isCacheable("", { headers })).toBe(true);
});
