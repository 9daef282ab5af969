/** Malformed and hostile requests to a site with native PHP, through the edge. */
import { chown, readdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { type CreatedSite, createSite } from "./sites.ts";

let home: TestFolder;
let installation: Installation;
let site: CreatedSite;
let webRoot = "";

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder, { SITEWRIGHT_RUNTIME: "native" });
  site = await createSite(installation, { display_name: "Harbour", site_title: "Harbour" });
  webRoot = await realpath(join(installation.data, "environments", site.environmentId, "current/public"));
  await addFile("variables.php", "<?php echo json_encode( $_SERVER );");
  await addFile("body.php", "<?php touch( '/site/began' ); echo json_encode( file_get_contents( 'php://input' ) );");
  await addFile("wp-content/photo.jpg", "<?php echo 'RAN';");
  await addFile("wp-content/note.txt", "<?php echo 'RAN';");
});
afterAll(async () => {
  await installation?.stop();
  await home?.remove();
});
afterEach(async () => {
  const page = await installation.visit(`${site.address}/?fresh=${Math.random()}`);
  expect([page.status, page.text.includes("Harbour")]).toEqual([200, true]);
});

/** Writes a file of the site, as its owner would. */
async function addFile(name: string, content: string): Promise<void> {
  const file = join(webRoot, name);
  await writeFile(file, content);
  const { uid, gid } = await stat(webRoot);
  await chown(file, uid, gid);
}

const host = () => new URL(site.address).host;

function open() {
  return connect(Number(new URL(site.address).port), "127.0.0.1");
}

/** Sends exactly this, and nothing more. Returns all that is answered until the connection ends. */
async function raw(lines: readonly string[], body = ""): Promise<string> {
  const socket = open();
  socket.write(`${[...lines, `Host: ${host()}`, "Connection: close"].join("\r\n")}\r\n\r\n${body}`, "latin1");
  return answerOn(socket);
}

/** The edge may reset the connection behind its answer, if not all was read. */
async function answerOn(socket: Socket): Promise<string> {
  let answer = "";
  socket.setEncoding("latin1").on("data", (piece) => {
    answer += piece;
  });
  await finished(socket, { writable: false }).catch(() => undefined);
  return answer;
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

/** Returns PHP's variables. */
function variablesIn(answer: string): Readonly<Record<string, string>> {
  return JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? "null");
}

describe("headers", () => {
  test("`Proxy` and names with an underscore don't reach PHP, in any order", async () => {
    const twins = ["a_b: mistaken", "A-B: meant", "A_B: mistaken", "Sitewright_Token: x", "Sitewright-Socket: x"];
    for (const headers of [twins, twins.toReversed()]) {
      const variables = variablesIn(
        await raw(["GET /variables.php HTTP/1.1", "Proxy: http://evil.example", ...headers]),
      );
      expect(variables).toMatchObject({ HTTP_A_B: "meant", SCRIPT_FILENAME: "/site/variables.php" });
      expect(variables).not.toHaveProperty("HTTP_PROXY");
      expect(variables).not.toHaveProperty("SITEWRIGHT_TOKEN");
    }
  });

  test("of which there are 1,000, or one of 64 KiB, are passed on or refused", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `X-${index}: ${index}`);
    const answer = await raw(["GET /variables.php HTTP/1.1", ...many]);
    if (statusOf(answer) === 200) expect(variablesIn(answer)).toMatchObject({ HTTP_X_0: "0", HTTP_X_999: "999" });
    else expect(statusOf(answer)).toBe(431);
    expect(statusOf(await raw(["GET /variables.php HTTP/1.1", `X-Long: ${"x".repeat(65_536)}`]))).toBe(431);
  });

  test.each([
    "PHP_VALUE: auto_prepend_file=/etc/passwd",
    "PHP-Admin-Value: open_basedir=/",
    "Script-Filename: /etc/passwd",
    "Content_Length: 7",
    "Redirect-Status: 500",
  ])("change no setting of PHP: %s", async (header) => {
    const variables = variablesIn(await raw(["GET /variables.php HTTP/1.1", header]));
    expect(variables).toMatchObject({ SCRIPT_FILENAME: "/site/variables.php", REQUEST_METHOD: "GET" });
    expect(variables).not.toHaveProperty("CONTENT_LENGTH");
    expect(variables).not.toHaveProperty("PHP_ADMIN_VALUE");
  });
});

