import { getPriority } from "node:os";
import path from "node:path";
import { afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createAssetStore } from "../../assets/store.ts";
import { defaultTemplate } from "../../site/template.ts";
import { driverFolder } from "../../sqlite/driver.ts";
import { type Compiled, createCompiledStore } from "../templates/compiled.ts";
import { createTemplateStore, templatePhpVersion } from "../templates/template.ts";
import type { WarmUp } from "../templates/warmUp.ts";
import { sharedAssets } from "../testing/world.ts";
import type { BootOrder } from "./messages.ts";
import { WorkerProcess } from "./process.ts";
import { createSpares, type Spares, type SparesOptions } from "./spares.ts";

const waiting = { timeout: 60_000, interval: 10 };

const assets = createAssetStore({ folder: sharedAssets });
const templates = createTemplateStore(assets);
let compiled: Compiled;
beforeAll(async () => {
  await assets.prepare(() => undefined);
  compiled = await createCompiledStore(assets, templates).get(templatePhpVersion);
}, 400_000);

async function template(): Promise<WarmUp> {
  const { folder } = await templates.get(defaultTemplate);
  return { template: folder, core: (await assets.files()).core, driver: driverFolder(sharedAssets) };
}

async function bootOrder(): Promise<BootOrder> {
  return { type: "boot", phpVersion: templatePhpVersion, compiled, codeCache: path.join(sharedAssets, "code") };
}

function open(options: Partial<SparesOptions>): Spares {
  const spares = createSpares({
    wanted: 1,
    order: bootOrder,
    warmUp: template,
    deadlineSeconds: 60,
    isCrowded: () => false,
    onFailure: (error) => {
      throw error;
    },
    ...options,
  });
  onTestFinished(() => spares.close());
  return spares;
}

function endWithTheTest(worker: WorkerProcess): void {
  onTestFinished(async () => {
    worker.kill("unavailable");
    await worker.exited;
  });
}

afterEach(() => vi.restoreAllMocks());

test("a spare boots with low priority, is replaced if it dies, and gets a higher priority when it is taken", async () => {
  const warmedUp = vi.spyOn(WorkerProcess.prototype, "warmUp");
  const spares = open({});
  const made = () => warmedUp.mock.contexts.filter((worker) => worker instanceof WorkerProcess);
  await vi.waitUntil(() => spares.count() === 1, waiting);
  expect(made().map(({ pid }) => getPriority(pid) - getPriority())).toEqual([5]);
  for (const { pid } of made()) process.kill(pid, "SIGKILL");
  await vi.waitUntil(() => spares.count() === 0, waiting);
  await vi.waitUntil(() => spares.count() === 1, waiting);
  expect(made()).toHaveLength(2);
  const spare = spares.take();
  if (spare === null) throw new Error("There is no spare");
  endWithTheTest(spare);
  expect(getPriority(spare.pid) - getPriority()).toBe(process.getuid?.() === 0 ? 0 : 5);
}, 120_000);

test("a spare that is taken before its warm-up starts never mounts the template", async () => {
  const warmedUp = vi.spyOn(WorkerProcess.prototype, "warmUp");
  const taken: WorkerProcess[] = [];
  const spares = open({
    warmUp: async () => {
      const found = await template();
      const worker = taken.length === 0 ? spares.take() : null;
      if (worker !== null) taken.push(worker);
      return found;
    },
  });
  await vi.waitUntil(() => warmedUp.mock.contexts.length > 0, waiting);
  const [first] = taken;
  if (first === undefined) throw new Error("No spare was taken.");
  endWithTheTest(first);
  expect(warmedUp.mock.contexts).toHaveLength(1);
  expect(warmedUp.mock.contexts).not.toContain(first);
  expect(first.isAlive).toBe(true);
}, 120_000);

test("while spares are being taken, one is booted in advance and none is warmed up", async () => {
  const warmedUp = vi.spyOn(WorkerProcess.prototype, "warmUp");
  const order = vi.fn<SparesOptions["order"]>(bootOrder);
  const spares = open({ wanted: 2, order });
  expect(spares.take()).toBeNull();
  await vi.waitUntil(() => order.mock.calls.length === 1, waiting);
  const worker = await vi.waitUntil(() => spares.take(), waiting);
  endWithTheTest(worker);
  await worker.ready;
  expect(warmedUp).not.toHaveBeenCalled();
  await vi.waitUntil(() => spares.count() === 2, waiting);
  expect(warmedUp).toHaveBeenCalledTimes(2);
}, 120_000);

test("no spare is created while many workers render their first page", async () => {
  let isCrowded = true;
  const check = vi.fn<() => boolean>(() => isCrowded);
  const order = vi.fn<SparesOptions["order"]>(bootOrder);
  open({ isCrowded: check, order });
  await vi.waitUntil(() => check.mock.calls.length >= 3, waiting);
  expect(order).not.toHaveBeenCalled();
  isCrowded = false;
  await vi.waitUntil(() => order.mock.calls.length === 1, waiting);
}, 120_000);
