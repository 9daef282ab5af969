import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { debianPackages } from "@sitewright/runtimes/native/versions/neededExtensions.ts";
import { loadConfig } from "@sitewright/server/settings/config.ts";
import { describe, expect, test } from "vitest";
import { testFolder } from "./testing/folder.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
const verifier = "/usr/bin/systemd-analyze";

describe("the unit for systemd", () => {
  const unit = readFileSync(join(root, "packaging", "sitewright.service"), "utf8").replaceAll("/opt/sitewright", root);

  test("starts programs of the repository, and leaves control groups to them", () => {
    const programs = [...unit.matchAll(/^ExecStart=(\S+) (\S+)$/gm)];
    expect(programs.map(([, node = "", main = ""]) => [existsSync(node), existsSync(join(root, main))])).toEqual([
      [true, true],
    ]);
    expect(unit).toMatch(/^Delegate=yes$/m);
  });

  test("gets the ports that install.sh sets from the socket unit", () => {
    const socket = readFileSync(join(root, "packaging", "sitewright.socket"), "utf8");
    const script = readFileSync(join(root, "packaging", "install.sh"), "utf8");
    const settingOf = (setting: string) => script.match(new RegExp(`^${setting}=(.*)$`, "m"))?.[1];
    const host = settingOf("SITEWRIGHT_HOST");
    const { apiHost, controlPort } = loadConfig({ SITEWRIGHT_HOST: host });
    expect([...socket.matchAll(/^ListenStream=(.*)$/gm)].map(([, address]) => address)).toEqual([
      `${host}:${settingOf("SITEWRIGHT_EDGE_PORT")}`,
      `${host}:${settingOf("SITEWRIGHT_EDGE_TLS_PORT")}`,
      `${apiHost}:${controlPort}`,
    ]);
  });

  test("is valid for systemd, as is the change for a service without root", async (context) => {
    if (!existsSync(verifier)) return context.skip("There is no systemd-analyze. Install it: apt-get install systemd");
    const file = join(testFolder(), "sitewright.service");
    // npm is wherever the test found it.
    const tested = unit.replace("ExecStartPre=/usr/bin/npm", `ExecStartPre=${process.execPath}`);
    cpSync(join(root, "packaging", "sitewright.socket"), join(file, "..", "sitewright.socket"));
    writeFileSync(file, `${tested}\n[Service]\nUser=daemon\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n`);
    const { stdout, stderr } = await run(verifier, ["verify", file]);
    expect(stdout + stderr).toBe("");
  });
});

test.each(["Dockerfile", "packaging/install.sh"])("%s installs the PHP that the native runtime needs", (file) => {
  const installed = readFileSync(join(root, file), "utf8").split(/\s+/);
  expect(installed).toEqual(expect.arrayContaining([...debianPackages, "bubblewrap", "nftables", "util-linux", "npm"]));
});
