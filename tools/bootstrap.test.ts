import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { phpVersions } from "@sitewright/runtimes/playground/php/versions.ts";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";

const lockfile = {
  packages: {
    "": { name: "example" },
    "node_modules/here": { version: "1.0.0", integrity: "sha512-a" },
    "node_modules/elsewhere": { version: "2.0.0", integrity: "sha512-b", optional: true },
    "node_modules/@example/one": { link: true, resolved: "one" },
    one: { version: "0.1.0" },
  },
};

const fakeInstallation = `mkdir -p ${Object.keys(lockfile.packages).join(" ")} node_modules/.bin &&
  ln -sf "${process.execPath}" node_modules/.bin/node && cp package-lock.json node_modules/.package-lock.json`;

let root = "";
let program = "";
beforeEach(() => {
  // People clone into paths with spaces and umlauts.
  root = mkdtempSync(join(tmpdir(), "sw bötstrap-"));
  for (const folder of ["tools", "bin"]) {
    mkdirSync(join(root, folder));
  }
  copyFileSync(join(import.meta.dirname, "bootstrap.cjs"), join(root, "tools", "bootstrap.cjs"));
  writeFileSync(join(root, "package-lock.json"), JSON.stringify(lockfile));
  program = join(root, "program.ts");
  fakeNpm(`${fakeInstallation} && echo "added 3 packages"`);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Installs a fake npm that records its arguments and then runs the given shell commands. */
function fakeNpm(lines: string): void {
  writeFileSync(join(root, "bin", "npm"), `#!/bin/sh\necho "npm $*" >> "${root}/calls"\n${lines}\n`);
  chmodSync(join(root, "bin", "npm"), 0o755);
}

/** Sets up the state after an installation, optionally with packages that differ from the lockfile. */
function installed(packages: object = lockfile.packages): void {
  mkdirSync(join(root, "node_modules", ".bin"), { recursive: true });
  symlinkSync(process.execPath, join(root, "node_modules", ".bin", "node"));
  for (const name of Object.keys(packages)) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "node_modules", ".package-lock.json"), JSON.stringify({ packages }));
}

