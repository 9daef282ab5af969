import { execFile } from "node:child_process";
import { chmod, chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../owner.ts";

const run = promisify(execFile);
const user = ownerOf(9_000);

test.runIf(process.getuid?.() === 0)("a server without root serves sites natively, and leaves nothing", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "unprivileged-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chown(folder, user, user);
  await chmod(folder, 0o700);
  const child = path.join(import.meta.dirname, "testing/unprivileged.ts");
  const { stdout } = await run(process.execPath, [child], {
    uid: user,
    gid: user,
    env: { PATH: process.env.PATH, TMPDIR: folder },
  });
  expect(JSON.parse(stdout)).toEqual({
    page: true,
    readOnlyPage: true,
    writtenReadOnly: "false",
    written: "1",
    wpCli: "Unprivileged",
    secret: "false",
  });
  expect(await readdir(folder)).toEqual([]);
});
