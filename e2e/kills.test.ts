/**
 * Kills every process at random moments: visitors don't notice, acknowledged work is kept, and nothing is left half
 * done.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Answer } from "./http.ts";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { descendants, find, isAlive, kill } from "./processes.ts";
import {
  acceptPlainSite,
  acceptSite,
  type CreatedSite,
  createSite,
  describeSite,
  followOperation,
  succeed,
} from "./sites.ts";

const recovery = { timeout: 60_000, interval: 50 };

let home: TestFolder;
let installation: Installation;
let site: CreatedSite;

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder);
  site = await createSite(installation, { display_name: "Survivor", site_title: "Survivor" });
});

afterAll(async () => {
  await installation?.stop();
  await home?.remove();
});

function root(): number {
  const { pid } = installation.supervisor;
  if (pid === undefined) throw new Error("npm start is not running");
  return pid;
}

/** Returns the front page's address with an unknown parameter, so that the page is not cached. */
const uncachedPage = () => `${site.address}/?fresh`;

/** Returns the response, or null if the connection fails. */
async function attempt(request: Promise<Answer>): Promise<Answer | null> {
  return request.catch(() => null);
}

/** Kills the control process, and returns a function that resolves when the API answers again. */
async function endControl(): Promise<() => Promise<void>> {
  const [former] = await find(root(), "control");
  await kill(root(), "control");
  return () => untilApiAnswers(former?.id);
}

/** Waits until the API is answered by a control process other than the former one. */
async function untilApiAnswers(former: number | undefined): Promise<void> {
  await vi.waitFor(async () => {
    const [control] = await find(root(), "control");
    expect(control?.id).not.toBe(former);
    const answer = await attempt(installation.api("GET", `/sites/${site.id}`));
    expect(answer?.status).toBe(200);
  }, recovery);
}

/** Requests uncached pages until the API is back, at least ten. Every visitor must get the page. */
async function visitUntil(apiAnswers: () => Promise<void>): Promise<void> {
  let visits = 0;
  const back = apiAnswers().then(() => true);
  for (let isBack = false; !isBack || visits < 10; visits += 1) {
    const page = await installation.visit(uncachedPage());
    expect(page.status).toBe(200);
    expect(page.text).toContain("Survivor");
    isBack ||= await Promise.race([back, Promise.resolve(false)]);
  }
  await back;
}

/** Waits for the creation. Returns the site if it succeeded, or null if it failed. */
async function endOf(creation: string): Promise<CreatedSite | null> {
  const ended = await followOperation(installation, creation);
  expect([200, 500]).toContain(ended.status);
  return ended.status === 200 ? describeSite(installation, ended.data?.idSite ?? "") : null;
}

describe("kill -9", () => {
  test("of PostgreSQL: every visitor gets the page, and the API's clients wait until it is back", async () => {
    const [former] = await find(root(), "control");
    await kill(root(), "postgres");
    const answered = installation.api("GET", `/sites/${site.id}`);
    await visitUntil(async () => {
      expect((await answered).status).toBe(200);
    });
    const [control] = await find(root(), "control");
    expect(control?.id).toBe(former?.id);
  });

  test("of the edge: the site is back without help from the control process", async () => {
    await kill(root(), "edge");
    await vi.waitFor(async () => {
      const page = await attempt(installation.visit(uncachedPage()));
      expect(page?.status).toBe(200);
    }, recovery);
  });

  test("of the control process at any moment of ten creations: every visitor gets the page, and each site is complete or not created", async () => {
    for (let kills = 0; kills < 5; kills += 1) {
      const title = `Shop ${kills}`;
      const withWordPress = await acceptSite(installation, { display_name: title, site_title: title });
      const visit = () => installation.visit(uncachedPage());
      // Each creation gets a little further: the number of visits, not a clock, spaces the kills.
      for (let visits = 0; visits < kills; visits += 1) await visit();
      const plain = await acceptPlainSite(installation, `Plain ${kills}`);
      for (let visits = 0; visits < kills; visits += 1) await visit();
      const apiAnswers = await endControl();
      await (kills === 0 ? visitUntil(apiAnswers) : apiAnswers());
      const [shop, second] = await Promise.all([endOf(withWordPress), endOf(plain)]);
      if (shop !== null) expect((await installation.visit(`${shop.address}/`)).text).toContain(title);
      for (const created of [shop, second].filter((one) => one !== null)) {
        await succeed(installation, "DELETE", `/sites/${created.id}`, { without_backup: true });
      }
    }
    expect(await readdir(join(installation.data, "environments"))).toEqual([site.environmentId]);
    const sites = (await installation.api("GET", "/sites")).json<{ company: { sites: { id: string }[] } }>();
    expect(sites.company.sites.map(({ id }) => id)).toEqual([site.id]);
  });

  test("of the supervisor: its processes end with it, and the next start loses nothing", async () => {
    const before = await descendants(root());
    await kill(root(), "supervisor");
    await untilEnded(before);

    const { firstRun } = installation;
    installation = await startHere(home.folder, {
      SITEWRIGHT_CONTROL_PORT: new URL(firstRun.api_url).port,
      SITEWRIGHT_EDGE_PORT: new URL(firstRun.sites_url).port,
    });
    expect(installation.firstRun).toEqual(firstRun);
    expect((await installation.visit(`${site.address}/`)).text).toContain("Survivor");
  });
});

describe("Ctrl-C", () => {
  test("stops everything and leaves nothing running", async () => {
    const before = await descendants(root());
    expect(before.length).toBeGreaterThan(3);
    await installation.stop();
    expect(installation.output()).toMatch(/Stopping/);
    await untilEnded(before);
  });
});

async function untilEnded(processes: readonly { readonly id: number }[]): Promise<void> {
  await vi.waitFor(async () => {
    const alive = await Promise.all(processes.map(({ id }) => isAlive(id)));
    expect(processes.filter((_, index) => alive[index])).toEqual([]);
  }, recovery);
}