function bootstrap(
  given: readonly string[] = [],
  options: readonly string[] = [],
  more: NodeJS.ProcessEnv = {},
  script = "program.ts",
) {
  const env = { PATH: `${join(root, "bin")}:/usr/bin:/bin`, ...more };
  const parameters = [...options, join(root, "tools", "bootstrap.cjs"), script, ...given];
  const child = spawn(process.execPath, parameters, { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const ended = new Promise<{ code: number | null; signal: string | null; output: string; errors: string }>(
    (resolve) => {
      child.on("close", (code, signal) => resolve({ code, signal, output, errors }));
    },
  );
  const untilOutput = (text: string) =>
    new Promise<void>((resolve) => {
      const check = () => output.includes(text) && resolve();
      child.stdout.on("data", check);
      check();
    });
  return { child, ended, untilOutput };
}

const calls = () => (existsSync(join(root, "calls")) ? readFileSync(join(root, "calls"), "utf8") : "");
describe("a fresh clone", () => {
  test("gets exactly the packages of the lockfile, with messages only on standard error", async () => {
    writeFileSync(program, "console.log(JSON.stringify({ given: process.argv.slice(2) }))");
    const { code, output, errors } = await bootstrap(["a", "b c"]).ended;
    expect({ code, output }).toEqual({ code: 0, output: '{"given":["a","b c"]}\n' });
    expect(calls()).toMatch(/^npm ci .*--include=dev/);
    expect(errors).toContain("Installing the packages that Sitewright needs");
    expect(errors).toContain("added 3 packages");
  });

  test.each(["missing", "there"])("--install only gets the packages; before: %s", async (before) => {
    if (before === "there") installed();
    const { code, output, errors } = await bootstrap([], [], {}, "--install").ended;
    expect({ code, output }).toEqual({ code: 0, output: "" });
    expect(calls() === "").toBe(before === "there");
    expect(errors === "").toBe(before === "there");
  });

  test("is installed by a newer npm and Node if the system's Node is too old for some packages", async () => {
    const packages = { ...lockfile.packages, "node_modules/node": { version: "24.1.2", optional: true } };
    writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages }));
    writeFileSync(join(root, "bin", "node"), "#!/bin/sh\necho v18.20.4\n", { mode: 0o755 });
    const newer = join(root, ".cache", "npm");
    const tools = "mkdir -p .cache/npm/node_modules/.bin && cp bin/npm .cache/npm/node_modules/.bin/npm";
    fakeNpm(`echo "$0" >> programs; case $1 in install) ${tools};; *) ${fakeInstallation};; esac`);
    writeFileSync(program, "");
    expect((await bootstrap().ended).code).toBe(0);
    const [install = "", ci = ""] = readFileSync(join(root, "calls"), "utf8").split("\n");
    expect(install).toMatch(/^npm install --prefix .* npm@\d+\.\d+\.\d+ node@24\.1\.2$/);
    expect(ci).toMatch(/^npm ci /);
    expect(readFileSync(join(root, "programs"), "utf8").trim().split("\n")).toEqual([
      join(root, "bin", "npm"),
      join(newer, "node_modules", ".bin", "npm"),
    ]);
  });

  test("--install fails if npm does", async () => {
    fakeNpm("exit 2");
    expect(await bootstrap([], [], {}, "--install").ended).toMatchObject({ code: 1 });
  });

  test.each([
    ["npm/6.14.15 node/v14.18.3 linux x64", 1],
    ["npm/7.24.2 node/v16.9.0 linux x64", 0],
    ["npm/11.0.0 node/v24.0.0 linux x64", 0],
  ])("installs nothing with an npm that can't read the lockfile: %s", async (userAgent, expected) => {
    writeFileSync(program, "");
    const { code, errors } = await bootstrap([], [], { npm_config_user_agent: userAgent }).ended;
    expect(code).toBe(expected);
    expect(errors.includes("npm 6.14.15 is too old: Sitewright needs npm 7 or newer.")).toBe(expected === 1);
    expect(calls() === "").toBe(expected === 1);
  });

  test("keeps only the files of packages that are loaded", async () => {
    const modules = join(root, "node_modules");
    const buildOf = (version: string) => `@php-wasm/node-${version.replace(".", "-")}/jspi/php.wasm`;
    const [kept, removed] = [
      [
        ...phpVersions.map(buildOf),
        "@php-wasm/node-7-4/package.json",
        "@php-wasm/node/index.js",
        "@php-wasm/node/shared/icu.dat",
        "@php-wasm/node-8-3/jspi/extensions/intl/intl.so",
        "openapi-explorer/dist/browser/openapi-explorer.min.js",
        "@mantine/core/esm/index.mjs",
      ],
      [
        "@php-wasm/node-8-3/asyncify/php_8_3.js",
        "@php-wasm/node-7-4/jspi/php_7_4.js",
        "@php-wasm/node-8-3/jspi/extensions/xdebug/xdebug.so",
        "openapi-explorer/dist/es/react.js",
        "@mantine/core/cjs/index.cjs",
      ],
    ];
    for (const file of [...kept, ...removed]) {
      mkdirSync(dirname(join(modules, file)), { recursive: true });
      writeFileSync(join(modules, file), "");
    }
    writeFileSync(program, "");
    expect(await bootstrap().ended).toMatchObject({ code: 0 });
    expect(kept.filter((file) => !existsSync(join(modules, file)))).toEqual([]);
    expect(removed.filter((file) => existsSync(join(modules, file)))).toEqual([]);
  });

  test("has its packages installed again if an earlier version removed files that are needed now", async () => {
    installed();
    mkdirSync(join(root, "node_modules", "@php-wasm", "node"), { recursive: true });
    writeFileSync(program, "");
    expect(await bootstrap().ended).toMatchObject({ code: 0 });
    expect(calls()).toMatch(/^npm ci/);
  });

  test("has its packages installed once if two commands run at the same time", async () => {
    const slowly = "while [ ! -e go ]; do sleep 0.05; done";
    fakeNpm(`${slowly}; ${fakeInstallation}`);
    writeFileSync(program, "");
    const both = [bootstrap(), bootstrap()];
    await expect.poll(calls).toMatch(/^npm ci/);
    writeFileSync(join(root, "go"), "");
    for (const { ended } of both) expect(await ended).toMatchObject({ code: 0 });
    expect(calls().match(/npm ci/g)).toHaveLength(1);
  });

  test("that is not writable is reported, and npm is not called", async () => {
    // Simulated, because root can write everywhere.
    writeFileSync(
      join(root, "readOnly.cjs"),
      `require("node:fs").accessSync = () => { throw new Error("EROFS: read-only file system"); };`,
    );
    const { code, errors } = await bootstrap([], ["--require", join(root, "readOnly.cjs")]).ended;
    expect({ code, errors }).toEqual({
      code: 1,
      errors: `Packages can't be installed because this folder is not writable: ${root}\n`,
    });
    expect(calls()).toBe("");
  });

  test("reports a failure of npm with the next step, and does not start the program", async () => {
    fakeNpm('echo "npm error network" >&2; exit 1');
    writeFileSync(program, 'console.log("started")');
    const { code, output, errors } = await bootstrap().ended;
    expect({ code, output }).toEqual({ code: 1, output: "" });
    expect(errors).toContain("npm error network");
    expect(errors).toContain("npm ci ended with code 1 (see above).");
    expect(errors).toContain("Then run the same command again");
  });

  test("says how to get Node if npm skipped its install script", async () => {
    fakeNpm("mkdir -p node_modules && cp package-lock.json node_modules/.package-lock.json");
    const { code, errors } = await bootstrap().ended;
    expect(code).toBe(1);
    expect(errors).toContain("npm rebuild node");
  });

  test("says what to install if npm is missing", async () => {
    rmSync(join(root, "bin", "npm"));
    const env = { PATH: join(root, "bin") };
    const run = () =>
      execFileSync(process.execPath, [join(root, "tools", "bootstrap.cjs"), "program.ts"], { env, stdio: "pipe" });
    expect(run).toThrow(/npm was not found\. Install Node\.js with npm/);
  });

  test("says how to restore a damaged lockfile", async () => {
    writeFileSync(join(root, "package-lock.json"), "<<<<<<<");
    const { code, errors } = await bootstrap().ended;
    expect(code).toBe(1);
    expect(errors).toContain("git checkout package-lock.json");
  });
});

