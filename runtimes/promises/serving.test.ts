import { rm, writeFile } from "node:fs/promises";
import { getPriority } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { exampleRequest } from "../conformance/conformance.ts";
import type { PhpRequest } from "../serving.ts";
import { addRelease } from "../testing/handMade.ts";
import { requestBody } from "../testing/requestBody.ts";
import { addScript, outcomeOf, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { engine, openWorld, type SiteWorld } from "../testing/world.ts";

let world: SiteWorld;
let site: Site;
let other: Site;

beforeAll(async () => {
  world = await openWorld({ maxWorkers: 2 });
  site = await world.site();
  other = await world.site();
}, 120_000);
afterAll(() => world.close());

const workersOf = (one: Site) =>
  world.serving.status().workers.filter((worker) => worker.environmentId === one.environment.id);

/** A worker is busy until PHP has ended, after the response, or although nobody waits for one any more. */
const untilIdle = () => until(() => world.serving.status().workers.every(({ busy }) => !busy));

const fill = { url: "/fill.php", script: "/fill.php" };

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries += 1) {
    if (tries > 1000) throw new Error("The condition never became true.");
    await delay(10);
  }
}

function request(one: Site, url: string, more: Partial<PhpRequest> = {}) {
  const changes = { url, script: new URL(url, "http://x").pathname, ...more };
  return world.serving.handle(one.environment.id, exampleRequest(one.wordpress.address, changes));
}

test("a worker has a higher priority until it has rendered its first page", async () => {
  await addScript(site, "slow.php", "sleep(1); echo 'slow';");
  const answer = outcomeOf(request(site, "/slow.php"));
  await until(() => workersOf(site).length > 0);
  const priorities = () => workersOf(site).map(({ pid }) => getPriority(pid) - getPriority());
  expect(priorities()).toEqual([0]);
  await answer;
  await until(() => priorities().every((priority) => priority === 5));
}, 30_000);

describe("a script that does not end", () => {
  test("is ended at the deadline while another site responds, and the next request works", async () => {
    await addScript(site, "loop.php", "while (true) {}");
    for (const each of [site, other]) await runPhp(world.serving, each, "echo 1;");
    const stuck = outcomeOf(request(site, "/loop.php", { deadlineSeconds: 1 }));
    await until(() => workersOf(site).some((worker) => worker.busy));
    expect(await runPhp(world.serving, other, "echo 'other';")).toBe("other");
    expect(await stuck).toBe("deadline");
    expect(await runPhp(world.serving, site, "echo 'again';")).toBe("again");
  }, 30_000);

  test("breaks off a response that it has started, so that it does not look complete", async () => {
    await addScript(site, "begins.php", "echo str_repeat('x', 70000); flush(); sleep(30);");
    await runPhp(world.serving, site, "echo 1;");
    const answer = await request(site, "/begins.php", { deadlineSeconds: 2 });
    expect(answer.status).toBe(200);
    await expect(text(answer.body)).rejects.toMatchObject({ reason: "deadline" });
  }, 30_000);
});

test("the least recently used idle worker makes room for another site", async () => {
  const third = await world.site();
  for (const each of [other, site]) await runPhp(world.serving, each, "echo 1;");
  expect(await runPhp(world.serving, third, "echo 'third';")).toBe("third");
  const served = world.serving.status().workers.map((worker) => worker.environmentId);
  expect(served).toEqual([site.environment.id, third.environment.id]);
}, 30_000);

test("a worker notices when another process ends WordPress's maintenance mode", async () => {
  const file = path.join(site.documentRoot, ".maintenance");
  const visitor = visitorOf(world.serving, site);
  await writeFile(file, "<?php $upgrading = time();");
  expect((await visitor.get("/")).status).toBe(503);
  await rm(file);
  expect((await visitor.get("/")).status).toBe(200);
  expect(workersOf(site)).toHaveLength(1);
}, 60_000);

