/** The commands of the README and the tour, pasted into one shell, and the tour's once more. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pluginZip } from "@sitewright/server/packages/testing/zips.ts";
import { startTestMirror, type TestMirror } from "@sitewright/server/testing/mirror.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { type Pasted, paste, shellBlocksIn } from "./shellBlocks.ts";

let home: TestFolder;
let mirror: TestMirror;
let installation: Installation;
let pasted: Pasted;

beforeAll(async () => {
  home = await createFolder();
  mirror = await startMirror(join(home.folder, "packages"));
  installation = await startHere(home.folder, { SITEWRIGHT_WPORG_URL: mirror.url });
  const dnsPort = /DNS +\S+:(\d+)/.exec(installation.output())?.[1] ?? "";
  const [readme, tour] = [await blocksOf("README.md"), await blocksOf("docs/tour.md")];
  pasted = await paste([...readme, ...tour, ...tour], {
    folder: home.folder,
    env: { SITEWRIGHT_DNS_PORT: dnsPort },
  });
});

afterAll(async () => {
  await installation?.stop();
  await mirror?.[Symbol.asyncDispose]();
  await home?.remove();
});

/** Stands in for WordPress.org, with the versions that the tour installs and newer ones. */
async function startMirror(folder: string): Promise<TestMirror> {
  const started = await startTestMirror(folder);
  for (const [slug, version] of [
    ["akismet", "5.3"],
    ["akismet", "99.0"],
    ["classic-editor", "1.6"],
    ["classic-editor", "1.7"],
  ] as const) {
    await writeFile(join(folder, `${slug}.${version}.zip`), await pluginZip(slug, version));
  }
  return started;
}

async function blocksOf(document: string): Promise<readonly string[]> {
  return shellBlocksIn(await readFile(document, "utf8"));
}

test("every command works as printed", () => {
  expect(pasted.failures).toEqual([]);
});

test("the only refused request is the redirect to HTTPS, which the tour says needs a certificate", () => {
  const refusal = expect.stringMatching(/^HTTP 400 .*force-https-status\n.*"code":"no_certificate"/);
  expect(pasted.refusals).toEqual([refusal, refusal]);
});

test("every operation succeeds", async () => {
  const answer = await installation.api("GET", "/operations?limit=100");
  const { items, total } = answer.json<Operations>().company.operations;
  expect(items.filter(({ state }) => state !== "succeeded")).toEqual([]);
  expect([items.length, total]).toEqual([total, expect.any(Number)]);
});

interface Operations {
  readonly company: {
    readonly operations: { readonly items: readonly { readonly state: string }[]; readonly total: number };
  };
}

test("the site of the README still works, and the tour has deleted its own", async () => {
  const { company } = (await installation.api("GET", "/sites")).json<{ company: { sites: { name: string }[] } }>();
  expect(company.sites.map(({ name }) => name)).toEqual(["demo"]);
  const page = await installation.visit(installation.firstRun.sites_url.replace("//", "//demo."));
  expect(page.status).toBe(200);
  expect(page.text).toContain("My first site");
});

test("blocks below the marker are left out", () => {
  const block = (command: string) => `\`\`\`sh\n${command}\n\`\`\`\n`;
  const markers = ["<!-- not tested: needs the internet -->\n", "<!-- not tested: needs a mail server -->\n"];
  const markdown = [block("one"), markers[0], block("two"), "\n", block("three"), markers[1], block("four")].join("");
  expect(shellBlocksIn(markdown)).toEqual(["one\n", "three\n"]);
});
