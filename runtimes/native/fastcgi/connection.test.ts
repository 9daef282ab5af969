import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startFpm, type TestFpm } from "../testing/fpm.ts";
import { FastCgiConnection, type FastCgiRequest } from "./connection.ts";

let fpm: TestFpm;
beforeAll(async () => {
  fpm = await startFpm();
});
afterAll(() => fpm[Symbol.asyncDispose]());

function connect(socket = fpm.socket): FastCgiConnection {
  const connection = new FastCgiConnection(socket);
  onTestFinished(() => connection.close());
  return connection;
}

let scripts = 0;

/** A request that runs this code. */
async function requestOf(code: string, changes: Partial<FastCgiRequest> = {}): Promise<FastCgiRequest> {
  scripts += 1;
  const file = await fpm.script(`${scripts}.php`, `<?php ${code}`);
  const parameters = { REQUEST_METHOD: "GET", SCRIPT_FILENAME: file, ...changes.parameters };
  return { body: null, onErrors: () => undefined, ...changes, parameters };
}

function post(body: readonly Buffer[]): Partial<FastCgiRequest> {
  const bytes = body.reduce((sum, piece) => sum + piece.length, 0);
  const parameters = {
    REQUEST_METHOD: "POST",
    CONTENT_LENGTH: String(bytes),
    CONTENT_TYPE: "application/octet-stream",
  };
  return { parameters, body: asStream(body) };
}

async function* asStream(pieces: readonly Buffer[]): AsyncIterable<Buffer> {
  yield* pieces;
}