describe("paths", () => {
  test.each([
    "/wp-content/photo.jpg/x.php",
    "/wp-content/photo.jpg/",
    "/wp-content/photo.jpg%00.php",
    "/wp-content/photo.jpg%0a.php",
    "/wp-content/photo.jpg/.php",
    "/wp-content/note.txt/variables.php",
    "/wp-content/note.txt;.php",
  ])("run no file that is no script: %s", async (url) => {
    const answer = await raw([`GET ${url} HTTP/1.1`]);
    expect(answer).not.toMatch(/\r\n\r\n.*RAN/s);
  });

  test.each([
    "/variables.php/../../../etc/passwd",
    "/variables.php/..%2f..%2fetc/passwd",
    "/variables.php/%2e%2e/%2e%2e/etc/passwd",
    "/variables.php/a%00b",
    "/../../etc/passwd",
    "//etc/passwd",
    "/variables.php%2f..%2f..%2fetc%2fpasswd",
  ])("lead nowhere else: %s", async (url) => {
    const answer = await raw([`GET ${url} HTTP/1.1`]);
    expect(answer).not.toContain("root:");
    if (answer.includes("SCRIPT_FILENAME"))
      expect(variablesIn(answer).SCRIPT_FILENAME).toMatch(/^\/site\/(index|variables)\.php$/);
    else expect([301, 400, 403, 404]).toContain(statusOf(answer));
  });

  test("after a script reach it as they are", async () => {
    const variables = variablesIn(await raw(["GET /variables.php/one/x.php?a=/../b HTTP/1.1"]));
    expect(variables).toMatchObject({
      SCRIPT_NAME: "/variables.php",
      PATH_INFO: "/one/x.php",
      QUERY_STRING: "a=/../b",
      PHP_SELF: "/variables.php/one/x.php",
    });
  });
});

describe("a body", () => {
  const began = async () => (await readdir(webRoot)).includes("began");

  test("that never ends occupies no PHP, and reaches none when its visitor leaves", async () => {
    const endless = Array.from({ length: 30 }, () => {
      const socket = open();
      socket.on("error", () => undefined);
      const head = ["POST /body.php HTTP/1.1", `Host: ${host()}`, "Transfer-Encoding: chunked"];
      socket.write(`${head.join("\r\n")}\r\n\r\n5\r\nhello\r\n`);
      return socket;
    });
    const page = await installation.visit(`${site.address}/?fresh=${Math.random()}`);
    expect(page.status).toBe(200);
    for (const socket of endless) socket.destroy();
    await installation.visit(`${site.address}/?fresh=${Math.random()}`);
    expect(await began()).toBe(false);
  });

  test("that ends before its announced length never reaches PHP", async () => {
    const socket = open();
    socket.end(`POST /body.php HTTP/1.1\r\nHost: ${host()}\r\nContent-Length: 100\r\n\r\nhello`);
    expect(statusOf(await answerOn(socket))).not.toBe(200);
    expect(await began()).toBe(false);
  });

  test("that goes on after its announced length is cut there, or refused", async () => {
    const answer = await raw(["POST /body.php HTTP/1.1", "Content-Length: 5"], "hello and more\r\n\r\n");
    expect([200, 400]).toContain(statusOf(answer));
    if (statusOf(answer) === 200) expect(answer).toContain('"hello"');
  });

  test.each([
    ["two lengths", ["Content-Length: 5", "Content-Length: 6"]],
    ["a length and chunks", ["Content-Length: 5", "Transfer-Encoding: chunked"]],
    ["a negative length", ["Content-Length: -1"]],
    ["a length that is too large for a number", ["Content-Length: 99999999999999999999"]],
    ["chunks that are no chunks", ["Transfer-Encoding: chunked"]],
    ["another encoding", ["Transfer-Encoding: gzip, chunked, identity"]],
  ])("with %s is refused", async (_, headers) => {
    const answer = await raw(["POST /body.php HTTP/1.1", ...headers], "hello\r\n0\r\n\r\n");
    expect([400, 413, 501]).toContain(statusOf(answer));
    expect(answer).not.toContain('"hello');
  });
});

test("nothing of this is a fault of the edge", async () => {
  const log = await readFile(join(installation.data, "logs/edge.log"), "utf8").catch(() => "");
  expect(log).not.toMatch(/"level":(50|60)/);
});
