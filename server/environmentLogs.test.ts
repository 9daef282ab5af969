/** Logs from the event to the reader: the real edge process, real PHP, and the log reader of the control process. */
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EdgeEnvironment } from "@sitewright/edge/tables/table.ts";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { ask } from "@sitewright/edge/testing/http.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LogQuery, openLogs } from "./logs/logs.ts";
import { type EdgeChild, type EdgeInstallation, openEdgeInstallation } from "./testing/edgeChild.ts";

/** Long enough for the first page on a busy machine. */
const deadlineSeconds = "15";

let installation: EdgeInstallation;
let edge: EdgeChild;
let site: EdgeEnvironment;

beforeAll(async () => {
  installation = await openEdgeInstallation({ SITEWRIGHT_REQUEST_DEADLINE_SECONDS: deadlineSeconds });
  edge = await installation.start();
  site = await installation.addSite(edge.port, "demo");
}, 120_000);
afterAll(() => installation?.close());

const logsFolder = () => join(installation.data, "environment-logs");
const get = (path: string) => ask(edge, path, { host: `demo.localhost:${edge.port}` });
const put = (name: string, code: string) => writeFile(join(site.documentRoot, name), `<?php ${code}`);

async function read(query: Partial<LogQuery>) {
  const anything = { environmentId: site.id, log: "error", lines: 1_000, from: null, to: null, search: null };
  return openLogs(logsFolder()).read({ ...anything, ...query });
}

test("a visit and a PHP warning can soon be read, and filtered by time", async () => {
  await put("warn.php", "echo $nothing; echo 'shown';");
  const before = new Date();
  expect((await get("/warn.php?token=secret")).body).toBe("shown");
  await eventually(async () => {
    const { text } = await read({ log: "access", search: "/WARN.php", from: before });
    expect(text).toMatch(/^127\.0\.0\.1 - - \[[^\n]* "GET \/warn\.php\?token=\*\*\* HTTP\/1\.1" 200 [^\n]*$/);
  });
  await eventually(async () => {
    const { text } = await read({ search: "nothing", from: before, to: new Date() });
    expect(text).toMatch(
      /^\[2\d{3}-\d\d-\d\dT[\d:.]+Z\] (NOTICE: )?PHP( message:)? ?.*Warning: +Undefined variable \$nothing/,
    );
  });
  expect((await read({ search: "nothing", to: before })).text).toBe("");
}, 60_000);

test("a page that exceeded PHP's deadline is in the error log", async () => {
  await put("slow.php", "sleep(60);");
  expect((await get("/slow.php")).status).toBe(504);
  await eventually(async () => {
    expect((await read({ search: "deadline" })).text).toContain("PHP did not complete GET /slow.php: deadline");
  });
}, 60_000);

test("PHP can neither read the logs nor find them", async () => {
  const folder = join(logsFolder(), site.id);
  const [file = ""] = await readdir(folder);
  await put(
    "look.php",
    `var_dump(@file_get_contents('${join(folder, file)}'), @scandir('${folder}'), @scandir('/site/../'));`,
  );
  const { body } = await get("/look.php");
  expect(body).toContain("bool(false)");
  expect(body).not.toContain("GET /");
  expect(body).not.toContain("environment-logs");
  expect((await stat(logsFolder())).mode & 0o077).toBe(0);
}, 60_000);

test("written lines survive a kill, and the next process appends to the file", async () => {
  await get("/before.txt");
  await eventually(async () => expect((await read({ log: "access", search: "/before.txt" })).text).not.toBe(""));
  const files = await readdir(join(logsFolder(), site.id));
  edge.child.kill("SIGKILL");
  await once(edge.child, "exit");
  edge = await installation.start(edge.port);
  await get("/after.txt");
  await eventually(async () => expect((await read({ log: "access", search: "/after.txt" })).text).not.toBe(""));
  expect((await read({ log: "access", search: "/before.txt" })).text).not.toBe("");
  expect(await readdir(join(logsFolder(), site.id))).toEqual(files);
}, 60_000);

test("an edge that is stopped flushes its logs", async () => {
  await get("/last.txt");
  edge.child.kill("SIGTERM");
  await once(edge.child, "exit");
  const names = (await readdir(join(logsFolder(), site.id))).filter((name) => name.startsWith("access-"));
  const texts = await Promise.all(names.map((name) => readFile(join(logsFolder(), site.id, name), "utf8")));
  expect(texts.join("")).toContain("GET /last.txt ");
}, 60_000);