describe("php-fpm", () => {
  test("sends status, repeated headers and the body", async () => {
    const code = `http_response_code(404); header('X-A: 1', false); header('X-A: ü', false); echo 'gone';`;
    const { status, headers, body, finished } = await connect().request(await requestOf(code));
    expect(await text(body)).toBe("gone");
    expect(await finished).toBe(true);
    expect(status).toBe(404);
    const values = headers
      .filter(([name]) => name === "x-a")
      .map(([, value]) => Buffer.from(value, "latin1").toString());
    expect(values).toEqual(["1", "ü"]);
  });

  test("runs one request after the other on a connection, in the same child", async () => {
    const connection = connect();
    const request = await requestOf("echo getmypid();");
    const seen = new Set<string>();
    for (let count = 0; count < 20; count += 1) {
      const { body, finished } = await connection.request(request);
      seen.add(await text(body));
      expect(await finished).toBe(true);
    }
    expect(seen.size).toBe(1);
  });

  test("gets a body that is longer than a record", async () => {
    const body = Array.from({ length: 40 }, (_, index) => Buffer.alloc(100_001, index));
    const request = await requestOf("echo hash('sha256', file_get_contents('php://input'));", post(body));
    const sum = createHash("sha256").update(Buffer.concat(body)).digest("hex");
    expect(await text((await connect().request(request)).body)).toBe(sum);
  });

  test("gets a thousand parameters, empty and long ones", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`HTTP_X_${index}`, "x".repeat(index)]),
    );
    const parameters = { ...many, HTTP_LONG: "ä".repeat(32_000), EMPTY: "" };
    const code = `$all = 0; for ($i = 0; $i < 1000; $i++) $all += strlen($_SERVER["HTTP_X_$i"]);
      echo $all, ' ', strlen($_SERVER['HTTP_LONG']), ' ', $_SERVER['EMPTY'] === '';`;
    const request = await requestOf(code, { parameters });
    expect(await text((await connect().request(request)).body)).toBe("499500 64000 1");
  });

  test("can't get a parameter of 64 KiB, and the connection stays usable", async () => {
    const connection = connect();
    const request = await requestOf("echo 'x';", { parameters: { HTTP_LONG: "x".repeat(1 << 16) } });
    await expect(connection.request(request)).rejects.toThrow("HTTP_LONG is too long for PHP.");
    expect(await text((await connection.request(await requestOf("echo 'next';"))).body)).toBe("next");
  });

  test("waits while a long response is not read", async () => {
    const code =
      "for ($i = 0; $i < 400; $i++) { echo str_repeat('x', 100000); flush(); } file_put_contents($_SERVER['DONE'], 'x');";
    const done = await fpm.script("done.txt", "");
    const request = await requestOf(code, { parameters: { DONE: done } });
    const { body, finished } = await connect().request(request);
    await expect.poll(() => body.readableLength).toBeGreaterThan(16_000_000);
    // The other child shows that PHP had time to go on.
    const other = connect();
    const short = await requestOf("echo 1;");
    for (let count = 0; count < 20; count += 1) {
      const response = await other.request(short);
      await text(response.body);
      await response.finished;
    }
    expect(body.readableLength).toBeLessThan(18_000_000);
    expect(await readFile(done, "utf8")).toBe("");
    expect((await buffer(body)).length).toBe(40_000_000);
    expect(await finished).toBe(true);
    expect(await readFile(done, "utf8")).toBe("x");
  });

  test("runs another request after one with a body, and after one whose response is thrown away unread", async () => {
    const connection = connect();
    const length = await requestOf("echo strlen(file_get_contents('php://input'));", post([Buffer.alloc(200_000)]));
    expect(await text((await connection.request(length)).body)).toBe("200000");
    const long = await connection.request(await requestOf("echo str_repeat('x', 20000000);"));
    await expect.poll(() => long.body.readableLength).toBeGreaterThan(16_000_000);
    long.body.destroy();
    expect(await long.finished).toBe(true);
    expect(await text((await connection.request(await requestOf("echo 'next';"))).body)).toBe("next");
  });

  test("loses the connection of a request whose body fails", async () => {
    const connection = connect();
    async function* broken(): AsyncIterable<Buffer> {
      yield Buffer.from("some");
      throw new Error("The body is gone.");
    }
    const changes = { parameters: { REQUEST_METHOD: "POST", CONTENT_LENGTH: "100" }, body: broken() };
    await expect(connection.request(await requestOf("echo 'x';", changes))).rejects.toThrow("The body is gone.");
    await connection.closed;
  });

  test("goes on to the next request if a response is thrown away", async () => {
    const connection = connect();
    const { body, finished } = await connection.request(await requestOf("echo str_repeat('x', 5000000);"));
    body.destroy();
    expect(await finished).toBe(true);
    expect(await text((await connection.request(await requestOf("echo 'next';"))).body)).toBe("next");
  });

  test("reports what a script logs, and the error page", async () => {
    const logged: Buffer[] = [];
    const request = await requestOf("error_log('first'); trigger_error('second', E_USER_ERROR);", {
      onErrors: (piece) => logged.push(piece),
    });
    const { status, finished } = await connect().request(request);
    expect(await finished).toBe(true);
    expect(status).toBe(500);
    expect(Buffer.concat(logged).toString()).toMatch(/first[\s\S]*second/);
  });

  test("answers 404 itself if the script does not exist", async () => {
    const request = {
      ...(await requestOf("")),
      parameters: { REQUEST_METHOD: "GET", SCRIPT_FILENAME: "/nowhere.php" },
    };
    expect((await connect().request(request)).status).toBe(404);
  });

  test("breaks the response off if its child is killed", async () => {
    const { body, finished } = await connect().request(await requestOf("echo getmypid(); flush(); sleep(60);"));
    const [pid] = await once(body, "data");
    process.kill(Number(pid), "SIGKILL");
    await expect(text(body)).rejects.toThrow();
    expect(await finished).toBe(false);
  });

  test("has no response if its child is killed before its first byte", async () => {
    const file = await fpm.script("pid.txt", "");
    const request = await requestOf("file_put_contents($_SERVER['FILE'], getmypid()); sleep(60);", {
      parameters: { FILE: file },
    });
    const response = connect().request(request);
    await expect.poll(() => readFile(file, "utf8")).not.toBe("");
    process.kill(Number(await readFile(file, "utf8")), "SIGKILL");
    await expect(response).rejects.toMatchObject({ name: "NoResponse", reason: "lost" });
  });

  test("is reported as not there", async () => {
    const connection = connect("/nowhere/fpm.sock");
    const notSent = { name: "NoResponse", reason: "notSent" };
    await expect(connection.request(await requestOf(""))).rejects.toMatchObject(notSent);
    await connection.closed;
    await expect(connection.request(await requestOf(""))).rejects.toMatchObject(notSent);
  });

  test("leaves no child busy after a thousand requests that were given up", async () => {
    const request = await requestOf("echo str_repeat('x', 100000); flush(); echo 'end';");
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const connection = new FastCgiConnection(fpm.socket);
          if (index % 2 === 0) await connection.request(request).catch(() => undefined);
          else connection.request(request).catch(() => undefined);
          connection.close();
          await connection.closed;
        }),
      );
    }
    const connections = [connect(), connect()];
    const bodies = await Promise.all(connections.map(async (one) => text((await one.request(request)).body)));
    expect(bodies.map((body) => body.length)).toEqual([100_003, 100_003]);
  });
});