describe("installed packages", () => {
  test("that match the lockfile are kept, even without packages of other platforms", async () => {
    const { "node_modules/elsewhere": _, ...rest } = lockfile.packages;
    installed(rest);
    writeFileSync(program, 'console.log("started")');
    expect(await bootstrap().ended).toMatchObject({ code: 0, output: "started\n", errors: "" });
    expect(calls()).toBe("");
  });

  test.each([
    [
      "with another version",
      { ...lockfile.packages, "node_modules/here": { version: "0.9.0", integrity: "sha512-z" } },
    ],
    ["with one missing", { ...lockfile.packages, "node_modules/here": undefined }],
  ])("%s are reinstalled", async (_, packages) => {
    installed(packages);
    writeFileSync(program, "");
    expect(await bootstrap().ended).toMatchObject({ code: 0 });
    expect(calls()).toMatch(/^npm ci /);
  });

  test("are reinstalled if half of their folders are missing, although npm's record lists them", async () => {
    installed();
    rmSync(join(root, "node_modules", "here"), { recursive: true });
    writeFileSync(program, "");
    expect(await bootstrap().ended).toMatchObject({ code: 0 });
    expect(calls()).toMatch(/^npm ci /);
  });
});

describe.each([
  ["a Node that can replace itself", false],
  ["an older Node", true],
])("under %s, the program", (_, isOldNode) => {
  /** Before version 22, Node has no `process.execve`. */
  function options(): string[] {
    writeFileSync(join(root, "old.cjs"), "delete process.execve;");
    return isOldNode ? ["--require", join(root, "old.cjs")] : [];
  }

  test("has its exit code passed on", async () => {
    installed();
    writeFileSync(program, "process.exit(7)");
    expect(await bootstrap([], options()).ended).toMatchObject({ code: 7 });
  });

  test("has the signal that ended it passed on", async () => {
    installed();
    writeFileSync(program, 'process.kill(process.pid, "SIGKILL"); setInterval(() => 0, 1000);');
    expect(await bootstrap([], options()).ended).toMatchObject({ signal: "SIGKILL" });
  });

  test("gets a signal that bootstrap gets, once", async () => {
    installed();
    writeFileSync(
      program,
      `process.on("SIGINT", () => console.log("interrupted"));
       process.on("SIGTERM", () => process.exit(0));
       setInterval(() => 0, 1000);
       console.log("waiting");`,
    );
    const { child, ended, untilOutput } = bootstrap([], options());
    await untilOutput("waiting");
    child.kill("SIGINT");
    await untilOutput("interrupted");
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, output: "waiting\ninterrupted\n" });
  });
});
