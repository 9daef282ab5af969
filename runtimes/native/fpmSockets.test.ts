import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FpmSockets } from "./fpmSockets.ts";

test("a program that inherits sockets has them alone, and waits for connections", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "sockets-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = ["a", "b"].map((name) => path.join(folder, name));
  const sockets = await FpmSockets.open(files);
  const heir = spawn("sleep", ["60"], { stdio: ["ignore", "ignore", "ignore", ...sockets.descriptors] });
  onTestFinished(() => void heir.kill("SIGKILL"));
  sockets.release();
  for (const [index, file] of files.entries()) {
    const flags = /flags:\s+(\d+)/.exec(readFileSync(`/proc/${heir.pid}/fdinfo/${3 + index}`, "utf8"))?.[1] ?? "";
    // O_NONBLOCK
    expect(Number.parseInt(flags, 8) & 0o4000).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const client = connect(file);
    await once(client, "connect");
    client.destroy();
  }
  heir.kill("SIGKILL");
  await once(heir, "exit");
  const [error] = await once(connect(files[0] ?? ""), "error").catch((reason) => [reason]);
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
});
