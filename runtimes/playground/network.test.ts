import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createOpenCounts } from "../../edge/http/openCounts.ts";
import { listenOnSocket } from "../../edge/http/sockets.ts";
import { createPhpCallers, createPhpListener, type PhpListener } from "../../edge/phpListener.ts";
import { exampleRequest } from "../conformance/conformance.ts";
import { phpGroup } from "../owner.ts";
import { servedAs } from "../testing/handMade.ts";
import { addScript, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";
import { edgeSocketName } from "./worker/assignment.ts";

const edgePort = 8081;
let world: Playground;
let site: Site;
let control: Server;
let controlPort = 0;
let connections = 0;
let edge: PhpListener;
let socketFolder = "";
let postgres = "";

/** Does what the edge does with PHP's own requests: passes them to the runtime, marked. */
async function startEdge(): Promise<PhpListener> {
  const http = createServer(async (request, response) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    const url = request.url ?? "/";
    const pathname = new URL(url, "http://x").pathname;
    const script = pathname.endsWith(".php") ? pathname : "/index.php";
    const example = exampleRequest(site.wordpress.address, { url, script, headers, fromPhp: true });
    const answer = await world.serving.handle(site.environment.id, example).catch(() => null);
    response.writeHead(answer?.status ?? 503, answer?.headers.flat() ?? []);
    if (answer === null) response.end();
    else answer.body.pipe(response);
  });
  const identify = (credential: string) => (credential === site.environment.id ? site.environment : null);
  const listener = createPhpListener(
    http,
    createPhpCallers(),
    identify,
    createOpenCounts(200, () => undefined),
  );
  await listenOnSocket(listener.listener, path.join(world.run, edgeSocketName), phpGroup());
  return listener;
}

beforeAll(async () => {
  world = await openPlayground({ edgePort: () => edgePort, maxWorkers: 4 });
  site = await world.site();
  edge = await startEdge();
  control = createServer((_request, response) => response.end("control plane")).on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => control.listen(0, "::", resolve));
  controlPort = (control.address() as AddressInfo).port;
  socketFolder = await mkdtemp(path.join(tmpdir(), "pg-"));
  postgres = path.join(socketFolder, ".s.PGSQL.5432");
}, 120_000);
afterAll(async () => {
  await edge.close(0);
  control.close();
  await world.close();
  await rm(socketFolder, { recursive: true });
});

const php = (code: string) => runPhp(world.serving, site, code);

describe("a port of this host", () => {
  const hosts = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0.0.0.0",
    "localhost",
    "x.localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
  ];

  test.each(hosts)("can't be reached at %s", async (host) => {
    const code = `$a = @stream_socket_client('tcp://${host}:${controlPort}', $n, $s, 3);
      if ($a) { @fwrite($a, "GET / HTTP/1.0\\r\\n\\r\\n"); }
      var_dump($a ? (string) @fread($a, 100) : '', @file_get_contents('http://${host}:${controlPort}/'));`;
    expect(await php(code)).toBe('string(0) ""\nbool(false)\n');
    expect(connections).toBe(0);
  });

  test("can't be reached by curl", async () => {
    const code = `$c = curl_init('http://127.0.0.1:${controlPort}/'); curl_setopt($c, CURLOPT_RETURNTRANSFER, true);
      var_dump(curl_exec($c));`;
    expect(await php(code)).toBe("bool(false)\n");
    expect(connections).toBe(0);
  });

  test("is refused at once, without waiting for a timeout, over TLS too", async () => {
    const code = `$c = curl_init('https://127.0.0.1:${controlPort}/'); curl_setopt($c, CURLOPT_RETURNTRANSFER, true);
      curl_setopt($c, CURLOPT_TIMEOUT, 20);
      var_dump(curl_exec($c), curl_errno($c) === CURLE_OPERATION_TIMEDOUT);
      var_dump(@file_get_contents('https://127.0.0.1:${controlPort}/'));`;
    expect(await php(code)).toBe("bool(false)\nbool(false)\nbool(false)\n");
    expect(connections).toBe(0);
  });

  test("can't be reached by this host's own addresses", async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((found) => found?.map((one) => one.address) ?? []);
    for (const address of addresses) {
      const host = address.includes(":") ? `[${address}]` : address;
      expect(await php(`var_dump(@file_get_contents('http://${host}:${controlPort}/'));`)).toBe("bool(false)\n");
    }
    expect(connections).toBe(0);
  });

  test("can't be reached by a name that resolves to it", async () => {
    const { hostname } = await import("node:os");
    const code = `var_dump(@file_get_contents('http://${hostname()}:${controlPort}/'));`;
    expect(await php(code)).toBe("bool(false)\n");
    expect(connections).toBe(0);
  });
});

