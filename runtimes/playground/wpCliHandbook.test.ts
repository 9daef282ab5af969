/**
 * Every command of WP-CLI works here, or is refused with a reason. The list of commands is WP-CLI's own, so an update of
 * WP-CLI with a new command fails until someone has decided about it.
 */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { refuseUnsupported, unsupportedCommands } from "@sitewright/server/app/sites/wpCliUnsupported.ts";
import { makeMirror } from "@sitewright/server/packages/mirror.ts";
import { languagePackZip, pluginZip, themeZip } from "@sitewright/server/packages/testing/zips.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entriesOf, fieldOf } from "../fields.ts";
import type { Runtime, WpCliOutcome } from "../runtime.ts";
import { type Attempt, alone, inNetwork, inSite, needsInternet } from "../testing/handbook.ts";
import type { Site } from "../testing/visitor.ts";
import { shellWords } from "./php/shellWords.ts";
import { createPlaygroundRuntime } from "./runtime.ts";
import { openPlayground, type Playground, sharedAssets } from "./testing/world.ts";

const timeout = 400_000;

let folder: string;
let mirror: Server;
let world: Playground;
let runtime: Runtime;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "handbook-"));
  const revised = "2036-01-01 00:00:00+0000";
  const zips = {
    "shop-1.zip": await pluginZip("shop", "1.0"),
    "shop-2.zip": await pluginZip("shop", "2.0"),
    "leaf-1.zip": await themeZip("leaf", "1.0"),
    "leaf-2.zip": await themeZip("leaf", "2.0"),
    "translation/core/7.0/de_DE.zip": await languagePackZip("", "de_DE", revised),
    "translation/plugin/akismet/5.0/de_DE.zip": await languagePackZip("akismet", "de_DE", revised),
    "translation/theme/twentytwentyfive/1.0/de_DE.zip": await languagePackZip("twentytwentyfive", "de_DE", revised),
  };
  for (const [name, zip] of Object.entries(zips)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), zip);
  }
  mirror = makeMirror(folder);
  await new Promise<void>((resolve) => mirror.listen(0, "127.0.0.1", resolve));
  const address = mirror.address();
  const packageSource = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  world = await openPlayground();
  runtime = createPlaygroundRuntime({
    assets: sharedAssets,
    environments: world.environments,
    network: { run: world.run, credentialOf: () => "", edgePort: 8081, siteSuffix: "localhost", packageSource },
    // The list of all commands is large.
    wpCliLimits: { maxOutputBytes: 8 << 20 },
  });
}, timeout);
afterAll(async () => {
  await world.close();
  mirror.closeAllConnections();
  mirror.close();
  await rm(folder, { recursive: true });
});

function wp(site: Site, argv: readonly string[]): Promise<WpCliOutcome> {
  const command = { phpVersion: "8.3", argv, seconds: 240 };
  return runtime.runWpCli(site.environment, command, async () => undefined, new AbortController().signal);
}

/** Returns the names of all commands, such as `option get`. */
async function allCommands(site: Site): Promise<readonly string[]> {
  const { stdout } = await wp(site, ["cli", "cmd-dump"]);
  const namesIn = (command: unknown, above: string): readonly string[] => {
    const name = `${above} ${String(fieldOf(command, "name"))}`.trim();
    const subcommands = entriesOf(fieldOf(command, "subcommands"));
    return subcommands.length === 0 ? [name] : subcommands.flatMap(([, one]) => namesIn(one, name));
  };
  return entriesOf(fieldOf(JSON.parse(stdout.text), "subcommands")).flatMap(([, one]) => namesIn(one, ""));
}

interface Ended {
  readonly output: string;
  readonly exitCode: number | null;
}

/** Returns why the attempt was no success, or null. */
function problemOf(attempt: Attempt, { output, exitCode }: Ended): string | null {
  const [command, contained] = typeof attempt === "string" ? [attempt, null] : attempt;
  const isWrong = contained === null ? exitCode !== 0 : !output.includes(contained);
  const hasPhpError = /PHP (?:Warning|Fatal|Parse|Notice)|proc_open|can't start programs/.test(output);
  return isWrong || hasPhpError ? `wp ${command}: ${exitCode} ${output.slice(0, 2_000)}` : null;
}

