import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeTable } from "@sitewright/dns/tableText.ts";
import { freePort } from "@sitewright/dns/testing/freePort.ts";
import { dig, recordsIn } from "@sitewright/dns/testing/tools.ts";
import { makeTable, shop } from "@sitewright/dns/testing/zones.ts";
import { expect, onTestFinished, test } from "vitest";

const mainFile = fileURLToPath(new URL("main.ts", import.meta.url));

async function dataFolder(): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "dns-process-"));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  return data;
}

/** Resolves with the process and its error output when it is ready or has ended. */
async function start(data: string, port: number): Promise<{ readonly child: ChildProcess; readonly errors: string }> {
  const env = {
    ...process.env,
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_RUN: join(data, "run"),
    SITEWRIGHT_DNS_PORT: String(port),
  };
  const child = spawn(process.execPath, [mainFile, "dns"], { env, stdio: ["ignore", "ignore", "pipe", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let errors = "";
  child.stderr?.on("data", (text: Buffer) => {
    errors += text.toString();
  });
  await Promise.race([once(child, "message"), once(child, "close")]);
  return { child, errors };
}

const mailAddress = async (port: number) => recordsIn(await dig(port, "+short", "mail.shop.example", "A"));

test("after it was killed, a new process serves the table in the file", async () => {
  const data = await dataFolder();
  await mkdir(join(data, "dns"));
  await writeFile(join(data, "dns", "table.jsonl"), writeTable(makeTable([shop], { generation: 4 })));
  const port = await freePort();
  const first = await start(data, port);
  expect(await mailAddress(port)).toEqual(["192.0.2.25"]);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const second = await start(data, port);
  expect(await mailAddress(port)).toEqual(["192.0.2.25"]);
  second.child.kill("SIGTERM");
  expect(await once(second.child, "exit")).toEqual([0, null]);
});

test("a port in use is reported together with its setting", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { errors } = await start(await dataFolder(), port);
  expect(errors).toContain(`Port ${port} is in use. Choose another with SITEWRIGHT_DNS_PORT.`);
});