test("PHP can't connect to Unix sockets, such as the database's", async () => {
  const server = createTcpServer(() => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(postgres, resolve));
  try {
    expect(await php(`var_dump(@stream_socket_client('unix://${postgres}', $n, $s, 2));`)).toBe("bool(false)\n");
    expect(connections).toBe(0);
  } finally {
    server.close();
  }
});

test("PHP can't listen on this host", async () => {
  await php("$server = @stream_socket_server('tcp://127.0.0.1:18888', $n, $s);");
  const server = "$server = stream_socket_server('tcp://0.0.0.0:18888', $n, $s);";
  const untilTried = "touch('/site/listens'); while (!file_exists('/site/tried')) usleep(1000);";
  await addScript(site, "server.php", `${server} ${untilTried}`);
  const listening = visitorOf(world.serving, site).get("/server.php");
  await vi.waitUntil(() => existsSync(path.join(site.documentRoot, "listens")), { timeout: 60_000 });
  const isRefused = await new Promise((resolve) => {
    connect(18888, "127.0.0.1")
      .on("error", () => resolve(true))
      .on("connect", () => resolve(false));
  });
  await writeFile(path.join(site.documentRoot, "tried"), "");
  expect(isRefused).toBe(true);
  expect((await listening).status).toBe(200);
});

describe("WordPress", () => {
  const valid = (url: string) => php(`require '/site/wp-load.php'; echo json_encode(wp_http_validate_url('${url}'));`);

  test.each([
    "https://www.example.org/oembed",
    "http://feeds.example.com/",
    "https://xn--bcher-kva.example:8080/a?b=c",
  ])(
    "takes %s for a public address",
    async (url) => {
      expect(JSON.parse(await valid(url))).toBe(url);
    },
    60_000,
  );

  test.each([
    "http://localhost/",
    "http://127.1/",
    "http://10.1.2.3/",
    "http://169.254.169.254/",
    "http://2130706433/",
  ])(
    "takes %s for a private one",
    async (url) => {
      expect(await valid(url)).toBe("false");
    },
    60_000,
  );

  test("takes this host's own name for a private address", async () => {
    const { hostname } = await import("node:os");
    expect(await valid(`http://${hostname()}/`)).toBe("false");
  }, 60_000);
});

test("names are the same for every function that looks one up", async () => {
  const code = `$a = gethostbyname('www.example.org'); $c = @stream_socket_client('tcp://www.example.org:80', $n, $s, 5);
    $d = new PDO('sqlite::memory:'); $d->sqliteCreateFunction('f', 'gethostbyname');
    echo filter_var($a, FILTER_VALIDATE_IP, FILTER_FLAG_NO_PRIV_RANGE | FILTER_FLAG_NO_RES_RANGE) === $a ? 'public ' : $a;
    echo json_encode([gethostbynamel('www.example.org') === [$a], stream_socket_get_name($c, true) === "$a:80",
      $d->query("select f('www.example.org')")->fetchColumn() === $a, gethostbyname('127.0.0.1'), gethostbyname('localhost')]);`;
  expect(await php(code)).toBe('public [true,true,true,"127.0.0.1","127.0.0.1"]');
}, 60_000);

