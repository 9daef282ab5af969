/** Requests and scripts that use as much as they can. The next request of the site is answered as if nothing had happened. */
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Writable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import type { OutgoingMail, PhpRequest } from "../serving.ts";
import { requestBody } from "../testing/requestBody.ts";
import { addScript, outcomeOf, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { type NativeWorld, openNative } from "./testing/world.ts";

let world: NativeWorld;
let site: Site;
const mails: OutgoingMail[] = [];

beforeAll(async () => {
  world = await openNative({
    workerMemoryBytes: 500e6,
    isOnDisk: true,
    acceptMail: async (_, mail) => {
      mails.push(mail);
      return null;
    },
  });
  site = await world.site();
  await world.limit(site, { threads: 4 });
  await addScript(site, "variables.php", "echo json_encode( $_SERVER );");
});
afterAll(() => world?.close());
afterEach(async () => expect(await run("echo 'hello';")).toBe("hello"));

const run = (code: string) => runPhp(world.serving, site, code);
let scripts = 0;

/** Runs a script of the site. Returns its outcome. */
async function outcome(code: string, changes: Partial<PhpRequest> = {}): Promise<string | number> {
  scripts += 1;
  const name = `attack-${scripts}.php`;
  await addScript(site, name, code);
  return outcomeOf(visitorOf(world.serving, site).get(`/${name}`, changes));
}

/** Returns the response to a request for a script. */
async function responseOf(code: string, changes: Partial<PhpRequest> = {}) {
  scripts += 1;
  const script = `/attack-${scripts}.php`;
  await addScript(site, script, code);
  const request = exampleRequest(site.wordpress.address, { url: script, script, ...changes });
  return world.serving.handle(site.environment.id, request);
}

/** PHP's variables in a request. */
async function variablesOf(changes: Partial<PhpRequest>): Promise<Readonly<Record<string, string>>> {
  const page = await visitorOf(world.serving, site).get("/variables.php", { script: "/variables.php", ...changes });
  return JSON.parse(page.text);
}

describe("a request", () => {
  test("passes on a thousand headers, but neither `Proxy` nor names that PHP could mistake for others", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => [`x-${index}`, String(index)]);
    const odd = { proxy: "http://evil.example", a_b: "mistaken", "a-b": "meant" };
    const variables = await variablesOf({ headers: { ...Object.fromEntries(many), ...odd } });
    expect(variables).toMatchObject({ HTTP_X_0: "0", HTTP_X_999: "999", HTTP_A_B: "meant" });
    expect(variables).not.toHaveProperty("HTTP_PROXY");
  });

  test.each([false, true])(
    "whose header is too long for php-fpm is refused, and no worker ends (read-only: %s)",
    async (isReadOnly) => {
      await run("echo 'hello';");
      const pids = () => world.serving.status().workers.map(({ pid }) => pid);
      const before = pids();
      const get = (header: string) =>
        outcomeOf(visitorOf(world.serving, site).get("/variables.php", { isReadOnly, headers: { "x-long": header } }));
      expect(await get("x".repeat(64 << 10))).toBe(431);
      // Each of these bytes, which are no UTF-8, becomes three.
      expect(await get("\xff".repeat(22_000))).toBe(431);
      expect(await get("x".repeat(60_000))).toBe(200);
      expect(pids()).toEqual(before);
    },
  );

  test("has the path after the script as it is", async () => {
    for (const pathInfo of ["/../../x.php", "/%2e%2e/x.php", "//"]) {
      const variables = await variablesOf({ pathInfo });
      expect(variables).toMatchObject({
        PATH_INFO: pathInfo,
        PHP_SELF: `/variables.php${pathInfo}`,
        SCRIPT_FILENAME: "/site/variables.php",
      });
    }
  });

  test("runs no file that is no script, or outside the sandbox", async () => {
    await run("symlink( '/etc/passwd', 'link.txt' ); symlink( '/etc/shadow', 'link.php' );");
    const get = (script: string) => outcomeOf(visitorOf(world.serving, site).get("/", { script }));
    expect(await get("/../etc/passwd")).toBe(404);
    expect(await get("/link.txt")).toBe(403);
    expect(await get("/link.php")).toBe(404);
    // PHP ends it at the zero byte.
    expect(await get("/link.txt\0.php")).toBe(403);
  });
});

