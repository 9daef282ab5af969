/** Screenshots of updates when something goes wrong. */
import { once } from "node:events";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import { removeLeftoverScreenshots } from "../../screenshots/browserPlace.ts";
import { findChromium } from "../../screenshots/chromium.ts";
import { openScreenshotStore, type Screenshots } from "../../screenshots/screenshots.ts";
import { updatingPlugin } from "../../testing/packageUpdates.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { openHarness } from "../faults/testing/crashHarness.ts";
import { startChild } from "../faults/testing/runners.ts";
import type { LoadCandidate } from "./loadCandidate.ts";

async function updateWithScreenshots(world: World) {
  const request = await updatingPlugin.prepare(world);
  return { ...request, input: { ...Object(request.input), pictureThreshold: 0 }, prepared: request };
}

/** A folder for all temporary files of this test, with a short name because of Chromium's socket. Readable by other users, because the browser may run as one. */
async function ownTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "p-"));
  await chmod(folder, 0o755);
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return folder;
}

test("if the process is killed while it takes screenshots, the next one finishes the update and removes partial files", async () => {
  const chromium = await findChromium(process.env.CHROMIUM ?? null);
  if (chromium === null) throw new Error("There is no Chromium: apt-get install chromium");
  await using plain = await makeWorld();
  const world = { ...plain, facts: { ...plain.facts, chromium } };
  const temporary = await ownTemporaryFolder();
  const folder = join(world.facts.dataFolder, "pictures");
  await using harness = await openHarness(world);
  const { prepared, ...request } = await updateWithScreenshots(world);
  const first = await startChild(world);
  onTestFinished(() => void first.kill("SIGKILL"));
  const ended = harness.submit(request);
  const files = () => readdir(folder, { recursive: true }).catch(() => []);
  await expect.poll(files).toContainEqual(expect.stringMatching(/\.new\/0-before\.png$/));
  first.kill("SIGKILL");
  await once(first, "exit");
  const second = await startChild(world);
  onTestFinished(() => void second.kill("SIGKILL"));
  const row = await ended;
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  expect(await readdir(folder)).toEqual([row.id.slice(-36)]);
  expect(await openScreenshotStore(folder).find(row.id.slice(-36), null)).toMatchObject([{ path: "/", share: 0 }]);
  expect(await updatingPlugin.finished(world, prepared)).toEqual([]);
  // The browser of the killed process ends by itself.
  const left = async () => {
    await removeLeftoverScreenshots(new Date(), temporary);
    return (await readdir(temporary)).filter((name) => name.startsWith("sitewright-picture-"));
  };
  await expect.poll(left).toEqual([]);
});

test("if screenshots can't be taken, the update fails with that reason and the site is unchanged", async () => {
  await using world = await makeWorld();
  const screenshots = { compare: () => Promise.reject(new Error("Chromium ended with 7")) };
  const { prepared, ...request } = await updateWithScreenshots(world);
  const broken = { ...world, services: { ...world.services, screenshots } };
  const row = await withEngine(broken, (harness) => harness.submit(request));
  const message = "Screenshots of the site before and after the update could not be taken.";
  expect(row).toMatchObject({ state: "failed", public_error: message });
  expect(await updatingPlugin.undone(world, prepared)).toEqual([]);
});

test("requests of the browser are retried while the edge is unavailable", async () => {
  await using world = await makeWorld();
  const { loadForBrowser: original } = world.services;
  const loadForBrowser: LoadCandidate = (candidate) => {
    let tries = 0;
    return async (path, stop) => {
      tries += 1;
      if (tries < 3) throw new EdgeUnavailable("It starts");
      return original(candidate)(path, stop);
    };
  };
  const seen: number[] = [];
  const screenshots: Screenshots = {
    compare: async ({ before, after }, stop) => {
      for (const page of [before, after]) seen.push((await page("/", stop)).status);
      return [];
    },
  };
  const { prepared, ...request } = await updateWithScreenshots(world);
  const changed = { ...world, services: { ...world.services, loadForBrowser, screenshots } };
  const row = await withEngine(changed, (harness) => harness.submit(request));
  expect(row).toMatchObject({ state: "succeeded", public_error: null });
  expect(seen).toEqual([200, 200]);
  expect(await updatingPlugin.finished(world, prepared)).toEqual([]);
});
