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

/** A folder for PATH with a program in place of systemctl, and an empty log for it. */
function systemctlThat(code: string) {
  const folder = testFolder();
  writeFileSync(join(folder, "systemctl"), `#!/bin/sh\n${code}\n`, { mode: 0o755 });
  const log = join(folder, "log");
  writeFileSync(log, "");
  return { PATH: `${folder}:${process.env.PATH ?? ""}`, log };
}

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

  test.each([
    { status: "2", told: "--no-block stop sitewright.socket" },
    { status: "1", told: "" },
    { status: "0", told: "" },
    { status: "TERM", told: "" },
  ])("closes the ports if the settings are wrong, and only then: status $status", async ({ status, told }) => {
    const command = unit.match(/^ExecStopPost=\+\/bin\/sh -c '(.*)'$/m)?.[1]?.replaceAll("$$", "$") ?? "exit 3";
    const { PATH, log } = systemctlThat('echo "$@" >> "$LOG"');
    await run("/bin/sh", ["-c", command], { env: { PATH, LOG: log, EXIT_STATUS: status } });
    expect(readFileSync(log, "utf8").trim()).toBe(told);
  });

  test("leaves wrong settings to the process that systemd watches, and ignores no failure before it", async () => {
    const before = [...unit.matchAll(/^ExecStartPre=(.*)$/gm)].map(([, command]) => command);
    expect(before).toEqual(["/usr/bin/npm run --silent packages"]);
    const env = { ...process.env, SITEWRIGHT_EDGE_PORT: "http" };
    expect(await run("npm", ["run", "--silent", "packages"], { cwd: root, env })).toEqual({ stdout: "", stderr: "" });
  });

  test("is valid for systemd, as is the change for a service without root", async (context) => {
    if (!existsSync(verifier)) return context.skip("There is no systemd-analyze. Install it: apt-get install systemd");
    const file = join(testFolder(), "sitewright.service");
    cpSync(join(root, "packaging", "sitewright.socket"), join(file, "..", "sitewright.socket"));
    writeFileSync(file, `${unit}\n[Service]\nUser=daemon\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n`);
    const { stdout, stderr } = await run(verifier, ["verify", file]);
    expect(stdout + stderr).toBe("");
  });
});

test.each(["Dockerfile", "packaging/install.sh"])("%s installs the PHP that the native runtime needs", (file) => {
  const installed = readFileSync(join(root, file), "utf8").split(/\s+/);
  expect(installed).toEqual(expect.arrayContaining([...debianPackages, "bubblewrap", "nftables", "util-linux", "npm"]));
});

test.each([
  { active: "sitewright.service", told: ["stop", "enable"] },
  { active: "sitewright.service sitewright.socket", told: ["enable"] },
  { active: "", told: ["enable"] },
])(
  "install.sh stops a service that holds the socket unit's ports itself; active: '$active'",
  async ({ active, told }) => {
    const script = readFileSync(join(root, "packaging", "install.sh"), "utf8");
    const end = script.slice(script.indexOf("# A service from before the socket unit"));
    const { PATH, log } = systemctlThat(
      `case "$1" in is-active) case " $ACTIVE " in *" $3 "*) exit 0 ;; *) exit 3 ;; esac ;; *) echo "$1" >> "$LOG" ;; esac`,
    );
    await run("/bin/sh", ["-euc", end], { env: { PATH, LOG: log, ACTIVE: active } });
    expect(readFileSync(log, "utf8").split("\n").filter(Boolean)).toEqual(told);
  },
);
