/** The commands of the README and of the tour, pasted into a shell. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pluginZip } from "@sitewright/server/packages/testing/zips.ts";
import { startTestMirror, type TestMirror } from "@sitewright/server/testing/mirror.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { type Pasted, paste, shellBlocksIn } from "./shellBlocks.ts";
import { createPlainSite, followOperation, succeed } from "./sites.ts";

let home: TestFolder;
let mirror: TestMirror;
let installation: Installation;
let readme: Pasted;
let tour: Pasted;
let before: readonly unknown[];

beforeAll(async () => {
  home = await createFolder();
  mirror = await startMirror(join(home.folder, "packages"));
  installation = await startHere(home.folder, { SITEWRIGHT_WPORG_URL: mirror.url });
  const dnsPort = /DNS +\S+:(\d+)/.exec(installation.output())?.[1] ?? "";
  const shell = { folder: home.folder, env: { SITEWRIGHT_DNS_PORT: dnsPort } };
  readme = await paste(await blocksOf("README.md"), shell);
  await Promise.all((await operations()).map(({ operation_id }) => followOperation(installation, operation_id)));
  before = await inventory();
  tour = await paste(await blocksOf("docs/tour.md"), shell);
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

interface Operation {
  readonly operation_id: string;
  readonly state: string;
}

async function operations(): Promise<readonly Operation[]> {
  const answer = await installation.api("GET", "/operations?limit=100");
  const { items, total } = answer.json<{
    company: { operations: { items: readonly Operation[]; total: number } };
  }>().company.operations;
  expect(items).toHaveLength(total);
  return items;
}

/** Everything that the company has and a deletion must remove, and the folders of its environments. */
async function inventory(): Promise<readonly unknown[]> {
  const company = installation.firstRun.company_id;
  const [sites, domains, deletedSites, keys] = await Promise.all(
    ["/sites", "/domains", `/company/${company}/deleted-sites`, `/company/${company}/api-keys`].map(async (list) =>
      installation.api("GET", list),
    ),
  );
  const active = keys
    ?.json<{ api_keys: { id: string; status: string }[] }>()
    .api_keys.flatMap(({ id, status }) => (status === "active" ? [id] : []));
  return [
    sites?.text,
    domains?.text,
    deletedSites?.text,
    active,
    await readdir(join(installation.data, "environments")),
  ];
}

test("every command works as printed", () => {
  expect([...readme.failures, ...tour.failures]).toEqual([]);
});

test("the only refused request is the redirect to HTTPS, which the tour says needs a certificate", () => {
  expect(readme.refusals).toEqual([]);
  expect(tour.refusals).toEqual([expect.stringMatching(/^HTTP 400 .*force-https-status\n.*"code":"no_certificate"/)]);
});

test("every operation succeeds", async () => {
  expect((await operations()).filter(({ state }) => state !== "succeeded")).toEqual([]);
});

test("the site of the README still works", async () => {
  const page = await installation.visit(installation.firstRun.sites_url.replace("//", "//demo."));
  expect(page.status).toBe(200);
  expect(page.text).toContain("My first site");
});

test("the tour can be repeated: it leaves nothing behind, and its names are free", async () => {
  expect(before[0]).toContain('"demo"');
  expect(await inventory()).toEqual(before);
  const site = await createPlainSite(installation, "tour");
  const domains = `/sites/environments/${site.environmentId}/domains`;
  await succeed(installation, "POST", domains, { domain_name: "tour.example.com" });
});

test("blocks below the marker are left out", () => {
  const block = (command: string) => `\`\`\`sh\n${command}\n\`\`\`\n`;
  const markers = ["<!-- not tested: needs the internet -->\n", "<!-- not tested: needs a mail server -->\n"];
  const markdown = [block("one"), markers[0], block("two"), "\n", block("three"), markers[1], block("four")].join("");
  expect(shellBlocksIn(markdown)).toEqual(["one\n", "three\n"]);
});
