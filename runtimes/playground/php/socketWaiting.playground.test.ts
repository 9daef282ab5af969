/** How PHP waits for its sockets. Work is counted instead of time: each timer that PHP waits for takes at least a millisecond. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { makeCertificate } from "@sitewright/server/certificates/testing/openssl.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openPhpNetwork, type PhpNetwork } from "../testing/phpNetwork.ts";
import { SocketWaiting } from "./socketWaiting.ts";

const megabyte = 1_048_576;
const bytes = 2 * megabyte;
/** Turns of the event loop after which `/late` is answered. */
const lateTurns = 3000;

let network: PhpNetwork;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let received = 0;
  for await (const data of request) received += data.length;
  if (request.url === "/late") await turns(lateTurns);
  if (request.url === "/large") response.end(Buffer.alloc(bytes, "x"));
  else response.end(String(received));
}

beforeAll(async () => {
  network = await openPhpNetwork({ http: (request, response) => void answer(request, response) });
}, 60_000);
afterAll(() => network.close());

/** Counts the calls of a function while `run` runs. */
async function calls(spy: { readonly mock: { readonly calls: readonly unknown[] } }, run: () => Promise<unknown>) {
  const before = spy.mock.calls.length;
  await run();
  return spy.mock.calls.length - before;
}

const curl = (url: string) => `$c = curl_init('http://${url}'); curl_setopt($c, CURLOPT_RETURNTRANSFER, true);`;
const body = `str_repeat('x', ${bytes})`;

describe("a transfer waits for no timers", () => {
  const transfers: Readonly<Record<string, (host: string) => string>> = {
    "download by cURL with WordPress's small buffer": (host) =>
      `${curl(`${host}/large`)} curl_setopt($c, CURLOPT_BUFFERSIZE, 1160); echo strlen(curl_exec($c));`,
    "download by cURL": (host) => `${curl(`${host}/large`)} echo strlen(curl_exec($c));`,
    "download by curl_multi": (host) =>
      `${curl(`${host}/large`)} curl_setopt($c, CURLOPT_BUFFERSIZE, 1160); $m = curl_multi_init();
       curl_multi_add_handle($m, $c); do { curl_multi_exec($m, $n); if ($n) curl_multi_select($m, 5); } while ($n);
       echo strlen(curl_multi_getcontent($c));`,
    "download by a stream": (host) => `echo strlen(file_get_contents('http://${host}/large'));`,
    "download by a socket": (host) =>
      `$f = fsockopen('tcp://${host}'); fwrite($f, "GET /large HTTP/1.0\\r\\n\\r\\n"); $n = 0;
       while (($line = fgets($f)) !== "\\r\\n") ; while (!feof($f)) $n += strlen(fread($f, 1160)); echo $n;`,
    "upload by cURL": (host) => `${curl(`${host}/`)} curl_setopt($c, CURLOPT_POSTFIELDS, ${body}); echo curl_exec($c);`,
    "upload of a file by cURL": (host) =>
      `file_put_contents('/tmp/up', ${body}); ${curl(`${host}/`)} curl_setopt($c, CURLOPT_UPLOAD, true);
       curl_setopt($c, CURLOPT_INFILE, fopen('/tmp/up', 'r')); echo curl_exec($c);`,
    "upload by a stream": (host) =>
      `echo file_get_contents('http://${host}/', false, stream_context_create(['http' =>
         ['method' => 'POST', 'header' => 'Content-Type: text/plain', 'content' => ${body}]]));`,
    "upload by a socket": (host) =>
      `$f = fsockopen('tcp://${host}'); fwrite($f, "POST / HTTP/1.0\\r\\nContent-Length: ${bytes}\\r\\n\\r\\n");
       for ($n = 0; $n < ${bytes}; ) $n += fwrite($f, str_repeat('x', 8192));
       while (($line = fgets($f)) !== "\\r\\n") ; echo stream_get_contents($f);`,
  };

  test.each(Object.entries(transfers))("%s", async (_, code) => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => timers.mockRestore());
    const started = await calls(timers, async () => expect(await network.run(code(network.host))).toBe(String(bytes)));
    expect(started).toBeLessThan(250);
  });
});

test("transfers over TLS wait for no timers either", async () => {
  const { cert, key } = await makeCertificate();
  const server = createServer({ cert, key }, (request, response) => void answer(request, response)).listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const secure = await openPhpNetwork({ socket: (socket) => void socket.pipe(connect(port)).pipe(socket) });
  onTestFinished(async () => {
    await secure.close();
    server.close();
  });
  const unchecked = "curl_setopt_array($c, [CURLOPT_SSL_VERIFYPEER => false, CURLOPT_SSL_VERIFYHOST => 0]);";
  const open = (path: string) => `${curl(`${secure.host}/${path}`).replace("http:", "https:")} ${unchecked}`;
  const options = "'ssl' => ['verify_peer' => false, 'verify_peer_name' => false]";
  const transfers = [
    `${open("large")} curl_setopt($c, CURLOPT_BUFFERSIZE, 1160); echo strlen(curl_exec($c));`,
    `${open("")} curl_setopt($c, CURLOPT_POSTFIELDS, ${body}); echo curl_exec($c);`,
    `echo strlen(file_get_contents('https://${secure.host}/large', false, stream_context_create([${options}])));`,
  ];
  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => timers.mockRestore());
  for (const code of transfers) {
    const started = await calls(timers, async () => expect(await secure.run(code)).toBe(String(bytes)));
    expect(started).toBeLessThan(400);
  }
});