/** PHP code that runs commands one after another. Before and after each it prints a line that begins with the mark. */
const batch = (commands: readonly string[], mark: string, last: string) => `
  $last = json_decode(${phpText(JSON.stringify(last))});
  foreach (json_decode(${phpText(JSON.stringify(commands))}) as $command) {
    fwrite(STDOUT, "${mark}begin\\n");
    $options = ['launch' => false, 'return' => 'all', 'exit_error' => false];
    $end = WP_CLI::runcommand(str_replace('$LAST', $last, $command), $options);
    $last = trim($end->stdout);
    fwrite(STDOUT, "\\n${mark}" . json_encode([$end->return_code, $end->stdout . $end->stderr], JSON_INVALID_UTF8_SUBSTITUTE) . "\\n");
  }`;

const phpText = (text: string) => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;

/** Runs the commands in as few processes as possible: some commands end PHP. Returns the problems. */
async function runAll(site: Site, attempts: readonly Attempt[]): Promise<readonly string[]> {
  const problems: (string | null)[] = [];
  for (let next = 0, last = ""; next < attempts.length; ) {
    const mark = randomUUID();
    const commands = attempts.slice(next).map((attempt) => (typeof attempt === "string" ? attempt : attempt[0]));
    const { stdout, stderr, exitCode } = await wp(site, ["eval", batch(commands, mark, last)]);
    const reports = stdout.text.split("\n").flatMap((line) => (line.startsWith(mark) ? [line.slice(mark.length)] : []));
    if (reports.length === 0) throw new Error(`Nothing was run: ${stdout.text}${stderr.text}`);
    for (const report of reports) {
      const attempt = attempts[next];
      if (report === "begin" || attempt === undefined) continue;
      const [code, output]: [number, string] = JSON.parse(report);
      problems.push(problemOf(attempt, { exitCode: code, output }));
      last = output.trim();
      next += 1;
    }
    const ended = attempts[next];
    if (reports.at(-1) !== "begin" || ended === undefined) continue;
    // The command has ended PHP. Its output can't be told from that of others.
    problems.push(problemOf(typeof ended === "string" ? ended : ended[0], { exitCode, output: stderr.text }));
    next += 1;
  }
  return problems.filter((problem) => problem !== null);
}

async function runOneByOne(site: Site, attempts: readonly Attempt[]): Promise<readonly string[]> {
  const problems: (string | null)[] = [];
  for (const attempt of attempts) {
    const argv = shellWords(typeof attempt === "string" ? attempt : attempt[0]);
    const { stdout, stderr, exitCode } = await wp(site, argv);
    problems.push(problemOf(attempt, { exitCode, output: `${stdout.text}${stderr.text}` }));
  }
  return problems.filter((problem) => problem !== null);
}

test("every command is tried, or refused with a reason", { timeout }, async () => {
  const names = await allCommands(await world.site());
  const tried = [...inSite, ...alone, ...inNetwork].map((attempt) =>
    typeof attempt === "string" ? attempt : attempt[0],
  );
  const isRefused = (name: string) => {
    try {
      refuseUnsupported(name.split(" "));
      return false;
    } catch {
      return true;
    }
  };
  const isTried = (name: string) => tried.some((command) => `${command} `.startsWith(`${name} `));
  const undecided = names.filter((name) => !isRefused(name) && !isTried(name) && !Object.hasOwn(needsInternet, name));
  expect(undecided).toEqual([]);
  const unknown = unsupportedCommands.filter((refused) => !names.some((name) => `${name} `.startsWith(`${refused} `)));
  expect(unknown).toEqual([]);
  expect(tried.filter((command) => isRefused(shellWords(command).join(" ")))).toEqual([]);
  expect(names.length).toBeGreaterThan(350);
});

test("the commands for sites work", { timeout }, async () => {
  const site = await world.site({ title: "Garden" });
  const files = `
    mkdir('wp-content/uploads');
    imagepng(imagecreatetruecolor(600, 400), 'wp-content/uploads/picture.png');
    file_put_contents('wp-content/uploads/code.php', '<?php echo implode(" ", $args ?? []);');
    file_put_contents('wp-content/uploads/users.csv', "user_login,user_email,display_name,role\\ncara,cara@example.com,Cara,author\\n");`;
  expect(await wp(site, ["eval", files])).toMatchObject({ exitCode: 0, stderr: { text: "" } });
  expect(await runAll(site, inSite)).toEqual([]);
});

test("the commands that run alone work", { timeout }, async () => {
  expect(await runOneByOne(await world.site({ title: "Garden" }), alone)).toEqual([]);
});

test("the commands for networks work", { timeout }, async () => {
  expect(await runAll(await world.site({ multisite: "subdirectory" }), inNetwork)).toEqual([]);
});