describe("a server that is not php-fpm", () => {
  /** Sends these bytes to each request. */
  async function serve(bytes: Buffer): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), "fastcgi-"));
    const server = createServer((socket: Socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.write(bytes));
    }).listen(path.join(folder, "s"));
    onTestFinished(async () => {
      server.close();
      await rm(folder, { recursive: true });
    });
    await once(server, "listening");
    return path.join(folder, "s");
  }

  const record = (type: number, content: string | Buffer) => {
    const bytes = Buffer.from(content);
    return Buffer.concat([Buffer.from([1, type, 0, 1, bytes.length >> 8, bytes.length & 255, 0, 0]), bytes]);
  };
  const ended = record(3, Buffer.alloc(8));

  test.each([
    ["bytes of another protocol", Buffer.from("HTTP/1.1 200 OK\r\n\r\n")],
    ["a response without headers", Buffer.concat([record(6, "hello"), ended])],
    ["damaged headers", record(6, "no header here\r\n\r\n")],
    ["a damaged status", record(6, "Status: fine\r\n\r\n")],
    ["a status that is not final", record(6, "Status: 101 Switching Protocols\r\n\r\n")],
    ["headers without end", Buffer.concat(Array(10).fill(record(6, `X: ${"x".repeat(60_000)}`)))],
    ["a refusal", record(3, Buffer.from([0, 0, 0, 0, 2, 0, 0, 0]))],
    ["a damaged end", record(3, Buffer.from([0]))],
  ])("has no response for %s", async (_, bytes) => {
    const connection = connect(await serve(bytes));
    const request = { parameters: {}, body: null, onErrors: () => undefined };
    await expect(connection.request(request)).rejects.toMatchObject({ name: "NoResponse", reason: "invalid" });
  });

  test("may send records and heads in pieces", async () => {
    const bytes = Buffer.concat([record(6, "A: b\r\n"), record(6, "\r\n"), record(6, "x"), record(6, ""), ended]);
    const folder = await mkdtemp(path.join(tmpdir(), "fastcgi-"));
    const server = createServer((socket) => {
      socket.once("data", async () => {
        for (const byte of bytes) {
          socket.write(Buffer.from([byte]));
          await new Promise(setImmediate);
        }
      });
    }).listen(path.join(folder, "s"));
    onTestFinished(async () => {
      server.close();
      await rm(folder, { recursive: true });
    });
    await once(server, "listening");
    const request = { parameters: {}, body: null, onErrors: () => undefined };
    const { headers, body, status } = await connect(path.join(folder, "s")).request(request);
    expect({ headers, body: await text(body), status }).toEqual({ headers: [["a", "b"]], body: "x", status: 200 });
  });
});
