import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sqliteDatabase } from "../../sqlite/sqliteDatabase.ts";
import { saltNames, wpConfig } from "../wpConfig.ts";
import { adaptConfig, rewriteConfig } from "./configCopy.ts";

const from = "http://source.localhost:8081";
const to = "https://target.example.com";
const addresses = [{ from, to }];
const source = wpConfig({ address: from, multisite: "subdomain" }, sqliteDatabase.constants);
const own = wpConfig({ address: to, multisite: "subdomain" }, sqliteDatabase.constants);

function valuesOf(config: string): readonly (string | undefined)[] {
  return saltNames.map((name) => new RegExp(`define\\( '${name}', (.+) \\);`).exec(config)?.[1]);
}

test("a copy keeps the environment's salts and takes the source's other lines", () => {
  const copied = adaptConfig(`${source}// A line of the source's.\n`, own, addresses);
  expect(valuesOf(copied)).toEqual(valuesOf(own));
  expect(copied).toBe(`${own}// A line of the source's.\n`);
});

test("a copy for a new environment gets new salts", () => {
  const [one, other] = [adaptConfig(source, null, addresses), adaptConfig(source, null, addresses)];
  const all = [source, one, other].flatMap(valuesOf);
  expect(all).not.toContain(undefined);
  expect(new Set(all).size).toBe(3 * saltNames.length);
});

test("a network's host and cookie domain are the copy's", () => {
  const copied = adaptConfig(source, null, addresses);
  expect(copied).toContain("define( 'DOMAIN_CURRENT_SITE', 'target.example.com' );");
  expect(copied).toContain("define( 'COOKIE_DOMAIN', '.target.example.com' );");
  expect(copied).not.toContain("source");
});

test.each([`define('AUTH_KEY','it\\'s $1 \\\\');`, `define ( "AUTH_KEY" , "a \\" b $& c" ) ;`])(
  "a salt is found in any notation: %s",
  (line) => {
    const copied = adaptConfig(`<?php\n${line}\n$after = 1;`, own, []);
    expect(copied).toContain(String(valuesOf(own)[0]));
    expect(copied).toContain("$after = 1;");
    expect(copied).not.toContain("it\\'s");
    expect(adaptConfig(own, `<?php ${line}`, [])).toContain(
      line.includes("it") ? "'it\\'s $1 \\\\'" : '"a \\" b $& c"',
    );
  },
);

test("a missing or oversized configuration is ignored, and a rewritten one has the new address", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "config-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, "wp-config.php");
  await rewriteConfig(folder, null, addresses);
  const large = `<?php // ${"x".repeat(2_000_000)} ${from}`;
  await writeFile(file, large);
  await rewriteConfig(folder, null, addresses);
  expect(await readFile(file, "utf8")).toBe(large);
  await writeFile(file, source);
  await rewriteConfig(folder, path.join(folder, "absent"), addresses);
  expect(await readFile(file, "utf8")).not.toContain(from);
});