describe("a site that sends requests to itself", () => {
  test("gets the response of a second worker", async () => {
    await addScript(site, "inner.php", "echo 'inner ', $_SERVER['HTTP_HOST'];");
    const { host } = new URL(site.wordpress.address);
    const code = `echo file_get_contents('http://${host}/inner.php');`;
    expect(new URL(site.wordpress.address).port).toBe(String(edgePort));
    expect(await php(code)).toBe(`inner ${host}`);
  });

  test("endlessly gets 503 instead of waiting for itself", async () => {
    const { host } = new URL(site.wordpress.address);
    const code = `$c = curl_init('http://${host}/again.php'); curl_setopt($c, CURLOPT_RETURNTRANSFER, true);
      $t = curl_exec($c); echo 'level, ', curl_getinfo($c, CURLINFO_RESPONSE_CODE) === 503 ? 'refused' : $t;`;
    await addScript(site, "again.php", code);
    const page = await visitorOf(world.serving, site).get("/again.php");
    expect(page.text).toMatch(/^(level, )+refused$/);
  }, 30_000);

  test("can use WordPress's own HTTP functions", async () => {
    const code = `require '/site/wp-load.php'; $r = wp_remote_get(home_url('/wp-login.php'), array('timeout' => 30));
      echo is_wp_error($r) ? $r->get_error_message() : wp_remote_retrieve_response_code($r);`;
    expect(await php(code)).toBe("200");
  }, 60_000);
});

describe("an environment that is tried offline", () => {
  async function offline(code: string): Promise<string> {
    await addScript(site, "offline.php", code);
    const environment = { ...(await servedAs(world, site)), isOffline: true };
    const request = exampleRequest(site.wordpress.address, { url: "/offline.php", script: "/offline.php" });
    return text((await world.serving.runTrial(environment, request)).body);
  }

  test.each(["127.0.0.1", "example.localhost", "192.0.2.1", "example.com"])(
    "can't reach %s by any means, and keeps working",
    async (host) => {
      const code = `$a = @stream_socket_client('tcp://${host}:${edgePort}', $n, $s, 3);
        if ($a) { @fwrite($a, "GET / HTTP/1.0\\r\\n\\r\\n"); }
        $c = curl_init('http://${host}:${edgePort}/'); curl_setopt($c, CURLOPT_RETURNTRANSFER, true);
        var_dump($a ? (string) @fread($a, 100) : '', @stream_socket_client('tls://${host}:443', $n, $s, 3),
          curl_exec($c), @file_get_contents('https://${host}/'));`;
      expect(await offline(code)).toBe(`string(0) ""\n${"bool(false)\n".repeat(3)}`);
    },
  );

  test("can't start anything on the served site, not even with a request that doesn't wait", async () => {
    await addScript(site, "touch.php", "touch(__DIR__ . '/touched');");
    const { origin } = new URL(site.wordpress.address);
    const nonBlocking = "wp_remote_post($u, array('blocking' => false, 'timeout' => 0.01));";
    const code = `require '/site/wp-load.php'; $u = '${origin}/touch.php'; ${nonBlocking} spawn_cron();
      $r = wp_remote_get($u); echo is_wp_error($r) ? 'no' : 'yes', file_exists(__DIR__ . '/touched') ? ' touched' : '';`;
    expect(await offline(code)).toBe("no");
    expect(
      await php(`echo file_get_contents('${origin}/touch.php'), file_exists(__DIR__ . '/touched') ? 'touched' : '';`),
    ).toBe("touched");
  }, 60_000);

  test("has its own workers, and visitors' workers still have a network", async () => {
    expect(await offline("echo getmypid() > 0 ? 'here' : '';")).toBe("here");
    expect(await php("echo file_get_contents($u = 'http://' . $_SERVER['HTTP_HOST'] . '/offline.php');")).toBe("here");
  });
});