describe("a script", () => {
  test("opens at most 10,000 files", async () => {
    const code = "$all = array(); while ( $file = @fopen( '/dev/null', 'r' ) ) { $all[] = $file; } echo count( $all );";
    expect(Number(await run(code))).toBeLessThan(10_000);
  });

  test("may print without end: slowly read, read, and left", async () => {
    const flood = "while ( true ) { echo str_repeat( 'x', 1 << 20 ); }";
    const unread = await responseOf(flood, { deadlineSeconds: 1 });
    await unread.finished;
    await expect(finished(unread.body.resume())).rejects.toMatchObject({ reason: "deadline" });

    const read = await responseOf("for ( $i = 0; $i < 512; $i++ ) { echo str_repeat( 'x', 1 << 20 ); }");
    let bytes = 0;
    const count = (chunk: Buffer, _: string, done: () => void) => {
      bytes += chunk.length;
      done();
    };
    await pipeline(read.body, new Writable({ write: count }));
    expect(bytes).toBe(512 << 20);

    const left = await responseOf(flood, { deadlineSeconds: 1 });
    await once(left.body, "readable");
    left.body.destroy();
    await left.finished;
  });

  test("that logs without end is answered, and its log is cut", async () => {
    const lines =
      "for ( $i = 0; $i < 10000; $i++ ) { error_log( 'line' ); } error_log( str_repeat( 'x', 100 << 20 ) );";
    const response = await responseOf(`ini_set( 'memory_limit', -1 ); ${lines} echo 'done';`);
    await finished(response.body.resume());
    expect((await response.errors).length).toBeLessThanOrEqual(4096);
  });

  test("that uses up memory fails alone", async () => {
    const greedy =
      "ini_set( 'memory_limit', -1 ); $all = array(); while ( true ) { $all[] = str_repeat( 'x', 1 << 20 ); }";
    expect(await outcome(greedy)).toBe("crashed");
    for (const each of await Promise.all(Array.from({ length: 8 }, () => outcome(greedy))))
      expect(["crashed", "busy"]).toContain(each);
  });

  test("that is killed leaves no full folder of uploads behind", async () => {
    const fill =
      "$file = fopen( '/memory/left', 'w' ); for ( $i = 0; $i < 600; $i++ ) { fwrite( $file, str_repeat( 'x', 1 << 20 ) ); }";
    expect(await outcome(`${fill} while ( true );`, { deadlineSeconds: 3 })).toBe("deadline");
    expect(await run("echo json_encode( file_exists( '/memory/left' ) );")).toBe("false");
  });

  test("that fills the folder of uploads gets an error", async () => {
    const fill = "$file = fopen( '/memory/full', 'w' ); while ( @fwrite( $file, str_repeat( 'x', 1 << 20 ) ) );";
    expect(await run(`${fill} echo filesize( '/memory/full' ) >> 20; unlink( '/memory/full' );`)).toBe("1024");
  });

  test("whose deadline passes in a long statement leaves the database as it was", async () => {
    const numbers = "WITH RECURSIVE n(x) AS ( SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000000000 )";
    const code = `$db = new PDO( 'sqlite:/database/wordpress.sqlite' ); $db->beginTransaction(); $db->exec( 'CREATE TABLE numbers ( x )' );
      $db->exec( '${numbers} INSERT INTO numbers SELECT x FROM n' );`;
    expect(await outcome(code, { deadlineSeconds: 1 })).toBe("deadline");
    expect(await outcomeOf(visitorOf(world.serving, site).get("/"))).toBe(200);
    const database = new DatabaseSync(path.join(site.documentRoot, "../database/wordpress.sqlite"));
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    expect(database.prepare("SELECT name FROM sqlite_master WHERE name = 'numbers'").all()).toEqual([]);
    database.close();
  });

  test("can change neither the name of its process nor what php-fpm does", async () => {
    const open = (pid: string) => `json_encode( (bool) @fopen( '/proc/${pid}/mem', 'r+b' ) )`;
    const parent = "' . posix_getppid() . '";
    expect(await run(`echo ${open("self")}, ' ', ${open(parent)};`)).toBe("false false");
  });

  test("that only reads writes no more than a little to its layer", async () => {
    const code = "for ( ; ; ) file_put_contents( 'large.bin', str_repeat( 'x', 1 << 20 ), FILE_APPEND );";
    expect(await outcome(code, { isReadOnly: true })).toBe("wouldWrite");
    expect(await readdir(site.documentRoot)).not.toContain("large.bin");
  });

  test("that is aborted during its upload leaves the next one its place", async () => {
    const begin = '--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n';
    const file = Buffer.concat([Buffer.from(begin), Buffer.alloc(1 << 20), Buffer.from("\r\n--b--\r\n")]);
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const upload = { method: "POST", headers, body: requestBody(file) };
    expect(await outcome("while ( true );", { ...upload, deadlineSeconds: 0.5 })).toBe("deadline");
    expect(await outcome("http_response_code( 200 + (int) ( 1 << 20 === $_FILES['f']['size'] ) );", upload)).toBe(201);
  });

  test("sends mail of up to 25 MB, and only while its request runs", async () => {
    const mail = (bytes: number) =>
      `ini_set( 'memory_limit', -1 ); echo json_encode( mail( 'a@example.com', 'Subject', str_repeat( str_repeat( 'x', 63 ) . PHP_EOL, ${bytes >> 6} ) ) );`;
    expect(await run(mail(24 << 20))).toBe("true");
    expect(await run(mail(26 << 20))).toBe("false");
    expect(await run(mail(100 << 20))).toBe("false");
    expect(mails).toHaveLength(1);
    const flood = "for ( $sent = 0; $sent < 20; $sent++ ) { mail( 'a@example.com', 'Subject', 'Text' ); } echo $sent;";
    expect(await run(flood)).toBe("20");
    expect(mails).toHaveLength(21);
  });

  test("can't use up the server's descriptors or memory by its sockets for messages", async () => {
    const descriptors = async () => (await readdir("/proc/self/fd")).length;
    const before = await descriptors();
    const connect = `$all = array();
      foreach ( glob( '/run/messages/*' ) as $path ) for ( $i = 0; $i < 200; $i++ ) {
        $socket = @stream_socket_client( "unix://$path" );
        if ( ! $socket ) break;
        stream_set_blocking( $socket, false );
        @fwrite( $socket, pack( 'N', 30 << 20 ) . str_repeat( 'x', 1 << 16 ) );
        $all[] = $socket;
      }
      echo count( $all ), str_repeat( ' ', 1 << 16 ); flush(); sleep( 1000 );`;
    const response = await responseOf(connect, { deadlineSeconds: 2 });
    const [first] = await once(response.body, "data");
    expect(Number.parseInt(first.toString(), 10)).toBeGreaterThan(1_000);
    let most = 0;
    let isOver = false;
    void response.finished.then(() => {
      isOver = true;
    });
    while (!isOver) most = Math.max(most, await descriptors());
    expect(most).toBeLessThan(before + 16 * 14);
    await expect.poll(descriptors).toBeLessThanOrEqual(before + 2);
  });
});