describe("a worker that dies", () => {
  test("during a request loses that request, and the next one works", async () => {
    await addScript(site, "sleep.php", "sleep(3); echo 'slept';");
    await runPhp(world.serving, site, "echo 1;");
    const lost = outcomeOf(request(site, "/sleep.php"));
    await until(() => workersOf(site).some((worker) => worker.busy));
    await delay(200);
    for (const { pid } of workersOf(site)) process.kill(pid, "SIGKILL");
    expect(await lost).toBe("crashed");
    expect(await runPhp(world.serving, site, "echo 'next';")).toBe("next");
  }, 30_000);

  test("between two requests goes unnoticed, and sessions continue", async () => {
    const visitor = visitorOf(world.serving, site);
    await addScript(site, "session.php", "session_start(); echo $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;");
    expect((await visitor.get("/session.php")).text).toBe("1");
    for (const { pid } of workersOf(site)) process.kill(pid, "SIGKILL");
    expect((await visitor.get("/session.php")).text).toBe("2");
  }, 30_000);
});

describe("with little memory and time for a worker", () => {
  let small: SiteWorld;
  let one: Site;
  beforeAll(async () => {
    small = await openWorld({ workerMemoryBytes: 700e6, requestDeadlineSeconds: 30, idleSeconds: 0.5 });
    one = await small.site();
  });
  afterAll(() => small.close());

  // php-fpm waits with output that nobody reads, and its /memory has a limit of its own.
  test.runIf(engine === "playground").each([
    ["unread output", "while (true) { echo str_repeat('x', 1 << 20); }"],
    ["files in /memory", "for ($i = 0; ; $i++) file_put_contents(\"/memory/$i\", str_repeat('x', 1 << 24));"],
  ])("a worker that fills memory with %s is ended before the machine runs out of memory", async (_what, code) => {
    await addScript(one, "fill.php", code);
    const answer = small.serving.handle(one.environment.id, exampleRequest(one.wordpress.address, fill));
    await expect(answer.then((page) => finished(page.body.resume()))).rejects.toMatchObject({ reason: "crashed" });
    expect(await runPhp(small.serving, one, "echo 'after';")).toBe("after");
  });

  test("a worker without requests is ended", async () => {
    await until(() => small.serving.status().workers.length === 0);
    expect(await runPhp(small.serving, one, "echo 'awake';")).toBe("awake");
  });
});

describe("a site whose worker is busy", () => {
  beforeEach(untilIdle);

  test("gets a second worker for a visitor, and a third visitor waits", async () => {
    const code = "usleep(800000); echo 'done';";
    await addScript(site, "slow.php", code);
    await runPhp(world.serving, site, "echo 1;");
    const answers = await Promise.all([1, 2, 3].map(() => visitorOf(world.serving, site).get("/slow.php")));
    expect(answers.map((answer) => answer.text)).toEqual(["done", "done", "done"]);
    expect(workersOf(site)).toHaveLength(2);
  }, 30_000);

  test("gets more workers at once for requests of its own PHP, and more requests wait, also if PHP no longer does", async () => {
    await addScript(site, "slow.php", "sleep(1); echo 'done';");
    const visitors = [1, 2].map(() => outcomeOf(request(site, "/slow.php")));
    await until(() => workersOf(site).filter((worker) => worker.busy).length === 2);
    const left = AbortSignal.abort();
    const ownCalls = [1, 2, 3, 4].map(() => outcomeOf(request(site, "/slow.php", { fromPhp: true, signal: left })));
    await until(() => workersOf(site).length === 4);
    expect(await Promise.all(ownCalls)).toEqual([200, 200, 200, 200]);
    expect(await Promise.all(visitors)).toEqual([200, 200]);
  }, 30_000);

  // Takes as long as PHP waits: workers that wait for each other must not do so for ever.
  test("lets its own PHP wait for seconds and no longer", async () => {
    await addScript(site, "slow.php", "sleep(6); echo 'done';");
    const visitors = [1, 2].map(() => outcomeOf(request(site, "/slow.php")));
    await until(() => workersOf(site).filter((worker) => worker.busy).length === 2);
    const ownCalls = [1, 2, 3].map(() => outcomeOf(request(site, "/slow.php", { fromPhp: true })));
    expect((await Promise.all(ownCalls)).toSorted()).toEqual([200, 200, "busy"]);
    await Promise.all(visitors);
  }, 30_000);

  test("stops waiting for a visitor who has left", async () => {
    await addScript(site, "slow.php", "sleep(1); echo 'done';");
    const busy = [1, 2].map(() => outcomeOf(request(site, "/slow.php")));
    await until(() => workersOf(site).filter((worker) => worker.busy).length === 2);
    const leaving = new AbortController();
    const waiting = outcomeOf(request(site, "/slow.php", { signal: leaving.signal }));
    leaving.abort();
    expect(await waiting).toBe("unavailable");
    await Promise.all(busy);
  }, 30_000);
});

