/** Why the first page of a new site is fast: the template has already rendered it. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { visitorOf } from "../testing/visitor.ts";
import { openPlayground, type Playground } from "./testing/world.ts";

let playground: Playground;
let site: Awaited<ReturnType<Playground["site"]>>;

beforeAll(async () => {
  playground = await openPlayground();
  site = await playground.site();
});

afterAll(() => playground?.close());

function readOptions(): { readonly name: string; readonly value: string }[] {
  const file = path.join(site.documentRoot, "..", "database", "wordpress.sqlite");
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare("SELECT option_name, option_value FROM wp_options ORDER BY option_name")
      .all()
      .map((row) => ({ name: String(row.option_name), value: String(row.option_value) }));
  } finally {
    database.close();
  }
}

test("WordPress's cached theme data of the template has not expired", () => {
  const expiries = readOptions().filter(({ name }) => name.includes("_transient_timeout_"));
  expect(expiries.map(({ name }) => name).join()).toContain("wp_theme_files_patterns");
  const now = Date.now() / 1000;
  for (const { value } of expiries) expect(Number(value)).toBeGreaterThan(now);
});

test("the first page writes nothing into the database", async () => {
  const before = readOptions();
  const page = await visitorOf(playground.serving, site).get("/");
  expect(page.status).toBe(200);
  expect(page.text).toContain("</html>");
  expect(readOptions()).toEqual(before);
});

test("the template's pages leave no files next to the database", async () => {
  const folder = path.join(site.documentRoot, "..");
  expect(await readdir(path.join(folder, "database"))).toEqual(["wordpress.sqlite"]);
  expect(await readFile(path.join(folder, "public", "wp-config.php"), "utf8")).toContain("SQLITE_JOURNAL_MODE");
});