describe("while the other end is silent", () => {
  test.each([
    ["cURL", (host: string) => `${curl(`${host}/late`)} echo curl_exec($c);`],
    ["a stream", (host: string) => `echo file_get_contents('http://${host}/late');`],
    [
      "select",
      (host: string) =>
        `$f = fsockopen('tcp://${host}'); fwrite($f, "GET /late HTTP/1.0\\r\\n\\r\\n"); stream_set_blocking($f, false);
         for ($all = ''; !feof($f); $all .= fread($f, 8192)) { $r = [$f]; $w = $e = null; stream_select($r, $w, $e, 60); }
         echo substr($all, -1);`,
    ],
  ])("%s does not keep the processor busy", async (_, code) => {
    const polls = vi.spyOn(SocketWaiting.prototype, "poll");
    onTestFinished(() => polls.mockRestore());
    const polled = await calls(polls, async () => expect(await network.run(code(network.host))).toBe("0"));
    expect(polled).toBeLessThan(100);
  });

  test("a wait ends when its time is up", async () => {
    const code = `$c = fsockopen('tcp://${network.host}'); $r = [$c]; $w = $e = null; $n = stream_select($r, $w, $e, 0, 30000);
      stream_set_timeout($c, 0, 30000); fgets($c); echo $n, stream_get_meta_data($c)['timed_out'] ? ' timed out' : '';`;
    expect(await network.run(code)).toBe("0 timed out");
    const curlCode = `${curl(`${network.host}/late`)} curl_setopt($c, CURLOPT_TIMEOUT_MS, 1); var_dump(curl_exec($c), curl_errno($c));`;
    expect(await network.run(curlCode)).toBe("bool(false)\nint(28)\n");
  });
});

test("several requests at the same time all get their answers", async () => {
  const code = `$m = curl_multi_init(); $all = []; foreach (['late', 'large', '', 'late', 'large'] as $name) {
      ${curl(`${network.host}/$name`).replaceAll("'", '"')} $all[] = $c; curl_multi_add_handle($m, $c); }
    do { curl_multi_exec($m, $n); if ($n) curl_multi_select($m, 5); } while ($n);
    foreach ($all as $c) echo strlen(curl_multi_getcontent($c)), ' ';`;
  expect(await network.run(code)).toBe(`1 ${bytes} 1 1 ${bytes} `);
});

describe("memory", () => {
  /** Event loop turns, in PHP. */
  const waitABit = "for ($i = 0; $i < 4000; $i++) { $r = [$f]; $w = $e = null; stream_select($r, $w, $e, 0); }";

  test("holds little of a download that PHP reads slowly", async () => {
    let sent = 0;
    const slow = await openPhpNetwork({
      socket: (socket) => {
        const send = () => {
          while (sent < 64 * megabyte && socket.write(Buffer.alloc(65_536, "x"), () => undefined)) sent += 65_536;
        };
        socket.on("drain", send);
        send();
      },
    });
    onTestFinished(() => slow.close());
    await slow.run(`$f = fsockopen('tcp://${slow.host}'); fwrite($f, 'x'); fread($f, 1); ${waitABit}`);
    expect(sent).toBeLessThan(4 * megabyte);
    const rest = `$f = fsockopen('tcp://${slow.host}'); fwrite($f, 'x'); for ($n = 0; $n < 8 << 20; ) $n += strlen(fread($f, 8192));`;
    expect(await slow.run(`${rest} echo 'all';`)).toBe("all");
  });

  test("holds little of an upload that the other end does not receive, and PHP can wait until it does", async () => {
    let received = 0;
    const slow = await openPhpNetwork({
      socket: (socket) => {
        socket.pause();
        void turns(lateTurns).then(() => socket.resume());
        socket.on("data", (data) => {
          received += data.length;
          if (received === 16 * megabyte) socket.write("all");
        });
      },
    });
    onTestFinished(() => slow.close());
    const fill = `$f = fsockopen('tcp://${slow.host}'); stream_set_blocking($f, false); $piece = str_repeat('x', 65536);
      for ($n = 0; $n < 64 << 20 && ($sent = @fwrite($f, $piece)); $n += $sent) ;`;
    expect(Number(await slow.run(`${fill} echo $n;`))).toBeLessThan(4 * megabyte);
    received = 0;
    const send = `$f = fsockopen('tcp://${slow.host}'); fwrite($f, str_repeat('x', ${16 * megabyte})); echo fread($f, 3);`;
    expect(await slow.run(send)).toBe("all");
  });
});
