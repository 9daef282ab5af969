/** WP-CLI with real PHP and WordPress: what commands can do, what they can't, and that no process is left. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownerOf } from "../owner.ts";
import type { Runtime, WpCliOutcome } from "../runtime.ts";
import { addScript, runPhp, type Site, visitorOf } from "../testing/visitor.ts";
import { phpVersions } from "./php/versions.ts";
import { createPlaygroundRuntime } from "./runtime.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";
import type { WpCliCall } from "./testing/wpCliChild.ts";

const timeout = 240_000;

let world: Playground;
let site: Site;
beforeAll(async () => {
  world = await openPlayground();
  site = await world.site({ title: "Garden" });
}, timeout);
afterAll(() => world.close());

interface Choices {
  readonly runtime?: Runtime;
  readonly seconds?: number;
  readonly begin?: () => Promise<void>;
  readonly signal?: AbortSignal;
}

function wp(argv: readonly string[], choices: Choices = {}): Promise<WpCliOutcome> {
  const { runtime = world.runtime, seconds = 60, begin = async () => undefined } = choices;
  const { signal = new AbortController().signal } = choices;
  return runtime.runWpCli(site.environment, { phpVersion: "8.3", argv, seconds }, begin, signal);
}

/** Returns the processes that run commands in this file's environments. */
function commandProcesses(): readonly string[] {
  const isCommandProcess = (pid: string) => {
    try {
      const isCommand = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("wpcli/main.ts");
      return isCommand && readlinkSync(`/proc/${pid}/cwd`).startsWith(world.environments);
    } catch {
      return false;
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isCommandProcess(name));
}

async function untilNoneRuns(): Promise<void> {
  while (commandProcesses().length > 0) await delay(20);
}

describe("a command may have changed pages if it writes", () => {
  test.each([
    ["an option that is shown", ["option", "update", "posts_per_page", "8"], true],
    ["by SQL", ["db", "query", "UPDATE wp_options SET option_value = 'x' WHERE option_name = 'cron'"], true],
    ["a table of a plugin", ["db", "query", "CREATE TABLE wp_things AS SELECT 1 AS a"], true],
    ["a file", ["eval", "touch( WP_CONTENT_DIR . '/x.txt' );"], true],
    ["past WordPress", ["eval", "( new PDO( 'sqlite:' . FQDB ) )->exec( 'CREATE TABLE own (a)' );"], true],
    ["in a command of its own", ["eval", "WP_CLI::runcommand( 'option update posts_per_page 9' );"], true],
    ["nothing, but clears caches", ["cache", "flush"], true],
    ["nothing", ["post", "list"], false],
    ["nothing by SQL", ["db", "query", "SELECT COUNT(*) FROM wp_posts"], false],
    ["scheduled events only", ["cron", "event", "schedule", "later", "+1 hour"], false],
    ["an option with the name of a counter", ["option", "update", "hero_counter", "5"], true],
    [
      "past WordPress, next to a transient",
      ["eval", "set_transient( 'a', 1 ); ( new PDO( 'sqlite:' . FQDB ) )->exec( 'CREATE TABLE other (a)' );"],
      true,
    ],
    ["nothing in a command of its own", ["eval", "WP_CLI::runcommand( 'option get blogname' );"], false],
  ])("%s", { timeout }, async (_what, argv, mayHaveChanged) => {
    expect(await wp(argv)).toMatchObject({ mayHaveChanged });
  });
});

describe("a command", () => {
  test("returns its output and its exit code", { timeout }, async () => {
    expect(await wp(["option", "get", "blogname"])).toEqual({
      stdout: { text: "Garden\n", bytes: 7, isTruncated: false },
      stderr: { text: "", bytes: 0, isTruncated: false },
      exitCode: 0,
      end: "itself",
      mayHaveChanged: false,
    });
    const failed = await wp(["option", "get", "nothing"]);
    expect(failed.stderr.text).toContain("Error: Could not get 'nothing' option.");
    expect(failed).toMatchObject({ exitCode: 1, end: "itself" });
  });

  test("changes the site for the next visitor, running as the environment's user", { timeout }, async () => {
    const { get } = visitorOf(world.serving, site);
    await addScript(site, "page.php", "echo 'one';");
    expect((await get("/")).text).toContain("<title>Garden</title>");
    expect((await get("/page.php")).text).toBe("one");
    const code = "update_option('blogname', 'Meadow'); file_put_contents(ABSPATH . 'made.txt', 'x');";
    const changesCode = `file_put_contents(ABSPATH . 'page.php', '<?php echo "two";');`;
    expect(await wp(["eval", code + changesCode])).toMatchObject({ exitCode: 0 });
    expect((await get("/")).text).toContain("<title>Meadow</title>");
    expect((await get("/page.php")).text).toBe("two");
    const { uid } = await stat(path.join(site.documentRoot, "made.txt"));
    expect(uid).toBe(process.getuid?.() === 0 ? ownerOf(site.environment.number) : process.getuid?.());
  });

  test("can open its own descriptors by number, and gets a warning for others", { timeout }, async () => {
    const open = (number: number) => `var_dump((bool) fopen('php://fd/${number}', 'w'));`;
    const ended = await wp(["eval", `${open(2)} ${open(999)} ${open(99_999)} echo 'goes on';`]);
    expect(ended).toMatchObject({ exitCode: 0, end: "itself" });
    expect(ended.stdout.text).toContain("bool(true)\nbool(false)\nbool(false)\ngoes on");
    expect(ended.stderr.text).toMatch(/Error duping file descriptor 999/);
    expect(ended.stderr.text).toMatch(/must be non-negative numbers smaller than 4096/);
  });

  test.runIf(process.platform === "linux")(
    "is the first to be killed if memory runs out, and gains no privileges",
    { timeout },
    async () => {
      const seen: string[] = [];
      const begin = async () => {
        for (const pid of commandProcesses()) {
          seen.push(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8").trim());
          seen.push(/NoNewPrivs:\s*\d/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[0] ?? "");
        }
      };
      expect(await wp(["option", "get", "blogname"], { begin })).toMatchObject({ exitCode: 0 });
      expect(seen).toEqual(["1000", "NoNewPrivs:\t1"]);
    },
  );

  test("deletes a plugin", { timeout }, async () => {
    const plugins = () => readdir(path.join(site.documentRoot, "wp-content/plugins"));
    expect(await plugins()).toContain("hello.php");
    expect(await wp(["plugin", "delete", "hello"])).toMatchObject({ exitCode: 0 });
    expect(await plugins()).not.toContain("hello.php");
  });

  test("sets a constant in a new site's wp-config.php", { timeout }, async () => {
    expect(await wp(["config", "set", "GARDEN", "green"])).toMatchObject({ exitCode: 0 });
    expect(await runPhp(world.serving, site, "require 'wp-load.php'; echo GARDEN;")).toBe("green");
  });

  test.each([
    ["an earlier version's", (text: string) => text.replace(/^.*stop editing.*\n/m, "")],
    ["another's", () => "<?php\n$table_prefix = 'wp_';\nrequire_once __DIR__ . '/wp-settings.php';\n"],
  ])("adds constants to %s wp-config.php, which lacks WP-CLI's comment", { timeout }, async (_whose, before) => {
    const file = path.join(site.documentRoot, "wp-config.php");
    const present = await readFile(file, "utf8");
    try {
      await writeFile(file, before(present));
      expect(await wp(["config", "shuffle-salts", "WP_CACHE_KEY_SALT", "--force"])).toMatchObject({ exitCode: 0 });
      expect(await wp(["config", "set", "HEDGE", "high"])).toMatchObject({ exitCode: 0 });
      const changed = await readFile(file, "utf8");
      expect(changed).toMatch(/'WP_CACHE_KEY_SALT', '.{64}'.*'HEDGE', 'high'.*stop editing.*wp-settings/s);
      expect(changed.match(/stop editing/g)).toHaveLength(1);
    } finally {
      await writeFile(file, present);
    }
  });

  test("shows the site's deprecations with WP_DEBUG, but none of WP-CLI's own", { timeout }, async () => {
    await wp(["config", "set", "WP_DEBUG", "true", "--raw"]);
    try {
      const exported = await wp(["export", "--stdout"]);
      expect(exported.stdout.text).toMatch(/^<\?xml.*<\/rss>\s*$/s);
      expect(exported.stderr.text).toBe("");
      for (const code of ["strtotime( null );", "seems_utf8( 'a' );"])
        expect((await wp(["eval", code])).stderr.text).toContain("eprecated");
    } finally {
      await wp(["config", "set", "WP_DEBUG", "false", "--raw"]);
    }
  });

  test("may use more memory than PHP in a page", { timeout }, async () => {
    // Without WordPress, whose start lifts the limit.
    const code = 'WP_CLI::add_hook("before_run_command", fn() => print(ini_get("memory_limit")));';
    expect((await wp([`--exec=${code}`, "cli", "version"])).stdout.text).toContain("-1");
  });

  test("returns the right count for search-replace", { timeout }, async () => {
    expect((await wp(["search-replace", "Hello world!", "Hello!", "--format=count"])).stdout.text).toBe("1\n");
  });

  test("can ask a question, but gets no answer", { timeout }, async () => {
    expect((await wp(["site", "empty"])).stdout.text).toMatch(/\[y\/n\] $/);
  });

  test("gets no input, no environment variables of the server, no programs and no access to this machine", {
    timeout,
  }, async () => {
    process.env.OF_THE_SERVER = "secret";
    const server = createServer((_, response) => response.end("secret")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const network = { run: world.run, credentialOf: () => "", edgePort: 8081, siteSuffix: "localhost" };
    const options = { assets: sharedAssets, environments: world.environments, network };
    const code = `echo json_encode([
      'input' => fgets(STDIN),
      'variables' => [getenv(), $_SERVER, $_ENV],
      'functions' => array_filter(['popen', 'exec', 'shell_exec', 'system', 'passthru'], 'function_exists'),
      'program' => proc_close(proc_open('/bin/sh -c "echo x"', [1 => ['pipe', 'w']], $pipes)),
      'answer' => @file_get_contents('http://127.0.0.1:${port}/'),
    ]);`;
    const { stdout } = await wp(["eval", code], { runtime: createPlaygroundRuntime(options) });
    server.close();
    expect(JSON.parse(stdout.text)).toMatchObject({ input: false, functions: [], program: 127, answer: false });
    expect(stdout.text).not.toContain("OF_THE_SERVER");
  });
});

test("a site of a network is selected by its URL", { timeout }, async () => {
  const network = await world.site({ multisite: "subdirectory" });
  const address = `${network.wordpress.address}/second/`;
  const run = async (...argv: readonly string[]) => {
    const command = { phpVersion: "8.3", argv, seconds: 60 };
    const { signal } = new AbortController();
    return world.runtime.runWpCli(network.environment, command, async () => undefined, signal);
  };
  expect(await run("site", "create", "--slug=second", "--title=Second")).toMatchObject({ exitCode: 0 });
  expect((await run("option", "get", "blogname", `--url=${address}`)).stdout.text).toBe("Second\n");
});

test.each(phpVersions)("wp cli info works on PHP %s", { timeout }, async (phpVersion) => {
  const command = { phpVersion, argv: ["cli", "info"], seconds: 60 };
  const { signal } = new AbortController();
  const ended = await world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
  expect(ended).toMatchObject({ exitCode: 0, stderr: { text: "" } });
  expect(ended.stdout.text).toContain(`PHP version:\t${phpVersion}.`);
  expect(ended.stdout.text).toMatch(/WP-CLI version:\t\d/);
});

test("wp help prints its text without a pager", { timeout }, async () => {
  expect((await wp(["help", "plugin", "list"])).stdout.text).toMatch(/^NAME\s+wp plugin list\s+DESCRIPTION/);
});

test("a command can ask for DNS records, and finds none without a network", { timeout }, async () => {
  const outcome = await wp(["eval", "var_dump(checkdnsrr('example.org'), getmxrr('example.org', $hosts), $hosts);"]);
  expect(outcome).toMatchObject({ exitCode: 0, stdout: { text: "bool(false)\nbool(false)\narray(0) {\n}\n" } });
});

describe("a command that starts another command", () => {
  const nested = (command: string) =>
    `$ended = WP_CLI::runcommand(${JSON.stringify(command)}, ['return' => 'all', 'exit_error' => false]);
    echo json_encode([$ended->stdout, $ended->stderr, $ended->return_code]);`;

  test("gets its output, its errors and its exit code", { timeout }, async () => {
    const created = await wp(["eval", nested("post create --post_title='it is  ' --post_status=draft --porcelain")]);
    expect(JSON.parse(created.stdout.text)).toEqual([expect.stringMatching(/^\d+$/), "", 0]);
    const failed = await wp(["eval", nested("option get nothing")]);
    expect(JSON.parse(failed.stdout.text)).toEqual(["", expect.stringContaining("Could not get 'nothing'"), 1]);
  });

  test("gets the output also of a slow command", { timeout }, async () => {
    const slow = await wp(["eval", nested("eval 'sleep(7); echo 5;'")]);
    expect(JSON.parse(slow.stdout.text)).toEqual(["5", "", 0]);
  });

  test("is one of WP-CLI's own: a new permalink structure also rebuilds the rules", { timeout }, async () => {
    const structure = await wp(["rewrite", "structure", "/%year%/%postname%/"]);
    expect(structure.stdout.text).toBe("Success: Rewrite structure set.\nSuccess: Rewrite rules flushed.\n");
    expect((await wp(["rewrite", "list", "--format=count"])).stdout.text).toMatch(/^\d\d+/);
  });

  test("gets an error for any other program", { timeout }, async () => {
    const code =
      "$ended = WP_CLI::launch('mysqldump --version', false, true); echo $ended->return_code, $ended->stderr;";
    expect((await wp(["eval", code])).stdout.text).toBe("127mysqldump: this PHP can't start programs.\n");
  });

  test("is limited: to a depth, and to its own disk quota", { timeout }, async () => {
    const deep = 'eval \'WP_CLI::runcommand("eval \\"WP_CLI::runcommand(chr(99) . chr(108) . chr(105));\\"");\'';
    const ended = await wp(["eval", `WP_CLI::runcommand(${JSON.stringify(deep)});`]);
    expect(`${ended.stdout.text}${ended.stderr.text}`).toContain("only 3 levels of commands within commands");
    const fill = `eval 'echo file_put_contents(uniqid(), str_repeat("x", 600000));'`;
    const code = `foreach ([1, 2, 3] as $_) { ${nested(fill)} }`;
    const command = { phpVersion: "8.3", argv: ["eval", code], seconds: 60, diskLeftBytes: 1_300_000 };
    const { signal } = new AbortController();
    const full = await world.runtime.runWpCli(site.environment, command, async () => undefined, signal);
    expect(full.stdout.text.match(/"600000"/g)).toHaveLength(2);
  });

  test("is killed together with it", { timeout }, async () => {
    const code = "WP_CLI::runcommand('eval \"while (true) { }\"');";
    expect(await wp(["eval", code], { seconds: 5 })).toMatchObject({ exitCode: null, end: "time" });
    expect(commandProcesses()).toEqual([]);
  });
});

describe("a command is killed", () => {
  test("at its time limit", { timeout }, async () => {
    expect(await wp(["eval", "echo 'begun'; while (true) { }"], { seconds: 3 })).toMatchObject({
      exitCode: null,
      end: "time",
    });
    await untilNoneRuns();
  });

  test("when it prints too much, of which little is kept", { timeout }, async () => {
    const limits = { maxOutputBytes: 1_000, killOutputBytes: 1 << 20 };
    const options = { assets: sharedAssets, environments: world.environments, wpCliLimits: limits };
    const runtime = createPlaygroundRuntime(options);
    const code = "echo 'first'; for (;;) echo str_repeat('x', 65536);";
    const { stdout, exitCode, end } = await wp(["eval", code], { runtime });
    expect([exitCode, end, stdout.isTruncated]).toEqual([null, "output", true]);
    expect(stdout.text).toMatch(/^firstx+\n\[… \d+ bytes are left out here …\]\nx+$/);
    expect(stdout.bytes).toBeLessThan(4 << 20);
  });

  test("when it is aborted", { timeout }, async () => {
    const stop = new AbortController();
    const begin = async () => void setTimeout(() => stop.abort(new Error("stop")), 500);
    await expect(wp(["eval", "while (true) { }"], { begin, signal: stop.signal })).rejects.toThrow("stop");
    expect(commandProcesses()).toEqual([]);
  });

  test("when the process that started it is killed", { timeout }, async () => {
    const child = fork(fileURLToPath(new URL("./testing/wpCliChild.ts", import.meta.url)));
    const options = { assets: sharedAssets, environments: world.environments };
    const call: WpCliCall = { options, environment: site.environment, argv: ["eval", "while (true) { }"] };
    child.send(call);
    await once(child, "message");
    expect(commandProcesses()).toHaveLength(1);
    child.kill("SIGKILL");
    await untilNoneRuns();
  });
});

test("nothing runs if `begin` rejects", { timeout }, async () => {
  const refuse = async () => Promise.reject(new Error("not now"));
  const code = "file_put_contents(ABSPATH . 'never.txt', 'x');";
  await expect(wp(["eval", code], { begin: refuse })).rejects.toThrow("not now");
  await expect(stat(path.join(site.documentRoot, "never.txt"))).rejects.toThrow("ENOENT");
});