describe("PHP", () => {
  test("gets the request's URL, headers and variables", async () => {
    const code = "echo json_encode([$_SERVER, $_GET, file_get_contents('php://input')]);";
    await addScript(site, "echo.php", code);
    const headers = { "x-own": "gr\u00c3\u00bc\u00c3\u009fe", proxy: "evil:80", bad_name: "x", cookie: ["a=1", "b=2"] };
    const host = new URL(site.wordpress.address).host;
    const plain = await visitorOf(world.serving, site).get("/echo.php");
    const { HTTPS = "off", ...variables } = JSON.parse(plain.text)[0];
    expect({ HTTPS, ...variables }).toMatchObject({ HTTPS: "off", REQUEST_SCHEME: "http", SERVER_PORT: "8081" });
    const page = await visitorOf(world.serving, site).get("/echo.php/info?q=%C3%A4", {
      script: "/echo.php",
      pathInfo: "/info",
      headers: { host, ...headers },
      https: true,
      remoteAddress: "203.0.113.9",
    });
    const [server, query] = JSON.parse(page.text);
    expect(query).toEqual({ q: "ä" });
    expect(server).toMatchObject({
      REQUEST_URI: "/echo.php/info?q=%C3%A4",
      SCRIPT_NAME: "/echo.php",
      SCRIPT_FILENAME: "/site/echo.php",
      PATH_INFO: "/info",
      HTTP_HOST: host,
      HTTP_X_OWN: "grüße",
      HTTP_COOKIE: "a=1; b=2",
      HTTPS: "on",
      REMOTE_ADDR: "203.0.113.9",
      SERVER_NAME: new URL(site.wordpress.address).hostname,
    });
    expect(server).not.toHaveProperty("HTTP_PROXY");
    expect(server).not.toHaveProperty("HTTP_BAD_NAME");
  });

  test("finds the request's variables, and no other request's, with getenv()", async () => {
    await addScript(site, "getenv.php", "echo json_encode(array_map('getenv', $_GET['names']));");
    const names = ["REMOTE_ADDR", "REQUEST_URI", "HTTP_X_OWN", "HTTP_PROXY", "HTTPS"];
    const path = `/getenv.php?${names.map((name) => `names[]=${name}`).join("&")}`;
    const ask = async (remoteAddress: string, https: boolean, headers: Record<string, string>) =>
      JSON.parse((await visitorOf(world.serving, site).get(path, { headers, https, remoteAddress })).text);
    const own = { "x-own": "a=b", proxy: "evil:80" };
    expect(await ask("203.0.113.9", true, own)).toEqual(["203.0.113.9", path, "a=b", false, "on"]);
    expect(await ask("203.0.113.10", false, {})).toEqual(["203.0.113.10", path, false, false, false]);
  });

  test.each(["example.localhost:99999", "[::", "a b", "1.2.3.4.5"])("runs with the invalid host %s", async (host) => {
    await addScript(site, "host.php", "echo $_SERVER['HTTP_HOST'], ' ', $_SERVER['REQUEST_METHOD'];");
    await runPhp(world.serving, site, "echo 1;");
    const before = workersOf(site).map((worker) => worker.pid);
    const page = await visitorOf(world.serving, site).get("/host.php", { headers: { host } });
    expect(page).toMatchObject({ status: 200, text: `${host} GET` });
    expect(workersOf(site).map((worker) => worker.pid)).toEqual(before);
  });

  test("gets small and large bodies byte for byte", async () => {
    await addScript(site, "body.php", "echo strlen($in = file_get_contents('php://input')), ' ', md5($in);");
    for (const size of [0, 10, 3 << 20]) {
      const body = Buffer.alloc(size, "abc\0\xff");
      const { createHash } = await import("node:crypto");
      const page = await visitorOf(world.serving, site).get("/body.php", {
        method: "POST",
        headers: { "content-type": "application/octet-stream", "content-length": String(size) },
        body: requestBody(body.subarray(0, size / 2), body.subarray(size / 2)),
      });
      expect(page.text).toBe(`${size} ${createHash("md5").update(body).digest("hex")}`);
    }
  });

  test("gets an upload as a file", async () => {
    await addScript(site, "upload.php", "echo $_FILES['f']['name'], ' ', file_get_contents($_FILES['f']['tmp_name']);");
    const form = new FormData();
    form.set("f", new Blob(["content"]), "name.txt");
    const sent = new Response(form);
    const body = Buffer.from(await sent.clone().arrayBuffer());
    const page = await visitorOf(world.serving, site).get("/upload.php", {
      method: "POST",
      headers: { "content-type": sent.headers.get("content-type") ?? "", "content-length": String(body.length) },
      body: requestBody(body),
    });
    expect(page.text).toBe("name.txt content");
  });

  test("sends its status, repeated headers and output without delay", async () => {
    const code = `http_response_code(418); header('X-A: 1'); setcookie('a', '1'); setcookie('b', '2');
      echo str_repeat('a', 100); ob_flush(); flush(); sleep(1); echo 'b';`;
    await addScript(site, "stream.php", code);
    const answer = await request(site, "/stream.php");
    expect(answer.status).toBe(418);
    expect(answer.headers.filter(([name]) => name === "set-cookie")).toHaveLength(2);
    const arrived: string[] = [];
    for await (const chunk of answer.body) arrived.push(String(chunk));
    expect(arrived).toEqual(["a".repeat(100), "b"]);
  });

  test("can load WordPress by a relative path from a plugin's script", async () => {
    const code = "require '../../wp-load.php'; echo getcwd(), ' ', get_option('blogname');";
    await addScript(site, "wp-content/plugins/load.php", code);
    const page = await visitorOf(world.serving, site).get("/wp-content/plugins/load.php");
    expect(page.text).toBe(`/site/wp-content/plugins ${site.wordpress.title}`);
  });

  test("can send headers after a blank line in an earlier script", async () => {
    await addScript(site, "blank.php", "?>\n<?php header('X-Late: yes');");
    expect((await visitorOf(world.serving, site).get("/blank.php")).headers).toMatchObject({ "x-late": "yes" });
  });

  test("returns 500 without the reason if a script dies, and 404 if it is missing", async () => {
    await addScript(site, "dies.php", "throw new Exception('the secret reason');");
    const page = await visitorOf(world.serving, site).get("/dies.php");
    expect(page.status).toBe(500);
    expect(page.text).not.toContain("secret");
    expect((await visitorOf(world.serving, site).get("/none.php")).status).toBe(404);
    expect(await runPhp(world.serving, site, "exit(3);")).toBe("");
  });

  test("leaks no open files over many requests", async () => {
    await addScript(site, "open.php", "echo count(scandir('/proc/self/fd'));");
    const counts: number[] = [];
    for (let i = 0; i < 10; i += 1) counts.push(Number((await visitorOf(world.serving, site).get("/open.php")).text));
    // Fewer once the script is in the opcode cache, because PHP no longer opens it.
    expect(counts.at(-1)).toBeLessThanOrEqual(counts[0] ?? 0);
  });

  test("runs a script that has just changed, not its cached opcodes", async () => {
    for (const word of ["one", "two", "three"]) {
      await addScript(site, "changes.php", `echo '${word}';`);
      expect((await visitorOf(world.serving, site).get("/changes.php")).text).toBe(word);
    }
  });

  test("is free for the next request while a large response is unread", async () => {
    await addScript(site, "large.php", "for ($i = 0; $i < 8; $i++) echo str_repeat('x', 1 << 20);");
    const unread = await request(site, "/large.php");
    expect(await runPhp(world.serving, site, "echo 'free';")).toBe("free");
    expect((await text(unread.body)).length).toBe(8 << 20);
  });
});

test("new workers serve a new release", async () => {
  await runPhp(world.serving, site, "echo 1;");
  await untilIdle();
  const [before] = workersOf(site);
  await world.serving.setEnvironments([await addRelease(world, site, 2, ["public", "database"])]);
  expect(world.serving.status().workers).toEqual([]);
  expect(await runPhp(world.serving, site, "echo 'new';")).toBe("new");
  expect(workersOf(site).map((worker) => worker.pid)).not.toContain(before?.pid);
}, 30_000);
