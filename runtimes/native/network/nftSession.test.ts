import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { nftEnvironment } from "./nftSession.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const emptyRoot = [
  ...["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--unshare-net"],
  ...["bin", "sbin", "lib", "lib64"].flatMap((folder) => ["--symlink", `usr/${folder}`, `/${folder}`]),
];

test.skipIf(!isRoot)("nft leaves no history of its commands in the root folder", async () => {
  const script = "echo 'list ruleset' | nft -i; ls -A /";
  const { stdout } = await run("bwrap", [...emptyRoot, "sh", "-c", script], { env: nftEnvironment() });
  expect(stdout.trim().split("\n").sort()).toEqual(["bin", "dev", "lib", "lib64", "proc", "sbin", "usr"]);
});
